"""The report: one document from which every output format is made.

The field names are a contract (``breakfinder schema`` prints it as JSON Schema).  Lines are 1-based;
columns are 1-based characters, ``end_column`` exclusive; times are seconds; memory is bytes.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = "1.0"

Kind = Literal["graph_break", "skipped_frame", "recompilation", "recompile_limit", "error"]
Severity = Literal["error", "warning", "info"]
Status = Literal["ok", "findings", "failed"]


class Document(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_serialization_defaults_required=True)


class Tool(Document):
    name: str = "breakfinder"
    version: str


class Environment(Document):
    """Where the model was traced. ``packages``: other distributions that matter, with their versions."""

    python: str
    torch: str = ""
    transformers: str = ""
    device: str = "cpu"
    platform: str = ""
    packages: dict[str, str] = Field(default_factory=dict)


class Target(Document):
    """What the user asked for.

    ``kind``: ``hub``, ``folder``, ``model_type``, ``file``, ``module`` or ``object`` (Python API); ``unknown``
    where the text names nothing.
    """

    text: str
    name: str = ""
    """The name that the configuration gives it, if it comes from there."""
    kind: Literal["hub", "folder", "model_type", "file", "module", "object", "unknown"]
    location: str = ""
    revision: str = ""
    trust_remote_code: bool = False


class Subject(Document):
    """The callable under test and how it was built."""

    name: str
    """Qualified name of its class or function."""
    model_type: str = ""
    task: str = ""
    parameters: int = 0
    """Number of parameters of the model as configured (all layers)."""
    parameter_bytes: int = 0
    weights: Literal["none", "random", "real", "own"] = "none"
    """``none``: fake tensors; ``random``; ``real``: from a checkpoint; ``own``: the object came built."""
    dtype: str = ""
    attn_implementation: str = ""
    layers_traced: int = 0
    layers_total: int = 0
    notes: list[str] = Field(default_factory=list)
    """How it was built, where that is not as asked (fallbacks, shrinking), one sentence each."""


class DefaultVerdict(Document):
    """What plain ``torch.compile`` does."""

    graphs: int = 0
    sites: int = 0
    events: int = 0
    skipped_frames: int = 0
    recompilations: int = 0
    captured_ops: int = 0
    eager_ops: int = 0


class FullgraphVerdict(Document):
    """What the ``fullgraph=True`` trial compile said; ``ok`` is null when it was not run."""

    ok: bool | None = None
    error: str = ""


class ExplainVerdict(Document):
    """What ``torch._dynamo.explain`` said; null where it raised."""

    graph_count: int | None = None
    graph_break_count: int | None = None
    error: str = ""


class CrossCheck(Document):
    """The fullgraph verdict against a trace with scalar and dynamic-shape capture on."""

    agrees: bool | None = None
    breaks_with_capture: int | None = None
    message: str = ""


class Frame(Document):
    """One frame that Dynamo met, in order."""

    compile_id: str
    function: str
    file: str
    line: int
    resume_of: str = ""
    """The function that a resume function resumes."""
    resume_line: int | None = None
    outcome: Literal["compiled", "empty", "skipped", "failed"]
    ops: int = 0
    op_counts: dict[str, int] = Field(default_factory=dict)
    seconds: float = 0.0
    reason: str = ""


class Segment(Document):
    """A stretch of a run, in order: a compiled graph, or ops that ran eagerly."""

    kind: Literal["graph", "eager"]
    ops: int
    compile_id: str = ""
    call: int = 0


class Scenario(Document):
    name: str
    calls: int = 0
    inputs: list[str] = Field(default_factory=list)
    default: DefaultVerdict = Field(default_factory=DefaultVerdict)
    fullgraph: FullgraphVerdict = Field(default_factory=FullgraphVerdict)
    explain: ExplainVerdict = Field(default_factory=ExplainVerdict)
    cross_check: CrossCheck = Field(default_factory=CrossCheck)
    trace_seconds: float = 0.0
    frames: list[Frame] = Field(default_factory=list)
    segments: list[Segment] = Field(default_factory=list)
    finished: bool = True


class Location(Document):
    """A place in source code.

    ``expression`` is the smallest expression that covers the position; ``statement`` the statement
    around it; ``snippet`` some lines around it, of which the first is ``snippet_line``.
    """

    file: str
    line: int
    column: int = 1
    end_line: int
    end_column: int = 1
    qualname: str = ""
    owner: str = "user"
    expression: str = ""
    statement: str = ""
    snippet: str = ""
    snippet_line: int = 1
    note: str = ""
    """Why the place is not the exact one, if it is not (no source, generated code, moved lines)."""
    fingerprint: str = ""
    """Identity of the place that survives edits elsewhere in the file."""


class StackFrame(Document):
    file: str
    line: int
    function: str
    owner: str
    code: str = ""
    """The source line, stripped."""


class TorchSays(Document):
    gb_id: str = ""
    gb_type: str = ""
    explanation: str = ""
    hints: list[str] = Field(default_factory=list)
    context: str = ""
    reference: str = ""


Applicability = Literal["safe", "review", "manual"]
Verdict = Literal["proved", "conditional", "failed", "advice"]


class Check(Document):
    """One thing that was tried to prove a fix; ``passed`` is null where it could not be tried."""

    name: str
    passed: bool | None
    detail: str = ""


class Evidence(Document):
    """What was tried to prove a fix."""

    checks: list[Check] = Field(default_factory=list)
    inputs_tried: int = 0
    """Variants of the example inputs that old and new code were both run on."""
    before: DefaultVerdict = Field(default_factory=DefaultVerdict)
    after: DefaultVerdict = Field(default_factory=DefaultVerdict)
    seconds: float = 0.0


class Fix(Document):
    """A change of the source that may take a finding away.

    ``applicability``: ``safe`` gives the same result for every input, ``review`` the same under ``condition``,
    ``manual`` is shown and never applied.  ``verdict``: ``proved`` by running it; ``conditional``: nothing
    speaks against it, but ``condition`` could not be shown; ``failed``: it did not hold; ``advice``: not tried.
    """

    title: str
    applicability: Applicability
    verdict: Verdict = "advice"
    condition: str = ""
    """What must hold for the result to stay the same, a sentence."""
    diff: str = ""
    """Unified diff of the file; empty for advice."""
    evidence: Evidence = Field(default_factory=Evidence)


class Finding(Document):
    """One distinct problem at one place."""

    id: str
    fingerprint: str
    kind: Kind
    scenario: str
    """The first scenario in which it was met."""
    scenarios: list[str]
    rule: str
    title: str
    severity: Severity
    why: str = ""
    remedy: str = ""
    torch: TorchSays = Field(default_factory=TorchSays)
    events: int = 1
    """Times that it was recorded, in the first call that met it: a break is recorded once for every frame that
    it bubbles through.  For a recompilation, the number of them."""
    skips_frame: bool = False
    in_loop: bool = False
    reasons: list[str] = Field(default_factory=list)
    """Guards that failed, for a recompilation."""
    location: Location
    stack: list[StackFrame] = Field(default_factory=list)
    missed_by_explain: bool = False
    fullgraph_clears: bool = False
    """By the trial compile, ``fullgraph=True`` makes this break go away."""
    fixes: list[Fix] = Field(default_factory=list)


class FixStep(Document):
    """One fix that held and was kept, in the order in which they were applied.

    ``before`` and ``after`` count what is left of the whole model, earlier steps included.
    """

    number: int
    finding: str
    """Fingerprint of the finding that it takes away."""
    rule: str
    file: str
    line: int
    expression: str
    fix: Fix
    before: DefaultVerdict
    after: DefaultVerdict
    surfaced: list[Finding] = Field(default_factory=list)
    """Problems that this fix brought to light: they were masked by the one that is gone."""


class KnobTrial(Document):
    """What one setting does, tried on the unchanged source."""

    name: str
    """As a reader knows it, e.g. ``capture_scalar_outputs=True``."""
    how: str
    """Python or a command-line option that sets it."""
    note: str = ""
    """What to know before using it."""
    before: DefaultVerdict
    after: DefaultVerdict | None = None
    """Null where the trial failed."""
    clears: list[str] = Field(default_factory=list)
    """Fingerprints of the findings that are gone with it."""
    equal_outputs: bool | None = None
    """Whether outputs are those of eager; null where they could not be compared."""
    error: str = ""


class Failure(Document):
    """Why the model could not be run to the end."""

    stage: str
    message: str
    detail: str = ""
    """Traceback or captured output, for the reader who wants more."""


class Report(Document):
    schema_version: str = SCHEMA_VERSION
    tool: Tool
    created: str = ""
    """When it was made, ISO 8601, UTC."""
    command: list[str] = Field(default_factory=list)
    environment: Environment
    target: Target
    subject: Subject
    scenarios: list[Scenario] = Field(default_factory=list)
    findings: list[Finding] = Field(default_factory=list)
    likely: list[Finding] = Field(default_factory=list)
    """Problems that the source patterns of the rules see in skipped frames, where no trace can confirm them
    until the frame is traced.  They are not among ``findings`` and count nowhere."""
    steps: list[FixStep] = Field(default_factory=list)
    patch: str = ""
    """All steps as one patch for ``git apply``, against the sources as they were read."""
    knobs: list[KnobTrial] = Field(default_factory=list)
    status: Status = "ok"
    failure: Failure | None = None
    notes: list[str] = Field(default_factory=list)
    """What the reader should know about this run (versions not known to breakfinder, fallbacks)."""
    total_seconds: float = 0.0
    peak_memory_bytes: int = 0
    output: str = ""
    """The end of what the model printed while it was traced."""

    def _repr_html_(self) -> str:
        """The page, in a frame of its own, for notebooks."""
        from breakfinder.report.render.html import in_frame

        return in_frame(self)
