"""What is known of values: each ``probe(…)`` in a source gives one kind, with ``?`` where it is not sure."""

import ast
import textwrap

import pytest

from breakfinder.source.dataflow import Function, Kind
from breakfinder.source.modules import Module

N, T = "number", "tensor"
PRELUDE = """\
import math, random, copy
from typing import Optional, Union, List, Tuple, Callable
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, Tensor
from torch.compiler import is_compiling
from transformers.utils import is_torchdynamo_compiling, is_tracing
"""


def function_of(source: str, name: str = "") -> Function:
    """The function of a qualified name, the last one by default."""
    module = Module(ast.parse(PRELUDE + textwrap.dedent(source)))
    return next(one for one in reversed(module.functions) if not name or one.qualname == name)


def probes(function: Function) -> list[ast.Call]:
    return [
        node
        for node in function.all_nodes()
        if isinstance(node, ast.Call) and function.called(node) == "probe"
    ]


def kinds(source: str, name: str = "") -> list[str]:
    function = function_of(source, name)
    facts = [function.fact(call.args[0]) for call in probes(function)]
    return [fact.kind.value + ("" if fact.sure else "?") for fact in facts]


def kind(
    expression: str,
    parameters: str = "x: Tensor, y, n: int, mask: Tensor | None = None",
    before: str = "pass",
) -> str:
    (found,) = kinds(f"def f({parameters}):\n    {before}\n    probe({expression})\n")
    return found


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        ("a: torch.Tensor", "tensor"),
        ("a: Tensor", "tensor"),
        ("a: 'torch.Tensor'", "tensor"),
        ("a: torch.LongTensor", "tensor"),
        ("a: nn.Parameter", "tensor"),
        ("a: Optional[Tensor]", "tensor?"),
        ("a: Tensor | None = None", "tensor?"),
        ("a: 'Tensor | None'", "tensor?"),
        ("a: Tensor = None", "tensor?"),
        ("a: Union[Tensor, None]", "tensor?"),
        ("a: Union[Tensor, List[Tensor]]", "unknown"),
        ("a: int", "number"),
        ("a: bool = False", "number"),
        ("a: Optional[int] = None", "number?"),
        ("a: float | int", "number"),
        ("a: str", "text"),
        ("a: List[Tensor]", "container"),
        ("a: tuple[int, int]", "container"),
        ("a: dict", "container"),
        ("a: LlamaConfig", "other"),
        ("a: Callable", "other"),
        ("a: torch.dtype", "other"),
        ("a: np.ndarray", "array"),
        ("a: nn.Module", "module"),
        ("a: Cache", "unknown"),
        ("a", "tensor?"),
        ("a=None", "tensor?"),
        ("a=1", "number?"),
        ("a=True", "number?"),
        ("a='x'", "text?"),
        ("a=()", "unknown"),
        ("*a", "container"),
        ("**a", "container"),
        ("*, a: Tensor", "tensor"),
        ("a: Tensor, /", "tensor"),
    ],
)
def test_parameters(parameter, expected):
    assert kind("a", parameter) == expected


@pytest.mark.parametrize(
    "name", ["num_heads", "config", "hidden_size", "use_cache", "dim", "n", "kwargs", "past_key_values"]
)
def test_names_that_are_hardly_ever_tensors(name):
    assert not kind(name, name).startswith("tensor")


@pytest.mark.parametrize(
    "expression",
    [
        "torch.zeros(3)",
        "torch.where(x > 0, x, 0)",
        "F.softmax(y, -1)",
        "torch.linalg.norm(y)",
        "x + 1",
        "1 - x",
        "x @ y",
        "-x",
        "~x",
        "x > 0",
        "x == y",
        "x[0]",
        "x[:, None]",
        "x[mask]",
        "x.T",
        "x.data",
        "x.view(3, -1).sum()",
        "x.max()",
        "x.max(dim=1).values",
        "x.max(1)[0]",
        "torch.max(x, x)",
        "x.topk(3).indices",
        "x.sort()[1]",
        "x.clamp_(0)",
        "x.to(torch.float16)",
        "x.chunk(2)[0]",
        "torch.split(x, 3, 1)[1]",
        "y.unsqueeze(0)",
        "abs(x)",
        "max(x, x)",
        "sum([x, x])",
        "x if n else -x",
        "x and -x",
        "(z := x * 2)",
        "[x, n][0]",
        "[x for _ in range(n)][0]",
        "{'a': x}['a']",
        "copy.deepcopy(x)",
        "mask.sum()",
        "mask + 1",
        "mask[0]",
        "nn.Linear(3, 3)(y)",
        "nn.LSTM(3, 3)(y)[0]",
        "nn.Parameter(y)",
    ],
)
def test_tensors(expression):
    assert kind(expression) == "tensor"


