"""Models built without weights."""

from typing import NamedTuple

import pytest
import torch
from torch import nn

from breakfinder.targets.fake import build_fake, fake_inputs, is_data_dependent_failure, make_fake, modules_of
from breakfinder.tracing.dynamo import is_fake


class Pair(NamedTuple):
    left: torch.Tensor
    right: int


class Odd(nn.Module):
    """Holds tensors in every way that modules do."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 8)
        self.head = nn.Linear(8, 50, bias=False)
        self.head.weight = self.embed.weight
        self.frozen = nn.Parameter(torch.zeros(3, 4), requires_grad=False)
        self.register_buffer("steps", torch.arange(6), persistent=False)
        self.register_buffer("absent", None)
        self.transposed = torch.zeros(4, 3, dtype=torch.bfloat16).t()
        self.by_name = {"steps": self.steps, "deep": [self.frozen, 3]}
        self.pair = Pair(torch.zeros(2), 7)
        self.hidden = [nn.Linear(2, 2)]
        self.frozen.group = "no_decay"

    def forward(self, ids):
        return self.head(self.embed(ids)) + self.frozen.sum() + self.steps.sum()


def tensors_in(model):
    held = []
    for module in modules_of(model):
        held += [*module._parameters.values(), *module._buffers.values()]
    return [tensor for tensor in held if tensor is not None]


def test_nothing_real_is_left():
    model, _ = build_fake(Odd)
    assert len(tensors_in(model)) == 6
    assert all(is_fake(tensor) and tensor.device.type == "cpu" for tensor in tensors_in(model))
    assert is_fake(model.transposed) and is_fake(model.pair.left) and model.pair.right == 7
    assert all(is_fake(parameter) for parameter in model.hidden[0].parameters())


def test_shapes_strides_dtypes_and_parameters_are_kept():
    model, _ = build_fake(Odd)
    assert model.transposed.shape == (3, 4) and model.transposed.stride() == (1, 3)
    assert model.transposed.dtype == torch.bfloat16 and not isinstance(model.transposed, nn.Parameter)
    assert isinstance(model.frozen, nn.Parameter) and not model.frozen.requires_grad
    assert model.frozen.group == "no_decay"
    assert isinstance(model.embed.weight, nn.Parameter) and model.embed.weight.requires_grad
    assert model.steps.dtype == torch.int64 and model.absent is None
    assert "steps" not in model.state_dict()
    assert [name for name, _ in model.named_parameters()] == [name for name, _ in Odd().named_parameters()]


def test_shared_tensors_stay_shared():
    model, _ = build_fake(Odd)
    assert model.head.weight is model.embed.weight
    assert model.by_name["steps"] is model.steps
    assert model.by_name["deep"] == [model.frozen, 3] and model.by_name["deep"][0] is model.frozen


def test_runs_and_compiles_under_the_mode_with_no_storage():
    model, mode = build_fake(lambda: nn.Sequential(nn.Embedding(10**9, 512), nn.Linear(512, 10**8)))
    ids = fake_inputs(mode, torch.zeros(2, 3, dtype=torch.int64))
    for function in (model, torch.compile(model, backend="eager", fullgraph=True)):
        with mode:
            assert function(ids).shape == (2, 3, 10**8)


def test_gradients_flow():
    model, mode = build_fake(Odd)
    with mode:
        model(fake_inputs(mode, torch.zeros(1, 2, dtype=torch.int64))).sum().backward()
    assert is_fake(model.embed.weight.grad) and model.embed.weight.grad.shape == (50, 8)


def test_a_recurrent_layer_keeps_its_flat_weights():
    model, mode = build_fake(lambda: nn.LSTM(4, 6, num_layers=2))
    assert all(
        flat is getattr(model, name)
        for flat, name in zip(model._flat_weights, model._flat_weights_names, strict=True)
    )
    with mode:
        assert model(fake_inputs(mode, torch.zeros(5, 2, 4)))[0].shape == (5, 2, 6)


def test_make_fake_keeps_the_device_of_a_real_model():
    model = nn.Linear(3, 3)
    make_fake(model)
    assert is_fake(model.weight) and model.weight.device.type == "cpu"


def test_fake_inputs_copies_containers_and_leaves_the_originals():
    _, mode = build_fake(lambda: nn.Linear(1, 1))
    tensor = torch.zeros(2, 3, requires_grad=True)
    given = {"a": [tensor, 1], "b": (Pair(tensor, 2), "text")}
    fake = fake_inputs(mode, given)
    assert given["a"][0] is tensor and not is_fake(tensor)
    assert is_fake(fake["a"][0]) and fake["a"][0].requires_grad and fake["a"][1] == 1
    assert type(fake["b"][0]) is Pair and fake["b"][0].left is fake["a"][0] and fake["b"][1] == "text"


class Branches(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.linear, self.how = nn.Linear(4, 4), how

    def forward(self, x):
        y = self.linear(x)
        if self.how == "if":
            return y + 1 if y.sum() > 0 else y - 1
        if self.how == "item":
            return y * int(y.sum().item())
        if self.how == "nonzero":
            return y[y > 0]
        if self.how == "numpy":
            return y * float(y.detach().numpy()[0, 0])
        raise ValueError("no values involved")


@pytest.mark.parametrize("how", ["if", "item", "nonzero", "numpy"])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_need_for_values_is_recognised(how, compiled):
    model, mode = build_fake(lambda: Branches(how))
    function = torch.compile(model, backend="eager") if compiled else model
    with pytest.raises(Exception) as caught, mode:
        float(function(fake_inputs(mode, torch.ones(2, 4))).shape[0])
    assert is_data_dependent_failure(caught.value), repr(caught.value)


def test_other_errors_are_not_taken_for_it():
    model, mode = build_fake(lambda: Branches("other"))
    with pytest.raises(ValueError) as caught, mode:
        model(fake_inputs(mode, torch.ones(2, 4)))
    assert not is_data_dependent_failure(caught.value)
    assert not is_data_dependent_failure(None)
