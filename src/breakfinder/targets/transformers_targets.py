"""Targets that are Transformers models: a model type, a hub id, or a local folder."""

from __future__ import annotations

import contextlib
import copy
import difflib
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

from breakfinder.errors import UsageError
from breakfinder.options import BuildOptions
from breakfinder.report.model import Subject as SubjectFacts
from breakfinder.report.model import Target
from breakfinder.targets.attempt import Attempt
from breakfinder.targets.subject import Subject


def attempts(target: Target, options: BuildOptions) -> Iterator[Attempt]:
    """Without weights first with one of each kind of layer, then with all layers, then as a small real model.

    A later attempt is for a model that cannot run as the one before built it; what the user asked for by
    ``--weights``, ``--depth`` or ``--shrink`` is not departed from.
    """
    if importlib.util.find_spec("transformers") is None:
        raise UsageError("transformers is not installed", "pip install 'breakfinder[transformers]'")
    builder = _Builder(target, options)

    def small() -> Subject:
        return builder.random(shrink=True)

    if options.weights in ("random", "real"):
        yield Attempt(builder.random if options.weights == "random" else builder.real)
        return
    yield Attempt(lambda: builder.fake(options.depth), deeper=builder.deeper, with_values=small)
    if options.depth == "auto" and builder.reduced:
        yield Attempt(
            lambda: builder.fake("auto", rebuilt=True),
            "its widths depend on the number of its layers, so it was built anew with those that were kept",
            lambda error: not _needs_values(error),
            with_values=small,
        )
        yield Attempt(
            lambda: builder.fake("full"),
            "it cannot run with only one of each kind of its layers, so all of them were traced",
            lambda error: not _needs_values(error),
            with_values=small,
        )
    if options.weights is None:
        yield Attempt(
            small,
            "it cannot run with fake tensors (its eager code needs real values), so a small model of the same kind "
            "with random weights was traced",
        )


def _needs_values(error: BaseException) -> bool:
    from breakfinder.targets.fake import is_data_dependent_failure

    return is_data_dependent_failure(error) or is_data_dependent_failure(getattr(error, "cause", None))


class CannotRebuildError(Exception):
    """A model that was reduced cannot be built anew from its config."""


class _Builder:
    """Builds the subject of one target in one of several ways."""

    def __init__(self, target: Target, options: BuildOptions) -> None:
        from breakfinder.targets import transformers_models

        self.target = target
        self.options = options
        self.reduced = False
        self.config = self._load_config()
        self.cls = self._remote_class() or transformers_models.choose_class(
            self.config, options.task, options.class_name
        )

    def _load_config(self) -> Any:
        from breakfinder.targets import hub, transformers_models

        target = self.target
        if target.kind != "model_type":
            return hub.load_config(target.location, target.revision, target.trust_remote_code)
        types = transformers_models.model_types()
        if target.location in types:
            return transformers_models.default_config(target.location)
        # A bare name may be one of the hub's old repositories without an owner.
        try:
            return hub.load_config(target.location, target.revision, target.trust_remote_code)
        except UsageError as error:
            close = difflib.get_close_matches(target.location, types, 3)
            hint = f"did you mean {' or '.join(close)}?" if close else error.hint
            raise UsageError(
                f"'{target.location}' is neither a model type nor a repository that can be read ({error.message})",
                hint,
            ) from error

    def _remote_class(self) -> Any:
        """The class in the repository's own code, where the config came from such code."""
        from breakfinder.targets import hub

        if self.target.kind == "model_type":
            return None
        return hub.remote_class(
            self.target.location, self.target.revision, self.config, self.options.class_name
        )

    def _instantiate(self, config: Any) -> Any:
        from breakfinder.targets import transformers_models

        return transformers_models.instantiate(
            self.cls, config, self.options.dtype, self.options.attn_implementation
        )

    def fake(self, depth: str, each: int = 2, rebuilt: bool = False) -> Subject:
        """Full width, no storage, layers as ``depth`` says.

        ``auto`` keeps ``each`` layers of every kind.  ``rebuilt``: made anew from the config of the layers
        that are left, for widths that depend on their number.
        """
        import torch

        from breakfinder.targets.depth import rebuild, reduce
        from breakfinder.targets.fake import make_fake

        if self.options.device != "cpu":
            raise UsageError(f"--device {self.options.device} needs real tensors", "add --weights random")
        with torch.device("meta"):
            model = self._instantiate(copy.deepcopy(self.config))
        facts = self._facts(model, "none", [])
        report = reduce(model, model.config, depth, each)
        self.reduced = report.traced < report.total
        if rebuilt:
            with torch.device("meta"):
                model = rebuild(model, self._instantiate)
            if model is None:
                raise CannotRebuildError("the config of the layers that are left makes other layers")
        mode = make_fake(model)
        facts = facts.model_copy(update={"layers_traced": report.traced, "layers_total": report.total})
        return self._subject(model, facts, lambda: mode)

    def deeper(self) -> Subject | None:
        """With more layers of every kind than Dynamo compiles a frame for; None if no layers were left out."""
        from breakfinder.tracing import dynamo

        if not self.reduced or self.options.depth != "auto":
            return None
        return self.fake("auto", each=dynamo.recompile_limit() + 2)

    def random(self, shrink: bool | None = None) -> Subject:
        """Real tensors with random values."""
        from breakfinder.targets import transformers_models
        from breakfinder.targets.depth import reduce
        from breakfinder.targets.shrink import shrink as shrink_config

        config, notes = copy.deepcopy(self.config), []
        if self.options.shrink if shrink is None else shrink:
            config, changes = shrink_config(config, transformers_models.runs_as(self.cls, self.options))
            notes = ["made small: " + ", ".join(changes)] if changes else []
        model = self._instantiate(config)
        facts = self._facts(model, "random", notes)
        report = reduce(model, model.config, self.options.depth)
        facts = facts.model_copy(update={"layers_traced": report.traced, "layers_total": report.total})
        return self._subject(model.to(self.options.device), facts, contextlib.nullcontext)

    def real(self) -> Subject:
        """The weights of the checkpoint, from safetensors alone."""
        from breakfinder.targets import hub

        if self.target.kind == "model_type":
            raise UsageError(
                f"the model type {self.target.location} has no weights",
                "give a hub id or a folder, or --weights random",
            )
        model = hub.load_weights(
            self.cls,
            self.target.location,
            self.target.revision,
            self.config,
            self.options.dtype,
            self.options.attn_implementation,
        ).eval()
        facts = self._facts(model, "real", [])
        return self._subject(model.to(self.options.device), facts, contextlib.nullcontext)

    def _facts(self, model: Any, weights: Any, notes: list[str]) -> SubjectFacts:
        """What the report says of the model, as it is before layers are left out."""
        parameters = list(model.parameters())
        return SubjectFacts(
            name=type(model).__qualname__,
            model_type=getattr(self.config, "model_type", ""),
            task=self.options.task,
            parameters=sum(parameter.numel() for parameter in parameters),
            parameter_bytes=sum(parameter.numel() * parameter.element_size() for parameter in parameters),
            weights=weights,
            dtype=str(parameters[0].dtype).removeprefix("torch.") if parameters else "",
            attn_implementation=str(getattr(model.config, "_attn_implementation", "") or ""),
            notes=notes,
        )

    def _subject(self, model: Any, facts: SubjectFacts, run_context: Callable[[], Any]) -> Subject:
        from breakfinder.targets import transformers_models

        scenarios = transformers_models.scenarios(model, model.config, self.options)
        return Subject(model, facts, scenarios, run_context)