@pytest.mark.parametrize(
    "expression",
    ["y", "y + 1", "y > 0", "y[0]", "y.sum()", "x if n else 1", "mask", "mask or x", "x.unique(False, True)"],
)
def test_what_seems_to_be_a_tensor(expression):
    assert kind(expression) == "tensor?"


@pytest.mark.parametrize(
    "expression",
    [
        "1",
        "x.size(0)",
        "x.size()[0]",
        "x.shape[0]",
        "x.shape[-1] // 2",
        "x.dim()",
        "x.ndim",
        "x.numel()",
        "x.item()",
        "x.is_floating_point()",
        "x.is_cuda",
        "x.requires_grad",
        "len(x)",
        "int(x)",
        "float(x)",
        "x is None",
        "mask is not None",
        "n in x",
        "not x",
        "isinstance(x, Tensor)",
        "hasattr(x, 'a')",
        "torch.is_tensor(x)",
        "torch.numel(x)",
        "torch.equal(x, x)",
        "x.dtype == torch.float32",
        "x.device.type == 'cpu'",
        "x.shape == (1, 2)",
        "math.sqrt(n)",
        "n * 2",
        "torch.cuda.is_available()",
        "x == None",
        "min(n, 3)",
        "sum(x.shape)",
        "math.pi",
        "random.random()",
        "x.stride(0)",
    ],
)
def test_numbers(expression):
    found = kind(expression)
    assert found == "number" or (found == "unknown" and expression == "x.device.type == 'cpu'")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x.shape", "container"),
        ("x.size()", "container"),
        ("x.tolist()", "container"),
        ("x.split(2)", "container"),
        ("torch.unbind(x)", "container"),
        ("torch.where(x)", "container"),
        ("x.unique(return_counts=True)", "container"),
        ("x.dtype", "other"),
        ("x.device", "other"),
        ("torch.float32", "other"),
        ("torch.no_grad()", "other"),
        ("lambda: x", "other"),
        ("f'{x}'", "text"),
        ("str(x)", "text"),
        ("'%s' % x", "text"),
        ("x.numpy()", "array"),
        ("np.zeros(3)", "array"),
        ("np.zeros(3) + n", "array"),
        ("np.errstate()", "other"),
        ("nn.Linear(3, 3)", "module"),
        ("None", "none"),
        ("print(x)", "none"),
        ("x.my_attribute", "unknown"),
        ("x.my_method()", "unknown"),
        ("undefined", "unknown"),
        ("undefined(x)", "unknown"),
        ("[x, n][n]", "tensor?"),
    ],
)
def test_other_kinds(expression, expected):
    assert kind(expression) == expected


def test_tuples_are_unpacked():
    assert (
        kinds("""
        def f(x: Tensor, pairs: list[tuple[Tensor, int]]):
            b, s, _ = x.shape
            probe(b); probe(s)
            values, indices = x.topk(2)
            probe(values)
            first, *rest = x, b, s
            probe(first); probe(rest)
            (c, d), e = (x, b), x
            probe(c); probe(d); probe(e)
            for tensor, number in pairs:
                probe(tensor); probe(number)
            f, g = x
            probe(f)
        """)
        == f"{N} {N} {T} {T} container {T} {N} {T} {T} {N} {T}".split()
    )


def test_loops_and_comprehensions():
    assert (
        kinds("""
        def f(x: Tensor, n: int):
            for i in range(n): probe(i)
            for row in x: probe(row)
            for i, row in enumerate(x):
                probe(i); probe(row)
            for a, b in zip(x, x.shape):
                probe(a); probe(b)
            [probe(row) for row in x]
            [probe(i) for row in x for i in row.shape]
            {k: probe(v) for k, v in enumerate(x) if probe(k)}
            probe([row for row in x])
        """)
        == f"{N} {T} {N} {T} {T} {N} {T} {N} {N} {T} container".split()
    )


