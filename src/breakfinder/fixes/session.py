"""Everything that is tried on a model once it is traced: its fixes, then its settings."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from breakfinder.assemble import Assembler
from breakfinder.fixes.knobs import KnobTrials
from breakfinder.fixes.search import Search, State
from breakfinder.fixes.trial import Trial, total
from breakfinder.options import CheckOptions
from breakfinder.targets.attempt import Attempt
from breakfinder.targets.subject import Subject
from breakfinder.trace import TraceLog

Send = Callable[[str, Any], None]


@dataclass
class Session:
    """One traced model, and what is needed to try changes on it."""

    subject: Subject
    attempt: Attempt
    log: TraceLog
    root: Path
    options: CheckOptions

    def run(self, send: Send) -> None:
        """Try fixes and settings; ``send`` is told of all results as they come."""
        config = self.options.dynamo_config
        assembler = Assembler(self.root)
        counts = total([assembler.add_scenario(trace).default for trace in self.log.scenarios])
        findings = tuple(finding for finding in assembler.findings() if finding.severity != "info")
        if not findings:
            return
        gc.collect()
        deadline = time.monotonic() + self.options.fix_timeout
        send("stage", {"name": "try fixes: small model with values"})
        valued = self._valued(send)
        trial = Trial(self.subject, valued, self._rebuild, self.root, config)
        start = State({}, counts, findings)
        left = Search(trial, start, send, self.options.fix_timeout, self.options.conditional_fixes).run()
        send("left", [finding.fingerprint for finding in left.findings])
        if self.options.knobs:
            knobs = KnobTrials(self.subject, valued, self.root, config, counts, findings)
            knobs.run(send, lambda: deadline - time.monotonic())

    def _valued(self, send: Send) -> Subject | None:
        """The model with real tensors: itself, or a small one of its kind."""
        if self.subject.facts.weights != "none":
            return self.subject
        try:
            return self.attempt.with_values()
        except Exception as error:
            send("note", {"text": f"fixes were traced but their results not compared: {error}"})
            return None

    def _rebuild(self) -> tuple[Subject, Subject | None]:
        subject = self.attempt.build()
        return subject, subject if subject.facts.weights != "none" else self.attempt.with_values()
