"""Targets in Python code: a class, instance or function in a file or an importable module."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from breakfinder.errors import UsageError
from breakfinder.options import BuildOptions
from breakfinder.report.model import Subject as SubjectFacts
from breakfinder.report.model import Target
from breakfinder.targets.subject import Call, Calls, Scenario

_INPUTS_HINT = (
    "define example_inputs() beside it (a tuple, a dict, or (args, kwargs)), "
    "or give --inputs file.py:function"
)
FAKE_ABOVE_BYTES = 1 << 30
"""A class whose parameters take more than this is built without storage unless asked otherwise."""


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
            hint = f"did you mean {' or '.join(close)}?" if close else f"it has: {', '.join(_public_names(value)[:8])}"
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
    if name in sys.modules:
        # A file may have the name of a module that is loaded already.
        name = f"{name}_{abs(hash(str(path))):x}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be imported", "give a .py file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


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


class _TooLargeError(Exception):
    """Raised while a model is being built whose parameters pass the limit."""


def construct(value: Any, location: str, kwargs: dict[str, Any], limit: int | None) -> Any:
    """The callable that a target names: a class is called with ``kwargs``, anything else is taken as it is.

    Raises _TooLargeError when its parameters pass ``limit`` bytes, UsageError when the class cannot be
    called with ``kwargs`` or the value is not callable.
    """
    if not inspect.isclass(value):
        if kwargs:
            raise UsageError(f"{location} is no class, so --model-kwargs has no use", "leave it out")
        if not callable(value):
            raise UsageError(f"{location} is {type(value).__name__}, not callable", "name a class, instance or function")
        return value
    check_arguments(value, kwargs)
    if limit is None or not issubclass(value, torch.nn.Module):
        return value(**kwargs)
    seen = 0

    def count(module: Any, name: str, parameter: Any) -> None:
        nonlocal seen
        if parameter is not None:
            seen += parameter.numel() * parameter.element_size()
            if seen > limit:
                raise _TooLargeError

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
            and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY, parameter.POSITIONAL_ONLY)
        ]
        example = ", ".join(f'"{name}": …' for name in needed)
        raise UsageError(
            f"{cls.__name__}{signature} cannot be called with {kwargs or 'no arguments'}: {error}",
            f"give --model-kwargs '{{{example}}}'" if needed else "check --model-kwargs",
        ) from error


def is_too_large(error: Exception) -> bool:
    return isinstance(error, _TooLargeError)


def inputs_of(module: ModuleType, options: BuildOptions) -> tuple[Callable[[], Call], Callable[[], list[Call]] | None]:
    """What makes the first call's arguments, and what makes those of further calls if the user gave any."""
    if options.inputs:
        source_module, source = load(options.inputs)
        more = None
    elif hasattr(module, "example_inputs"):
        source_module, source = module, module.example_inputs
        more = getattr(module, "more_inputs", None)
    else:
        raise UsageError(f"{module.__name__} has no example_inputs", _INPUTS_HINT)

    def first() -> Call:
        return as_call(_fresh(source() if callable(source) else source))

    if more is None:
        return first, None
    return first, lambda: [as_call(_fresh(item)) for item in (more() if callable(more) else more)]


def as_call(value: Any) -> Call:
    """Example inputs as a call: a tuple or list of arguments, a dict of keyword arguments, or both."""
    if isinstance(value, dict):
        return Call(kwargs=value)
    if isinstance(value, (tuple, list)):
        if len(value) == 2 and isinstance(value[0], (tuple, list)) and isinstance(value[1], dict):
            return Call(tuple(value[0]), value[1])
        return Call(tuple(value))
    if isinstance(value, torch.Tensor):
        return Call((value,))
    raise UsageError(f"example inputs are a {type(value).__name__}", "give a tuple, a dict, or (args, kwargs)")


def map_tensors(value: Any, function: Callable[[torch.Tensor], Any]) -> Any:
    """``value`` with ``function`` applied to every tensor in its built-in containers."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, dict):
        return type(value)((key, map_tensors(item, function)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        items = [map_tensors(item, function) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def map_call(call: Call, function: Callable[[torch.Tensor], Any]) -> Call:
    return Call(map_tensors(call.args, function), map_tensors(call.kwargs, function))


def _fresh(value: Any) -> Any:
    """A copy whose tensors share nothing with the original, so that no call sees what another left."""
    return map_tensors(value, lambda tensor: tensor.detach().clone().requires_grad_(tensor.requires_grad))


def other_sizes(call: Call) -> Call | None:
    """The same call with one more row in its batch, or None if its tensors share no first dimension."""
    sizes: set[int] = set()

    def note(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dim():
            sizes.add(tensor.shape[0])
        return tensor

    map_call(call, note)
    if len(sizes) != 1 or 0 in sizes:
        return None
    (batch,) = sizes

    def grow(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dim() == 0:
            return tensor
        return torch.cat([tensor, tensor[:1]]).detach().requires_grad_(tensor.requires_grad)

    del batch
    return map_call(call, grow)


def loss_of(output: Any) -> torch.Tensor | None:
    """A scalar to go backward from: the output's ``loss`` if it has one, else the sum of what has a gradient."""
    loss = getattr(output, "loss", None)
    if isinstance(loss, torch.Tensor):
        return loss
    terms: list[torch.Tensor] = []

    def note(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.requires_grad and (tensor.is_floating_point() or tensor.is_complex()):
            terms.append(tensor.abs().sum() if tensor.is_complex() else tensor.sum())
        return tensor

    map_tensors(dict(output) if hasattr(output, "keys") else output, note)
    return torch.stack([term.reshape(()) for term in terms]).sum() if terms else None


def scenarios(
    subject: Callable[..., Any],
    calls: Callable[[], list[Call]],
    options: BuildOptions,
) -> list[Scenario]:
    """The scenarios that were asked for, over one list of calls.  Raises UsageError for one that does not fit."""
    wanted = ("forward", "train") if "all" in options.scenarios else options.scenarios

    def forward() -> Calls:
        for call in calls():
            yield call

    def train() -> Calls:
        for call in calls():
            output = yield call
            loss = loss_of(output)
            if loss is not None:
                loss.backward()

    made = []
    for name in dict.fromkeys(wanted):
        if name == "forward":
            made.append(Scenario("forward", forward, options.training, not options.no_grad))
        elif name == "train":
            made.append(Scenario("train", train, training=True, backends=("eager", "aot_eager")))
        else:
            raise UsageError(
                f"the scenario '{name}' does not fit a Python target", "choose forward, train or all"
            )
    return made


def facts_of(subject: Any, weights: str, notes: list[str]) -> SubjectFacts:
    parameters = list(subject.parameters()) if isinstance(subject, torch.nn.Module) else []
    named = type(subject) if isinstance(subject, torch.nn.Module) else subject
    return SubjectFacts(
        name=getattr(named, "__qualname__", type(subject).__qualname__),
        parameters=sum(parameter.numel() for parameter in parameters),
        parameter_bytes=sum(parameter.numel() * parameter.element_size() for parameter in parameters),
        weights=weights,
        dtype=str(parameters[0].dtype).removeprefix("torch.") if parameters else "",
        notes=notes,
    )


def place_of(target: Target) -> str:
    """``file.py:Name`` or ``package.module:name``, as the user would write it."""
    return target.location
