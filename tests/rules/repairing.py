"""Apply the rules' fixes to a program, one after another, until a trace of it is clean."""

import importlib.util
import sys

import torch
from torch.utils import _pytree as pytree

from breakfinder import rules, source
from breakfinder.report.model import Subject as Facts
from breakfinder.rules import rewrites
from breakfinder.targets.subject import Call, Scenario, Subject
from breakfinder.tracing import trace
from breakfinder.tracing.trials import ModelError

MOST_STEPS = 8


class Program:
    """The text of a module that defines ``Model`` or ``fn``, ``example_inputs`` and maybe ``more_inputs``."""

    def __init__(self, path, text, training=False, grad=True, config=None):
        path.write_text(text)
        self.path, self.text, self.training, self.grad = path, text, training, grad
        self.config = config or {}

    def load(self):
        spec = importlib.util.spec_from_file_location(self.path.stem, self.path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        torch.manual_seed(0)
        call = module.Model().train(self.training) if hasattr(module, "Model") else module.fn
        torch.manual_seed(0)
        more = getattr(module, "more_inputs", list)
        return call, [module.example_inputs(), *more()]

    def trace(self):
        call, inputs = self.load()
        scenario = Scenario("forward", lambda: (Call(args) for args in inputs), training=None, grad=self.grad)
        return trace(Subject(call, Facts(name="program"), [scenario]), config=self.config).scenarios[0]

    def outputs(self, compiled):
        call, inputs = self.load()
        if compiled:
            torch._dynamo.reset()
            call = torch.compile(call, backend="eager")
        with torch.set_grad_enabled(self.grad), torch._dynamo.config.patch(self.config):
            return [call(*args) for args in inputs]

    def findings(self):
        """(kind, rule, location) of all that a trace shows, and whether anything was compiled."""
        log, root = self.trace(), self.path.parent
        found = []
        for event in log.breaks:
            location = source.locate(event.stack, root=root)
            found.append(("graph_break", rules.diagnose(event, location).rule, location))
        for frame in log.frames:
            if frame.silent or frame.limit_hit:
                location = source.locate_function(frame.file, frame.first_line, frame.name, root=root)
                found.append(("skipped_frame", rules.diagnose_skip(frame, location).rule, location))
        for again in log.recompilations:
            if again.stack:
                location = source.locate(again.stack, root=root)
            else:
                location = source.locate_function(again.file, again.first_line, again.name, root=root)
            found.append(("recompilation", rules.diagnose_recompilation(again, location).rule, location))
        for error in log.errors:
            location = source.locate(error.stack, root=root)
            found.append(("error", rules.diagnose_error(error, location).rule, location))
        return found, sum(frame.graphs for frame in log.frames)

    def with_text(self, text):
        return Program(self.path, text, self.training, self.grad, self.config)


def repaired(program, kinds=("graph_break", "skipped_frame", "error")):
    """The program after the fixes that took findings away, with their names, and what is left."""
    steps = []
    found, graphs = program.findings()
    for _ in range(MOST_STEPS):
        left = [(rule, location) for kind, rule, location in found if kind in kinds]
        for rule, location in left:
            if step := first_fix(program, rule, location, kinds):
                program, name, found, graphs = step
                steps.append((rule.code, name))
                break
        else:
            return program, steps, left if graphs or left else ["no graph"]
    return program, steps, left


def first_fix(program, rule, location, kinds):
    """The program after the first fix of a rule that takes a finding away, its name, and what is found then."""
    for name in rule.fixes:
        text = fixed(program.text, name, location)
        if text is None:
            continue
        again = program.with_text(text)
        try:
            found, graphs = again.findings()
        except (ModelError, ImportError):
            program.with_text(program.text)
            continue
        gone = all(other.fingerprint != location.fingerprint for kind, _, other in found if kind in kinds)
        if gone:  # where a frame is still skipped, the next break shows
            return again, name, found, graphs
        program.with_text(program.text)
    return None


def fixed(text, name, location):
    fix = rewrites.by_name(name)
    return rewrites.rewrite(
        text, fix, (location.line, location.column), (location.end_line, location.end_column)
    )


def same(one, other):
    leaves, spec = pytree.tree_flatten(one)
    others, other_spec = pytree.tree_flatten(other)
    return spec == other_spec and all(equal(*pair) for pair in zip(leaves, others, strict=True))


def equal(one, other):
    if not isinstance(one, torch.Tensor):
        return one == other
    alike = one.dtype == other.dtype and one.shape == other.shape and one.requires_grad == other.requires_grad
    return alike and torch.allclose(one, other, equal_nan=True)
