"""Reports as a check makes them, for the renderers' tests: clean, broken, failed, hostile, huge."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from breakfinder.report.collection import Collection, collect
from breakfinder.report.model import (
    Check,
    CrossCheck,
    DefaultVerdict,
    Environment,
    Evidence,
    ExplainVerdict,
    Failure,
    Finding,
    Fix,
    FixStep,
    Frame,
    FullgraphVerdict,
    KnobTrial,
    Location,
    Report,
    Scenario,
    Segment,
    StackFrame,
    Subject,
    Target,
    Tool,
    TorchSays,
)

MODEL = "src/gatednet/modeling_gatednet.py"
ROUTER = "src/gatednet/routing.py"

SOURCES = {
    MODEL: '''import logging

import torch
from torch import nn

from gatednet.routing import pick_experts

logger = logging.getLogger(__name__)


class GatedBlock(nn.Module):
    def __init__(self, width: int, experts: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(experts))
        self.calls = 0

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        self.calls += 1
        scores = self.gate(hidden).softmax(dim=-1)
        # A guard against fp16 overflow in very deep stacks.
        if torch.isinf(hidden).any() or torch.isnan(
            hidden
        ).any():
            hidden = hidden.clamp(-65504, 65504)
        for index in pick_experts(scores):
            hidden = hidden + self.experts[index](hidden)
        if self.calls % 100 == 0:
            logger.warning("gate entropy %.3f", scores.std())
        return hidden / 2**0.5


class GatedNet(nn.Module):
    """A stack of gated blocks."""

    def forward(self, ids: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        hidden = self.embed(ids)
        for block in self.blocks:
            hidden = block(hidden, mask)
        return self.head(hidden[mask.bool()])
''',
    ROUTER: '''import torch


def pick_experts(scores: torch.Tensor, k: int = 2) -> list[int]:
    """The experts that any token is routed to."""
    chosen = scores.topk(k, dim=-1).indices
    return sorted(set(chosen.flatten().tolist()))
''',
}


def place(file: str, expression: str, qualname: str, *, context: int = 4, owner: str = "user") -> Location:
    """Where an expression stands in one of `SOURCES`."""
    source = SOURCES[file]
    start = source.index(expression)
    end = start + len(expression)
    line, end_line = source.count("\n", 0, start) + 1, source.count("\n", 0, end) + 1
    lines = source.split("\n")
    first = max(line - context, 1)
    return Location(
        file=file,
        line=line,
        column=start - (source.rfind("\n", 0, start) + 1) + 1,
        end_line=end_line,
        end_column=end - (source.rfind("\n", 0, end) + 1) + 1,
        qualname=qualname,
        owner=owner,
        expression=expression,
        statement=lines[line - 1].strip(),
        snippet="\n".join(lines[first - 1 : end_line + context]),
        snippet_line=first,
        fingerprint=f"{PurePosixPath(file).stem}:{qualname}:{expression}"[:40],
    )


def stack(*entries: tuple[str, str, str]) -> list[StackFrame]:
    """A stack from (file, function, text of the source line)."""
    frames = []
    for file, function, code in entries:
        if file in SOURCES:
            source = SOURCES[file]
            frames.append(
                StackFrame(
                    file=file,
                    line=source.count("\n", 0, source.index(code)) + 1,
                    function=function,
                    owner="user",
                    code=code,
                )
            )
        else:
            frames.append(StackFrame(file=file, line=1775, function=function, owner="torch", code=code))
    return frames


MODULE_CALL = ("torch/nn/modules/module.py", "_wrapped_call_impl", "return self._call_impl(*args, **kwargs)")
TO_BLOCK = (
    (MODEL, "forward", "hidden = block(hidden, mask)"),
    MODULE_CALL,
)


def report(**changes: Any) -> Report:
    """A clean report of a Transformers model, with fields replaced."""
    fields: dict[str, Any] = {
        "tool": Tool(version="0.1.0"),
        "created": "2026-03-02T09:41:07Z",
        "command": ["breakfinder", "check", "src/gatednet/modeling_gatednet.py:GatedNet"],
        "environment": Environment(
            python="3.11.9",
            torch="2.13.0",
            transformers="5.24.0",
            platform="Linux-6.8-x86_64",
            packages={"numpy": "2.3.1"},
        ),
        "target": Target(text="src/gatednet/modeling_gatednet.py:GatedNet", kind="file", location=MODEL),
        "subject": Subject(
            name="GatedNet",
            parameters=8_030_261_248,
            parameter_bytes=16_060_522_496,
            dtype="bfloat16",
            attn_implementation="sdpa",
            layers_traced=3,
            layers_total=126,
        ),
        "scenarios": [clean_scenario()],
        "total_seconds": 21.4,
        "peak_memory_bytes": 812_000_000,
    }
    return Report(**{**fields, **changes})


def clean_scenario() -> Scenario:
    return Scenario(
        name="forward",
        calls=2,
        inputs=["ids: int64[2, 64], mask: int64[2, 64]", "ids: int64[3, 96], mask: int64[3, 96]"],
        default=DefaultVerdict(graphs=1, captured_ops=454),
        fullgraph=FullgraphVerdict(ok=True),
        explain=ExplainVerdict(graph_count=1, graph_break_count=0),
        cross_check=CrossCheck(agrees=True, breaks_with_capture=0),
        trace_seconds=3.2,
        frames=[
            Frame(compile_id="0/0", function="forward", file=MODEL, line=36, outcome="compiled", ops=454)
        ],
        segments=[Segment(kind="graph", ops=454, compile_id="0/0", call=call) for call in (0, 1)],
    )


def clean() -> Report:
    return report()


def findings() -> list[Finding]:
    """One of each kind, worst first, with everything that a finding can have."""
    return [
        Finding(
            id="F1",
            fingerprint="a1",
            kind="graph_break",
            scenario="forward",
            scenarios=["forward", "train"],
            rule="BF103",
            title="`if` on a tensor's value",
            severity="error",
            why="`torch.isinf(hidden).any()` is a tensor. Which branch runs depends on its value, which is "
            "not known while the graph is built, so the graph ends here and Python decides.\n\n"
            "Every block has this check: the graph is split once per layer.",
            remedy="Compute both sides and choose with `torch.where`, or drop the check where the dtype "
            "cannot overflow. Clamping always is the same for finite values:\n\n"
            "    hidden = hidden.clamp(-65504, 65504)",
            torch=TorchSays(
                gb_id="GB0170",
                gb_type="Data-dependent branching",
                explanation="Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`). Dynamo does "
                "not support tracing dynamic control flow.",
                hints=["Use `torch.cond` to express dynamic control flow."],
                context="attempted to jump with TensorVariable()",
                reference="https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0170.html",
            ),
            events=6,
            location=place(
                MODEL,
                "torch.isinf(hidden).any() or torch.isnan(\n            hidden\n        ).any()",
                "GatedBlock.forward",
            ),
            stack=stack(*TO_BLOCK, (MODEL, "forward", "if torch.isinf(hidden).any() or torch.isnan(")),
            fixes=[
                Fix(
                    title="Always clamp",
                    applicability="review",
                    verdict="proved",
                    diff="--- a/src/gatednet/modeling_gatednet.py\n+++ b/src/gatednet/modeling_gatednet.py\n"
                    "@@ -22,4 +22 @@\n-        if torch.isinf(hidden).any() or torch.isnan(\n"
                    "-            hidden\n-        ).any():\n"
                    "-            hidden = hidden.clamp(-65504, 65504)\n"
                    "+        hidden = hidden.clamp(-65504, 65504)\n",
                    evidence=Evidence(checks=[Check(name="no break left", passed=True)], inputs_tried=4),
                )
            ],
        ),
        Finding(
            id="F2",
            fingerprint="b2",
            kind="graph_break",
            scenario="forward",
            scenarios=["forward", "train"],
            rule="BF102",
            title="`.tolist()` moves a tensor's values to Python",
            severity="error",
            why="The list's length and its numbers are Python values, known only when the tensor has "
            "been computed. Because the break is in a loop, the whole frame runs in eager.",
            remedy="Keep the routing on the device: compute all experts and weight them by `scores`, or "
            "gather with `index_select`.",
            torch=TorchSays(
                gb_id="GB0124",
                gb_type="Unsupported Tensor.tolist() call with capture_scalar_outputs=False",
                explanation="Dynamo does not support tracing `Tensor.tolist()`.",
            ),
            events=3,
            skips_frame=True,
            in_loop=True,
            missed_by_explain=True,
            fullgraph_clears=True,
            location=place(ROUTER, "chosen.flatten().tolist()", "pick_experts"),
            stack=stack(
                *TO_BLOCK,
                (MODEL, "forward", "for index in pick_experts(scores):"),
                (ROUTER, "pick_experts", "return sorted(set(chosen.flatten().tolist()))"),
            ),
        ),
        Finding(
            id="F3",
            fingerprint="c3",
            kind="skipped_frame",
            scenario="train",
            scenarios=["train"],
            rule="BF401",
            title="Frame skipped without a word",
            severity="error",
            why="`GatedNet.forward` gave no graph, and torch recorded no reason.",
            remedy="Look for a generator or a `try` block around tensor code.",
            missed_by_explain=True,
            location=place(MODEL, "hidden[mask.bool()]", "GatedNet.forward", owner="transformers"),
        ),
        Finding(
            id="F4",
            fingerprint="d4",
            kind="recompilation",
            scenario="forward",
            scenarios=["forward"],
            rule="BF601",
            title="Recompiles when a module's counter changes",
            severity="warning",
            why="The integer attribute `calls` is a constant in the graph, held by a guard.",
            remedy='Keep it in a buffer: `self.register_buffer("calls", torch.zeros(()))`.',
            reasons=["0/0: self.calls == 0", "0/1: self.calls == 1"],
            events=2,
            location=place(MODEL, "self.calls += 1", "GatedBlock.forward"),
            stack=stack(*TO_BLOCK, (MODEL, "forward", "self.calls += 1")),
        ),
        Finding(
            id="F5",
            fingerprint="e5",
            kind="error",
            scenario="train",
            scenarios=["train"],
            rule="BF901",
            title="Unclassified: torch's own words below",
            severity="info",
            torch=TorchSays(
                gb_type="Unsupported context manager",
                explanation="Dynamo does not know how to enter a `lock` context manager.",
                hints=["Avoid using the unsupported context manager."],
            ),
            location=Location(
                file="torch/_C/_nn.pyi",
                line=1,
                end_line=1,
                owner="torch",
                expression="gelu",
                note="C code has no source; this is its nearest Python caller",
            ),
        ),
    ]


def broken_scenario(name: str = "forward") -> Scenario:
    """Three blocks, each split at its `if`, and the picking of experts in eager."""
    frames = [Frame(compile_id="0/0", function="forward", file=MODEL, line=36, outcome="compiled", ops=26)]
    segments = [Segment(kind="graph", ops=26, compile_id="0/0")]
    for block in range(3):
        check = Frame(
            compile_id=f"{2 * block + 1}/0",
            function="torch_dynamo_resume_in_forward_at_22",
            file=MODEL,
            line=18,
            resume_of="GatedBlock.forward",
            resume_line=22,
            outcome="compiled",
            ops=140 - 30 * block,
            seconds=0.31,
        )
        pick = Frame(
            compile_id=f"{2 * block + 2}/0",
            function="pick_experts",
            file=ROUTER,
            line=4,
            outcome="skipped",
            reason="Unsupported Tensor.tolist() call",
            seconds=0.02,
        )
        frames += [check, pick]
        segments += [
            Segment(kind="graph", ops=check.ops, compile_id=check.compile_id),
            Segment(kind="eager", ops=11 + 4 * block),
        ]
    return Scenario(
        name=name,
        calls=2,
        inputs=["ids: int64[2, 64], mask: int64[2, 64]", "ids: int64[3, 96], mask: int64[3, 96]"],
        default=DefaultVerdict(
            graphs=4,
            sites=2,
            events=9,
            skipped_frames=1,
            recompilations=2,
            captured_ops=356,
            eager_ops=45,
        ),
        fullgraph=FullgraphVerdict(
            ok=False,
            error="torch._dynamo.exc.UserError: Data-dependent branching\n\n"
            f'from user code:\n  File "{MODEL}", line 22, in forward\n    if torch.isinf(hidden).any()',
        ),
        explain=ExplainVerdict(graph_count=4, graph_break_count=3),
        cross_check=CrossCheck(agrees=True, breaks_with_capture=1),
        trace_seconds=6.8,
        frames=frames,
        segments=[segment.model_copy(update={"call": call}) for call in (0, 1) for segment in segments],
    )


def with_findings() -> Report:
    return report(
        status="findings",
        findings=[finding for finding in findings() if "forward" in finding.scenarios],
        scenarios=[broken_scenario()],
        notes=["torch 2.16.0 is newer than the newest that breakfinder knows (2.15)."],
    )


def with_scenarios() -> Report:
    return report(
        status="findings",
        findings=findings(),
        scenarios=[broken_scenario("forward"), clean_scenario().model_copy(update={"name": "decode"}),
                   broken_scenario("train")],
    )  # fmt: skip


def cleared_by_fullgraph() -> Report:
    only = findings()[1].model_copy(update={"id": "F1"})
    scenario = broken_scenario().model_copy(update={"fullgraph": FullgraphVerdict(ok=True)})
    return report(status="findings", findings=[only], scenarios=[scenario])


PATCH = """\
--- a/src/gatednet/routing.py
+++ b/src/gatednet/routing.py
@@ -9,3 +9,4 @@
     for step in range(3):