def test_a_variable_is_what_it_was_given_last():
    assert kinds("""
        def f(x: Tensor):
            a = x
            probe(a)
            a = a.shape[0]
            probe(a)
            a += 1
            probe(a)
            a *= x
            probe(a)
            a: int = unknown()
            probe(a)
            del a
            probe(a)
        """) == ["tensor", "number", "number", "tensor", "number", "unknown"]


def test_branches_are_joined():
    assert kinds("""
        def f(x: Tensor, flag: bool):
            if flag:
                a, b, c = x, x, x
            else:
                a, b, c = -x, 1, None
            probe(a); probe(b); probe(c)
            if flag:
                d = x
            elif unknown():
                return 1
            else:
                raise ValueError(x)
            probe(d)
            try:
                e = x
            except ValueError:
                e = 1
            probe(e)
        """) == ["tensor", "tensor?", "tensor?", "tensor", "tensor?"]


def test_a_loop_may_have_changed_a_variable():
    assert kinds("""
        def f(x: Tensor, n: int):
            total = 0
            size = 1
            for i in range(n):
                probe(total)
                total = total + x.sum()
                size = size + i
                if unknown():
                    out = x
                    break
            else:
                out = None
            probe(total); probe(size); probe(out)
            while unknown():
                x = x.shape[0]
            probe(x)
        """) == ["tensor?", "tensor?", "number", "tensor?", "tensor?"]


def test_none_is_told_apart():
    assert kinds("""
        def f(mask: Optional[Tensor] = None, other: Tensor | None = None):
            if mask is None:
                probe(mask)
            else:
                probe(mask)
            probe(mask)
            if mask is not None and probe(mask): pass
            if mask is None or probe(mask): pass
            probe(mask) if mask is not None else probe(mask)
            if mask is None:
                mask = torch.zeros(3)
            probe(mask)
            if other is None:
                return
            probe(other)
        """) == ["none", "tensor", "tensor?", "tensor", "tensor", "tensor", "none", "tensor", "tensor"]


def test_what_is_used_as_a_tensor_is_no_longer_none():
    assert kinds("def f(mask: Tensor | None):\n    mask.shape\n    probe(mask)\n") == ["tensor"]


def test_types_are_told_apart():
    assert kinds("""
        def f(a, b: Tensor, c):
            if isinstance(a, torch.Tensor): probe(a)
            elif isinstance(a, (list, tuple)): probe(a)
            elif isinstance(a, (int, float)): probe(a)
            else: probe(a)
            if not isinstance(b, Tensor): probe(b)
            if torch.is_tensor(c): probe(c)
        """) == ["tensor", "container", "number", "unknown", "unknown", "tensor"]


def test_methods_that_only_tensors_have_tell():
    assert kinds("""
        def f(x, y, z):
            probe(x)
            x.unsqueeze(0)
            probe(x)
            y.mean()
            probe(y)
            unknown().masked_fill_(x, 0)
            z.squeeze
            probe(z)
        """) == ["tensor?", "tensor", "tensor?", "tensor?"]


