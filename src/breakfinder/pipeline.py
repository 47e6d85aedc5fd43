"""The check from end to end: a target to a report, in a child process; or a live object, in this one."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from breakfinder import __version__
from breakfinder.errors import UsageError
from breakfinder.fixes.edit import Edit
from breakfinder.options import CheckOptions
from breakfinder.report.model import (
    Environment,
    Failure,
    Finding,
    Fix,
    FixStep,
    KnobTrial,
    Report,
    Status,
    Subject,
    Target,
    Tool,
)
from breakfinder.trace import TraceLog


@dataclass
class Progress:
    """How far a check has come, for whoever shows it."""

    stage: str = "start"
    frames: int = 0
    breaks: int = 0
    scenario: str = ""


class Recorder:
    """Takes the messages of a run as they come, and makes the report of whatever has come."""

    def __init__(self, target: Target, command: list[str] | None = None) -> None:
        self.target = target
        self.command = command or []
        self.log = TraceLog()
        self.progress = Progress()
        self.environment: Environment | None = None
        self.subject = Subject(name=target.text)
        self.notes: list[str] = []
        self.fixes: dict[str, list[Fix]] = {}
        self.steps: list[FixStep] = []
        self.patch = ""
        self.knobs: list[KnobTrial] = []
        self.edits: list[Edit] = []
        self.left: list[str] | None = None
        self.traced = False
        self._began = time.perf_counter()
        self._created = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")

    def take(self, kind: str, data: Any) -> None:
        if kind == "stage":
            self.progress.stage = data["name"]
        elif kind == "environment":
            self.environment = Environment(**data)
        elif kind == "subject":
            self.subject = Subject(**data)
        elif kind == "note":
            self.notes.append(data["text"])
        elif kind == "traced":
            self.traced = True
        elif kind == "fix":
            self.fixes.setdefault(data["finding"], []).append(Fix(**data["fix"]))
        elif kind == "step":
            self.steps.append(FixStep(**data))
        elif kind == "patch":
            self.patch = data["text"]
        elif kind == "edits":
            self.edits = [Edit(**edit) for edit in data]
        elif kind == "left":
            self.left = data
        elif kind == "knob":
            self.knobs.append(KnobTrial(**data))
        elif kind == "restart":
            self.log = TraceLog()
            self.progress.frames = self.progress.breaks = 0
            if data["note"]:
                self.notes.append(data["note"])
        else:
            if kind == "frame":
                self.progress.frames += 1
            elif kind == "break":
                self.progress.breaks += 1
            elif kind == "scenario":
                self.progress.scenario = data["name"]
            self.log.apply(kind, data)

    def report(self, failure: Failure | None = None, output: str = "", peak_memory_bytes: int = 0) -> Report:
        """The report of what was taken so far."""
        from breakfinder.assemble import Assembler, problems

        assembler = Assembler()
        scenarios = [assembler.add_scenario(trace) for trace in self.log.scenarios]
        findings = [self._with_fixes(finding) for finding in assembler.findings()]
        status: Status = "failed" if failure else "findings" if problems(findings) else "ok"
        return Report(
            tool=Tool(version=__version__),
            created=self._created,
            command=self.command,
            environment=self.environment or _own_environment(),
            target=self.target,
            subject=self.subject,
            scenarios=scenarios,
            findings=findings,
            likely=self._likely(findings),
            steps=self.steps,
            patch=self.patch,
            knobs=self.knobs,
            status=status,
            failure=failure,
            notes=self.notes,
            total_seconds=round(time.perf_counter() - self._began, 3),
            peak_memory_bytes=peak_memory_bytes,
            output=output,
        )

    def _likely(self, findings: list[Finding]) -> list[Finding]:
        if not any(frame.outcome == "skipped" for trace in self.log.scenarios for frame in trace.frames):
            return []
        from breakfinder.likely import likely

        return likely(self.log.scenarios, findings, Path.cwd())

    def _with_fixes(self, finding: Finding) -> Finding:
        fixes = self.fixes.get(finding.fingerprint)
        return finding.model_copy(update={"fixes": fixes}) if fixes else finding


def _own_environment() -> Environment:
    """What is known when the child process never came to say what it runs on."""
    import platform

    return Environment(python=platform.python_version(), platform=platform.platform())


@dataclass
class CheckResult:
    report: Report
    interrupted: bool = False
    edits: list[Edit] = field(default_factory=list)
    """What the steps of the report do to files."""
    left: list[str] = field(default_factory=list)
    """Fingerprints of the findings that are there after them."""
    unusable: bool = False
    """Whether the target or an option could not be used: then there is nothing but the report that says so."""

    @property
    def document(self) -> Report:
        return self.report

    @property
    def patch(self) -> str:
        return self.report.patch


def check_target(
    text: str,
    options: CheckOptions,
    on_progress: Callable[[Progress], None] | None = None,
    command: list[str] | None = None,
) -> CheckResult:
    """Check what ``text`` names, in a child process; ``on_progress`` is called some times a second.

    Raises UsageError if the target, or an option, cannot be used.
    """
    from breakfinder.supervisor import Supervisor
    from breakfinder.targets import resolve

    target = resolve(text, options.build.revision, options.build.trust_remote_code)
    recorder = Recorder(target, command)
    supervisor = Supervisor(
        target,
        options,
        recorder.take,
        (lambda: on_progress(recorder.progress)) if on_progress else (lambda: None),
    )
    outcome = supervisor.run()
    if outcome.usage_error is not None:
        raise UsageError(*outcome.usage_error)
    failure = outcome.failure
    if failure is not None and recorder.traced and not outcome.interrupted:
        # The model's own trace is complete: that a trial of a fix went wrong takes nothing away from it.
        recorder.notes.append(
            f"not all fixes and settings were tried: at '{failure.stage}' it {failure.message}"
        )
        failure = None
    report = recorder.report(failure, outcome.output, outcome.peak_memory_bytes)
    left = [item.fingerprint for item in report.findings] if recorder.left is None else recorder.left
    return CheckResult(report, outcome.interrupted, recorder.edits, left)


def unusable(text: str, error: UsageError, command: list[str] | None = None) -> Report:
    """The report of a target that could not even be built, because of what the user gave."""
    recorder = Recorder(Target(text=text, kind="unknown"), command)
    hint = f" (try: {error.hint})" if error.hint else ""
    return recorder.report(Failure(stage="target", message=f"{error.message}{hint}"))


def check_object(model: Any, *args: Any, **kwargs: Any) -> Report:
    """Check a live callable, called with these arguments, in this process.

    The model's state, its mode and the random generators are left as they were; code that torch has compiled
    in this process is forgotten (``torch._dynamo.reset``).
    """
    from breakfinder.targets import live
    from breakfinder.tracing import ModelError, dynamo, trace
    from breakfinder.tracing.state import RandomState
    from breakfinder.worker import environment, failure_of

    subject = live.subject_of(model, args, kwargs)
    target = Target(text=subject.facts.name, kind="object")
    recorder = Recorder(target)
    if note := dynamo.check_torch():
        recorder.take("note", {"text": note})
    recorder.take("environment", environment(live.device_of(model)))
    recorder.take("subject", subject.facts.model_dump())
    failure = None
    random_state = RandomState()
    try:
        trace(subject, recorder.take)
    except ModelError as error:
        failure = Failure(**failure_of(recorder.progress.stage, error))
    finally:
        random_state.restore()
    return recorder.report(failure)
