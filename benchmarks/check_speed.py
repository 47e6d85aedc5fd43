"""The whole command ``breakfinder check`` on large models, against importing what it needs.

For Llama's default config (7 B parameters) and for one of the size of Llama 3.1 405B (126 layers of width
16,384, as in that model's published config), prints the median wall time of the command and of the bare
imports, taken in turns in fresh processes, their ratio, and the command's peak memory (the largest process).
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 5
IMPORTS = "import torch, transformers, torch._dynamo; from transformers import AutoModelForCausalLM"
LARGE = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 16384,
    "intermediate_size": 53248,
    "num_hidden_layers": 126,
    "num_attention_heads": 128,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
}


def run(command: list[str], folder: str) -> tuple[float, float, int]:
    """Wall seconds, peak memory in MiB and exit status of a command.

    The memory is that of the largest of the command's processes: Linux reports the largest waited-for one.
    """
    began = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os.chdir(folder)
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        os.execv(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    return time.perf_counter() - began, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def peak_of_report(folder: str) -> float:
    report = json.loads((Path(folder) / "breakfinder-report" / "report.json").read_text())
    return float(report["peak_memory_bytes"]) / 2**20


def main() -> None:
    breakfinder = str(Path(sys.executable).with_name("breakfinder"))
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "llama-405b"
        large.mkdir()
        (large / "config.json").write_text(json.dumps(LARGE))
        for name, target in (("llama (7 B)", "llama"), ("llama, 126 layers (405 B)", "./llama-405b")):
            times: dict[str, list[float]] = {"imports": [], "check": []}
            peaks = []
            for _ in range(ROUNDS):
                times["imports"].append(run([sys.executable, "-c", IMPORTS], folder)[0])
                seconds, memory, status = run([breakfinder, "check", target], folder)
                assert status in (0, 1), f"check {target} exited with {status}"
                times["check"].append(seconds)
                peaks.append(max(memory, peak_of_report(folder)))
            imports, check = statistics.median(times["imports"]), statistics.median(times["check"])
            print(
                f"{name:26} imports {imports:.2f} s, check {check:.2f} s, ratio {check / imports:.2f} "
                f"(target: under 2.5), peak {max(peaks):.0f} MiB (target: under 1024)"
            )


if __name__ == "__main__":
    main()
