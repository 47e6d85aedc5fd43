"""Notebooks as one module."""

import ast
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakfinder.lint.notebook import read_notebook, without_magics
from breakfinder.lint.unreadable import Unreadable


def notebook(*cells):
    return json.dumps(
        {
            "nbformat": 4,
            "cells": [
                {"cell_type": kind, "source": source} if isinstance(source, str | list) else source
                for kind, source in cells
            ],
        }
    )


def test_code_cells_are_joined_and_numbered_among_all():
    read = read_notebook(
        notebook(
            ("markdown", "# Title"),
            ("code", ["import torch\n", "x = 1"]),
            ("raw", "raw"),
            ("code", ""),
            ("code", "y = 2\n"),
        )
    )
    assert read.text == "import torch\nx = 1\n\ny = 2\n\n"
    assert read.cells == ((2, 1), (4, 3), (5, 4))


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%time f()\nx", "pass\nx"),
        ("!pip install x\nx = 1", "pass\nx = 1"),
        ("!pip install \\\n  x\ny", "pass\npass\ny"),
        ("if a:\n    %time b()\n", "if a:\n    pass\n"),
        ("files = !ls\nn = 3", "files = None\nn = 3"),
        ("torch.relu?\nx", "pass\nx"),
        ("?torch.relu", "pass"),
        ("%%time\nx = 1", "\nx = 1"),
        ("%%bash\nls -l\nrm x", "\n\n"),
        ("x = (a\n%b\n)", "x = (a\n%b\n)"),
        ('s = """\n!not a command\n"""', 's = """\n!not a command\n"""'),
        ("await f()", "await f()"),
    ],
)
def test_lines_of_ipython(cell, python):
    assert without_magics(cell) == python
    ast.parse(python)


@given(st.text(alphabet="ab%!?\\\n =#\"'()\r\x0c", max_size=60))
def test_lines_stay_where_they_are(cell):
    cell = cell.replace("\r", "\n")
    assert without_magics(cell).count("\n") == cell.count("\n")


@pytest.mark.parametrize(
    ("content", "reason", "line"),
    [
        ("{\n]", "no notebook", 2),
        ("[]", "no list of cells", 1),
        ('{"worksheets": []}', "no list of cells", 1),
        ('{"cells": 3}', "no list of cells", 1),
        ("[" * 100_000, "no notebook", 1),
    ],
)
def test_what_is_no_notebook(content, reason, line):
    with pytest.raises(Unreadable) as caught:
        read_notebook(content)
    assert reason in caught.value.reason
    assert caught.value.line == line


def test_cells_that_are_none_are_passed_over():
    odd = ("code", {"cell_type": "code", "source": 7}), ("code", {"cell_type": "code"}), ("code", {"x": 1})
    assert read_notebook(notebook(*odd, ("code", "x"))).text == "\nx\n"
