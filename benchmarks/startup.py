"""``breakfinder --help`` against ``python -c pass``: how much longer it takes, over several runs in turns."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 15


def seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def main() -> None:
    breakfinder = str(Path(sys.executable).with_name("breakfinder"))
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "breakfinder --help": [breakfinder, "--help"],
        "breakfinder --version": [breakfinder, "--version"],
        "breakfinder check --help": [breakfinder, "check", "--help"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            times[name].append(seconds(command))
    bare = statistics.median(times["python -c pass"])
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"{name:25} {median * 1000:6.0f} ms, {(median - bare) * 1000:+5.0f} ms (target: under +150 ms)")


if __name__ == "__main__":
    main()
