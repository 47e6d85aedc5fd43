"""Where compiled code can be: sources as files of a tree, and the functions that are reached in each."""

import json
import textwrap

import pytest

from breakfinder.lint.analyse import parsed
from breakfinder.lint.reach import Summary, reachable, summarise
from breakfinder.source.text import SourceText

IMPORTS = "import functools\nimport torch\nfrom torch import nn\n"


def reached(texts: dict[str, str]) -> dict[str, set[str]]:
    """By file, without those in which nothing is reached."""
    summaries = [
        summarise(file, parsed(SourceText(IMPORTS + textwrap.dedent(source))))
        for file, source in texts.items()
    ]
    again = [Summary.of_dict(json.loads(json.dumps(summary.as_dict()))) for summary in summaries]
    assert again == summaries
    return {file: set(names) for file, names in reachable(again).items() if names}


def only(source: str) -> set[str]:
    return reached({"a.py": source}).get("a.py", set())


@pytest.mark.parametrize(
    "base",
    [
        "nn.Module",
        "torch.nn.Module",
        "nn.Linear",
        "nn.Sequential",
        "pl.LightningModule",
        "PreTrainedModel",
        "GradientCheckpointingLayer",
    ],
)
def test_forward_of_modules(base):
    found = only(f"""
        import lightning as pl
        from transformers.modeling_utils import PreTrainedModel
        from ...modeling_layers import GradientCheckpointingLayer
        class Model({base}):
            def __init__(self): self.helper()
            def forward(self, x): ...
            def helper(self): ...
            def generate(self): ...
        class Plain:
            def forward(self, x): ...
        """)
    assert found == {"Model.forward"}


def test_what_forward_uses():
    found = only("""
        class Base(nn.Module):
            def inherited(self): self.both()
            def both(self): ...
            def forward(self, x): ...
        class Model(Base):
            def forward(self, x):
                super().forward(x)
                self.inherited()
                self.size
                self.callback(self.handed_on)
                free(x)
                Model.static(x)
                def inside(): behind_inside()
                return map(named, x)
            def handed_on(self): ...
            @property
            def size(self): return measure(self)
            @staticmethod
            def static(x): ...
            def not_used(self): ...
            def _init_weights(self, module): ...
            def training_step(self): ...
        class Sub(Model):
            def both(self): ...
        def free(x): behind(x)
        def behind(x): free(x)
        def named(x): ...
        def measure(x): ...
        def behind_inside(): ...
        def not_used(): ...
        """)
    assert found == {
        "Base.forward",
        "Base.inherited",
        "Base.both",
        "Model.forward",
        "Model.handed_on",
        "Model.size",
        "Model.static",
        "Model.forward.<locals>.inside",
        "Sub.both",
        "free",
        "behind",
        "named",
        "measure",
        "behind_inside",
    }


def test_a_mixin_reaches_what_its_users_define():
    found = only("""
        class Mixin:
            def forward(self, x): return self.step(x)
        class Model(Mixin, nn.Module):
            def step(self, x): ...
        """)
    assert found == {"Mixin.forward", "Model.step"}


def test_code_that_never_runs_compiled_reaches_nothing():
    found = only("""
        class Model(nn.Module):
            def forward(self, x):
                if not torch.compiler.is_compiling(): log(x)
                alone(x)
                scripted(x)
        def log(x): ...
        @torch.compiler.disable
        def alone(x): behind(x)
        @torch.jit.script
        def scripted(x): ...
        def behind(x): ...
        """)
    assert found == {"Model.forward"}


@pytest.mark.parametrize(
    "use",
    [
        "@torch.compile\ndef f(x): ...",
        "@torch.compile(fullgraph=True)\ndef f(x): ...",
        "@functools.partial(torch.compile, dynamic=True)\ndef f(x): ...",
        "def f(x): ...\ng = torch.compile(f)",
        "def f(x): ...\ng = torch.compile(model=f)",
        "def f(x): ...\ng = torch.compile(mode='default')(f)",
        "def f(x): ...\ng = functools.partial(torch.compile, dynamic=True)(f)",
        "jit = functools.partial(torch.compile, dynamic=True)\n@jit\ndef f(x): ...",
        "def f(x): ...\ndef main():\n    return run(torch.compile(f), 1)",
        "def f(x): ...\nif __name__ == '__main__':\n    for _ in range(3): torch.compile(f)(1)",
        "from torch import compile\n@compile\ndef f(x): ...",
    ],
)
def test_what_is_given_to_compile(use):
    assert "f" in only(use + "\ndef not_used(): ...\n")
    assert "not_used" not in only(use + "\ndef not_used(): ...\n")


