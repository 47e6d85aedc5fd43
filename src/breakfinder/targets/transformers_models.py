"""Transformers models: which class a config is built as, and how.

Facts of the public API that this rests on (transformers 5): ``CONFIG_MAPPING`` maps model types, parts of
larger models among them, to config classes; each ``MODEL_FOR_…_MAPPING`` maps config classes to model
classes, or to a tuple of them; ``PreTrainedModel.config_class`` is the config that a class takes.  A part
that no mapping names (``siglip_text_model``) has its class beside its config, in the modeling files of
the same package.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable
from typing import Any

import torch
import transformers
from transformers import CONFIG_MAPPING, PreTrainedModel
from transformers.models.auto import modeling_auto

from breakfinder.errors import UsageError
from breakfinder.options import BuildOptions
from breakfinder.targets.defaults import whole_config
from breakfinder.targets.inputs import describe, synthesise
from breakfinder.targets.inputs.hints import hint
from breakfinder.targets.scenarios import scenarios

__all__ = [
    "choose_class",
    "default_config",
    "describe",
    "instantiate",
    "model_types",
    "runs_as",
    "scenarios",
    "synthesise",
    "tasks_of",
]

TASK_ORDER = (
    # Several modalities, or speech, in one generative model.
    *("speech-seq-2-seq", "multimodal-lm", "image-text-to-text", "text-to-waveform", "text-to-spectrogram"),
    # Speech without a language model.
    *("tdt", "rnnt", "ctc", "audio-tokenization"),
    # Heads that answer, find or match something; the richer output first.
    *("visual-question-answering", "document-question-answering", "table-question-answering"),
    *("zero-shot-object-detection", "zero-shot-image-classification", "mask-generation", "retrieval"),
    *("object-detection", "universal-segmentation", "instance-segmentation", "image-segmentation"),
    *("depth-estimation", "pose-estimation", "keypoint-detection", "keypoint-matching", "image-matting"),
    *("image-to-image", "text-recognition", "table-recognition", "video-classification"),
    *("semantic-segmentation", "normal-estimation", "pointmap-estimation"),
    *("image-classification", "causal-image-modeling", "masked-image-modeling"),
    *("audio-classification", "audio-frame-classification", "audio-xvector"),
    *("time-series-prediction", "time-series-classification", "time-series-regression"),
    # Text: a model that both encodes and decodes, then encoders, then decoders.
    *("seq-to-seq-causal-lm", "masked-lm", "causal-lm", "pretraining", "decision"),
    *("token-classification", "question-answering", "sequence-classification", "multiple-choice"),
    *("next-sentence-prediction", "text-encoding", "image", "base", "backbone"),
)
"""Tasks, most specific first: the first one that is mapped for a config gives its class.

