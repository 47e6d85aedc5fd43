"""Every example of every rule does what it says, on the installed torch."""

import importlib.util
import sys

import pytest
import torch
from packaging.specifiers import SpecifierSet
from torch.utils import _pytree as pytree

from breakfinder import rules, source
from breakfinder.report.model import Subject as Facts
from breakfinder.targets.subject import Call, Scenario, Subject
from breakfinder.tracing import trace

EXAMPLES = [(rule, n, example) for rule in rules.all_rules() for n, example in enumerate(rule.examples)]
each_example = pytest.mark.parametrize(
    ("rule", "example"), [pytest.param(r, e, id=f"{r.code}-{n}") for r, n, e in EXAMPLES]
)


class Program:
    """One form of an example, written to a file so that its source can be found, and imported."""

    def __init__(self, path, text, example, config):
        path.write_text(text)
        self.path, self.example, self.config = path, example, config

    def load(self):
        """Import it anew, so that nothing is left of what it kept when it ran before."""
        spec = importlib.util.spec_from_file_location(self.path.stem, self.path)
        self.module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = self.module
        spec.loader.exec_module(self.module)

    def callable(self):
        self.load()
        if not hasattr(self.module, "Model"):
            return self.module.fn
        torch.manual_seed(0)
        return self.module.Model().train(self.example.training)

    def inputs(self):
        torch.manual_seed(0)
        return [self.module.example_inputs(), *self.module.more_inputs()]

    def trace(self):
        def calls():
            for args in self.inputs():
                yield Call(args)

        scenario = Scenario("forward", calls, training=None, grad=self.example.grad)
        subject = Subject(self.callable(), Facts(name="example"), [scenario])
        return trace(subject, config=dict(self.config)).scenarios[0]

    def outputs(self, compiled):
        call = self.callable()
        if compiled:
            torch._dynamo.reset()
            call = torch.compile(call, backend="eager")
        with torch.set_grad_enabled(self.example.grad), torch._dynamo.config.patch(dict(self.config)):
            return [call(*args) for args in self.inputs()]


@pytest.fixture
def broken(example, tmp_path):
    return Program(tmp_path / "broken_example.py", example.broken_module(), example, example.config)


@pytest.fixture
def fixed(example, tmp_path):
    if not example.fixed:
        pytest.skip("no fixed form: " + example.note)
    return Program(tmp_path / "fixed_example.py", example.fixed_module(), example, example.fixed_config)


def found(log, root):
    """(kind, code, file, line) of everything that a trace shows."""
    for event in log.breaks:
        location = source.locate(event.stack, root=root)
        yield "graph_break", rules.diagnose(event, location), location
    for frame in log.frames:
        if frame.silent or frame.limit_hit:
            location = source.locate_function(frame.file, frame.first_line, frame.name, root=root)
            yield "skipped_frame", rules.diagnose_skip(frame, location), location
    for recompilation in log.recompilations:
        if recompilation.stack:
            location = source.locate(recompilation.stack, root=root)
        else:
            place = recompilation.file, recompilation.first_line, recompilation.name
            location = source.locate_function(*place, root=root)
        yield "recompilation", rules.diagnose_recompilation(recompilation, location), location
    for error in log.errors:
        location = source.locate(error.stack, root=root)
        yield "error", rules.diagnose_error(error, location), location


@each_example
def test_the_broken_form_is_diagnosed_at_its_marked_line(rule, example, broken, tmp_path):
    seen = [
        (kind, diagnosis.rule.code, location.line)
        for kind, diagnosis, location in found(broken.trace(), tmp_path)
        if kind == example.kind
    ]
    if torch.__version__.split("+")[0] not in SpecifierSet(example.versions):
        assert seen == [], "this release has the problem after all"
        return
    assert (example.kind, rule.code, example.marked_line) in seen
    if example.kind == "graph_break":
        assert {line for *_, line in seen} == {example.marked_line}, "one example shows one problem"


@each_example
def test_the_fixed_form_is_clean(rule, example, fixed, tmp_path):
    log = fixed.trace()
    left = [(kind, d.rule.code, location.line) for kind, d, location in found(log, tmp_path)]
    if example.kind != "recompilation":
        # A second size is compiled once more in any program.
        left = [item for item in left if item[0] != "recompilation"]
    assert left == []
    assert sum(frame.graphs for frame in log.frames) > 0
    assert all(frame.outcome in ("compiled", "empty") for frame in log.frames)


@each_example
def test_the_fixed_form_gives_the_same(rule, example, broken, fixed):
    before, after = broken.outputs(compiled=False), fixed.outputs(compiled=False)
    if example.equal:
        assert same(before, after)
    assert same(fixed.outputs(compiled=True), after)


def same(one, other):
    leaves, spec = pytree.tree_flatten(one)
    others, other_spec = pytree.tree_flatten(other)
    return spec == other_spec and all(equal(*pair) for pair in zip(leaves, others, strict=True))


def equal(one, other):
    if not isinstance(one, torch.Tensor):
        return one == other
    alike = one.dtype == other.dtype and one.shape == other.shape and one.requires_grad == other.requires_grad
    return alike and torch.allclose(one, other, equal_nan=True)