def test_methods_that_are_given_to_compile():
    found = only("""
        class Trainer:
            def __init__(self):
                self.fast = torch.compile(self.step)
            def step(self): self.loss()
            def loss(self): ...
            def other(self): ...
        class Model(nn.Module):
            def generate(self): ...
        torch.compile(Model.generate)
        """)
    assert found == {"Trainer.step", "Trainer.loss", "Model.generate"}


def test_functions_defined_and_compiled_inside_others():
    assert only("""
        def main():
            @torch.compile
            def f(x): helper(x)
        def helper(x): ...
        """) == {"main.<locals>.f", "helper"}


def test_torchs_own_hooks():
    found = only("""
        class Op(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x): ...
        class Unused(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x): ...
        class Sub(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None): ...
        class Model(nn.Module):
            def forward(self, x): return Op.apply(x)
        """)
    assert found == {"Op.forward", "Sub.__torch_function__", "Model.forward"}


def test_across_files():
    found = reached(
        {
            "tree/pkg/base.py": "class Base(nn.Module):\n    def forward(self): self.step()\n    def step(self): ...\n",
            "tree/pkg/functional.py": "def relu(x): return _inner(x)\ndef _inner(x): ...\ndef unused(x): ...\n",
            "tree/pkg/__init__.py": "from .functional import relu as activation\nfrom .base import Base\n",
            "tree/pkg/model.py": "from .base import Base\nfrom . import activation\nfrom pkg import functional as F\n"
            "class Model(Base):\n    def step(self): activation(1)\n",
            "tree/pkg/deep/head.py": "from ..base import Base\nimport pkg.functional\n"
            "class Head(Base):\n    def forward(self): super().forward(); pkg.functional.relu(1)\n",
            "tree/other/base.py": "class Base:\n    def forward(self): ...\n",
            "tree/other/use.py": "from pkg import Base\nclass Model(Base):\n    def forward(self): ...\n",
        }
    )
    assert found == {
        "tree/pkg/base.py": {"Base.forward", "Base.step"},
        "tree/pkg/functional.py": {"relu", "_inner"},
        "tree/pkg/model.py": {"Model.step"},
        "tree/pkg/deep/head.py": {"Head.forward"},
        "tree/other/use.py": {"Model.forward"},
    }


def test_the_nearest_of_several_files_is_taken():
    found = reached(
        {
            "tree/a/ops.py": "def f(x): ...\n",
            "tree/b/ops.py": "def f(x): ...\n",
            "tree/b/model.py": "from ops import f\nclass Model(nn.Module):\n    def forward(self, x): f(x)\n",
        }
    )
    assert found == {"tree/b/ops.py": {"f"}, "tree/b/model.py": {"Model.forward"}}


def test_a_submodule_is_called_by_a_method_of_its_own():
    found = only("""
        class Encoder(nn.Module):
            def encode(self, x): ...
        class Model(nn.Module):
            def __init__(self):
                self.encoder = Encoder()
            def forward(self, x): return self.encoder.encode(x)
        """)
    assert found == {"Encoder.encode", "Model.forward"}


def test_a_class_of_another_library_is_taken_for_a_module_where_it_holds_some():
    source = """
        from elsewhere import Backbone
        class Model(Backbone):
            def __init__(self):
                self.linear = {}
            def forward(self, x): ...
        """
    assert only(source.format("nn.Linear(3, 3)")) == {"Model.forward"}
    assert only(source.format("1")) == set()


def test_circles_end():
    assert (
        only("""
        class A(B): ...
        class B(A):
            def forward(self): self.forward()
        class C(C): ...
        """)
        == set()
    )
    assert reached(
        {
            "a.py": "from b import f\n",
            "b.py": "from a import f\nclass M(nn.Module):\n    def forward(self): f()\n",
        }
    ) == {"b.py": {"M.forward"}}


def test_files_that_cannot_be_parsed_are_empty():
    assert summarise("a.py", parsed(SourceText("def f(:"))) == Summary("a.py")
    assert reachable([Summary("a.py")]) == {"a.py": frozenset()}


def test_what_runs_in_place_of_a_decorated_function():
    found = reached(
        {
            "a.py": """
                from b import logged, named
                class Model(nn.Module):
                    @logged
                    @named("model")
                    def forward(self, x): ...
                """,
            "b.py": """
                def logged(function):
                    def wrapper(*args):
                        note(args)
                        return function(*args)
                    return wrapper
                def named(name):
                    def decorate(function):
                        def inner(*args): ...
                        return inner
                    return decorate
                def note(args): ...
                """,
        }
    )
    assert found == {
        "a.py": {"Model.forward"},
        "b.py": {
            "logged.<locals>.wrapper",
            "named.<locals>.decorate",
            "named.<locals>.decorate.<locals>.inner",
            "note",
        },
    }
