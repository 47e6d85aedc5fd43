"""How often `lint` is right about transformers' own source, by what tracing finds there.

``python benchmarks/lint_truth.py --collect FILE`` checks every model type as ``breakfinder check`` does and
writes, one JSON object a line, the places where it breaks and the lines that were run; what is in FILE already
is not done again, so it can be stopped at any time.  ``python benchmarks/lint_truth.py FILE`` then lints the
same files and prints precision and recall.

A finding of `lint` counts where tracing can judge it: its lines were run, in a function that Dynamo did not
skip (what follows in a skipped frame is seen by no trace).  It is right if tracing breaks on those lines.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import architectures

_GROUPS = ("high", "medium", "low")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--collect", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="KEY")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=300.0, metavar="SECONDS")
    parser.add_argument("--wrong", action="store_true", help="list every judged finding that is not right")
    parser.add_argument("--missed", action="store_true", help="list every break that no finding marks")
    options = parser.parse_args()
    if options.collect:
        collect(options)
    else:
        score(options)


def collect(options: argparse.Namespace) -> None:
    architectures.check = check_and_note
    known = architectures.read(options.file)
    for key in architectures.wanted(options):
        if key not in known:
            result = architectures.in_child(key, "check", options.timeout)
            print(architectures.line(result), flush=True)
            with options.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")


def check_and_note(key: str) -> dict[str, Any]:
    """`architectures.check`, with ``breaks``, ``skipped`` functions and the ``lines`` that were run."""
    from breakfinder import rules, source
    from breakfinder.options import CheckOptions
    from breakfinder.report.model import Target
    from breakfinder.targets.build import attempts
    from breakfinder.trace import BreakEvent
    from breakfinder.worker import check

    events: dict[tuple[str, Any], BreakEvent] = {}
    skipped: set[tuple[str, int, str]] = set()
    seen: dict[str, Any] = {"restarts": 0, "class": ""}

    def send(kind: str, data: Any) -> None:
        if kind == "restart":
            seen["restarts"] += 1
            events.clear()
            skipped.clear()
        elif kind == "subject":
            seen["class"] = data["name"]
        elif kind == "break":
            events.setdefault((data.gb_type, data.stack[-1:]), data)
        elif kind == "frame" and data.outcome in ("skipped", "failed"):
            skipped.add((data.file, data.first_line, data.name))

    target = Target(text=key, kind="model_type", location=key)
    try:
        check(target, CheckOptions(), send)
    except Exception as error:
        return {"ok": False, "reason": architectures.reason(error), "detail": architectures.detail(error)}
    breaks = []
    for event in events.values():
        place = source.locate(event.stack)
        rule = rules.diagnose(event, place).rule.code
        breaks.append([shown(place.file), place.line, place.end_line, rule, event.gb_type, place.expression])
    attempt = [*attempts(target, CheckOptions().build)][min(seen["restarts"], 2)]
    return {
        "ok": True,
        "reason": "",
        "detail": f"{seen['class']}, {len(breaks)} breaks",
        "class": seen["class"],
        "attempt": seen["restarts"],
        "breaks": breaks,
        "skipped": [[shown(file), line, name] for file, line, name in skipped],
        "lines": lines_run(attempt.build()),
    }


def shown(file: str) -> str:
    return file.rpartition("site-packages/")[2]


def lines_run(subject: Any) -> dict[str, list[int]]:
    """The lines of transformers' files that one uncompiled call runs."""
    import torch

    lines: dict[str, set[int]] = defaultdict(set)

    def trace(frame: Any, event: str, argument: Any) -> Any:
        file = frame.f_code.co_filename
        if "/transformers/" not in file:
            return None
        into = lines[shown(file)]

        def local(frame: Any, event: str, argument: Any) -> Any:
            into.add(frame.f_lineno)
            return local

        return local

    scenario = subject.scenarios[0]
    with subject.run_context(), torch.set_grad_enabled(scenario.grad):
        call = next(scenario.calls())
        sys.settrace(trace)
        try:
            subject.callable(*call.args, **call.kwargs)
        except Exception as error:
            print(f"stopped early: {error}", file=sys.stderr)
        finally:
            sys.settrace(None)
    return {file: sorted(found) for file, found in lines.items()}


def score(options: argparse.Namespace) -> None:
    raise SystemExit("nothing to score yet")


if __name__ == "__main__":
    main()
