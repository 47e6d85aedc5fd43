"""What one run of the model did, and how two runs differ."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

from breakfinder.targets.example_inputs import map_call
from breakfinder.targets.subject import Call
from breakfinder.tracing.state import RandomState, seed_everything

_TOLERANCE = {
    torch.float16: (2e-3, 1e-4),
    torch.bfloat16: (2e-2, 1e-3),
    torch.float32: (1e-4, 1e-5),
    torch.float64: (1e-9, 1e-11),
    torch.complex64: (1e-4, 1e-5),
    torch.complex128: (1e-9, 1e-11),
}
"""Relative and absolute, by dtype: what another order of the same sums may change."""
_SEED = 1234
_WRAPPERS = ("TorchRuntimeError", "InternalTorchDynamoError", "BackendCompilerFailed", "UserError")
"""What torch raises in place of the model's own exception while it traces."""


@dataclass
class Outcome:
    """One run: what it gave, and what it left behind."""

    output: Any = None
    raised: str = ""
    """The type of the exception that it raised, empty if none."""
    message: str = ""
    gradients: dict[str, torch.Tensor | None] = field(default_factory=dict)
    """By the name of the parameter or the number of the input."""
    inputs: list[torch.Tensor] = field(default_factory=list)
    """The input tensors as the run left them."""
    aliases: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of input, parameter and output tensors that share storage with an output."""
    random: tuple[Any, ...] = ()
    state: dict[str, Any] = field(default_factory=dict)
    """Buffers and plain attributes of the modules after the run."""


def run(
    function: Callable[..., Any],
    call: Call,
    grad: bool,
    module: torch.nn.Module | None,
    backward: bool = True,
) -> Outcome:
    """Run ``function`` once, from a fixed seed, and go backward where it has a gradient."""
    outcome = Outcome()
    before = RandomState()
    seed_everything(_SEED)
    parameters = dict(module.named_parameters()) if module is not None else {}
    for parameter in parameters.values():
        parameter.grad = None
    tensors = list(_tensors(call))
    try:
        with torch.set_grad_enabled(grad):
            output = function(*call.args, **call.kwargs)
            if isinstance(output, Iterator):
                output = list(output)  # what its code does happens while it is consumed
        outcome.output = _detached(output)
        outcome.aliases = _aliases(output, tensors, parameters)
        outcome.random = _random_state()
        outcome.state = _state(module)
        if backward and grad:
            _backward(output)
    except Exception as error:
        outcome.raised, outcome.message = type(error).__name__, str(error)[:200]
    else:
        leaves = {f"input {number}": tensor for number, tensor in enumerate(tensors)} | parameters
        outcome.gradients = {
            name: None if leaf.grad is None else leaf.grad.detach().clone()
            for name, leaf in leaves.items()
            if leaf.is_leaf and leaf.requires_grad
        }
        outcome.inputs = [tensor.detach().clone() for tensor in tensors]
    finally:
        before.restore()
    return outcome


def wanting_gradients(call: Call) -> Call:
    """The same call with a gradient wanted for every floating-point input."""
    return map_call(
        call, lambda t: t.detach().clone().requires_grad_(t.is_floating_point() or t.is_complex())
    )


def _tensors(call: Call) -> Iterator[torch.Tensor]:
    found: list[torch.Tensor] = []

    def note(tensor: torch.Tensor) -> torch.Tensor:
        found.append(tensor)
        return tensor

    map_call(call, note)
    return iter(found)


def _detached(value: Any) -> Any:
    return pytree.tree_map(lambda leaf: _Copy(leaf) if isinstance(leaf, torch.Tensor) else leaf, value)


class _Copy:
    """A tensor as it was: later changes in place do not reach it."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.requires_grad = tensor.requires_grad
        self.stride = tensor.stride() if tensor.layout == torch.strided else ()
        self.layout = tensor.layout
        self.type = type(tensor)
        self.value = tensor.detach().clone()


