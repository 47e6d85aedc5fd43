"""Putting a module back to what it was, so that every trial starts from the same state."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch


def seed_everything(seed: int = 0) -> None:
    """Seed Python's, torch's and (where it is loaded) NumPy's global generators."""
    random.seed(seed)
    torch.manual_seed(seed)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(seed)


class RandomState:
    """The state of the global random generators when it was made."""

    def __init__(self) -> None:
        self._python = random.getstate()
        self._torch = torch.get_rng_state()
        numpy = sys.modules.get("numpy")
        self._numpy: Any = numpy.random.get_state() if numpy else None

    def restore(self) -> None:
        random.setstate(self._python)
        torch.set_rng_state(self._torch)
        if self._numpy is not None:
            sys.modules["numpy"].random.set_state(self._numpy)


def _copy(value: Any) -> Any:
    """A copy of a built-in container (not of what it holds); any other value as it is."""
    return value.copy() if type(value) in (dict, list, set) else value


class ModuleState:
    """Attributes, buffers, gradients and modes of a module and its submodules when it was made.

    Attributes are restored by reference, built-in containers among them by their former content.
    Buffers of fake tensors hold no values and are restored by reference too.  A callable that is no
    module has no state that could be found.
    """

    def __init__(self, subject: Any) -> None:
        modules = list(subject.modules()) if isinstance(subject, torch.nn.Module) else []
        self._attributes = [(module, {k: _copy(v) for k, v in vars(module).items()}) for module in modules]
        self._buffers = [
            (buffer, buffer.detach().clone())
            for module in modules
            for buffer in module.buffers(recurse=False)
            if type(buffer) in (torch.Tensor, torch.nn.Buffer) and buffer.device.type != "meta"
        ]
        self._gradients = [
            (parameter, parameter.grad)
            for module in modules
            for parameter in module.parameters(recurse=False)
        ]

    def restore(self) -> None:
        for module, attributes in self._attributes:
            current = vars(module)
            for name in set(current) - set(attributes):
                del current[name]
            for name, value in attributes.items():
                current[name] = _copy(value)
        with torch.no_grad():
            for buffer, value in self._buffers:
                buffer.copy_(value)
        for parameter, gradient in self._gradients:
            parameter.grad = gradient


class GlobalState:
    """Plain values at the top level of the modules that these files are, when it was made.

    Numbers, strings, None, tensors and built-in containers are restored; functions, classes and other objects
    are left alone.
    """

    def __init__(self, files: Iterable[str]) -> None:
        wanted = set(files)
        self._values = [
            (vars(module), {name: _copy(value) for name, value in vars(module).items() if _is_plain(value)})
            for module in list(sys.modules.values())
            if isinstance(getattr(module, "__file__", None), str)
            and str(Path(str(module.__file__)).resolve()) in wanted
        ]

    def restore(self) -> None:
        for namespace, values in self._values:
            for name, value in values.items():
                if not name.startswith("__"):
                    namespace[name] = _copy(value)


def _is_plain(value: Any) -> bool:
    plain = (bool, int, float, str, type(None), dict, list, set, torch.Tensor)
    return isinstance(value, plain)
