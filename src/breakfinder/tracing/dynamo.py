"""The only module that touches torch's private API.

What is used, and what happens where a torch release lacks it: the structured trace log (logger
``torch.__trace``) is what every figure rests on, and `check_torch` says so if it is gone; the live
exception behind a break record gives columns and the frame's fate, and the record's text stands in for it
where it cannot be reached.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

import torch
import torch._dynamo
import torch._guards
import torch._logging
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    UnsupportedOperatorException,
)
from torch._subclasses.fake_tensor import (
    FakeTensorMode as FakeTensorMode,
)
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv
from torch.utils._python_dispatch import TorchDispatchMode

from breakfinder.errors import UsageError
from breakfinder.trace import BreakEvent, FrameRecord, Recompilation, StackEntry, TraceError
from breakfinder.tracing.messages import (
    parse_break,
    parse_guard_failure,
    reason_from_artifact,
    stack_from_text,
)

OLDEST = (2, 13)
NEWEST = (2, 15)

_TRACE_LOG = "torch.__trace"
_INTERNAL = ("/torch/_dynamo/", "/torch/_functorch/", "/torch/_compile.py", "/torch/_utils_internal.py")
_MODULE_CALL = ("_wrapped_call_impl", "_call_impl")

_SOFT_FAILURES = ("", "Unsupported", "UserError", "SkipFrame")
"""Failures after which Dynamo runs the frame in eager; it raises any other to the caller."""

Emit = Callable[[str, Any], None]
"""Takes the kind of a record (``break``, ``frame``, ``recompilation``) and the record."""


def torch_release() -> tuple[int, int]:
    major, minor = torch.__version__.split("+")[0].split(".")[:2]
    return int(major), int(minor)


def check_torch() -> str:
    """A note for the report if this torch is newer than what is known, else an empty string.

    Raises UsageError if it is too old, or does not have what tracing needs.
    """
    release = torch_release()
    if release < OLDEST:
        raise UsageError(
            f"torch {torch.__version__} is too old: breakfinder needs {OLDEST[0]}.{OLDEST[1]} or newer",
            "upgrade torch, e.g. pip install 'torch>=2.13'",
        )
    missing = [
        name
        for owner, name in (
            (torch._dynamo, "explain"),
            (torch._dynamo, "reset"),
            (torch._logging, "trace_structured"),
            (torch._guards, "CompileContext"),
        )
        if not hasattr(owner, name)
    ]
    if missing:
        raise UsageError(
            f"torch {torch.__version__} lacks {', '.join(missing)}, which tracing rests on",
            f"use torch {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}, or a newer breakfinder",
        )
    if release > NEWEST:
        return (
            f"torch {torch.__version__} is newer than the newest that breakfinder knows "
            f"({NEWEST[0]}.{NEWEST[1]}): breaks may be explained less exactly"
        )
    return ""


def reset() -> None:
    """Forget all compiled code, and close the code that torch keeps for frames."""
    torch._dynamo.reset()


@contextlib.contextmanager
def configured(values: dict[str, Any]) -> Iterator[None]:
    """Dynamo's configuration with ``values`` patched in.

    Raises UsageError for a name that this torch does not have.
    """
    config = torch._dynamo.config
    unknown = [name for name in values if not hasattr(config, name)]
    if unknown:
        raise UsageError(
            f"torch {torch.__version__} has no torch._dynamo.config.{unknown[0]}",
            "see torch/_dynamo/config.py for the names",
        )
    with config.patch(**values):
        yield


def recompile_limit() -> int:
    """How often Dynamo compiles one frame before it leaves it to eager."""
    return int(torch._dynamo.config.recompile_limit)


@contextlib.contextmanager
def inductor_in_process() -> Iterator[None]:
    """inductor without helper processes of its own: this one is a fork, which must not leave any behind.

    Random numbers are eager's, so that results can be compared.
    """
    import torch._inductor.config as config

    with config.patch(compile_threads=1, fallback_random=True):
        yield


CAPTURE = {"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True}
"""What ``fullgraph=True`` switches on besides raising at the first break."""


def explain(subject: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """``torch._dynamo.explain`` of a callable; calling the result gives its figures and break places."""

    def run(*args: Any, **kwargs: Any) -> dict[str, Any]:
        output = torch._dynamo.explain(subject)(*args, **kwargs)
        places = [reason.user_stack[-1] for reason in output.break_reasons if reason.user_stack]
        return {
            "graph_count": output.graph_count,
            "graph_break_count": output.graph_break_count,
            "places": [_entry(place) for place in places],
        }

    return run


def current_compile_id() -> str:
    return str(torch._guards.CompileContext.current_compile_id() or "")


class OpCounter(TorchDispatchMode):  # type: ignore[misc]
    """Counts the operations that are dispatched, apart by the compiled graph that they run in.

    ``segments`` is a list of ``[compile_id, ops]`` in the order of running; an empty id is eager.
    """

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()
        self.graph = ""
        self.segments: list[list[Any]] = []

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "namespace", "aten") != "prim":
            if not self.segments or self.segments[-1][0] != self.graph:
                self.segments.append([self.graph, 0])
            self.segments[-1][1] += 1
        return func(*args, **(kwargs or {}))

    def backend(self, on_graph: Callable[[str, list[str]], None]) -> Callable[..., Any]:
        """An eager backend that tells this counter which graph runs, and ``on_graph`` what was captured."""

        def count_in_graph(gm: torch.fx.GraphModule, example_inputs: Any) -> Any:
            compile_id = current_compile_id()
            on_graph(compile_id, op_names(gm))

            @torch._dynamo.disable  # type: ignore[untyped-decorator]
            def run(*args: Any) -> Any:
                outer, self.graph = self.graph, compile_id
                self.segments.append([compile_id, 0])
                try:
                    return gm.forward(*args)
                finally:
                    self.graph = outer

            return run

        return count_in_graph


def op_names(gm: torch.fx.GraphModule) -> list[str]:
    """The calls in a graph, by the name of the function, method or module called."""
    names = []
    for node in gm.graph.nodes:
        if node.op == "call_function":
            names.append(getattr(node.target, "__name__", str(node.target)))
        elif node.op in ("call_method", "call_module"):
            names.append(str(node.target))
    return names


def _entry(summary: Any) -> StackEntry:
    """A ``traceback.FrameSummary`` as plain data."""
    return StackEntry(
        file=summary.filename,
        line=summary.lineno or 1,
        name=summary.name,
        column=getattr(summary, "colno", None),
        end_line=getattr(summary, "end_lineno", None),
        end_column=getattr(summary, "end_colno", None),
    )


def _live_entry(frame: FrameType, lasti: int, line: int) -> StackEntry:
    """A frame at an instruction, with that instruction's columns (None before Python 3.11)."""
    code = frame.f_code
    if hasattr(code, "co_positions"):
        for index, position in enumerate(code.co_positions()):
            if index == lasti // 2:
                return StackEntry(
                    code.co_filename, position[0] or line, code.co_name, position[2], position[1], position[3]
                )
    return StackEntry(code.co_filename, line, code.co_name)