The names are those of the mappings: ``MODEL_FOR_CAUSAL_LM_MAPPING`` is ``causal-lm``; ``base`` is the
model without a head.  Mappings of other transformers releases that are not named here come after these.
"""

_PIPELINE_NAMES = {
    "automatic-speech-recognition": "ctc",
    "feature-extraction": "base",
    "fill-mask": "masked-lm",
    "image-feature-extraction": "image",
    "ner": "token-classification",
    "seq2seq-lm": "seq-to-seq-causal-lm",
    "speech-seq2seq": "speech-seq-2-seq",
    "summarization": "seq-to-seq-causal-lm",
    "text-classification": "sequence-classification",
    "text-generation": "causal-lm",
    "text-to-audio": "text-to-waveform",
    "text2text-generation": "seq-to-seq-causal-lm",
    "translation": "seq-to-seq-causal-lm",
}


def model_types() -> list[str]:
    """All model types that transformers knows, parts of larger models included."""
    return list(CONFIG_MAPPING.keys())


def default_config(model_type: str) -> Any:
    """A config of this type with its default values, as `whole_config` makes it.

    Raises UsageError, with close names, if there is no such type, or if its config needs arguments.
    """
    if model_type not in CONFIG_MAPPING:
        raise UsageError(
            f"there is no model type '{model_type}' in transformers {transformers.__version__}",
            _suggestion(model_type, model_types(), "give a hub id (org/name) or a folder with a config.json"),
        )
    try:
        return whole_config(model_type)
    except Exception as error:
        raise UsageError(
            f"the config of '{model_type}' has no defaults to build it from ({_first_line(error)})",
            "give a hub id or a folder with a complete config.json",
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0] or type(error).__name__


def _suggestion(name: str, names: Iterable[str], otherwise: str) -> str:
    close = difflib.get_close_matches(name, list(names), 3)
    return f"did you mean {' or '.join(close)}?" if close else otherwise


def _mappings() -> dict[str, Any]:
    """The auto mapping of each task, in the order of `TASK_ORDER`."""
    found = {}
    for name in dir(modeling_auto):
        if match := re.fullmatch(r"MODEL_(?:FOR_)?(?:(\w+)_)?MAPPING", name):
            task = (match[1] or "base").lower().replace("_", "-")
            found[task] = getattr(modeling_auto, name)
    order = {task: position for position, task in enumerate(TASK_ORDER)}
    return dict(sorted(found.items(), key=lambda item: order.get(item[0], len(order))))


def tasks_of(config: Any) -> dict[str, list[Any]]:
    """The tasks that a config has a model class for, most specific first, and the classes of each."""
    found: dict[str, list[Any]] = {}
    for task, mapping in _mappings().items():
        if type(config) in mapping:
            classes = mapping[type(config)]
            found[task] = list(classes) if isinstance(classes, (list, tuple)) else [classes]
    return found


def choose_class(config: Any, task: str = "", class_name: str = "") -> Any:
    """The model class to build a config as.

    ``class_name`` wins, then ``task``; else the class that the config itself names (``architectures``),
    the most specific mapped one (`TASK_ORDER`), or that of a part, found beside its config.  Raises
    UsageError, with close names, for a class or task that is not there, and for a config that no class
    takes.
    """
    if class_name:
        return _named_class(config, class_name)
    if task:
        return _task_class(config, task)
    for name in (*(getattr(config, "architectures", None) or ()), hint(config, "class", "")):
        if (cls := _find_class(config, name)) is not None:
            return cls
    for classes in tasks_of(config).values():
        return classes[0]
    if parts := _classes_beside(config):
        return parts[0]
    raise UsageError(
        f"transformers has no model class for {type(config).__name__}",
        "name one with --class, or another target",
    )


def _task_class(config: Any, task: str) -> Any:
    wanted = task.lower().replace("_", "-").removeprefix("auto-model-for-")
    wanted = _PIPELINE_NAMES.get(wanted, wanted)
    mapped = tasks_of(config)
    if wanted == "ctc" and wanted not in mapped:
        wanted = "speech-seq-2-seq" if "speech-seq-2-seq" in mapped else wanted
    if wanted in mapped:
        return mapped[wanted][0]
    known = list(_mappings())
    if wanted in known:
        raise UsageError(
            f"{config.model_type} has no class for the task '{task}'",
            f"it has {', '.join(mapped)}" if mapped else "leave --task out",
        )
    raise UsageError(
        f"no task '{task}'",
        _suggestion(wanted, [*known, *_PIPELINE_NAMES], f"give one of {', '.join(mapped)}"),
    )


def _named_class(config: Any, name: str) -> Any:
    cls = _find_class(config, name)
    if cls is None:
        known = [cls.__name__ for classes in tasks_of(config).values() for cls in classes]
        known += [cls.__name__ for cls in _classes_beside(config)]
        everything = [*known, *(entry for entry in dir(transformers) if entry[:1].isupper())]
        otherwise = (
            f"it can be {', '.join(dict.fromkeys(known))}" if known else "see the transformers documentation"
        )
        raise UsageError(
            f"transformers has no model class '{name}'", _suggestion(name, everything, otherwise)
        )
    if not isinstance(config, cls.config_class):
        raise UsageError(
            f"{name} is built from {cls.config_class.__name__}, not from {type(config).__name__}",
            f"give the model type {getattr(cls.config_class, 'model_type', '')}, or another --class",
        )
    return cls


def _find_class(config: Any, name: str) -> Any:
    """The model class of this name, public or beside the config; None if there is none that can be built."""
    cls = getattr(transformers, name, None) if name else None
    if cls is None:
        cls = next((part for part in _classes_beside(config) if part.__name__ == name), None)
    return cls if _is_model(cls) else None


def _is_model(cls: Any) -> bool:
    return inspect.isclass(cls) and issubclass(cls, PreTrainedModel) and _config_class(cls) is not None


def _config_class(cls: Any) -> Any:
    return cls.config_class


def _classes_beside(config: Any) -> list[Any]:
    """Model classes in the config's own package that take exactly this config; the plainest name first."""
    package = type(config).__module__.rpartition(".")[0]
    if not package.startswith("transformers.models."):
        return []
    stem = type(config).__name__.removesuffix("Config")
    found = []
    for entry in pkgutil.iter_modules(importlib.import_module(package).__path__):
        if not entry.name.startswith("modeling_"):
            continue
        module = importlib.import_module(f"{package}.{entry.name}")
        members = [member for member in vars(module).values() if _is_model(member)]
        found += [cls for cls in members if _config_class(cls) is type(config) and _can_be_called(cls)]
    ranks = [f"{stem}Model", stem]
    return sorted(
        dict.fromkeys(found),
        key=lambda cls: (
            ranks.index(cls.__name__) if cls.__name__ in ranks else 2,
            not cls.__name__.startswith(stem),
        ),
    )


