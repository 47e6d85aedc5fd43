"""Checks in this process, for tests that need many of them; the child process has tests of its own."""

import importlib.util
import json
import signal
from pathlib import Path

import pytest

# A job in the background is deaf to it, and so would be the commands that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

FIXTURES = Path(__file__).parent / "fixtures"
CASES = FIXTURES / "cases"


@pytest.fixture(autouse=True)
def _no_hub_or_cache_of_the_user(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def case_attributes(path: Path) -> dict:
    """What a case file sets besides its model: TRAIN, NO_GRAD, CONFIG."""
    spec = importlib.util.spec_from_file_location(f"attributes_of_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {
        "name": "Model" if hasattr(module, "Model") else "fn",
        "training": getattr(module, "TRAIN", False),
        "no_grad": getattr(module, "NO_GRAD", False),
        "config": getattr(module, "CONFIG", {}),
    }


def check_case(path: Path):
    """The report of one case file, made in this process."""
    attributes = case_attributes(path)
    return check_here(
        f"{path}:{attributes['name']}",
        dynamo_config=attributes["config"],
        training=attributes["training"],
        no_grad=attributes["no_grad"],
    )


def check_here(text: str, dynamo_config: dict | None = None, **build):
    """The report of a target, made in this process by what the child process runs."""
    from breakfinder.options import BuildOptions, CheckOptions
    from breakfinder.pipeline import Recorder
    from breakfinder.report.model import Failure
    from breakfinder.targets import resolve
    from breakfinder.tracing import ModelError
    from breakfinder.worker import check, failure_of

    options = CheckOptions(build=BuildOptions(**build), dynamo_config=dynamo_config or {})
    recorder = Recorder(resolve(text))
    failure = None
    try:
        check(recorder.target, options, recorder.take)
    except ModelError as error:
        failure = Failure(**failure_of(recorder.progress.stage, error))
    return recorder.report(failure)


def truth() -> list[dict]:
    return json.loads((CASES / "truth.json").read_text())