-        print("step", step)
+        if not torch.compiler.is_compiling():
+            print("step é", step)
         chosen = scores.topk(k).indices
"""


def fixed() -> Report:
    """Breaks that were fixed in two steps, the second of which surfaced with the first."""
    first = findings()[1].model_copy(update={"id": "F1"})
    surfaced = findings()[0]
    before = DefaultVerdict(graphs=0, sites=1, events=1, skipped_frames=1, eager_ops=90)
    between = DefaultVerdict(graphs=2, sites=1, events=1, captured_ops=60, eager_ops=30)
    after = DefaultVerdict(graphs=1, captured_ops=88)
    checks = [
        Check(name="the problem is gone from a new trace", passed=True),
        Check(name="same gradients of parameters and inputs", passed=True),
        Check(name="same results through inductor", passed=None, detail="there is no C++ compiler"),
    ]
    proved = Fix(
        title="Show the message only in eager, behind `torch.compiler.is_compiling()`",
        applicability="safe",
        verdict="proved",
        diff=PATCH,
        evidence=Evidence(checks=checks[:2], inputs_tried=21, before=before, after=between),
    )
    conditional = proved.model_copy(
        update={
            "title": "Compute both sides and choose with `torch.where`",
            "applicability": "review",
            "verdict": "conditional",
            "condition": "The inputs do not have a NaN: there the gradients differ.",
            "evidence": Evidence(checks=checks, inputs_tried=21),
        }
    )
    refused = proved.model_copy(
        update={
            "title": "Keep the number as a tensor",
            "verdict": "failed",
            "evidence": Evidence(
                checks=[Check(name="same outputs", passed=False, detail="float32, now float64")]
            ),
        }
    )
    steps = [
        FixStep(
            number=number,
            finding=finding.fingerprint,
            rule=finding.rule,
            file=finding.location.file,
            line=finding.location.line,
            expression=finding.location.expression,
            fix=fix,
            before=start,
            after=end,
            surfaced=[surfaced] if number == 1 else [],
        )
        for number, (finding, fix, start, end) in enumerate(
            [(first, proved, before, between), (surfaced, conditional, between, after)], 1
        )
    ]
    knobs = [
        KnobTrial(
            name="capture_scalar_outputs=True",
            how="torch._dynamo.config.capture_scalar_outputs = True",
            note="`.item()` gives a symbolic number in the graph.",
            before=before,
            after=after,
            clears=[first.fingerprint],
            equal_outputs=True,
        ),
        KnobTrial(
            name="nested_graph_breaks=True",
            how="torch._dynamo.config.nested_graph_breaks = True",
            before=before,
            after=between,
            equal_outputs=False,
        ),
        KnobTrial(
            name="fullgraph=True",
            how="torch.compile(model, fullgraph=True)",
            before=before,
            error="RuntimeError: Data-dependent branching",
        ),
    ]
    return report(
        status="findings",
        findings=[
            first.model_copy(update={"fixes": [proved]}),
            findings()[2].model_copy(update={"id": "F2", "fixes": [refused]}),
        ],
        scenarios=[broken_scenario()],
        likely=[surfaced.model_copy(update={"id": "L1"})],
        steps=steps,
        patch=PATCH,
        knobs=knobs,
    )


def recompiling() -> Report:
    only = findings()[3].model_copy(update={"id": "F1"})
    scenario = clean_scenario().model_copy(update={"default": DefaultVerdict(graphs=3, recompilations=2)})
    return report(status="findings", findings=[only], scenarios=[scenario])


def failed() -> Report:
    return report(
        status="failed",
        scenarios=[],
        subject=Subject(name="GatedNet"),
        failure=Failure(
            stage="build",
            message="GatedNet() raised TypeError: missing 1 required positional argument: 'width'",
            detail="Traceback (most recent call last):\n"
            '  File "src/gatednet/modeling_gatednet.py", line 12, in __init__\n'
            "TypeError: GatedNet.__init__() missing 1 required positional argument: 'width'",
        ),
        output="loading tokenizer\n",
    )


ATTACKS = (
    "<script>window.pwned=1</script>",
    '<img src=x onerror="window.pwned=1">',
    "\"><svg onload='window.pwned=1'>",
    "' onmouseover='window.pwned=1",
    "</style></script><b id=injected>bold</b>",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:window.pwned=1",
    "\x1b[2J\x1b]0;owned\x07\x9b31m",
    "\u202edesrever\u202c \u2066isolated\u2069 \u200bzero\ufeff",
    "a\rb\x00c\x85d\u2028e",
)
"""Strings that would do harm in a page or on a terminal, each where a model's own text can be."""

