"""Tracing with full observation against a plain first call of torch.compile(backend="eager").

Prints, for each model, the median of both times over several rounds in one process, taken in turns, and their
ratio.  Run it as ``python benchmarks/tracing_overhead.py [--rounds N]``.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable

import torch
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, AutoModelForImageClassification

from breakfinder.targets.subject import Call
from breakfinder.tracing import dynamo
from breakfinder.tracing.trials import call_subject


def models() -> dict[str, tuple[torch.nn.Module, Call]]:
    llama = CONFIG_MAPPING["llama"](
        hidden_size=256, intermediate_size=512, num_hidden_layers=8, num_attention_heads=8, vocab_size=1000
    )
    vit = CONFIG_MAPPING["vit"](
        hidden_size=192, intermediate_size=384, num_hidden_layers=8, num_attention_heads=6
    )
    ids = torch.randint(0, 1000, (2, 32))
    return {
        "llama, 8 layers": (AutoModelForCausalLM.from_config(llama).eval(), Call(kwargs={"input_ids": ids})),
        "vit, 8 layers": (
            AutoModelForImageClassification.from_config(vit).eval(),
            Call(kwargs={"pixel_values": torch.rand(2, 3, 224, 224)}),
        ),
        "encoder, 12 layers": (
            torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(256, 8, 512), 12).eval(),
            Call((torch.rand(16, 4, 256),)),
        ),
    }


def plain(model: torch.nn.Module, call: Call) -> float:
    """Seconds of the first call of the compiled model, unobserved."""
    dynamo.reset()
    compiled = torch.compile(model, backend="eager")
    gc.collect()
    began = time.perf_counter()
    compiled(*call.args, **call.kwargs)
    return time.perf_counter() - began


def observed(model: torch.nn.Module, call: Call) -> float:
    """Seconds of the first call with the observer, the counting backend and mode that a check uses."""
    dynamo.reset()
    records = []
    observer = dynamo.Observer(lambda kind, record: records.append(record), call_subject.__code__)
    counter = dynamo.OpCounter()
    compiled = torch.compile(model, backend=counter.backend(observer.on_graph))
    gc.collect()
    began = time.perf_counter()
    with observer, counter:
        call_subject(compiled, call)
    elapsed = time.perf_counter() - began
    assert records, "nothing was observed"
    return elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {rounds} rounds")
    for name, (model, call) in models().items():
        plain(model, call), observed(model, call)  # both warmed up
        times: dict[Callable[..., float], list[float]] = {plain: [], observed: []}
        for _ in range(rounds):
            for measure, taken in times.items():
                taken.append(measure(model, call))
        ratio = statistics.median(o / p for o, p in zip(times[observed], times[plain], strict=True))
        print(
            f"{name:20} plain {statistics.median(times[plain]):.3f} s, observed "
            f"{statistics.median(times[observed]):.3f} s, ratio {ratio:.2f} (target: at most 1.15)"
        )


if __name__ == "__main__":
    main()
