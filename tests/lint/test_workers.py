"""Work in several processes."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from breakfinder.errors import UsageError
from breakfinder.lint import workers


def double(number):
    return number * 2, os.getpid()


def die(number):
    os.kill(os.getpid(), signal.SIGKILL)


def fail(number):
    raise ValueError(f"number {number}")


SIZES = [workers.FEW_BYTES] * 9


@pytest.mark.parametrize("jobs", [1, 2, 20])
def test_results_come_in_order(jobs):
    results = list(workers.each(double, list(range(9)), SIZES, jobs))
    assert [result for result, _ in results] == [0, 2, 4, 6, 8, 10, 12, 14, 16]
    assert (os.getpid() in {process for _, process in results}) == (jobs == 1)


def test_little_work_is_done_here():
    assert {process for _, process in workers.each(double, [1, 2, 3], [10, 10, 10], 4)} == {os.getpid()}
    assert list(workers.each(double, [], [], 4)) == []


@pytest.mark.timeout(60)
def test_a_process_that_dies_is_an_error():
    with pytest.raises(UsageError, match="worker process died"):
        list(workers.each(die, [1, 2, 3], SIZES[:3], 2))


def test_an_exception_comes_through():
    with pytest.raises(ValueError, match="number 1"):
        list(workers.each(fail, [1, 2, 3], SIZES[:3], 2))


PROGRAM = """
import sys, time
from breakfinder.lint.workers import FEW_BYTES, each
if __name__ == "__main__":
    sys.stdout.write("started\\n"); sys.stdout.flush()
    try:
        list(each(time.sleep, [60, 60], [FEW_BYTES] * 2, 2))
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.timeout(60)
def test_the_processes_end_with_their_parent(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    parent = subprocess.Popen([sys.executable, tmp_path / "program.py"], stdout=subprocess.PIPE)
    parent.stdout.readline()
    deadline = time.monotonic() + 20
    while len(children := psutil.Process(parent.pid).children()) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    parent.kill()
    parent.wait()
    assert len(children) >= 2
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
