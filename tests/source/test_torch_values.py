"""What torch's functions and methods are said to give, against what the installed torch gives."""

import inspect
import itertools

import pytest
import torch

from breakfinder.source import torch_values
from breakfinder.source.kinds import Kind
from breakfinder.source.torch_values import function_result, method_result

SIGNS = (2.0, 1, torch.rand(3, 3), torch.ones(3, 3, dtype=torch.int64), [1, 1], torch.float32)
OPERANDS = (
    torch.rand(3, 3),
    torch.randint(1, 3, (3, 3)),
    torch.rand(3, 3) > 0.5,
    torch.rand(3),
    torch.rand(3, 3, dtype=torch.complex64),
)
ARGUMENTS = [(), *((one,) for one in SIGNS), *itertools.product(SIGNS, SIGNS)]
WITH_EFFECTS = {
    "apply_",
    "map_",
    "map2_",
    "share_memory_",
    "seed",
    "save",
    "set_",
    "resize_as_",
    "module_load",
    "cuda",
    "initial_seed",
}


def kind_of(value) -> Kind | None:
    if isinstance(value, torch.Tensor):
        return Kind.TENSOR
    if isinstance(value, bool | int | float | complex):
        return Kind.NUMBER
    if isinstance(value, tuple | list):
        return Kind.CONTAINER
    return Kind.TEXT if isinstance(value, str) else None


def given(call, operands) -> set[Kind]:
    """The kinds of what a function gives for the first arguments that it takes."""
    found = set()
    for operand in operands:
        for arguments in ARGUMENTS:
            try:
                value = call(operand.clone(), *arguments)
            except Exception:  # not for such arguments
                continue
            found.add(kind_of(value))
            break
    return found - {None}


METHODS = [
    name
    for name in dir(torch.Tensor)
    if not name.startswith("_") and name not in WITH_EFFECTS and callable(getattr(torch.Tensor, name))
]
FUNCTIONS = [
    name
    for name in dir(torch)
    if name[0].islower() and name not in WITH_EFFECTS and inspect.isbuiltin(getattr(torch, name))
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", METHODS)
def test_methods(name):
    said = method_result(name)
    found = given(getattr(torch.Tensor, name), OPERANDS)
    if said.kind is not Kind.UNKNOWN and said.sure and found:
        assert found == {said.kind}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    said = function_result(f"torch.{name}")
    found = given(getattr(torch, name), OPERANDS)
    if name == "where":  # with one argument it is as ``nonzero``, see `calls`
        found.discard(Kind.CONTAINER)
    if said.kind is not Kind.UNKNOWN and said.sure and found:
        assert found == {said.kind}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(torch_values.MASK_OPS & set(METHODS)))
def test_masks(name):
    for arguments in ARGUMENTS:
        try:
            value = getattr(OPERANDS[0], name)(*arguments)
        except (TypeError, RuntimeError, IndexError):
            continue
        assert value.dtype is torch.bool
        return


def test_most_methods_are_known():
    unknown = [
        name for name in METHODS if method_result(name).kind is Kind.UNKNOWN and not name.endswith("_")
    ]
    assert len(unknown) < 65, unknown


def test_every_name_is_torchs():
    names = (
        torch_values.TELLING_METHODS
        | torch_values.MASK_OPS
        | torch_values.INDEX_OPS
        | torch_values.KEEPING_OPS
    )
    assert [
        name
        for name in sorted(names)
        if not hasattr(torch.Tensor, name)
        and not hasattr(torch.Tensor, f"{name}_")
        and not hasattr(torch, name)
    ] == []


@pytest.mark.parametrize("name", sorted(torch_values.TELLING_METHODS))
def test_what_tells_a_tensor_is_no_method_of_others(name):
    numpy = pytest.importorskip("numpy")
    for other in (str, list, dict, set, tuple, int, float, bytes, numpy.ndarray, torch.nn.Module, torch.Size):
        assert not hasattr(other, name), other


@pytest.mark.parametrize("name", sorted(torch_values.TENSOR_ATTRIBUTES))
def test_attributes(name):
    said = torch_values.TENSOR_ATTRIBUTES[name]
    value = getattr(torch.rand(3, 3, dtype=torch.complex64, requires_grad=True), name)
    assert kind_of(value) in ({said.kind, None} if said.kind in (Kind.OTHER, Kind.TENSOR) else {said.kind})


@pytest.mark.parametrize("name", sorted(torch_values.RECURRENT))
def test_modules_that_give_tuples(name):
    module = getattr(torch.nn, name.rpartition(".")[2])
    layer = module(4, 2) if "Multihead" in name else module(4, 4)
    inputs = [torch.rand(3, 2, 4)] * 3 if "Multihead" in name else [torch.rand(3, 4)]
    said = torch_values.RECURRENT[name]
    assert [kind_of(item) for item in layer(*inputs)] == [item.kind for item in said.items]
