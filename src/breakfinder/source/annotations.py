"""What annotations, defaults and names say of the parameters of a function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from breakfinder.source.definitions import FunctionNode
from breakfinder.source.kinds import (
    ARRAY,
    CONFIG,
    CONTAINER,
    INDICES,
    LIKELY_TENSOR,
    MASK,
    MODULE,
    NONE,
    NUMBER,
    OTHER,
    SELF,
    SIZE,
    TENSOR,
    TEXT,
    UNKNOWN,
    Kind,
    Value,
    container_of,
    join_all,
    tuple_of,
)
from breakfinder.source.names import Names

_PLAIN: dict[str, Value] = {
    **{f"builtins.{name}": NUMBER for name in ("int", "float", "bool", "complex")},
    **{f"builtins.{name}": CONTAINER for name in ("list", "tuple", "dict", "set", "frozenset", "range")},
    "builtins.str": TEXT,
    "builtins.bytes": TEXT,
    "torch.Tensor": TENSOR,
    "torch.BoolTensor": MASK,
    "torch.LongTensor": INDICES,
    "torch.IntTensor": INDICES,
    **{f"torch.{name}Tensor": TENSOR for name in ("Float", "Half", "Double", "BFloat16", "Byte", "Short")},
    **{f"torch.cuda.{name}Tensor": TENSOR for name in ("Float", "Half", "Double", "Long", "Int", "Bool")},
    "torch.nn.Parameter": TENSOR,
    "torch.nn.parameter.Parameter": TENSOR,
    "torch.Size": SIZE,
    "torch.nn.Module": MODULE,
    "torch.nn.ModuleList": Value(Kind.MODULE, name="torch.nn.ModuleList"),
    "torch.device": OTHER,
    "torch.dtype": OTHER,
    "torch.Generator": OTHER,
    "numpy.ndarray": ARRAY,
}
_SEQUENCES = re.compile(
    r"builtins\.(list|set|frozenset)|(typing|collections\.abc)\.(List|Set|Sequence|Iterable|Iterator|Collection|MutableSequence)"
)
_MAPPINGS = re.compile(
    r"builtins\.dict|(typing|collections(\.abc)?)\.(Dict|Mapping|MutableMapping|OrderedDict|DefaultDict|defaultdict)"
)
_MODULES = ("Module", "PreTrainedModel", "GradientCheckpointingLayer", "LightningModule")
_CALLABLES = re.compile(r"(typing|collections\.abc)\.Callable")
_CONFIG = re.compile(r"(\w+\.)*\w*Config(uration)?")
_NO_TENSOR_NAME = re.compile(
    r"""(self|cls|config|configuration|args|mode|name|names|path|fn|func|function|module|model|layer|layers|cfg|key|keys
    |n|b|h|w|c|t|k|i|j|idx|index|dim|dims|axis|eps|size|shape|length|dtype|device|training|train|inplace|p|sizes
    |kwargs|types|tokenizer|processor|cache|past|generator|reduction|dropout|embed_dim|head_dim|heads|groups|stride|padding|kernel_size
    |past_key_values?|labels?_smoothing|patch_size|prefix|default|height|width|resolution|scale_factor|count|start|end|step|batch|verbose|debug|steps?_size|cls_name|deterministic
    |(num|n|max|min|use|is|has|return|output|do|with|no|should|apply|add|layer|init)_\w+
    |\w+_(dim|dims|size|sizes|len|length|lengths|idx|index|id|name|names|shape|shapes|config|eps|rate|prob|type|fn|func
    |dtype|device|factor|num|count|ratio|mode|kwargs|layers|heads|dims|cache|processor|resolution|dimensions|height|width|cls|class|module|chunk|only))""",
    re.VERBOSE,
)
"""Names that parameters hardly ever have that are tensors."""


def parameters(node: FunctionNode | ast.Lambda, names: Names, *, method: bool) -> dict[str, Value]:
    """What is known of the parameters of a function at its start."""
    arguments = node.args
    values: dict[str, Value] = {}
    plain = [*arguments.posonlyargs, *arguments.args]
    if method and plain and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        decorators = {names.dotted(decorator) for decorator in node.decorator_list}
        if "builtins.staticmethod" not in decorators:
            values[plain.pop(0).arg] = OTHER if "builtins.classmethod" in decorators else SELF
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults)) + [*arguments.defaults]
    for argument, default in (
        *zip(plain, defaults[-len(plain) :] if plain else [], strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ):
        values[argument.arg] = _parameter(argument, default, names, guess=not isinstance(node, ast.Lambda))
    if arguments.vararg:
        values[arguments.vararg.arg] = container_of(annotated(arguments.vararg.annotation, names))
    if arguments.kwarg:
        values[arguments.kwarg.arg] = CONTAINER
    return values


def _parameter(argument: ast.arg, default: ast.expr | None, names: Names, *, guess: bool) -> Value:
    none = isinstance(default, ast.Constant) and default.value is None
    if argument.annotation is not None:
        value = annotated(argument.annotation, names)
        return (
            value._replace(optional=True) if none and value.kind not in (Kind.UNKNOWN, Kind.NONE) else value
        )
    if isinstance(default, ast.Constant) and not none:
        return constant(default)._replace(sure=False)
    if isinstance(default, ast.UnaryOp) or not guess or _NO_TENSOR_NAME.fullmatch(argument.arg):
        return CONFIG if argument.arg == "config" else UNKNOWN
    if default is None or none:
        return LIKELY_TENSOR._replace(optional=none)
    return UNKNOWN


def constant(node: ast.Constant) -> Value:
    if node.value is None:
        return NONE
    if isinstance(node.value, str | bytes):
        return TEXT
    return NUMBER if isinstance(node.value, int | float | complex) else OTHER


def annotated(node: ast.expr | None, names: Names, depth: int = 0) -> Value:
    """What a value is that has an annotation; what several say is joined."""
    if node is None or depth > 20:
        return UNKNOWN
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            return annotated(_parsed(node.value), names, depth + 1)
        return NONE if node.value is None else UNKNOWN
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return join_all(annotated(side, names, depth + 1) for side in (node.left, node.right))
    if isinstance(node, ast.Subscript):
        return _subscripted(node, names, depth)
    return _named(names.dotted(node), names)


def _named(name: str, names: Names) -> Value:
    if name in _PLAIN:
        return _PLAIN[name]
    if _SEQUENCES.fullmatch(name) or _MAPPINGS.fullmatch(name) or name == "typing.Tuple":
        return CONTAINER
    if _CONFIG.fullmatch(name):
        return CONFIG
    if name in names.classes and _is_module(names.classes[name], names):
        return Value(Kind.MODULE, name=name)
    return OTHER if _CALLABLES.fullmatch(name) else UNKNOWN


def _subscripted(node: ast.Subscript, names: Names, depth: int) -> Value:
    name = names.dotted(node.value)
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name in ("typing.Optional", "typing.Union"):
        values = [annotated(each, names, depth + 1) for each in inner]
        return join_all([*values, NONE] if name == "typing.Optional" else values)
    if name in ("typing.Annotated", "typing.Final", "typing.ClassVar"):
        return annotated(inner[0], names, depth + 1) if inner else UNKNOWN
    if name in ("builtins.tuple", "typing.Tuple"):
        if len(inner) == 2 and isinstance(inner[1], ast.Constant) and inner[1].value is Ellipsis:
            return container_of(annotated(inner[0], names, depth + 1))
        return tuple_of(*(annotated(each, names, depth + 1) for each in inner))
    if _SEQUENCES.fullmatch(name) or _MAPPINGS.fullmatch(name):
        return container_of(annotated(inner[-1], names, depth + 1)) if inner else CONTAINER
    if name.startswith(("jaxtyping.", "torchtyping.")):
        return annotated(inner[0], names, depth + 1) if inner else UNKNOWN
    return _named(name, names)


def _is_module(node: ast.ClassDef, names: Names) -> bool:
    """Whether a class is known to be a module by its bases, followed within the module."""
    seen = [node]
    for one in seen:
        for base in map(names.dotted, one.bases):
            if base.startswith("torch.nn.") or base.rpartition(".")[2] in _MODULES:
                return True
            inner = names.classes.get(base)
            if inner is not None and inner not in seen:
                seen.append(inner)
    return False


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def bound_names(node: ast.expr | None) -> Iterator[str]:
    """The plain names that an assignment to a target binds."""
    todo: list[ast.AST | None] = [node]
    while todo:
        target = todo.pop()
        if isinstance(target, ast.Name):
            yield target.id
        elif isinstance(target, ast.Tuple | ast.List):
            todo += target.elts
        elif isinstance(target, ast.Starred):
            todo.append(target.value)