MODEL = """
    class Block(nn.Module):
        scale: float = 1.0
        offsets: Tensor

        def forward(self, x) -> Tensor: ...

    class Model(nn.Module):
        def __init__(self, config, size: int, act=None):
            super().__init__()
            self.config = config
            self.size = size
            self.heads = config.num_heads
            self.name = "model"
            self.linear = nn.Linear(size, size)
            self.rnn = nn.LSTM(size, size)
            self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
            self.blocks = nn.ModuleList([Block() for _ in range(3)])
            self.seq = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
            self.custom = act(config)
            self.weight = nn.Parameter(torch.ones(3))
            self.register_buffer("table", torch.zeros(3))
            self.register_buffer("maybe", None)
            self.counter = 0
            self.other: Tensor | None = None

        def reset(self):
            self.counter = torch.zeros(1)

        def helper(self, x) -> torch.Tensor: ...

        def pair(self, x) -> tuple[Tensor, int]: ...

        @property
        def depth(self) -> int: ...

        def forward(self, x: Tensor):
            {}
    """


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("self.config", "other"),
        ("self.config.hidden", "other"),
        ("self.config.layers[0]", "other"),
        ("self.size", "number"),
        ("self.heads", "other"),
        ("self.name", "text"),
        ("self.training", "number"),
        ("self.linear", "module"),
        ("self.linear(x)", "tensor"),
        ("self.linear.weight", "tensor"),
        ("self.linear.bias", "tensor?"),
        ("self.rnn(x)", "container"),
        ("self.rnn(x)[0]", "tensor"),
        ("self.layers", "module"),
        ("self.layers[0](x)", "tensor"),
        ("self.seq(x)", "tensor"),
        ("self.weight", "tensor"),
        ("self.table", "tensor"),
        ("self.maybe", "none"),
        ("self.counter", "unknown"),
        ("self.helper(x)", "tensor"),
        ("self.pair(x)[0]", "tensor"),
        ("self.pair(x)[1]", "number"),
        ("self.depth", "number"),
        ("self.unknown", "unknown"),
        ("self.custom(x)", "unknown"),
        ("self", "other"),
    ],
)
def test_attributes_of_self(expression, expected):
    assert kinds(MODEL.format(f"probe({expression})"), "Model.forward") == [expected]


def test_attributes_set_on_the_way():
    source = (
        "self.size = x; probe(self.size); self.size = 1; probe(self.size); self.size += x; probe(self.size)"
    )
    assert kinds(MODEL.format(source), "Model.forward") == ["tensor", "number", "tensor"]


def test_layers_in_a_loop():
    loop = "\n            ".join(
        ["for layer in self.layers:", "    probe(layer)", "    x = layer(x)", "    probe(x)"]
    )
    assert kinds(MODEL.format(loop), "Model.forward") == ["module", "tensor"]


def test_attributes_are_inherited_within_the_module():
    source = textwrap.dedent(MODEL.format("pass")) + textwrap.dedent("""
        class Sub(Model):
            def forward(self, x):
                probe(self.size); probe(self.linear(x)); probe(self.helper(x))
        """)
    assert kinds(source, "Sub.forward") == ["number", "tensor", "tensor"]


def test_a_function_inside_sees_the_variables_around_it():
    assert kinds(
        """
        def f(x: Tensor, n: int):
            later = 1
            def g(y: int):
                probe(x); probe(n); probe(y); probe(later); probe(h)
            later = x
            h = x
        """,
        "f.<locals>.g",
    ) == ["tensor", "number", "number", "tensor?", "tensor"]


def test_functions_of_the_module_by_their_annotation():
    assert kinds("""
        def g(x) -> tuple[Tensor, int]: ...
        def f(x):
            a, b = g(x)
            probe(a); probe(b)
        """) == ["tensor", "number"]


def test_constants_of_the_module():
    assert kinds(
        "EPS = 1e-5\nNAME = 'x'\nBOTH = 1\nBOTH = None\ndef f():\n    probe(EPS); probe(NAME); probe(BOTH)\n"
    ) == [
        "number",
        "text",
        "unknown",
    ]


def test_masks():
    source = """
        def f(x: Tensor, y: Tensor, ids: torch.LongTensor, flags: torch.BoolTensor):
            m = (x > 0) & ~(y == 1)
            probe(m); probe(m.unsqueeze(0)[0]); probe(x.bool()); probe(flags); probe(x.to(torch.bool))
            probe(torch.ones(3, dtype=torch.bool)); probe(x.isnan().any())
            probe(ids); probe(x); probe(m + 1); probe(m.float())
        """
    function = function_of(source)
    assert [function.is_mask(call.args[0]) for call in probes(function)] == [True] * 7 + [False] * 4


def test_called():
    function = function_of("""
        def f(self, x: Tensor, y):
            x.item(); y.item(); F.relu(x); print(x); unknown().g(); self.go(x); np.abs(1); y[0].sum()
            import time as clock
            clock.sleep(1)
            F = x
            F.relu()
        """)
    calls = [node for node in function.all_nodes() if isinstance(node, ast.Call)]
    named = {ast.unparse(call.func): function.called(call) for call in calls}
    assert named == {
        "x.item": ".item",
        "y.item": ".item",
        "F.relu": ".relu",
        "print": "builtins.print",
        "unknown().g": ".g",
        "unknown": "unknown",
        "self.go": "self.go",
        "np.abs": "numpy.abs",
        "y[0].sum": ".sum",
        "clock.sleep": "time.sleep",
    }