def _can_be_called(cls: Any) -> bool:
    """Whether it has a forward method; the classes that only hold what several models share have none."""
    return cls.forward is not torch.nn.Module.forward


def instantiate(cls: Any, config: Any, dtype: str = "", attn_implementation: str = "") -> Any:
    """A model of this class in evaluation mode, on the device that is active, its weights not initialised
    for use.

    ``dtype`` is the name of a floating torch dtype; empty: the config's own, or float32.  Raises
    UsageError for a dtype or an attention implementation that it cannot have, and whatever else the
    constructor raises.
    """
    wanted = _dtype(dtype) or _dtype(str(getattr(config, "dtype", None) or "float32"))
    if attn_implementation:
        config._attn_implementation = attn_implementation
    before = torch.get_default_dtype()
    torch.set_default_dtype(wanted)
    try:
        model = cls(config)
    except (ValueError, ImportError) as error:
        if attn_implementation and "ttention" in str(error):
            raise UsageError(
                f"{cls.__name__} cannot use the attention implementation '{attn_implementation}' "
                f"({_first_line(error)})",
                "try sdpa or eager",
            ) from error
        raise
    finally:
        torch.set_default_dtype(before)
    return model.eval()


def _dtype(name: str) -> torch.dtype | None:
    if not name:
        return None
    dtype = getattr(torch, name.removeprefix("torch."), None)
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise UsageError(f"no floating dtype '{name}'", "e.g. float32, bfloat16, float16")
    return dtype


def runs_as(cls: Any, options: BuildOptions) -> Callable[[Any], None]:
    """A check for `shrink`: builds a config as ``cls`` with real tensors and calls it; raises what that does.

    Sizes that do not agree often show only when a model is called.
    """

    def run(config: Any) -> None:
        model = instantiate(cls, config, options.dtype, options.attn_implementation)
        inputs = synthesise(model, model.config, batch_size=options.batch_size, seq_len=options.seq_len)
        with torch.no_grad():
            model(**inputs)

    return run