def _is_internal(file: str, name: str) -> bool:
    """Whether a frame belongs to torch's machinery rather than to the path from model to break."""
    path = file.replace("\\", "/")
    return any(part in path for part in _INTERNAL) or (
        name in _MODULE_CALL and path.endswith("torch/nn/modules/module.py")
    )


def clean_stack(entries: list[StackEntry]) -> tuple[StackEntry, ...]:
    return tuple(entry for entry in entries if not _is_internal(entry.file, entry.name))


class Observer(logging.Handler):
    """Listens to Dynamo while it compiles, and emits a record for all that it does.

    Use it as a context manager around calls of compiled code.  ``boundary`` is the code object of the
    function that makes those calls: what stands above it on the stack is not the model's.
    """

    def __init__(self, emit: Emit, boundary: CodeType) -> None:
        super().__init__(logging.DEBUG)
        self.call = 0
        self._emit = emit
        self._boundary = boundary
        self._started: dict[str, tuple[str, str, int]] = {}
        self._callers: dict[str, tuple[StackEntry, ...]] = {}
        self._began: dict[str, float] = {}
        self._graphs: dict[str, list[list[str]]] = {}
        self._broken: set[str] = set()
        self._handlers: dict[str, Callable[[logging.LogRecord, str], None]] = {
            "dynamo_start": self._on_start,
            "dynamo_graph_break_reason": self._on_break,
            "recompile_reasons": self._on_recompile,
            "compilation_metrics": self._on_metrics,
        }

    def __enter__(self) -> Observer:
        log = logging.getLogger(_TRACE_LOG)
        self._former = (log.level, log.propagate)
        log.setLevel(logging.DEBUG)
        log.propagate = False
        self._trace_structured = torch._logging.trace_structured
        if not log.handlers:
            torch._logging.trace_structured = self._trace_wanted
        log.addHandler(self)
        return self

    def _trace_wanted(self, name: str, metadata_fn: Callable[[], Any] = dict, **rest: Any) -> None:
        """torch's own function, without the records that nobody reads: rendering them would take time."""
        wanted = metadata_fn().get("name") if name == "artifact" else name
        if wanted in self._handlers:
            self._trace_structured(name, metadata_fn, **rest)

    def __exit__(self, *exc_info: object) -> None:
        log = logging.getLogger(_TRACE_LOG)
        log.removeHandler(self)
        torch._logging.trace_structured = self._trace_structured
        log.level, log.propagate = self._former
        log.setLevel(self._former[0])

    def on_graph(self, compile_id: str, ops: list[str]) -> None:
        """Called by the backend for every graph that it is given."""
        self._graphs.setdefault(compile_id, []).append(ops)

    def emit(self, record: logging.LogRecord) -> None:
        metadata = getattr(record, "metadata", None)
        if not isinstance(metadata, dict):
            return
        artifact = metadata.get("artifact")
        name = artifact.get("name") if artifact else next(iter(metadata), "")
        if handler := self._handlers.get(name):
            frame, compile_ = metadata.get("frame_id"), metadata.get("frame_compile_id")
            handler(record, "" if frame is None else f"{frame}/{compile_}")

    def _on_start(self, record: logging.LogRecord, compile_id: str) -> None:
        stack = record.metadata["dynamo_start"]["stack"]  # type: ignore[attr-defined]
        code = _frame_code()
        if code is not None:
            self._started[compile_id] = (code.co_name, code.co_filename, code.co_firstlineno)
        else:
            self._started[compile_id] = (stack[-1]["name"], "", stack[-1]["line"])
        self._callers[compile_id] = self._caller_stack()
        self._began[compile_id] = time.perf_counter()

    def _caller_stack(self) -> tuple[StackEntry, ...]:
        """The frames between the call of the subject and the frame that is being compiled."""
        entries: list[StackEntry] = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code is not self._boundary:
            if not _is_internal(frame.f_code.co_filename, frame.f_code.co_name):
                entries.append(
                    _live_entry(frame, frame.f_lasti, frame.f_lineno or frame.f_code.co_firstlineno)
                )
            frame = frame.f_back
        own = __file__
        logging_file = logging.__file__
        return tuple(
            entry
            for entry in reversed(entries)
            if entry.file not in (own, logging_file) and "/torch/_logging/" not in entry.file
        )

    def _on_break(self, record: logging.LogRecord, compile_id: str) -> None:
        exception = _break_exception()
        payload = str(getattr(record, "payload", "") or "")
        message = getattr(exception, "msg", None) or (str(exception) if exception else "")
        parsed = parse_break(message or reason_from_artifact(payload))
        summaries = getattr(exception, "real_stack", None)
        if not summaries:
            summaries = torch._guards.TracingContext.extract_stack()
        stack = [_entry(summary) for summary in summaries] or list(stack_from_text(payload))
        self._broken.add(compile_id)
        event = BreakEvent(
            compile_id=compile_id,
            gb_type=parsed.gb_type,
            gb_id=parsed.gb_id,
            explanation=parsed.explanation,
            hints=parsed.hints,
            context=parsed.context,
            reason=message or payload,
            stack=_join(self._callers.get(compile_id, ()), clean_stack(stack)),
            skips_frame=bool(getattr(exception, "skip_frame", False)),
            in_loop=parsed.in_loop,
            call=self.call,
        )
        self._emit("break", event)

    def _on_recompile(self, record: logging.LogRecord, compile_id: str) -> None:
        payload = str(getattr(record, "payload", "") or "")
        # One reason is plain text, several are a JSON list.
        reasons: list[str] = [payload]
        if payload.startswith("["):
            with contextlib.suppress(json.JSONDecodeError):
                reasons = json.loads(payload)
        failures = [parse_guard_failure(reason) for reason in reasons]
        name, file, line = self._frame_of(compile_id)
        stack = next((failure.stack for failure in failures if failure.stack), ())
        callers = self._callers.get(compile_id) or self._callers.get(f"{compile_id.split('/')[0]}/0", ())
        self._emit(
            "recompilation",
            Recompilation(
                compile_id=compile_id,
                name=name,
                file=file,
                first_line=line,
                reasons=tuple(
                    f"{failure.cache_entry}: {failure.guard}" if failure.cache_entry else failure.guard
                    for failure in failures
                ),
                stack=_join(callers, clean_stack(list(stack))) if stack else (),
                call=self.call,
            ),
        )

    def _frame_of(self, compile_id: str) -> tuple[str, str, int]:
        """Name, file and first line of a frame, known from its first compilation if not from this one."""
        return (
            self._started.get(compile_id) or self._started.get(f"{compile_id.split('/')[0]}/0") or ("", "", 1)
        )

    def _on_metrics(self, record: logging.LogRecord, compile_id: str) -> None:
        metrics = record.metadata["compilation_metrics"]  # type: ignore[attr-defined]
        if metrics.get("is_forward") is False or (not compile_id):
            return
        name, file, line = self._frame_of(compile_id)
        graphs = self._graphs.get(compile_id, [])
        fail_type = metrics.get("fail_type") or ""
        ops = metrics.get("graph_op_count") or 0
        limit = "recompile limit exceeded" in (metrics.get("fail_reason") or "")
        if metrics.get("has_guarded_code"):
            outcome = "compiled" if graphs or ops else "empty"
        else:
            outcome = "skipped" if fail_type in _SOFT_FAILURES else "failed"
        self._emit(
            "frame",
            FrameRecord(
                compile_id=compile_id,
                name=name,
                file=file,
                first_line=line,
                outcome=outcome,  # type: ignore[arg-type]
                ops=ops,
                op_names=tuple(op for graph in graphs for op in graph),
                graphs=len(graphs),
                seconds=time.perf_counter() - self._began.get(compile_id, time.perf_counter()),
                fail_type=fail_type,
                fail_reason=metrics.get("fail_reason") or "",
                callers=self._callers.get(compile_id, ()),
                silent=outcome == "skipped" and compile_id not in self._broken and not limit,
                limit_hit=limit,
                call=self.call,
            ),
        )