def _aliases(
    output: Any, inputs: list[torch.Tensor], parameters: dict[str, torch.Tensor]
) -> list[tuple[str, str]]:
    def storage(tensor: torch.Tensor) -> int:
        if tensor.layout != torch.strided or not tensor.numel():
            return 0
        return int(tensor.untyped_storage().data_ptr())

    known = {f"input {number}": storage(tensor) for number, tensor in enumerate(inputs)}
    known |= {name: storage(tensor) for name, tensor in parameters.items()}
    pairs = []
    for number, leaf in enumerate(pytree.tree_leaves(output)):
        if isinstance(leaf, torch.Tensor) and storage(leaf):
            pairs += [(f"output {number}", name) for name, at in known.items() if at == storage(leaf)]
            known[f"output {number}"] = storage(leaf)
    return pairs


def _backward(output: Any) -> None:
    """Go backward from all outputs, each element with a weight of its own."""
    terms = []
    for leaf in pytree.tree_leaves(output):
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad and leaf.layout == torch.strided:
            weights = torch.linspace(0.5, 1.5, max(leaf.numel(), 1), dtype=torch.float64)[: leaf.numel()]
            term = leaf.abs() if leaf.is_complex() else leaf
            terms.append((term * weights.reshape(leaf.shape).to(term.dtype)).sum())
    if terms:
        torch.stack([term.reshape(()).double() for term in terms]).sum().backward()


def _random_state() -> tuple[Any, ...]:
    return random.getstate(), torch.get_rng_state().clone()


def _state(module: torch.nn.Module | None) -> dict[str, Any]:
    state: dict[str, Any] = {}
    if module is None:
        return state
    for prefix, inner in module.named_modules():
        for name, value in inner.named_buffers(recurse=False):
            state[f"{prefix}.{name}".lstrip(".")] = value.detach().clone()
        for name, value in vars(inner).items():
            if (name.startswith("_") and name in torch.nn.Module().__dict__) or name == "training":
                continue
            if isinstance(value, torch.Tensor):
                state[f"{prefix}.{name}".lstrip(".")] = value.detach().clone()
            elif isinstance(value, bool | int | float | str | list | tuple | dict | set):
                state[f"{prefix}.{name}".lstrip(".")] = _frozen(value)
    return state