def lines_of(nodes) -> list[int]:
    first = len(PRELUDE.splitlines())
    return sorted({node.lineno - first for node in nodes})


def live_calls(source: str, name: str = "") -> list[str]:
    """What is called where compiled code can be: ``a1``, ``a2``…"""
    function = function_of(source, name)
    calls = [node for node in function.nodes() if isinstance(node, ast.Call)]
    return sorted(
        found for call in calls if (found := function.called(call)).startswith("a") and found[1:].isdigit()
    )


def test_what_never_runs_compiled():
    assert live_calls("""
        def f(x, flag):
            if torch.compiler.is_compiling(): a1()
            else: a10()
            if not is_torchdynamo_compiling(): a11()
            else: a2()
            if not is_torchdynamo_compiling() and flag: a12()
            if flag and not is_compiling(): a13(); a14()
            if flag or is_compiling(): a3()
            if torch.jit.is_scripting(): a15()
            elif torch.jit.is_tracing() or torch.jit.is_scripting(): a16()
            elif flag: a4()
            else: a5()
            if not torch.jit.is_tracing() and flag: a6()
            if is_tracing(x): a7()
            else: a17()
            a18() if not is_compiling() else a8()
            not is_compiling() and a19()
            is_compiling() or a20()
            is_compiling() and a9()
            if flag: raise ValueError(f"{a21()}")
            assert flag, a22()
            if flag:
                return
                a23()
            try:
                import flash
            except ImportError:
                a24()
            if is_compiling():
                return 1
            a25()
        """) == [f"a{n}" for n in range(1, 10)]


def test_nothing_runs_after_all_ways_have_ended():
    assert (
        live_calls("""
        def f(x, flag):
            if flag: return 1
            elif x: raise ValueError
            else: return 2
            a1()
        """)
        == []
    )
    assert live_calls("""
        def f(x, flag):
            for _ in x:
                if flag: continue
                else: break
                a2()
            else: a1()
            with x:
                return 3
            a2()
        """) == ["a1"]


@pytest.mark.parametrize(
    ("decorator", "alone"),
    [
        ("torch.compiler.disable", True),
        ("torch.compiler.disable(recursive=False)", True),
        ("torch._dynamo.disable", True),
        ("torch.compiler.allow_in_graph", True),
        ("torch._dynamo.nonstrict_trace", True),
        ("torch.jit.script", True),
        ("torch.no_grad()", False),
        ("torch.compile", False),
        ("staticmethod", False),
    ],
)
def test_decorators_that_leave_a_function_alone(decorator, alone):
    source = f"@{decorator}\ndef f(x):\n    a1()\n    def g():\n        a2()\n"
    assert live_calls(source, "f") == ([] if alone else ["a1"])
    assert live_calls(source, "f.<locals>.g") == ([] if alone else ["a2"])


def test_guarded_and_parent_and_in_loop():
    function = function_of("""
        def f(x):
            a = [once(x) for y in first(x)]
            for b in header(x):
                body(b)
            else:
                done()
            while test(x):
                pass
            {k: many(k) for k in x if many(k)}
            if not is_compiling():
                hidden(x)
        """)
    calls = {function.called(node): node for node in function.all_nodes() if isinstance(node, ast.Call)}
    assert {name for name, call in calls.items() if function.in_loop(call)} == {
        "once",
        "body",
        "test",
        "many",
    }
    assert {name for name, call in calls.items() if function.guarded(call)} == {"hidden"}
    assert isinstance(function.parent(calls["done"]), ast.Expr)
    assert function.parent(function.node) is None


