"""Which Transformers model types run: each is built and called in a child process of its own.

``python benchmarks/architectures.py`` goes through all keys of transformers' ``CONFIG_MAPPING``.  To cut that
short: ``--only KEY`` (repeated), ``--sample N``, ``--resume FILE`` (results so far, one JSON object a line,
added to), ``--retry`` (those that failed).  ``--step check`` traces what ``breakfinder check KEY`` would;
``--step call``, much faster, only calls the model as it would be traced.  ``--docs FILE`` writes the page
that lists what does not run, with each reason.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

MEMORY = 9 * 2**30

NOTHING = "no model class"
"""The reason of keys that do not count: what is built from their configs is no model of its own."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="KEY")
    parser.add_argument("--sample", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", type=Path, metavar="FILE")
    parser.add_argument("--retry", action="store_true")
    parser.add_argument("--step", choices=("call", "check"), default="call")
    parser.add_argument("--timeout", type=float, default=120.0, metavar="SECONDS")
    parser.add_argument("--docs", type=Path, metavar="FILE")
    options = parser.parse_args()
    results = read(options.resume)
    if options.step == "check":
        warm_up()
    for key in wanted(options):
        if key not in results or (options.retry and not results[key]["ok"]):
            results[key] = in_child(key, options.step, options.timeout)
            print(line(results[key]), flush=True)
            if options.resume:
                with options.resume.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(results[key]) + "\n")
    print(summary(list(results.values())))
    if options.docs:
        options.docs.write_text(page(list(results.values())), encoding="utf-8")


def read(path: Path | None) -> dict[str, dict[str, Any]]:
    if path is None or not path.exists():
        return {}
    lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    return {result["key"]: result for result in lines}


def wanted(options: argparse.Namespace) -> list[str]:
    from breakfinder.targets import transformers_models

    keys = options.only or transformers_models.model_types()
    return random.Random(options.seed).sample(keys, options.sample) if options.sample else keys


def warm_up() -> None:
    """Import what Dynamo imports at its first use, so that no child has to."""
    import torch

    torch.set_num_threads(1)  # the threads of a pool would be missing in a child
    check("gpt2")


def in_child(key: str, step: str, timeout: float) -> dict[str, Any]:
    """The result of one key, from a fork of this process, which has all imports already."""
    began = time.perf_counter()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        os.setpgid(0, 0)
        child(key, step, writer)
    os.close(writer)
    data, out_of_time = b"", False
    while True:
        left = timeout - (time.perf_counter() - began)
        if not select.select([reader], [], [], max(left, 0))[0]:
            out_of_time = True
            break
        chunk = os.read(reader, 65536)
        if not chunk:
            break
        data += chunk
    os.close(reader)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    result: dict[str, Any] = {
        "key": key,
        "step": step,
        "ok": False,
        "reason": "crash",
        "detail": f"status {status}",
    }
    if data:
        result.update(json.loads(data))
    elif out_of_time:
        result.update(reason="timeout", detail=f"more than {timeout:.0f} s")
    return {**result, "seconds": round(time.perf_counter() - began, 1)}


def child(key: str, step: str, writer: int) -> None:
    warnings.simplefilter("ignore")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    try:
        result = check(key) if step == "check" else call(key)
    except BaseException as error:
        result = {"ok": False, "reason": reason(error), "detail": detail(error)}
    with os.fdopen(writer, "w") as stream:
        json.dump(result, stream)
    os._exit(0)


def call(key: str) -> dict[str, Any]:
    """Build the model in the ways in which a check does, until its ``forward`` scenario runs, uncompiled."""
    import torch

    from breakfinder.options import BuildOptions
    from breakfinder.report.model import Target
    from breakfinder.targets.build import attempts

    torch.set_num_threads(1)
    failure: Exception | None = None
    first: Exception | None = None
    for number, attempt in enumerate(
        attempts(Target(text=key, kind="model_type", location=key), BuildOptions())
    ):
        if failure is not None and not attempt.applies(failure):
            continue
        try:
            subject = attempt.build()
            for scenario in subject.scenarios:
                with subject.run_context(), torch.set_grad_enabled(scenario.grad):
                    calls = scenario.calls()
                    arguments = next(calls)
                    with contextlib.suppress(StopIteration):
                        while True:
                            output = subject.callable(*arguments.args, **arguments.kwargs)
                            arguments = calls.send(output)
        except Exception as error:
            failure, first = error, first or error
            continue
        name = type(subject.callable).__name__
        return {
            "ok": True,
            "reason": "",
            "detail": f"{name}, attempt {number}",
            "class": name,
            "attempt": number,
        }
    assert first is not None and failure is not None
    both = detail(failure) if failure is first else f"{detail(first)} / then {detail(failure)}"
    return {"ok": False, "reason": reason(failure), "detail": both}


