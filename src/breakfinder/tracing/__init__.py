"""Subject → Trace: run a subject's scenarios under Dynamo and record all that it does."""

from __future__ import annotations

from typing import Any

from breakfinder.targets.subject import Subject
from breakfinder.trace import TraceLog
from breakfinder.tracing.trials import Compile, ModelError, Send, Trials, compile_plainly

__all__ = ["ModelError", "trace", "trace_default"]


def trace(subject: Subject, send: Send | None = None, config: dict[str, Any] | None = None) -> TraceLog:
    """Trace every scenario of ``subject``.

    ``send`` is told of everything as it happens; ``config`` holds values of ``torch._dynamo.config``.
    Raises ModelError if the model itself raises, with all that was learned sent before.
    """
    log = TraceLog()

    def record(kind: str, data: Any) -> None:
        log.apply(kind, data)
        if send is not None:
            send(kind, data)

    for scenario in subject.scenarios:
        Trials(subject, scenario, record, config or {}).run()
    return log


def trace_default(
    subject: Subject, config: dict[str, Any] | None = None, compile: Compile = compile_plainly
) -> TraceLog:
    """What ``torch.compile`` does by default with every scenario, without the other trials.

    ``compile`` may compile it in another way.  Raises ModelError if the model itself raises.
    """
    log = TraceLog()
    for scenario in subject.scenarios:
        Trials(subject, scenario, log.apply, config or {}, compile).run_default()
    return log
