"""What other files need to know of one file to tell where compiled code can be."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from breakfinder.source.classes import attributes_of
from breakfinder.source.dataflow import Function
from breakfinder.source.definitions import Class
from breakfinder.source.kinds import CONFIG, Kind
from breakfinder.source.modules import Module, module_of
from breakfinder.source.names import Names
from breakfinder.source.syntax import Syntax

_COMPILE = ("torch.compile", "torch._dynamo.optimize")
_PARTIAL = "functools.partial"
_NEVER_IN_TREE = (
    "torch.",
    "builtins.",
    "numpy.",
    "math.",
    "typing.",
    "collections.",
    "functools.",
    "itertools.",
)


@dataclass(frozen=True)
class ClassSummary:
    name: str
    """Qualified."""
    bases: list[str]
    methods: list[str]
    holds_modules: bool = False
    """Its constructor makes modules of torch, so it can hardly be anything else itself."""


@dataclass(frozen=True)
class FunctionSummary:
    name: str
    """Qualified."""
    owner: str = ""
    """The class whose method it is."""
    outer: str = ""
    """The function that it is defined in."""
    uses: list[str] = field(default_factory=list)
    """The functions that it calls or hands on, by full name; ``self.name`` and ``super.name`` for methods."""
    left_alone: bool = False
    """It is never traced."""
    decorators: list[str] = field(default_factory=list)
    """The functions that decorate it, by full name."""


@dataclass(frozen=True)
class Summary:
    """Of one file. Plain data: it is cached and sent between processes."""

    file: str
    classes: list[ClassSummary] = field(default_factory=list)
    functions: list[FunctionSummary] = field(default_factory=list)
    imports: dict[str, str] = field(default_factory=dict)
    """What the names imported at its top stand for; those that begin with dots are relative to the file."""
    compiled: list[tuple[str, str]] = field(default_factory=list)
    """What is given to ``torch.compile``, and the class in which that is done, if any."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON; `of_dict` takes it back."""
        return asdict(self)

    @classmethod
    def of_dict(cls, data: dict[str, Any]) -> Summary:
        return cls(
            data["file"],
            [ClassSummary(**each) for each in data["classes"]],
            [FunctionSummary(**each) for each in data["functions"]],
            data["imports"],
            [(name, owner) for name, owner in data["compiled"]],
        )


def summarise(file: str, tree: Syntax | str) -> Summary:
    """The summary of a file; of one that cannot be looked into (``tree`` says why), an empty one."""
    if isinstance(tree, str):
        return Summary(file)
    try:
        return _summary(file, module_of(tree.tree, file))
    except RecursionError:
        return Summary(file)


def _summary(file: str, module: Module) -> Summary:
    names = module.names
    functions, compiled = [], []
    for function in module.functions:
        owner = module.owners.get(function, "")
        outer = function.outer.qualname if function.outer else ""
        uses = sorted(set(_uses(function)))
        decorators: list[ast.expr] = getattr(function.node, "decorator_list", [])
        functions.append(
            FunctionSummary(
                function.qualname, owner, outer, uses, function.left_alone, [*_decorating(decorators, names)]
            )
        )
        if any(_compiles(decorator, names) for decorator in decorators):
            compiled.append((function.qualname, ""))
        compiled += [(name, owner) for name in _handed_to_compile(function.all_nodes(), function.names)]
    compiled += [(name, "") for name in _handed_to_compile(module.top_level(), names)]
    imports = {name: full for name, full in names.imports().items() if not full.startswith(_NEVER_IN_TREE)}
    return Summary(
        file, [_class(each, names) for each in module.definitions.classes], functions, imports, compiled
    )


def _decorating(decorators: list[ast.expr], names: Names) -> Iterator[str]:
    for decorator in decorators:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(called, ast.Name):
            yield from _within_reach(names.dotted(called), called.id, names)


def _class(a_class: Class, names: Names) -> ClassSummary:
    forwards = "forward" in a_class.methods
    holds = forwards and any(
        value.kind is Kind.MODULE for value in attributes_of(a_class.node, names).values()
    )
    bases = [base for node in a_class.node.bases if (base := names.dotted(_generic(node)))]
    return ClassSummary(a_class.qualname, bases, [*a_class.methods], holds)


def _generic(base: ast.expr) -> ast.expr:
    """The class of a base such as ``Generic[T]``."""
    return base.value if isinstance(base, ast.Subscript) else base


def _uses(function: Function) -> Iterator[str]:
    names = function.names
    for node in function.nodes():
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load) and not isinstance(function.parent(node), ast.Attribute):
                yield from _within_reach(names.dotted(node), node.id, names)
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Store):
            inner = node.value
            if isinstance(inner, ast.Name) and inner.id in ("self", "cls"):
                if not _is_data(node, function):
                    yield f"self.{node.attr}"
            elif isinstance(inner, ast.Call) and names.dotted(inner.func) == "builtins.super":
                yield f"super.{node.attr}"
            elif not isinstance(function.parent(node), ast.Attribute):
                yield from _of_attribute(node, function)


def _is_data(node: ast.Attribute, function: Function) -> bool:
    """Whether an attribute of ``self`` is set by the constructor, and no method."""
    value = function.value(node)
    return value.kind not in (Kind.UNKNOWN, Kind.OTHER) or value.name == CONFIG.name


def _of_attribute(node: ast.Attribute, function: Function) -> Iterator[str]:
    value = function.value(node.value)
    if value.kind is Kind.MODULE and value.name:
        yield from _within_reach(f"{value.name}.{node.attr}", value.name, function.names)
        return
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name):
        yield from _within_reach(function.names.dotted(node), root.id, function.names)


def _within_reach(full: str, name: str, names: Names) -> Iterator[str]:
    if names.is_known(name) and not full.startswith(_NEVER_IN_TREE):
        yield full


def _handed_to_compile(nodes: Iterable[ast.AST], names: Names) -> Iterator[str]:
    """The names of the functions that some code gives to ``torch.compile``."""
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        given = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "model")]
        if isinstance(
            node.func, ast.Call
        ):  # torch.compile(mode="…")(function), partial(torch.compile, …)(function)
            compiles = _compiles(node.func, names)
        else:
            compiles = names.dotted(node.func) in _COMPILE or _is_alias(node.func, names)
        if compiles and given and (name := names.dotted(given[0])):
            yield name


def _compiles(node: ast.expr, names: Names) -> bool:
    """Whether a decorator, or what is called with a function, compiles that function."""
    if isinstance(node, ast.Call):
        if names.dotted(node.func) == _PARTIAL:
            return bool(node.args) and names.dotted(node.args[0]) in _COMPILE
        return names.dotted(node.func) in _COMPILE
    return names.dotted(node) in _COMPILE or _is_alias(node, names)


def _is_alias(node: ast.expr, names: Names) -> bool:
    """Whether a name was given ``torch.compile`` with some arguments at the module's top."""
    value = names.assigned.get(node.id) if isinstance(node, ast.Name) else None
    return isinstance(value, ast.Call) and names.dotted(value.func) == _PARTIAL and _compiles(value, names)
