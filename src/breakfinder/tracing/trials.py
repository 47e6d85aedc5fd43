"""The trials that a scenario is put through: default compile, explain, fullgraph, and the cross-check."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from breakfinder.errors import UsageError
from breakfinder.targets.subject import Call, Scenario, Subject
from breakfinder.trace import BreakEvent, FrameRecord, Segment, TraceError
from breakfinder.tracing import dynamo
from breakfinder.tracing.state import ModuleState, seed_everything

Send = Callable[[str, Any], None]
"""Takes the kind of a message (see `breakfinder.trace.TraceLog`) and a record or plain data."""


Around = Callable[[int, "Call"], contextlib.AbstractContextManager[None]]

Compile = Callable[[Callable[..., Any], Callable[..., Any]], Callable[..., Any]]
"""Takes the subject and a backend, and gives what is to be called."""


def compile_plainly(function: Callable[..., Any], backend: Callable[..., Any]) -> Callable[..., Any]:
    compiled: Callable[..., Any] = torch.compile(function, backend=backend)
    return compiled


def _nothing_around(index: int, call: Call) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext()


class ModelError(Exception):
    """The model raises when it is called without ``torch.compile`` too; ``error`` describes it."""

    def __init__(self, error: TraceError, cause: BaseException) -> None:
        super().__init__(f"{error.type}: {error.message}")
        self.error = error
        self.cause = cause


def call_subject(function: Callable[..., Any], call: Call) -> Any:
    """One call of the subject.  The stack above this function is not the model's."""
    return function(*call.args, **call.kwargs)


def drive(
    subject: Subject,
    scenario: Scenario,
    function: Callable[..., Any],
    calls: int | None = None,
    around: Around = _nothing_around,
) -> int:
    """Make the scenario's calls on ``function``, at most ``calls`` of them; gives how many were made.

    Each is made inside the context that ``around(index, call)`` gives.
    """
    with subject.run_context(), torch.set_grad_enabled(scenario.grad):
        generator = scenario.calls()
        made = 0
        try:
            call = next(generator)
            while True:
                with around(made, call):
                    output = call_subject(function, call)
                made += 1
                if made == calls:
                    if scenario.training:
                        # The first call's backward pass is part of the trial.
                        _advance(generator, output)
                    return made
                call = generator.send(output)
        except StopIteration:
            return made
        finally:
            generator.close()