HARM = " ".join(ATTACKS)


def hostile() -> Report:
    """`HARM` in every text field that comes from the model, its path, its messages or its environment."""
    line = f"x = '{HARM}'"
    finding = Finding(
        id="F1",
        fingerprint=HARM,
        kind="recompilation",
        scenario=HARM,
        scenarios=[HARM, "forward"],
        rule=HARM,
        title=HARM,
        severity="error",
        why=f"{HARM} `{HARM}`\n\n    {HARM}",
        remedy=HARM,
        torch=TorchSays(
            gb_id=HARM, gb_type=HARM, explanation=HARM, hints=[HARM], context=HARM, reference=ATTACKS[6]
        ),
        reasons=[HARM],
        location=Location(
            file=HARM,
            line=7,
            column=5,
            end_line=7,
            end_column=5 + len(HARM),
            qualname=HARM,
            owner=HARM,
            expression=HARM,
            statement=HARM,
            snippet=f"before\n{line.replace(chr(13), '')}\nafter",
            snippet_line=6,
            note=HARM,
        ),
        stack=[StackFrame(file=HARM, line=1, function=HARM, owner=HARM, code=HARM)],
        fixes=[
            Fix(
                title=HARM,
                applicability="safe",
                diff=f"+{HARM}\n-{HARM}",
                condition=HARM,
                evidence=Evidence(checks=[Check(name=HARM, passed=False, detail=HARM)]),
            )
        ],
    )
    counts = DefaultVerdict(graphs=1, sites=1)
    step = FixStep(
        number=1,
        finding=HARM,
        rule=HARM,
        file=HARM,
        line=7,
        expression=HARM,
        fix=finding.fixes[0].model_copy(update={"condition": HARM, "verdict": "conditional"}),
        before=counts,
        after=counts,
        surfaced=[finding],
    )
    knob = KnobTrial(name=HARM, how=HARM, note=HARM, before=counts, after=counts, error=HARM)
    scenario = broken_scenario(HARM)
    scenario.inputs = [HARM]
    scenario.fullgraph.error = scenario.explain.error = scenario.cross_check.message = HARM
    scenario.cross_check.agrees = False
    scenario.frames[1].function = scenario.frames[1].resume_of = scenario.frames[1].reason = HARM
    scenario.frames[1].file = HARM
    scenario.frames[1].resume_line = 7
    return report(
        status="failed",
        findings=[finding, finding.model_copy(update={"id": "F2", "rule": "BF101"})],
        scenarios=[scenario, clean_scenario()],
        target=Target(text=HARM, kind="hub", location=HARM, revision=HARM),
        subject=Subject(name=HARM, model_type=HARM, task=HARM, dtype=HARM, notes=[HARM]),
        environment=Environment(python=HARM, torch=HARM, platform=HARM, packages={HARM: HARM}),
        command=[HARM],
        failure=Failure(stage=HARM, message=HARM, detail=HARM),
        likely=[finding.model_copy(update={"id": "L1"})],
        steps=[step],
        patch=f"+{HARM}",
        knobs=[knob, knob.model_copy(update={"after": None})],
        notes=[HARM],
        output=HARM,
        created=HARM,
    )


