"""Which rule is chosen, on what the installed torch and the cases give."""

import json
from collections import Counter
from pathlib import Path

import pytest
import torch

from breakfinder import rules
from breakfinder.report.model import Location
from breakfinder.report.model import Subject as Facts
from breakfinder.rules.families import FAMILIES, family_of
from breakfinder.targets.subject import Call, Scenario, Subject
from breakfinder.trace import BreakEvent, FrameRecord, Recompilation, TraceError
from breakfinder.tracing import trace
from conftest import CASES, check_case, truth

REGISTRY = Path(torch.__file__).parent / "_dynamo" / "graph_break_registry.json"
EXPECTED = {
    ".item()": {"BF101"},
    "data-dependent if": {"BF103"},
    "data-dependent while": {"BF103"},
    "boolean mask": {"BF104"},
    "print": {"BF201"},
    "warnings": {"BF203"},
    "numpy": {"BF301"},
    "python random": {"BF204"},
    "deepcopy": {"BF404"},
    "generator": {"BF402"},
    "try/except": {"BF403"},
    "dict/defaultdict cache": {"BF606"},
    "autograd.Function": {"BF101", "BF504"},
    "C extension call": {"BF302"},
    "tensor subclass": {"BF307"},
    "backward/autograd.grad inside": {"BF502", "BF503"},
    "global counter": {"BF604"},
    "int module attribute": {"BF601"},
    "python scalar/str argument": {"BF603"},
    "MoE routing loop": {"BF104"},
    "NMS loop": {"BF101", "BF602"},
    "packed sequences": {"BF303", "BF501"},
    "sparse": {"BF308"},
    "RNN modules": {"BF501"},
    "quantised layers": {"BF309"},
    "accelerate hooks": {"BF304"},
    "per-instance recompiles": {"BF305", "BF601"},
    "compiler.disable helper": {"BF304"},
    "random.shuffle": {"BF204", "BF603"},
    "os / environment": {"BF206"},
    "nested break": {"BF201"},
}
"""The rules of each family of cases that has findings."""


def at(expression="f(x)", snippet="", line=1):
    return Location(file="model.py", line=line, end_line=line, expression=expression, snippet=snippet)


def event(gb_type, context="", explanation=""):
    return BreakEvent("0/0", gb_type, "", explanation, (), context, "", ())


def guard(reason):
    return Recompilation("0/1", "forward", "model.py", 1, (reason,))


@pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="the cases were measured on torch 2.13")
@pytest.mark.parametrize("case", truth(), ids=lambda case: case["file"])
def test_cases_have_the_rules_of_their_family(case):
    findings = check_case(CASES / case["file"]).findings
    found = {finding.rule for finding in findings}
    # Some families also recompile as a matter of course, their resume functions for one.
    repeated = {finding.rule for finding in findings if finding.kind == "recompilation"}
    wanted = EXPECTED.get(case["family"], set())
    assert wanted <= found
    assert found - repeated <= wanted
    assert repeated - wanted <= {"BF602", "BF605"}


def registered_types():
    registry = json.loads(REGISTRY.read_text())
    return sorted({entry["Gb_type"] for entries in registry.values() for entry in entries})


def test_every_registered_break_type_has_a_rule_or_a_family():
    assert len(registered_types()) > 300
    unexplained = [
        name
        for name in registered_types()
        if rules.diagnose(event(name), at()).rule.code == "BF900" or not (owned(name) or family_of(name))
    ]
    assert unexplained == []


def owned(gb_type):
    return any(gb_type in rule.gb_types for rule in rules.all_rules())


def test_no_break_type_belongs_to_two_rules():
    claims = Counter(name for rule in rules.all_rules() for name in rule.gb_types)
    assert [name for name, count in claims.items() if count > 1] == []


def test_no_rule_names_a_break_type_that_torch_does_not_have():
    exceptions = {"BackendCompilerFailed", "TorchRuntimeError"}
    since_2_14 = {
        "C-implemented special method without VariableTracker model",
        "Call to `torch._dynamo.disable()`",
        "Call to `torch.compiler.disable()`",
        "Custom op missing fake impl during tracing",
        "generator function over a skipped function",
        "min/max with non-constant key",
    }
    named = {name for rule in rules.all_rules() for name in rule.gb_types}
    assert named - exceptions - since_2_14 <= set(registered_types())