def _join(callers: tuple[StackEntry, ...], inner: tuple[StackEntry, ...]) -> tuple[StackEntry, ...]:
    """Callers followed by the frames that Dynamo traced.

    The frame that is being compiled may stand at the end of the callers already (it is on the stack when
    its compilation begins), and a function and its resume function are one frame of the program.
    """
    if callers and inner and callers[-1].file == inner[0].file and callers[-1].name == inner[0].name:
        callers = callers[:-1]
    return callers + inner


def _frame_code() -> CodeType | None:
    """The code object that Dynamo has begun to compile, from the frame of its ``_compile``."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "log_dynamo_start":
            code = frame.f_locals.get("code")
            return code if isinstance(code, CodeType) else None
        frame = frame.f_back
    return None


_BREAK_LOGGERS = {"log_graph_break": "exc", "unimplemented_with_warning": "e"}


def _break_exception() -> BaseException | None:
    """The exception behind the break record that is being logged.

    A tensor ``if`` that resumes is logged outside of its ``except`` block, so the logging function's own
    variable is looked at first.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        variable = _BREAK_LOGGERS.get(frame.f_code.co_name)
        if variable and "torch/_dynamo/" in frame.f_code.co_filename.replace("\\", "/"):
            found = frame.f_locals.get(variable)
            if isinstance(found, BaseException):
                return found
            break
        frame = frame.f_back
    return sys.exc_info()[1]