def _frozen(value: Any) -> Any:
    """A copy of plain data with its tensors copied."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_frozen(item) for item in value]
    return value if isinstance(value, bool | int | float | str) else type(value).__name__


def differences(old: Outcome, new: Outcome, slack: float = 1.0) -> dict[str, str]:
    """How two runs differ: by aspect, a few words each; empty if they do not.

    ``slack`` multiplies the tolerances.  Aspects: ``raises``, ``outputs``, ``gradients``, ``inputs``,
    ``aliases``, ``random``, ``state``.
    """
    if old.raised or new.raised:
        if old.raised == new.raised or (old.raised and new.raised in _WRAPPERS):
            return {}
        said = f"{new.raised}: {new.message}" if new.raised else "nothing"
        return {"raises": f"raised {old.raised or 'nothing'}, now {said}"}
    found = {
        "outputs": _difference(old.output, new.output, slack),
        "gradients": _named(old.gradients, new.gradients, slack),
        "inputs": _difference(old.inputs, new.inputs, slack),
        "aliases": ""
        if old.aliases == new.aliases
        else f"{old.aliases or 'none'}, now {new.aliases or 'none'}",
        "random": "" if _equal_random(old.random, new.random) else "random numbers were drawn otherwise",
        "state": _named(*_alike_only(old.state, new.state), slack),
    }
    return {aspect: words for aspect, words in found.items() if words}


def changed_state(old: Outcome, new: Outcome) -> list[str]:
    """Attributes that the old code leaves on the module and the new does not, or as another kind of value."""
    return sorted(
        name
        for name, value in old.state.items()
        if name not in new.state or not _alike(value, new.state[name])
    )


def _alike(old: Any, new: Any) -> bool:
    """Whether two values of an attribute must be equal: both plain, a number and a tensor with one element
    included.  Containers hold what only the code around them can tell the use of."""
    plain = (bool, int, float, str)
    if isinstance(old, torch.Tensor) and isinstance(new, torch.Tensor):
        return True
    if isinstance(old, torch.Tensor) or isinstance(new, torch.Tensor):
        return all(
            isinstance(item, int | float) or (isinstance(item, torch.Tensor) and item.numel() == 1)
            for item in (old, new)
        )
    if isinstance(old, plain) or isinstance(new, plain):
        return isinstance(old, plain) and isinstance(new, plain)
    return not _difference(old, new, 1.0)


def _alike_only(old: dict[str, Any], new: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    names = [name for name in old if name in new and _alike(old[name], new[name])]
    return {name: old[name] for name in names}, {name: new[name] for name in names}


def _named(old: dict[str, Any], new: dict[str, Any], slack: float) -> str:
    for name in old | new:
        if words := _difference(old.get(name), new.get(name), slack):
            return f"{name}: {words}"
    return ""


def _difference(old: Any, new: Any, slack: float) -> str:
    leaves, spec = pytree.tree_flatten(old)
    others, other_spec = pytree.tree_flatten(new)
    if spec != other_spec:
        return "another structure"
    return next(filter(None, (_of_leaves(a, b, slack) for a, b in zip(leaves, others, strict=True))), "")


def _of_leaves(old: Any, new: Any, slack: float) -> str:
    if isinstance(old, _Copy) and isinstance(new, _Copy):
        if old.requires_grad != new.requires_grad:
            return f"requires_grad {old.requires_grad}, now {new.requires_grad}"
        if old.type is not new.type:
            return f"{old.type.__name__}, now {new.type.__name__}"
        if old.stride != new.stride and old.value.numel() > 1:
            return f"strides {list(old.stride)}, now {list(new.stride)}"
        return _of_tensors(old.value, new.value, slack)
    if isinstance(old, torch.Tensor) and isinstance(new, torch.Tensor):
        return _of_tensors(old, new, slack)
    if isinstance(old, torch.Tensor | _Copy) or isinstance(new, torch.Tensor | _Copy):
        return _number_and_tensor(old, new, slack)
    if isinstance(old, float) and isinstance(new, float):
        close = math.isclose(old, new, rel_tol=1e-6) or (math.isnan(old) and math.isnan(new))
        return "" if close else f"{old:g}, now {new:g}"
    try:
        same = bool(old == new) or (type(old) is type(new) and not isinstance(old, bool | int | str | bytes))
    except Exception as error:
        return f"cannot be compared ({type(error).__name__})"
    return "" if same else f"{str(old)[:40]}, now {str(new)[:40]}"


def _number_and_tensor(old: Any, new: Any, slack: float) -> str:
    """A counter may have become a tensor of the same value."""
    both = [item.value if isinstance(item, _Copy) else item for item in (old, new)]
    if any(isinstance(item, _Copy) for item in (old, new)):
        return f"{type(both[0]).__name__}, now {type(both[1]).__name__}"
    as_tensors = [torch.as_tensor(item) for item in both if isinstance(item, torch.Tensor | int | float)]
    if len(as_tensors) == 2 and as_tensors[0].shape == as_tensors[1].shape:
        return _of_tensors(as_tensors[0].double(), as_tensors[1].double(), slack)
    return f"{type(old).__name__}, now {type(new).__name__}"


def _of_tensors(old: torch.Tensor, new: torch.Tensor, slack: float) -> str:
    if old.dtype != new.dtype:
        return f"{_name(old.dtype)}, now {_name(new.dtype)}"
    if old.shape != new.shape:
        return f"shape {list(old.shape)}, now {list(new.shape)}"
    if old.layout != new.layout:
        return f"{old.layout}, now {new.layout}"
    relative, absolute = _TOLERANCE.get(old.dtype, (0.0, 0.0))
    if old.layout != torch.strided:
        old, new = old.to_dense(), new.to_dense()
    if torch.allclose(old, new, rtol=relative * slack, atol=absolute * slack, equal_nan=True):
        return ""
    wrong = ~torch.isclose(old, new, rtol=relative * slack, atol=absolute * slack, equal_nan=True)
    first = tuple(int(index) for index in wrong.nonzero()[0]) if old.dim() else ()
    return (
        f"{int(wrong.sum())} of {old.numel()} values, e.g. {old[first].item():g}, now {new[first].item():g}"
    )


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _equal_random(old: tuple[Any, ...], new: tuple[Any, ...]) -> bool:
    return bool(old and new and old[0] == new[0] and torch.equal(old[1], new[1])) or not (old or new)