def test_every_node_but_those_of_functions_inside_has_a_parent():
    source = (
        "def f(x, y=1):\n    a = lambda z: z\n    with x as (b, *c), y: d[e].f = g\n    match x:\n"
        "        case [1, *h] if h: i = (j := 2)\n        case {'k': l, **m}: pass\n    del a, b\n    async_ = [*x, *y]\n"
        "    x[1:2, ...] += f'{x!r:>{y}}'\n    global q\n    return {**x, 'a': 1}\n"
    )
    function = Module(ast.parse(source)).functions[0]
    skipped = (ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.arguments, ast.arg)
    for node in ast.walk(function.node):
        for child in ast.iter_child_nodes(node):
            if (
                not isinstance(child, skipped)
                and child not in function.node.args.defaults
                and not isinstance(node, ast.arguments)
            ):
                assert function.parent(child) is node or node is function.node


def test_only_tensors_that_are_sure():
    function = function_of("def f(x: Tensor, y):\n    probe(x); probe(y)\n")
    x, y = (call.args[0] for call in probes(function))
    assert function.is_tensor(x, sure=True) and function.is_tensor(y) and not function.is_tensor(y, sure=True)
    assert function.fact(x).kind is Kind.TENSOR


def test_a_lambda_is_a_function_too():
    module = Module(ast.parse(PRELUDE + "go = lambda x: probe(torch.abs(x))\n"))
    node = module.names.assigned["go"]
    function = Function(module.names, node)
    (call,) = probes(function)
    assert function.is_tensor(call.args[0], sure=True) and function.qualname == "<lambda>"


@pytest.mark.parametrize("depth", [50, 2000])
def test_nested_expressions_do_not_overflow(depth):
    source = f"def f(x: Tensor):\n    probe(x{' + 1' * depth})\n    probe({'not ' * (depth // 8)}x)\n    probe(x)\n"
    assert kinds(source)[-1] == "tensor"


def test_a_long_chain_of_elif():
    arms = "".join(f"    elif n == {i}: a = x\n" for i in range(900))
    assert kinds(f"def f(x: Tensor, n: int):\n    if n: a = x\n{arms}    else: a = x\n    probe(a)\n") == [
        "tensor"
    ]


def test_functions_of_the_module_by_what_they_return():
    assert (
        kinds("""
        def pair(x): return torch.relu(x), x.shape[0]
        def either(x, flag):
            if flag: return torch.abs(x)
        def loop(n): return loop(n - 1)
        def first(x): return second(x)
        def second(x): return torch.abs(x) if x.any() else first(x)
        def nothing(x): ...
        def generator(x): yield x
        class Block(nn.Module):
            def forward(self, x): return self.inner(x), 1
            def inner(self, x): return F.relu(x)
        class Sub(Block): ...
        class Model(nn.Module):
            def __init__(self): self.block = Sub()
            def forward(self, x, flag):
                a, b = pair(x)
                probe(a); probe(b)
                probe(either(x, flag)); probe(loop(x)); probe(first(x)); probe(nothing(x)); probe(generator(x))
                c, d = self.block(x)
                probe(c); probe(d)
        """)
        == f"{T} {N} {T}? unknown {T}? unknown unknown {T} {N}".split()
    )


def test_a_device_leaves_the_dtype_alone():
    function = function_of("""
        def f(m: torch.BoolTensor, x: Tensor, device):
            probe(m.to(x.device)); probe(m.to(device)); probe(m.to("cuda")); probe(m.to(device=device))
            probe(m.to(x.dtype)); probe(m.to(x)); probe(m.to(device, torch.long))
        """)
    assert [function.is_mask(call.args[0]) for call in probes(function)] == [True] * 4 + [False] * 3


@pytest.mark.timeout(60)
def test_generated_code_takes_no_longer_than_its_length():
    loops = "".join(
        f"{' ' * n}a{n} = 1\n{' ' * n}for i{n} in x:\n{' ' * n} a{n} = a{n} + z\n" for n in range(1, 40)
    )
    assert kinds(f"def f(x: Tensor):\n z = 1\n{loops}{' ' * 40}z = x\n probe(x)\n") == [T]
    branches = "".join(f"    if x: a{n} = x\n" for n in range(20_000))
    assert kinds(f"def f(x: Tensor):\n{branches}    probe(x); probe(a0)\n") == [T, T]
    calls = "".join(f"def f{n}(x): return f{n + 1}(f{n + 1}(x))\n" for n in range(2_000))
    assert kinds(
        f"{calls}def f2000(x): return torch.abs(x)\ndef g(x):\n    probe(f1999(x)); probe(f0(x))\n"
    ) == [T, "unknown"]