def thousand(number: int = 1000) -> Report:
    """Many findings, each with a fix of its own, in a run of as many graphs."""
    kinds = findings()
    fix = kinds[0].fixes[0]
    many = [
        kinds[index % len(kinds)].model_copy(
            update={
                "id": f"F{index + 1}",
                "fingerprint": f"x{index}",
                "fixes": [fix.model_copy(update={"diff": fix.diff.replace("65504", str(index))})],
            }
        )
        for index in range(number)
    ]
    scenario = broken_scenario()
    scenario.segments = [
        Segment(kind="eager" if index % 3 == 2 else "graph", ops=1 + 37 * index % 11, compile_id=f"{index}/0")
        for index in range(number)
    ]
    scenario.frames = [
        scenario.frames[1].model_copy(update={"compile_id": f"{index}/0"}) for index in range(number)
    ]
    scenario.default.sites, scenario.default.graphs = number, number
    return report(status="findings", findings=many, scenarios=[scenario])


ALL = {
    "fixed": fixed,
    "clean": clean,
    "findings": with_findings,
    "scenarios": with_scenarios,
    "cleared": cleared_by_fullgraph,
    "recompiling": recompiling,
    "failed": failed,
    "hostile": hostile,
    "thousand": thousand,
}


def named(one: Report, name: str) -> Report:
    return one.model_copy(update={"target": one.target.model_copy(update={"name": name})})


def several() -> Collection:
    reports = [
        named(with_findings(), "first"),
        named(clean(), "second"),
        named(failed(), "third"),
        named(with_findings(), "fourth"),
    ]
    return collect(
        reports, Tool(version="1"), "2026-01-01T00:00:00+00:00", ["breakfinder", "check"], ["a note"]
    )


def several_hostile() -> Collection:
    one = named(hostile(), "<script>window.pwned=1</script>|\x1b[31m")
    return collect([one, one], Tool(version="1"), "", [], ["<img src=x onerror='window.pwned=1'>"])


COLLECTIONS = {"several": several, "several-hostile": several_hostile}
