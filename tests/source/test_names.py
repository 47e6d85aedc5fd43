"""What the names in a module stand for."""

import ast

import pytest

from breakfinder.source.names import Names


def full(source: str, expression: str, module: str = "", *, is_package: bool = False) -> str:
    names = Names(ast.parse(source), module, is_package=is_package)
    return names.dotted(ast.parse(expression, mode="eval").body)


@pytest.mark.parametrize(
    ("source", "expression", "expected"),
    [
        ("import torch", "torch.nn.Linear", "torch.nn.Linear"),
        ("import torch.nn.functional as F", "F.relu", "torch.nn.functional.relu"),
        ("import torch.nn.functional", "torch.nn.functional.relu", "torch.nn.functional.relu"),
        ("from torch import nn", "nn.functional.relu", "torch.nn.functional.relu"),
        ("from torch.nn import functional as F", "F.relu", "torch.nn.functional.relu"),
        ("import numpy as np", "np.random.rand", "numpy.random.rand"),
        ("", "print", "builtins.print"),
        ("", "self.config.size", "self.config.size"),
        ("", "f(x).y", ""),
        ("", "unknown.name", "unknown.name"),
        ("def print(x): pass", "print", "print"),
        ("class list: pass", "list", "list"),
        ("sum = torch_sum", "sum", "sum"),
        ("from torch import *", "sum", "sum"),
        ("from .layers import *", "sum", "builtins.sum"),
        ("import torch\nrelu = torch.relu", "relu", "torch.relu"),
        ("if True:\n    import numpy as np", "np.abs", "numpy.abs"),
        ("from torch import compile as jit", "jit", "torch.compile"),
    ],
)
def test_full_names(source, expression, expected):
    assert full(source, expression) == expected


@pytest.mark.parametrize(
    ("statement", "module", "is_package", "expected"),
    [
        ("from ...utils import logging", "pkg.models.llama.modeling", False, "pkg.utils.logging"),
        ("from . import logging", "pkg.models.modeling", False, "pkg.models.logging"),
        ("from .utils import logging", "pkg", True, "pkg.utils.logging"),
        ("from .utils import logging", "", False, ".utils.logging"),
        ("from . import logging", "", False, ".logging"),
        ("from .. import logging", "", False, "..logging"),
    ],
)
def test_relative_imports_are_resolved_by_the_modules_name(statement, module, is_package, expected):
    assert full(statement, "logging", module, is_package=is_package) == expected


def test_an_import_wins_over_what_stands_in_for_it():
    source = "try:\n    from flash import attn\nexcept ImportError:\n    from slow import attn\n"
    assert full(source, "attn") == "flash.attn"


def test_imports_in_functions_are_theirs_alone():
    assert full("def f():\n    import numpy as torch\n", "torch.abs") == "torch.abs"


def test_a_function_has_its_own_names():
    names = Names(ast.parse("import torch.nn.functional as F\nimport math\n"))
    inner = names.inside(["F", "print", "x"], {"np": "numpy"})
    assert [
        inner.dotted(ast.parse(text, mode="eval").body) for text in ("F.relu", "print", "np.abs", "math.pi")
    ] == [
        "F.relu",
        "print",
        "numpy.abs",
        "math.pi",
    ]
    assert names.dotted(ast.parse("F.relu", mode="eval").body) == "torch.nn.functional.relu"


def test_what_is_assigned_once_is_kept():
    names = Names(ast.parse("A = 1\nB = 1\nB = 2\nfor C in []: pass\nD: int = 3\nE += 1\n"))
    assert {name: ast.unparse(value) for name, value in names.assigned.items()} == {"A": "1", "D": "3"}


def test_a_deep_chain_of_attributes():
    assert full("", ".".join(["a"] * 900)).count("a") == 900
