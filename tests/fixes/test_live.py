"""Patched text takes the place of the code that runs."""

import importlib.util
import sys

import pytest

from breakfinder.fixes import live
from breakfinder.fixes.edit import Edit
from breakfinder.fixes.forked import in_fork

SOURCE = """
import functools


def helper(x):
    return x + 1


def outer(factor):
    def inner(x):
        return helper(x) * factor

    return inner


def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


class Base:
    def value(self):
        return 1


class Model(Base):
    def __init__(self):
        self.start = 10

    def value(self):
        return super().value() + self.start

    @logged
    def decorated(self, x):
        return x - 1

    @staticmethod
    def fixed(x):
        return x


double = lambda x: x * 2
"""


@pytest.fixture
def changed(tmp_path):
    """Runs a check on the module, in a fork in which the text was replaced."""
    path = tmp_path / "live_module.py"
    path.write_text(SOURCE)

    def run(old, new, check):
        def go():
            spec = importlib.util.spec_from_file_location("live_module", path)
            module = importlib.util.module_from_spec(spec)
            sys.modules["live_module"] = module
            spec.loader.exec_module(module)
            alive = {"inner": module.outer(3), "model": module.Model(), "double": module.double}
            edit = Edit(str(path.resolve()), SOURCE, SOURCE.replace(old, new))
            assert edit.before != edit.after
            rebuild = live.apply({edit.file: edit})
            return rebuild, check(module, alive)

        return in_fork(go, 30)

    return run


@pytest.mark.parametrize(
    ("old", "new", "check", "expected"),
    [
        ("x + 1", "x + 100", lambda module, alive: alive["inner"](1), 303),
        ("helper(x) * factor", "helper(x) - factor", lambda module, alive: alive["inner"](1), -1),
        (
            "super().value() + self",
            "super().value() * self",
            lambda module, alive: alive["model"].value(),
            10,
        ),
        ("return x - 1", "return x - 2", lambda module, alive: alive["model"].decorated(5), 3),
        ("x * 2", "x * 4", lambda module, alive: alive["double"](1), 4),
        ("return x\n", "y = 7\n        return x + y\n", lambda module, alive: alive["model"].fixed(1), 8),
    ],
)
def test_functions_that_are_alive_run_the_new_code(changed, old, new, check, expected):
    assert changed(old, new, check) == (False, expected)


def test_a_constructor_asks_for_objects_to_be_built_anew(changed):
    rebuild, value = changed(
        "self.start = 10", "self.start = 20", lambda module, alive: module.Model().value()
    )
    assert (rebuild, value) == (True, 21)


def test_new_imports_are_there(changed):
    new = "import functools\nimport math"
    source = SOURCE.replace("import functools", new)
    assert source != SOURCE
    assert changed("import functools", new, lambda module, alive: module.math.pi > 3) == (False, True)


def test_what_changes_at_the_top_level_is_run_anew(changed):
    rebuild, value = changed(
        "    @logged\n", "", lambda module, alive: hasattr(module.Model.decorated, "__wrapped__")
    )
    assert (rebuild, value) == (True, False)


def test_another_closure_runs_the_module_anew(changed):
    rebuild, value = changed(
        "return helper(x) * factor", "return helper(x)", lambda module, alive: module.outer(3)(1)
    )
    assert (rebuild, value) == (True, 2)


def test_the_new_text_is_what_places_are_found_in(changed):
    def check(module, alive):
        from breakfinder.source.text import read

        return read(module.__file__).line(6)

    assert changed("x + 1", "x + 100", check)[1] == "    return x + 100"
