"""A trial leaves no trace in the module that it ran."""

import random

import torch

from breakfinder.tracing.state import ModuleState, RandomState, seed_everything


class Stateful(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.norm = torch.nn.BatchNorm1d(2)
        self.calls = 0
        self.seen = {}
        self.history = []

    def forward(self, x):
        self.calls += 1
        self.seen[x.shape[0]] = x
        self.history.append(self.calls)
        self.last = x
        return self.norm(self.linear(x))


def test_attributes_containers_buffers_gradients_and_modes_come_back():
    model = Stateful()
    model.norm.eval()
    state = ModuleState(model)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    model.train()
    model(torch.ones(3, 2)).sum().backward()
    assert model.calls == 1 and model.linear.weight.grad is not None
    state.restore()
    assert (model.calls, model.seen, model.history) == (0, {}, [])
    assert not hasattr(model, "last")
    assert model.linear.weight.grad is None
    assert model.training and not model.norm.training
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name


def test_restoring_twice_gives_the_same_state():
    model = Stateful()
    state = ModuleState(model)
    for _ in range(2):
        model(torch.ones(3, 2))
        state.restore()
        assert (model.calls, model.seen, model.history) == (0, {}, [])


def test_functions_have_no_state():
    ModuleState(lambda x: x).restore()


def test_random_state():
    seed_everything(3)
    state = RandomState()
    drawn = random.random(), torch.rand(1).item()
    state.restore()
    assert (random.random(), torch.rand(1).item()) == drawn
