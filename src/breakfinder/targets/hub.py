"""Configs, weights and code of models on the hub or in a local folder.

All requests go through huggingface_hub and transformers, so that HF_HUB_OFFLINE, HF_HOME, HF_ENDPOINT, tokens
and proxies mean here what they mean there.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import huggingface_hub
import transformers
from huggingface_hub import constants, errors
from transformers.dynamic_module_utils import get_class_from_dynamic_module

from breakfinder.errors import UsageError

_COMMIT = re.compile(r"[0-9a-f]{40}")
_LOGIN = "log in with `hf auth login` or set HF_TOKEN"


def load_config(name: str, revision: str = "", trust_remote_code: bool = False) -> Any:
    """The config of a hub id or of a local folder; nothing but its ``config.json`` is read.

    Code that comes with the model is run only with ``trust_remote_code``, and from the hub only at a
    ``revision`` that is a full commit hash.  Raises UsageError for all that can be wrong with it.
    """
    folder = Path(name)
    local = folder.is_dir()
    if local and not (folder / "config.json").is_file():
        raise UsageError(f"the folder {name} has no config.json", "give a folder that save_pretrained wrote")
    path = folder / "config.json" if local else _download_config(name, revision)
    data = _parsed(path, name)
    if _needs_code(name, data, trust_remote_code):
        _check_code(name, "" if local else revision, path, data, trust_remote_code)
        pinned = {} if local else {"revision": revision, "code_revision": revision}
        with _code_errors(name):
            return transformers.AutoConfig.from_pretrained(name, trust_remote_code=True, **pinned)
    try:
        config = transformers.AutoConfig.from_pretrained(str(path.parent), trust_remote_code=False)
    except Exception as error:
        raise UsageError(
            f"the config.json of {name} does not fit its type {data['model_type']}: {_first_line(error)}",
            f"check its values; it may need another release than transformers {transformers.__version__}",
        ) from error
    config.name_or_path = name
    return config


def remote_class(name: str, revision: str, config: Any, auto_class: str = "") -> type | None:
    """The model class that the model's own code maps to ``auto_class`` (``AutoModelForCausalLM``, ...).

    ``config`` is what `load_config` gave; None if it was not loaded from such code, or maps no model class.
    Without ``auto_class``: that of the task for which it maps one, or its bare model.
    """
    if type(config).__module__.partition(".")[0] != "transformers_modules":
        return None
    mapped = {key: value for key, value in (config.auto_map or {}).items() if key.startswith("AutoModel")}
    choices = [auto_class] if auto_class else sorted(mapped, key=lambda key: (key == "AutoModel", key))
    reference = next((mapped[key] for key in choices if key in mapped), None)
    if reference is None:
        return None
    # Transformers puts the name of the repository in front once the config is loaded.
    owner, _, reference = reference.rpartition("--")
    if owner not in ("", name):
        raise _foreign_code(name, owner)
    pinned = {"revision": revision, "code_revision": revision} if revision and not Path(name).is_dir() else {}
    with _code_errors(name):
        return get_class_from_dynamic_module(reference, name, **pinned)  # type: ignore[no-any-return]


def load_weights(
    cls: Any, name: str, revision: str, config: Any, dtype: str = "", attn_implementation: str = ""
) -> Any:
    """An instance of ``cls`` with the weights of a hub id or folder, read from safetensors files alone.

    ``dtype`` is the checkpoint's own unless given.  Raises UsageError if there are none or they do not fit.
    """
    # Else Transformers asks a service of the hub to convert other formats, in public.
    os.environ["DISABLE_SAFETENSORS_CONVERSION"] = "1"
    options: dict[str, Any] = {"dtype": dtype or "auto"}
    if attn_implementation:
        options["attn_implementation"] = attn_implementation
    if revision and not Path(name).is_dir():
        options["revision"] = revision
    try:
        return cls.from_pretrained(name, config=config, use_safetensors=True, **options)
    except Exception as error:
        raise _weights_error(name, revision, error) from error


def _download_config(name: str, revision: str) -> Path:
    try:
        return Path(huggingface_hub.hf_hub_download(name, "config.json", revision=revision or None))
    except Exception as error:
        raise _download_error(name, revision, "config.json", error) from error


def _download_error(name: str, revision: str, file: str, error: BaseException) -> UsageError:
    """What went wrong on the way to a file of a repository, and what to do about it."""
    endpoint = constants.ENDPOINT
    match error:
        case errors.HFValidationError():
            return UsageError(
                f"'{name}' is no hub id", "a hub id is org/name; a local folder is given as ./folder"
            )
        case errors.GatedRepoError():
            return UsageError(
                f"{name} is gated, and access to it has not been granted to you",
                f"ask for access at {endpoint}/{name}, then {_LOGIN}",
            )
        case errors.RepositoryNotFoundError():
            return UsageError(
                f"no repository {name} at {endpoint}",
                f"check the name (org/name); if it is private, {_LOGIN}",
            )
        case errors.RevisionNotFoundError():
            return UsageError(
                f"{name} has no revision {revision}",
                "give a branch, a tag or a full commit hash, or leave --revision out",
            )
        case errors.RemoteEntryNotFoundError():
            return UsageError(
                f"{name} has no {file}" + (f" at revision {revision}" if revision else ""),
                "give a repository of a Transformers model"
                if file == "config.json"
                else "choose another repository",
            )
        case errors.LocalEntryNotFoundError() | errors.OfflineModeIsEnabled():
            return _unreachable(name, file)
        case errors.HfHubHTTPError():
            return UsageError(
                f"{endpoint} refused {file} of {name}: {_first_line(error)}",
                f"try again later; if it is private, {_LOGIN}",
            )
    return UsageError(
        f"{file} of {name} could not be fetched from {endpoint}: {_first_line(error)}",
        "check the network, HF_ENDPOINT, proxies and the space in HF_HOME",
    )


def _unreachable(name: str, file: str) -> UsageError:
    if constants.is_offline_mode():
        return UsageError(
            f"HF_HUB_OFFLINE is set and {file} of {name} is not in the cache ({constants.HF_HUB_CACHE})",
            f"unset HF_HUB_OFFLINE, or run `hf download {name} {file}` while online",
        )
    return UsageError(
        f"{constants.ENDPOINT} cannot be reached, and {file} of {name} is not in the cache",
        f"check the network, HF_ENDPOINT and proxies, or put it into the cache ({constants.HF_HUB_CACHE})",
    )


def _parsed(path: Path, name: str) -> dict[str, Any]:
    """The object in a config.json, which has a ``model_type``."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"the config.json of {name} is not JSON: {_first_line(error)}", "repair the file"
        ) from error
    if not isinstance(data, dict):
        raise UsageError(f"the config.json of {name} is not a JSON object", "give a Transformers model")
    if not isinstance(data.get("model_type"), str):
        raise UsageError(
            f"the config.json of {name} has no model_type", 'add one, e.g. "model_type": "llama"'
        )
    return data


