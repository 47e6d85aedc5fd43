"""Subject → Trace: run a subject's scenarios under Dynamo and record all that it does."""

from __future__ import annotations

from typing import Any

from breakfinder.targets.subject import Subject
from breakfinder.trace import TraceLog
from breakfinder.tracing.trials import ModelError, Send, Trials

__all__ = ["ModelError", "trace"]


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
