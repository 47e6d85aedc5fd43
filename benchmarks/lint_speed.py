"""How fast `lint` is: all ``modeling_*.py`` of the installed transformers, against TorchFix on the same files.

``python benchmarks/lint_speed.py`` prints seconds and ratios of one run: `lint` with an empty cache, `lint`
again with nothing changed, and TorchFix (``pip install torchfix``; ``--sample N`` gives both only N of the
files, the same ones).
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, metavar="N")
    parser.add_argument("--no-peer", action="store_true", help="leave TorchFix out")
    options = parser.parse_args()
    files = modeling_files()
    if options.sample:
        files = sorted(random.Random(0).sample(files, options.sample))
    lines = sum(file.read_bytes().count(b"\n") for file in files)
    print(f"{len(files)} files, {lines:,} lines")
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "breakfinder", "lint", "--isolated", "--exit-zero", "-q"]
        command += ["--cache-dir", cache, *map(str, files)]
        cold, warm = seconds(command), seconds(command)
    print(f"breakfinder lint, cold            {cold:8.2f} s")
    print(f"breakfinder lint, nothing changed {warm:8.2f} s")
    if not options.no_peer:
        peer = seconds([str(Path(sys.executable).with_name("torchfix")), "--select=ALL", *map(str, files)])
        print(f"torchfix --select=ALL             {peer:8.2f} s")
        print(f"ratio, torchfix to lint cold      {peer / cold:8.2f}")


def modeling_files() -> list[Path]:
    spec = importlib.util.find_spec("transformers")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("transformers is not installed: pip install 'breakfinder[transformers]'")
    return sorted(Path(spec.submodule_search_locations[0]).glob("models/**/modeling_*.py"))


def seconds(command: list[str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command[0]}: {done.stderr[-500:]}")
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