def test_every_family_has_types_and_a_rule():
    used = {family_of(name) for name in registered_types()}
    for family in FAMILIES:
        assert family in used
        assert rules.by_code(family.code).code == family.code


def test_an_unknown_break_type_is_unclassified_with_torchs_words():
    diagnosis = rules.diagnose(event("Quux", explanation="Dynamo cannot quux."), at("quux(x)"))
    assert diagnosis.rule.code == "BF900"
    assert diagnosis.title == "Unclassified: Quux"
    assert "`quux(x)`" in diagnosis.why
    assert "Dynamo cannot quux." in diagnosis.why


@pytest.mark.parametrize(
    ("qualname", "code"),
    [
        ("module: _warnings, qualname: warn, skip reason: x", "BF203"),
        ("module: random, qualname: Random.choice, skip reason: x", "BF204"),
        ("module: <unknown module>, qualname: Random.random, skip reason: x", "BF204"),
        ("module: time, qualname: perf_counter, skip reason: x", "BF205"),
        ("module: posix, qualname: putenv, skip reason: x", "BF206"),
        ("module: torch.serialization, qualname: save, skip reason: x", "BF206"),
        ("module: torch.random, qualname: manual_seed, skip reason: x", "BF207"),
        ("module: zlib, qualname: crc32, skip reason: (likely a C extension or builtin)", "BF302"),
        ("module: linecache, qualname: getline, skip reason: file is under skip directory", "BF303"),
        ("module: torch, qualname: _VariableFunctionsClass.sparse_coo_tensor, skip reason: x", "BF308"),
    ],
)
def test_skipped_functions_go_to_the_rule_of_their_module(qualname, code):
    found = rules.diagnose(event("Attempted to call function marked as skipped", qualname), at())
    assert found.rule.code == code


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("0/0: self.updates == 0", "BF601"),
        ("0/0: self.last is None", "BF601"),
        ("0/0: self.layers[0].training == True", "BF601"),
        ("0/0: not hasattr(self, 'table')", "BF601"),
        ("0/0: tensor 'x' size mismatch at index 0. expected 4, actual 5", "BF602"),
        ("0/0: tensor 'x' rank mismatch. expected 2, actual 1", "BF602"),
        ("0/0: tensor 'x' stride mismatch at index 0. expected 8, actual 1", "BF602"),
        ("0/2: 2 <= x.size()[0]", "BF602"),
        ("0/2: self.cache.size()[0] == 4", "BF602"),
        ("0/0: tag == 's0'", "BF603"),
        ("0/0: mask is None", "BF603"),
        ("0/0: len(items) == 1", "BF603"),
        ("0/1: 'NoneType' object has no attribute 'size'", "BF603"),
        ("0/0: G['CALLS'] == 0", "BF604"),
        ("0/0: G['model'].training == True", "BF601"),
        ("0/0: tensor 'x' dtype mismatch. expected Float, actual Double", "BF605"),
        ("0/0: tensor 'x' requires_grad mismatch. expected requires_grad=0", "BF605"),
        ("0/0: not ___dict_contains((5, device(type='cpu')), self.pos)", "BF606"),
        ("0/1: len(self.history) == 1", "BF606"),
        ("0/0: not self.history", "BF606"),
        ("0/0: ___check_type_id(f, 94504167932816), type=<class 'A'>", "BF608"),
        ("0/0: ___check_obj_id(f.__code__, 139688688953760), type=<class 'code'>", "BF608"),
        ("0/0: GLOBAL_STATE changed: grad_mode", "BF609"),
    ],
)
def test_guards(reason, code):
    found = rules.diagnose_recompilation(guard(reason), at())
    assert found.rule.code == code
    assert reason.split(": ", 1)[1].split("==")[0].strip() in found.why


def test_a_cache_by_size_is_told_from_a_size():
    sizes = "0/1: tensor 'x' size mismatch at index 1. expected 5, actual 6"
    keys = "0/0: not ___dict_contains((5, device(type='cpu')), self.pos)"
    both = Recompilation("0/2", "forward", "model.py", 1, (sizes, keys))
    found = rules.diagnose_recompilation(both, at())
    assert found.rule.code == "BF606"
    assert "___dict_contains" in found.why
    counter = Recompilation("0/2", "forward", "model.py", 1, ("0/1: self.steps == 1", keys))
    assert rules.diagnose_recompilation(counter, at()).rule.code == "BF601"