def describe_error(error: BaseException) -> TraceError:
    """An exception as plain data: its stack is the model's, where Dynamo or the traceback has one."""
    message = str(getattr(error, "msg", None) or error)
    summaries = getattr(error, "real_stack", None)
    stack: list[StackEntry] = [_entry(summary) for summary in summaries] if summaries else []
    if not stack:
        traceback = error.__traceback__
        while traceback is not None:
            stack.append(_live_entry(traceback.tb_frame, traceback.tb_lasti, traceback.tb_lineno))
            traceback = traceback.tb_next
    parsed = parse_break(message)
    return TraceError(
        type=type(error).__name__,
        message=message,
        stack=clean_stack(stack),
        gb_type=parsed.gb_type if parsed.gb_id else "",
        gb_id=parsed.gb_id,
    )


FAKE_FAILURES: tuple[type[BaseException], ...] = (
    DataDependentOutputException,
    DynamicOutputShapeException,
    GuardOnDataDependentSymNode,
    UnsupportedOperatorException,
)
"""What an op raises that cannot go on because its operand has no values."""

FAKE_MESSAGES = (
    ".numpy() is not supported for tensor subclasses",
    "Cannot access data pointer of Tensor",
    "The tensor has a non-zero number of elements, but its data is not allocated yet",
)
"""Parts of what a plain RuntimeError says for the same reason."""


def fake_mode() -> FakeTensorMode:
    """A mode under which tensors have shapes and dtypes but no storage; real tensors may mix in."""
    return FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())


def is_fake(tensor: torch.Tensor) -> bool:
    return isinstance(tensor, FakeTensor)


def fake_like(mode: FakeTensorMode, tensor: torch.Tensor) -> torch.Tensor:
    """A fake tensor with the sizes, strides and dtype of ``tensor``, on its device (``meta``: on the CPU)."""
    device = "cpu" if tensor.device.type == "meta" else tensor.device
    with mode:
        return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=device)