@dataclass
class Trials:
    """Runs one scenario's trials; each starts from the same module state and the same random seeds."""

    subject: Subject
    scenario: Scenario
    send: Send
    config: dict[str, Any]
    compile: Compile = compile_plainly

    def __post_init__(self) -> None:
        self.state = ModuleState(self.subject.callable)
        self.first_call_breaks = 0

    def run(self) -> None:
        """All trials, cheapest evidence first; raises ModelError if the model does not run at all."""
        self.send("scenario", {"name": self.scenario.name})
        began = time.perf_counter()
        try:
            self._default()
            self._explain()
            fullgraph_ok = self._fullgraph()
            if self.first_call_breaks or not fullgraph_ok:
                self._cross_check()
            for backend in self.scenario.backends[1:]:
                self._backend(backend)
        finally:
            self.state.restore()
            dynamo.reset()
        self.send("scenario_done", {"trace_seconds": time.perf_counter() - began})

    def run_default(self) -> None:
        """The default compile alone."""
        self.send("scenario", {"name": self.scenario.name})
        began = time.perf_counter()
        try:
            self._default()
        finally:
            self.state.restore()
            dynamo.reset()
        self.send("scenario_done", {"trace_seconds": time.perf_counter() - began})

    def _stage(self, trial: str) -> None:
        self.send("stage", {"name": f"trace {self.scenario.name}: {trial}"})

    def _fresh(self) -> None:
        dynamo.reset()
        self.state.restore()
        if isinstance(self.subject.callable, torch.nn.Module) and self.scenario.training is not None:
            self.subject.callable.train(self.scenario.training)
        seed_everything()

    def _drive(
        self, function: Callable[..., Any], calls: int | None, around: Around = _nothing_around
    ) -> int:
        return drive(self.subject, self.scenario, function, calls, around)

    def _default(self) -> None:
        self._stage("torch.compile")
        self._fresh()
        run = _ObservedRun(self)
        try:
            with dynamo.configured(self.config), run.observer:
                backend = run.counter.backend(run.observer.on_graph)
                self._drive(self.compile(self.subject.callable, backend), None, run.around)
        except UsageError:
            raise
        except Exception as error:
            self._compile_failed(error, run.calls_made)
        if run.calls_made and not run.frames:
            self._silent_skip(run)
        self.first_call_breaks = run.first_call_breaks

    def _silent_skip(self, run: _ObservedRun) -> None:
        """Nothing was compiled, and nothing was said: torch never began with the subject's frame."""
        code = _code_of(self.subject.callable)
        run.first_call_breaks += 1
        self.send(
            "frame",
            FrameRecord(
                compile_id="",
                name=code.co_name if code else self.subject.facts.name,
                file=code.co_filename if code else "",
                first_line=code.co_firstlineno if code else 1,
                outcome="skipped",
                silent=True,
            ),
        )

    def _compile_failed(self, error: Exception, calls_made: int) -> None:
        """Tell an error that compiling brings from one that the model raises anyway."""
        described = dynamo.describe_error(error)
        self._fresh()
        try:
            self._drive(self.subject.callable, calls_made + 1)
        except Exception as eager_error:
            if self.scenario.given is not None and calls_made >= self.scenario.given:
                return
            raise ModelError(dynamo.describe_error(eager_error), error) from eager_error
        self.send("error", described)

    def _explain(self) -> None:
        self._stage("explain")
        self._fresh()
        explain = dynamo.explain(self.subject.callable)
        results: list[dict[str, Any]] = []

        def explained(*args: Any, **kwargs: Any) -> None:
            results.append(explain(*args, **kwargs))

        try:
            with dynamo.configured(self.config):
                self._drive_once(explained)
        except Exception as error:
            if not results:
                self.send("explain", {"error": f"{type(error).__name__}: {error}"})
                return
        self.send("explain", results[0])

    def _drive_once(self, function: Callable[..., Any]) -> None:
        """The first call only, with nothing done to its output."""
        with self.subject.run_context(), torch.set_grad_enabled(self.scenario.grad):
            generator = self.scenario.calls()
            call_subject(function, next(generator))
            generator.close()

    def _fullgraph(self) -> bool:
        self._stage("fullgraph=True")
        self._fresh()
        graphs: list[str] = []
        counter = dynamo.OpCounter()
        backend = counter.backend(lambda compile_id, ops: graphs.append(compile_id))
        compiled = torch.compile(self.subject.callable, backend=backend, fullgraph=True)
        try:
            with dynamo.configured(self.config):
                self._drive_once(compiled)
        except Exception as error:
            self.send("fullgraph", {"ok": False, "error": dynamo.describe_error(error)})
            return False
        if not graphs:
            nothing = TraceError("NothingCompiled", "torch compiled no frame of it, and said nothing")
            self.send("fullgraph", {"ok": False, "error": nothing})
            return False
        self.send("fullgraph", {"ok": True, "error": None})
        return True

    def _cross_check(self) -> None:
        """The default compile with what ``fullgraph=True`` captures: clean just when that succeeds."""
        self._stage("cross-check")
        self._fresh()
        run = _ObservedRun(self, silent=True)
        compiled = torch.compile(self.subject.callable, backend=run.counter.backend(run.observer.on_graph))
        try:
            with dynamo.configured({**self.config, **dynamo.CAPTURE}), run.observer:
                self._drive_once(compiled)
        except Exception:
            # An error here is the one that the default compile or the trial compile reported.
            run.first_call_breaks += 1
        graphs = any(frame.graphs for frame in run.frames)
        self.send("cross_check", {"breaks": run.first_call_breaks + (0 if graphs else 1)})

    def _backend(self, backend: str) -> None:
        """Compile with a further backend: what only it finds is an exception."""
        self._stage(backend)
        self._fresh()
        compiled = torch.compile(self.subject.callable, backend=backend)
        try:
            with dynamo.configured(self.config):
                self._drive(compiled, 1)
        except Exception as error:
            self.send("error", dynamo.describe_error(error))


def _advance(generator: Any, output: Any) -> None:
    try:
        generator.send(output)
    except StopIteration:
        return


def _code_of(function: Any) -> Any:
    if isinstance(function, torch.nn.Module):
        function = function.forward
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return getattr(getattr(function, "__func__", function), "__code__", None)


class _ObservedRun:
    """One observed run of the scenario's calls: passes on records, and keeps what the trials decide by."""

    def __init__(self, trials: Trials, silent: bool = False) -> None:
        self.send: Send = (lambda kind, data: None) if silent else trials.send
        self.observer = dynamo.Observer(self._record, call_subject.__code__)
        self.counter = dynamo.OpCounter()
        self.calls_made = 0
        self.first_call_breaks = 0
        self.frames: list[FrameRecord] = []

    def _record(self, kind: str, record: Any) -> None:
        if kind == "frame":
            self.frames.append(record)
            if record.outcome in ("skipped", "failed") and self.calls_made == 0:
                self.first_call_breaks += 1
        elif isinstance(record, BreakEvent) and self.calls_made == 0:
            self.first_call_breaks += 1
        self.send(kind, record)

    @contextlib.contextmanager
    def around(self, index: int, call: Call) -> Iterator[None]:
        """Count the operations of one call, also of one that raises."""
        self.observer.call = index
        self.send("inputs", {"call": index, "text": describe_call(call)})
        self.counter.segments.clear()
        try:
            with self.counter:
                yield
        finally:
            for compile_id, ops in self.counter.segments:
                self.send("segment", Segment("graph" if compile_id else "eager", ops, compile_id, index))
        self.calls_made = index + 1
        self.send("call", {"index": index})


def describe_call(call: Call) -> str:
    """The arguments of a call, e.g. ``float32[4, 8], mask=bool[4]``."""
    parts = [_describe(value) for value in call.args]
    parts += [f"{name}={_describe(value)}" for name, value in call.kwargs.items()]
    return ", ".join(parts)


def _describe(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_describe(item) for item in value[:4]) + (", …" if len(value) > 4 else "")
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_describe(item)}" for key, item in list(value.items())[:4]) + "}"
    if value is None or isinstance(value, (bool, int, float, str)):
        text = repr(value)
        return text if len(text) <= 40 else text[:39] + "…"
    return type(value).__name__
