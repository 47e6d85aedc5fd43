"""The last check of a fix: once through the real backend."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import partial

import torch

from breakfinder.fixes.edit import Edit
from breakfinder.fixes.forked import TrialError, in_fork
from breakfinder.fixes.outcome import Outcome, differences, run
from breakfinder.fixes.trial import Trial
from breakfinder.report.model import Check
from breakfinder.targets.subject import Subject
from breakfinder.tracing import dynamo
from breakfinder.tracing.state import seed_everything

NAME = "same results through inductor"
_SLACK = 20.0
"""Times the tolerances of `outcome`: inductor fuses, and keeps intermediate values in other precisions."""


def check(trial: Trial, edits: Mapping[str, Edit], timeout: float) -> Check:
    """Compile the edited model with inductor and hold its results to those of the old code, uncompiled.

    Where they differ but the old code compiled by inductor differs as well, inductor and not the fix is the
    reason.  ``passed`` is None where it could not be tried.
    """
    if trial.valued is None:
        return Check(name=NAME, passed=None, detail="the model has no real tensors here")
    if not any(map(shutil.which, ("c++", "g++", "clang++", "cl"))):
        return Check(name=NAME, passed=None, detail="there is no C++ compiler on this machine")
    words = _in_trial(trial, edits, timeout)
    if not words:
        return Check(name=NAME, passed=True)
    if _in_trial(trial, {}, timeout):
        return Check(name=NAME, passed=None, detail=f"with the old code they differ as well; now {words}")
    return Check(name=NAME, passed=False, detail=words)


def _in_trial(trial: Trial, edits: Mapping[str, Edit], timeout: float) -> str:
    """What is not as in eager, with the edits and inductor; empty if all is."""
    try:
        words: str = in_fork(partial(_compare, trial, edits), timeout)
    except TrialError as error:
        return str(error)
    return words


def _compare(trial: Trial, edits: Mapping[str, Edit]) -> str:
    """How the results differ, in a few words; empty if they do not."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    assert trial.valued is not None
    old = _run(trial.valued, compiled=False)
    _, valued = trial.edited(edits)
    assert valued is not None
    new = _run(valued, compiled=True)
    if not (found := differences(old, new, _SLACK)):
        return ""
    aspect, words = next(iter(found.items()))
    return f"{aspect}: {words}"


def _run(subject: Subject, compiled: bool) -> Outcome:
    scenario = subject.scenarios[0]
    seed_everything()  # inputs are made as the calls are
    calls = scenario.calls()
    call = next(calls)
    calls.close()
    module = subject.callable if isinstance(subject.callable, torch.nn.Module) else None
    if module is not None and scenario.training is not None:
        module.train(scenario.training)
    function = subject.callable
    with subject.run_context():
        if not compiled:
            return run(function, call, scenario.grad, module)
        dynamo.reset()
        with dynamo.inductor_in_process():
            return run(torch.compile(function, backend="inductor"), call, scenario.grad, module)
