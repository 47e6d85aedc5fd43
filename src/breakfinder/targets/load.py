"""Python code that a target names: import it, and make the callable."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from breakfinder.errors import UsageError


def load(location: str) -> tuple[ModuleType, Any]:
    """The module and the attribute of ``path.py:attr`` or ``package.module:attr``.

    Raises UsageError if there is no such module or attribute; what the module's own code raises while it
    is imported is passed on.
    """
    place, _, attribute = location.rpartition(":")
    module = _load_file(Path(place)) if place.endswith(".py") or Path(place).is_file() else _import(place)
    value: Any = module
    for name in attribute.split("."):
        if not hasattr(value, name):
            close = difflib.get_close_matches(name, _public_names(value), 3)
            hint = (
                f"did you mean {' or '.join(close)}?"
                if close
                else f"it has: {', '.join(_public_names(value)[:8])}"
            )
            raise UsageError(f"{place} has no attribute '{name}'", hint)
        value = getattr(value, name)
    return module, value


def _public_names(value: Any) -> list[str]:
    return [name for name in vars(value) if not name.startswith("_")] if hasattr(value, "__dict__") else []


def _load_file(path: Path) -> ModuleType:
    """Import a file as Python would: as part of its package if it is in one, else by itself."""
    path = path.resolve()
    root, parts = path.parent, [path.stem]
    while (root / "__init__.py").is_file():
        parts.insert(0, root.name)
        root = root.parent
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    name = ".".join(parts)
    if len(parts) > 1:
        return importlib.import_module(name)
    if name in sys.modules and not _is_module_of(name, path):
        # A file may have the name of a module that is loaded already.
        name = f"{name}_{abs(hash(str(path))):x}"
    if _is_module_of(name, path):
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be imported", "give a .py file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _is_module_of(name: str, path: Path) -> bool:
    return getattr(sys.modules.get(name), "__file__", None) == str(path)


def _import(name: str) -> ModuleType:
    cwd = str(Path.cwd())
    if cwd not in sys.path:
        sys.path.insert(0, cwd)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # A module that the target itself imports and that is missing is the target's own fault.
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            raise UsageError(
                f"no module '{error.name}'", "run from the folder that holds it, or install its package"
            ) from error
        raise


class TooLargeError(Exception):
    """Raised while a model is being built whose parameters pass the limit."""


def check_callable(value: Any, location: str, kwargs: dict[str, Any]) -> None:
    """Raises UsageError if a target's value cannot be called, or its class not constructed with ``kwargs``."""
    if inspect.isclass(value):
        if not issubclass(value, torch.nn.Module) and "__call__" not in dir(value):
            raise UsageError(
                f"instances of {location} are not callable", "name a module, a function or a callable"
            )
        check_arguments(value, kwargs)
    elif not callable(value):
        raise UsageError(
            f"{location} is of type {type(value).__name__}, not callable",
            "name a class, instance or function",
        )
    elif kwargs:
        raise UsageError(f"{location} is no class, so --model-kwargs has no use", "leave it out")


def construct(value: Any, kwargs: dict[str, Any], limit: int | None) -> Any:
    """The callable that a checked value stands for: a class is called with ``kwargs``.

    Raises TooLargeError when the parameters pass ``limit`` bytes.
    """
    if not inspect.isclass(value):
        return value
    if limit is None or not issubclass(value, torch.nn.Module):
        return value(**kwargs)
    seen = 0

    def count(module: Any, name: str, parameter: Any) -> None:
        nonlocal seen
        if parameter is not None:
            seen += parameter.numel() * parameter.element_size()
            if seen > limit:
                raise TooLargeError

    hook = torch.nn.modules.module.register_module_parameter_registration_hook(count)
    try:
        return value(**kwargs)
    finally:
        hook.remove()


def check_arguments(cls: type, kwargs: dict[str, Any]) -> None:
    """Raises UsageError naming what a constructor needs and was not given, or does not take."""
    try:
        signature = inspect.signature(cls)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(**kwargs)
    except TypeError as error:
        needed = [
            name
            for name, parameter in signature.parameters.items()
            if parameter.default is parameter.empty
            and parameter.kind
            in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY, parameter.POSITIONAL_ONLY)
        ]
        example = ", ".join(f'"{name}": …' for name in needed)
        raise UsageError(
            f"{cls.__name__}{signature} cannot be called with {kwargs or 'no arguments'}: {error}",
            f"give --model-kwargs '{{{example}}}'" if needed else "check --model-kwargs",
        ) from error