def check(key: str) -> dict[str, Any]:
    """Trace the model as ``breakfinder check`` does in its child process."""
    from breakfinder.options import CheckOptions
    from breakfinder.report.model import Target
    from breakfinder.worker import check as check_target

    seen: dict[str, Any] = {"restarts": 0, "breaks": 0, "class": "", "stage": ""}

    def send(kind: str, data: Any) -> None:
        if kind == "subject":
            seen["class"] = data["name"]
        elif kind == "stage":
            seen["stage"] = data["name"]
        elif kind == "restart":
            seen.update(restarts=seen["restarts"] + 1, breaks=0)
        elif kind == "break":
            seen["breaks"] += 1

    try:
        check_target(Target(text=key, kind="model_type", location=key), CheckOptions(fixes=False), send)
    except Exception as error:
        return {"ok": False, "reason": reason(error), "detail": f"{seen['stage']}: {detail(error)}"}
    text = f"{seen['class']}, {seen['breaks']} break events, attempt {seen['restarts']}"
    return {"ok": True, "reason": "", "detail": text, "class": seen["class"], "attempt": seen["restarts"]}


def reason(error: BaseException) -> str:
    """The class of reason for which a model does not run."""
    from breakfinder.errors import UsageError
    from breakfinder.targets.fake import is_data_dependent_failure

    if isinstance(error, UsageError):
        if "no model class" in error.message:
            return NOTHING
        return "no inputs known" if "no inputs are known" in error.message else "no default config"
    if isinstance(error, (ImportError, ModuleNotFoundError)):
        return "needs another package"
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        return "memory"
    if is_data_dependent_failure(error):
        return "needs values"
    return "the model raises"


def detail(error: BaseException) -> str:
    from breakfinder.errors import UsageError

    # Where packages are installed differs from machine to machine.
    text = re.sub(r"[^\s'\"]*site-packages/", "", " ".join(str(error).split()))[:160]
    if isinstance(error, UsageError):
        return text
    places = [
        frame for frame in traceback.extract_tb(error.__traceback__) if "/transformers/" in frame.filename
    ]
    at = f" at {Path(places[-1].filename).name}:{places[-1].lineno}" if places else ""
    return f"{type(error).__name__}: {text}{at}"


def line(result: dict[str, Any]) -> str:
    verdict = "ok" if result["ok"] else result["reason"]
    return f"{result['key']:42} {verdict:22} {result['seconds']:6.1f} s  {result['detail']}"


def summary(results: list[dict[str, Any]]) -> str:
    counted = [result for result in results if result["reason"] != NOTHING]
    good = sum(result["ok"] for result in counted)
    reasons = Counter(result["reason"] for result in counted if not result["ok"])
    lines = [
        f"{good} of {len(counted)} model types with a model class run ({good / max(len(counted), 1):.1%})"
    ]
    lines += [f"  {count:4} {name}" for name, count in reasons.most_common()]
    return "\n".join([*lines, f"  {len(results) - len(counted):4} have no model class and are not counted"])


REASONS = {
    "the model raises": "The model raises with the inputs that were synthesised, or with its default config.",
    "needs values": "Its eager code needs real values, and no small real model of it could be called either.",
    "no inputs known": "It needs an input for which there is no rule.",
    "needs another package": "It needs a package that is not installed.",
    "no default config": "Its config has no default values.",
    "memory": "Even a small model of it needs more memory than a check may take.",
    "timeout": "It takes longer than a check may.",
    "crash": "The process died.",
}


def page(results: list[dict[str, Any]]) -> str:
    """docs/architectures.md: how many run, and what does not, by reason."""
    from importlib.metadata import version

    counted = [result for result in results if result["reason"] != NOTHING]
    good = [result for result in counted if result["ok"]]
    fake = sum(result["attempt"] == 0 for result in good)
    traced = sum(result.get("step") == "check" for result in good)
    text = [
        "# Model types that run",
        "",
        "Made by `python benchmarks/architectures.py --docs docs/architectures.md`; do not edit.",
        "",
        f"`CONFIG_MAPPING` of transformers {version('transformers')} has {len(results)} keys, of which",
        f"{len(counted)} have a model class. {len(good)} of these ({len(good) / len(counted):.1%}) run",
        f"with their default configs and no weights (torch {version('torch')}): {fake} at full width, with",
        "fake tensors, the others after falling back to all layers or to a small real model.",
        f"{traced} were traced; the others were built and called as a check would, but not compiled.",
        "",
        "Where a default config cannot run as it is, `targets/inputs/hints.json` completes it.",
        "A config from the hub may run where the default one does not.",
        "",
        "## What does not run",
    ]
    for name, about in REASONS.items():
        failed = [result for result in counted if result["reason"] == name]
        if failed:
            text += ["", f"### {name.capitalize()} ({len(failed)})", "", about, ""]
            text += [f"- `{result['key']}`: {_plain(result['detail'])}" for result in failed]
    nothing = ", ".join(f"`{result['key']}`" for result in results if result["reason"] == NOTHING)
    return "\n".join([*text, "", "## No model class", "", nothing, ""])


def _plain(text: str) -> str:
    """The last of what went wrong, so that Markdown shows it as it is."""
    return "".join("\\" + sign if sign in "\\`*_<>[]|" else sign for sign in text.split(" / then ")[-1])


if __name__ == "__main__":
    sys.exit(main())