def _needs_code(name: str, data: dict[str, Any], trusted: bool) -> bool:
    """Whether the model's own code makes its config: where Transformers has none, or where it is allowed."""
    known = data["model_type"] in transformers.CONFIG_MAPPING
    auto_map = data.get("auto_map")
    if isinstance(auto_map, dict) and isinstance(auto_map.get("AutoConfig"), str):
        return trusted or not known
    if not known:
        raise UsageError(
            f"transformers {transformers.__version__} knows no model type '{data['model_type']}' ({name})",
            "a newer release may: pip install -U transformers",
        )
    return False


def _check_code(name: str, revision: str, path: Path, data: dict[str, Any], trusted: bool) -> None:
    """Raises UsageError unless the user has said that this very code may run."""
    local = Path(name).is_dir()
    need = f"{name} needs Python code of its own to be run"
    if local and not trusted:
        raise UsageError(f"{need}, which is not done unasked", "read the code, then add --trust-remote-code")
    if not local and not (trusted and _COMMIT.fullmatch(revision)):
        at = f"--revision {path.parent.name}" if _COMMIT.fullmatch(path.parent.name) else "--revision COMMIT"
        raise UsageError(
            f"{need}; that takes both --trust-remote-code and a pinned --revision (a full commit hash)",
            f"read the code at that commit, then add --trust-remote-code {at}",
        )
    if not local and path.parent.name != revision:
        raise UsageError(
            f"the hub gave commit {path.parent.name} of {name} for {revision}", "give a commit hash"
        )
    for reference in _references(data["auto_map"]):
        owner, separator, _ = reference.rpartition("--")
        if separator and owner != name:
            raise _foreign_code(name, owner)


def _references(auto_map: dict[str, Any]) -> Iterator[str]:
    for value in auto_map.values():
        for reference in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(reference, str):
                yield reference


def _foreign_code(name: str, owner: str) -> UsageError:
    return UsageError(
        f"{name} needs code from another repository, {owner}, which its revision does not pin",
        "download it, put the code beside its config.json, and give the folder",
    )


@contextmanager
def _code_errors(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise UsageError(
            f"the code of {name} could not be loaded: {type(error).__name__}: {_first_line(error)}",
            "install what it imports, and check that it fits the installed transformers",
        ) from error


def _weights_error(name: str, revision: str, error: BaseException) -> UsageError:
    behind: BaseException | None = error
    while behind is not None:
        if isinstance(
            behind, (errors.HfHubHTTPError, errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled)
        ):
            if not isinstance(behind, errors.RemoteEntryNotFoundError):
                return _download_error(name, revision, "model.safetensors", behind)
            break
        behind = behind.__cause__ or behind.__context__
    if isinstance(error, OSError) and "safetensors" in str(error):
        return UsageError(
            f"{name} has no safetensors weights, and no other format is read, since it could run code",
            "convert them with save_pretrained, or leave --weights real out",
        )
    return UsageError(
        f"the weights of {name} could not be loaded: {type(error).__name__}: {_first_line(error)}",
        "check --class and --task, or leave --weights real out",
    )


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