def test_a_guard_that_no_rule_knows_is_unclassified():
    assert rules.diagnose_recompilation(guard("0/0: quux"), at()).rule.code == "BF900"


def test_a_limit_is_told_from_a_generator():
    frame = FrameRecord("0/8", "forward", "model.py", 1, "skipped", limit_hit=True)
    assert rules.diagnose_skip(frame, at()).rule.code == "BF607"
    frame = FrameRecord("", "forward", "model.py", 1, "skipped", silent=True)
    assert rules.diagnose_skip(frame, at(snippet="def f():\n    yield 1")).rule.code == "BF402"
    assert rules.diagnose_skip(frame, at(snippet="def f():\n    return 1")).rule.code == "BF900"


def test_an_operator_that_fails_inside_try_is_told_from_one_outside():
    error = TraceError("TorchRuntimeError", "failed to run FX node with fake tensors")
    inside = at(snippet="def f(x):\n    try:\n        y = x + 1\n    except E:\n        pass", line=3)
    handler = at(snippet="def f(x):\n    try:\n        y = 1\n    except E:\n        y = x + 1", line=5)
    outside = at(snippet="def f(x):\n    try:\n        y = 1\n    except E:\n        pass\n    x + 1", line=6)
    codes = [rules.diagnose_error(error, place).rule.code for place in (inside, handler, outside)]
    assert codes == ["BF403", "BF310", "BF310"]


def test_an_assertion_that_fails_is_not_a_tensor_branch():
    context = "attempted to jump with ConstantVariable(bool: False)"
    assert rules.diagnose(event("Data-dependent branching", context), at()).rule.code == "BF403"


def test_whatever_compiling_raises_has_a_rule():
    error = TraceError("InternalTorchDynamoError", "RecursionError: maximum recursion depth exceeded")
    diagnosis = rules.diagnose_error(error, at())
    assert (diagnosis.rule.code, diagnosis.severity) == ("BF310", "error")
    assert "maximum recursion depth" in diagnosis.why


def test_a_guard_whose_value_went_missing():
    """What torch says where an argument that was a tensor is None at the next call."""
    torch._dynamo.reset()

    def scaled(x, scale):
        return x if scale is None else x * scale.size(0)

    def calls():
        yield Call((torch.ones(2), torch.ones(3)))
        yield Call((torch.ones(2), torch.ones(4)))
        yield Call((torch.ones(2), None))

    subject = Subject(scaled, Facts(name="scaled"), [Scenario("forward", calls)])
    last = trace(subject).scenarios[0].recompilations[-1]
    assert rules.diagnose_recompilation(last, at()).rule.code == "BF603", last.reasons


def test_torchs_words_are_cut_to_their_opening():
    said = "Dynamo cannot\n  quux " + "very " * 200 + "much.\n\nfrom user code:\n  File model.py"
    why = rules.diagnose(event("Quux", explanation=said), at()).why
    assert "Dynamo cannot quux very" in why
    assert "from user code" not in why
    assert len(why) < 700


def test_a_failing_backend():
    def backend(graph, inputs):
        raise ArithmeticError("no such instruction")

    torch._dynamo.reset()
    with pytest.raises(Exception, match="no such instruction") as raised:
        torch.compile(torch.sin, backend=backend)(torch.ones(2))
    error = TraceError(type(raised.value).__name__, str(raised.value))
    diagnosis = rules.diagnose_error(error, at())
    assert (diagnosis.rule.code, diagnosis.severity) == ("BF700", "error")
    assert "no such instruction" in diagnosis.why


def test_braces_and_backticks_in_source_do_no_harm():
    found = rules.diagnose(event("Data-dependent branching"), at("d[`x`]['{expression}'] > {0}"))
    assert "`d['x']['{expression}'] > {0}`" in found.why


def test_a_long_expression_is_cut():
    found = rules.diagnose(event("Data-dependent branching"), at("x" * 500))
    assert "x" * 60 in found.why
    assert "x" * 71 not in found.why
