"""A trial that goes wrong takes nothing with it."""

import os
import signal
import time

import psutil
import pytest

from breakfinder.fixes.forked import TrialError, in_fork


def test_its_value_comes_back_and_nothing_else():
    seen = []

    def work():
        seen.append("in the fork")
        return {"found": [1, 2]}

    assert in_fork(work, 10) == {"found": [1, 2]}
    assert seen == []


def test_a_large_value_comes_back_whole():
    assert len(in_fork(lambda: b"x" * (5 << 20), 10)) == 5 << 20


def fail():
    raise ValueError("first line\nsecond line")


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (fail, "ValueError: first line second line"),
        (lambda: os.kill(os.getpid(), signal.SIGSEGV), "SIGSEGV"),
        (lambda: os._exit(7), "exit status 7"),
        (lambda: lambda: None, "pickle"),
    ],
)
def test_what_goes_wrong_is_one_line(work, said):
    with pytest.raises(TrialError) as caught:
        in_fork(work, 10)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_hanging_trial_is_stopped():
    began = time.monotonic()
    with pytest.raises(TrialError, match="did not finish within 1 s"):
        in_fork(lambda: time.sleep(60), 1)
    assert time.monotonic() - began < 10


def test_no_process_is_left():
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    for work in (lambda: 1, fail, lambda: time.sleep(60)):
        try:
            in_fork(work, 1)
        except TrialError:
            continue
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before
