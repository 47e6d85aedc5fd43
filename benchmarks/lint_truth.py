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
import ast
import importlib.util
import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
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
    architectures.warm_up()
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
        check(target, CheckOptions(fixes=False), send)
    except Exception as error:
        return {"ok": False, "reason": architectures.reason(error), "detail": architectures.detail(error)}
    breaks = []
    for event in events.values():
        place = source.locate(event.stack)
        rule = rules.diagnose(event, place).rule.code
        breaks.append([shown(place.file), place.line, place.end_line, rule, event.gb_type, place.expression])
    return {
        "ok": True,
        "reason": "",
        "detail": f"{seen['class']}, {len(breaks)} breaks",
        "class": seen["class"],
        "attempt": seen["restarts"],
        "breaks": breaks,
        "skipped": [[shown(file), line, name] for file, line, name in skipped],
        "lines": lines_run(as_traced(target, seen["restarts"])),
    }


def as_traced(target: Any, restarts: int) -> Any:
    """The subject, built in the way that could be traced after so many others."""
    from breakfinder.options import BuildOptions
    from breakfinder.targets.build import attempts

    subject = None
    for number, attempt in enumerate(attempts(target, BuildOptions())):
        try:
            subject = attempt.build()
        except Exception as error:
            print(f"attempt {number}: {error}", file=sys.stderr)
        if number == restarts and subject is not None:
            break
    return subject


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
    truth = Truth([result for result in architectures.read(options.file).values() if result.get("ok")])
    found = linted()
    judged = [item for item in found if truth.can_judge(item)]
    right = {id(item): truth.breaks_in(item) for item in judged}
    print(
        f"{truth.models} model types, {len(truth.breaks)} places that break, {len(judged)} findings to judge"
    )
    print(f"{'rule':8}{'confidence':12}{'right':>7}{'of':>6}{'precision':>11}")
    groups = Counter((item["rule"], item["confidence"]) for item in judged)
    good = Counter((item["rule"], item["confidence"]) for item in judged if right[id(item)])
    for (rule, level), number in sorted(
        groups.items(), key=lambda pair: (_GROUPS.index(pair[0][1]), pair[0])
    ):
        share = good[rule, level] / number
        print(f"{rule:8}{level:12}{good[rule, level]:7}{number:6}{share:11.3f}")
    for level in _GROUPS:
        number = sum(count for (_, of), count in groups.items() if of == level)
        if number:
            share = sum(count for (_, of), count in good.items() if of == level) / number
            print(f"{'all':8}{level:12}{'':7}{number:6}{share:11.3f}")
    marked = {level: truth.marked_by(item for item in found if _up_to(item, level)) for level in _GROUPS}
    print(f"\n{'rule':8}{'breaks':>8}" + "".join(f"{'recall ' + level:>16}" for level in _GROUPS))
    by_rule = Counter(rule for _, _, rule in truth.breaks)
    for rule, number in sorted(by_rule.items()):
        recalls = (sum(of == rule for _, _, of in marked[level]) / number for level in _GROUPS)
        print(f"{rule:8}{number:8}" + "".join(f"{recall:16.3f}" for recall in recalls))
    recalls = (len(marked[level]) / max(len(truth.breaks), 1) for level in _GROUPS)
    print(f"{'all':8}{len(truth.breaks):8}" + "".join(f"{recall:16.3f}" for recall in recalls))
    if options.wrong:
        for item in judged:
            if not right[id(item)]:
                print(
                    "wrong:",
                    item["confidence"],
                    item["rule"],
                    f"{item['file']}:{item['line']}",
                    item["expression"],
                )
    if options.missed:
        for (file, line, rule), expression in sorted(truth.breaks.items()):
            if (file, line, rule) not in marked["low"]:
                print("missed:", rule, f"{file}:{line}", expression)


def _up_to(item: dict[str, Any], level: str) -> bool:
    return _GROUPS.index(item["confidence"]) <= _GROUPS.index(level)


def linted() -> list[dict[str, Any]]:
    """All that `lint` finds in the installed transformers, at any confidence."""
    folder = Path(str(importlib.util.find_spec("transformers").submodule_search_locations[0]))
    command = [sys.executable, "-m", "breakfinder", "lint", str(folder), "--confidence", "low"]
    done = subprocess.run([*command, "--output-format", "json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    findings: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return [{**item, "file": shown(item["file"])} for item in findings if item["file"].endswith(".py")]


class Truth:
    """What tracing all model types showed."""

    def __init__(self, results: list[dict[str, Any]]) -> None:
        self.models = len(results)
        self.breaks: dict[tuple[str, int, str], str] = {}
        self._broken: dict[str, set[int]] = defaultdict(set)
        self._run: dict[str, set[int]] = defaultdict(set)
        self._skipped: dict[str, set[tuple[int, bool]]] = defaultdict(set)
        for result in results:
            for file, line, end_line, rule, _, expression in result["breaks"]:
                if file.startswith("transformers/"):
                    self.breaks[file, line, rule] = expression
                    self._broken[file] |= set(range(line, end_line + 1))
            for file, lines in result["lines"].items():
                self._run[file] |= set(lines)
            for file, line, name in result["skipped"]:
                self._skipped[file].add((line, name.startswith("torch_dynamo_resume_in_")))
        self._unseen = {file: self._skipped_lines(file) for file in self._skipped}

    def _skipped_lines(self, file: str) -> set[int]:
        """The lines that some model type skipped, of a whole function or from where it would have been
        resumed: what is masked in them no trace shows."""
        spec = importlib.util.find_spec(file.split("/")[0])
        path = Path(str(spec.submodule_search_locations[0])).parent / file
        lines: set[int] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
                end = (node.end_lineno or first) + 1
                for line, resumed in self._skipped[file]:
                    if line == first or (resumed and first < line < end):
                        lines |= set(range(line, end))
        return lines

    def can_judge(self, item: dict[str, Any]) -> bool:
        lines = set(range(item["line"], item["end_line"] + 1))
        run = bool(lines & self._run[item["file"]])
        return self.breaks_in(item) or (run and not lines & self._unseen.get(item["file"], set()))

    def breaks_in(self, item: dict[str, Any]) -> bool:
        return bool(set(range(item["line"], item["end_line"] + 1)) & self._broken[item["file"]])

    def marked_by(self, items: Iterable[dict[str, Any]]) -> set[tuple[str, int, str]]:
        """The breaks of which a finding has the line."""
        lines = {(item["file"], line) for item in items for line in range(item["line"], item["end_line"] + 1)}
        return {place for place in self.breaks if place[:2] in lines}


if __name__ == "__main__":
    main()
