"""What is known of the attributes of ``self``, by reading the class."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from breakfinder.source.annotations import annotated, bound_names
from breakfinder.source.definitions import FunctionNode, statements
from breakfinder.source.flow import Flow
from breakfinder.source.kinds import UNKNOWN, Kind, Value, join
from breakfinder.source.names import Names

_MOST_BASES = 20
_CONSTRUCTORS = ("__init__", "setup", "build", "_init", "post_init")


def attributes_of(owner: ast.ClassDef, names: Names) -> Mapping[str, Value]:
    """What the attributes of an instance are: as the constructor leaves them, if no other method sets them.

    Bases are followed within the module.
    """
    known = names.attributes.get(owner)
    if known is None:
        known = {}
        for base in reversed(ancestry(owner, names)):
            known = _own_attributes(base, known, names)
        names.attributes[owner] = known
    return known


def ancestry(owner: ast.ClassDef, names: Names) -> list[ast.ClassDef]:
    """A class and its bases in the module, nearest first."""
    found = [owner]
    for node in found:
        for base in node.bases:
            inner = names.classes.get(names.dotted(base))
            if inner is not None and inner not in found and len(found) < _MOST_BASES:
                found.append(inner)
    return found


def _own_attributes(owner: ast.ClassDef, inherited: Mapping[str, Value], names: Names) -> dict[str, Value]:
    known = {**inherited}
    methods: dict[str, FunctionNode] = {}
    for node in owner.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            methods[node.name] = node
            known[node.name] = _method(node, owner, names)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            known[node.target.id] = annotated(node.annotation, names)
        elif isinstance(node, ast.Assign):
            known |= dict.fromkeys((name for target in node.targets for name in bound_names(target)), UNKNOWN)
    made: set[str] = set()
    for name in _CONSTRUCTORS:
        if name in methods:
            end = Flow(methods[name], names, known, method=True).end
            found = {
                path[5:]: value
                for path, value in end.items()
                if path.startswith("self.") and "." not in path[5:]
            }
            known |= {
                name: value for name, value in found.items() if value is not UNKNOWN or name not in known
            }
            made |= found.keys()
    for name in _set_elsewhere(methods):
        known[name] = join(known[name], UNKNOWN) if name in known else UNKNOWN
    return known


def _method(node: FunctionNode, owner: ast.ClassDef, names: Names) -> Value:
    """A method, or what a property gives."""
    returned = annotated(node.returns, names)
    decorators = [names.dotted(decorator) for decorator in node.decorator_list]
    if any(decorator.rpartition(".")[2] in ("property", "cached_property") for decorator in decorators):
        return returned
    return Value(Kind.OTHER, name=f"{owner.name}.{node.name}", item=None if returned is UNKNOWN else returned)


def _set_elsewhere(methods: Mapping[str, FunctionNode]) -> set[str]:
    """The attributes of ``self`` that other methods than the constructor give a value."""
    found = set()
    for name, method in methods.items():
        if name in _CONSTRUCTORS:
            continue
        for node in statements([*method.body]):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            for target in targets:
                for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if (
                        isinstance(part, ast.Attribute)
                        and isinstance(part.value, ast.Name)
                        and part.value.id == "self"
                    ):
                        found.add(part.attr)
    return found
