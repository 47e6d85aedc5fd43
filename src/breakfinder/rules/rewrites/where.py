"""A branch on a tensor: both sides computed, and one chosen with torch.where."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import libcst

from breakfinder.rules.rewrites.condition import condition
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.straight import (
    Branch,
    branch,
    comments,
    independent,
    renamed,
    returning,
    returns_in,
    suite,
    where,
    with_small,
    written,
)
from breakfinder.rules.rewrites.tree import Statement, assignment, block, fresh, names_in, replaced, statement
from breakfinder.rules.rewrites.uses import bound_before, loads


class Where(Rewrite):
    title = "Compute both sides and choose with `torch.where`"
    condition = (
        "Both sides can be computed for every input, have the same shape and dtype, and share no memory with "
        "the inputs."
    )

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        node = site.node
        while not isinstance(node, libcst.If | libcst.IfExp):
            around = site.parents.get(node)
            if (
                around is None
                or not isinstance(node, libcst.BaseExpression)
                or isinstance(around, libcst.While)
            ):
                return None
            if isinstance(around, libcst.If | libcst.IfExp) and around.test is not node:
                return None
            node = around
        if isinstance(node, libcst.IfExp):
            new = _expression(node, site)
            return new and Changed(replaced(site.tree, {node: lambda _: new}), site.imports())
        return Chosen(site, node).changed()


def _expression(node: libcst.IfExp, site: Site) -> Any:
    asked = condition(node.test, site)
    if asked is None:
        return None
    one, other = (node.orelse, node.body) if asked.negated else (node.body, node.orelse)
    new = where(site.module(), asked.tensor, one, other)
    if new is None or asked.plain is None:
        return new
    return node.with_changes(test=asked.plain, body=new)


@dataclass
class Chosen:
    """An ``if`` on a tensor that becomes choices."""

    site: Site
    node: libcst.If

    def __post_init__(self) -> None:
        self.torch = self.site.module()
        self.taken = names_in(self.site.tree)

    def changed(self) -> Changed | None:
        outer = self.site.parents.get(self.node)
        if isinstance(outer, libcst.If):  # an elif: the whole chain is on tensors, or it is not ours
            return Chosen(self.site, outer).changed()
        block_around = outer if isinstance(outer, libcst.IndentedBlock) else None
        if block_around is None:
            return None
        rest = block_around.body[block_around.body.index(self.node) + 1 :]
        sides = self._sides(self.node)
        if sides is None:
            return None
        one, other = sides
        if one.leaves and not (other and other.leaves):
            if other is not None and other.steps:
                return None
            around = self.site.parents.get(block_around)
            if one.leaves == "return" and isinstance(around, libcst.FunctionDef):
                return self._early_return(one, rest)
            if one.leaves == "continue" and isinstance(around, libcst.For | libcst.While):
                following = branch(rest)
                if following is None or following.leaves:
                    return None
                return self._replace(one, following, rest)
            return None
        return self._replace(one, other or Branch(), ())

    def _sides(self, node: libcst.If) -> tuple[Branch, Branch | None] | None:
        one = branch(node.body.body) if isinstance(node.body, libcst.IndentedBlock) else suite(node.body)
        if one is None:
            return None
        orelse = node.orelse
        if orelse is None:
            return one, None
        if isinstance(orelse, libcst.If):
            inner = self._inner(orelse)
            other = branch(inner) if inner is not None else None
        else:
            other = (
                branch(orelse.body.body)
                if isinstance(orelse.body, libcst.IndentedBlock)
                else suite(orelse.body)
            )
        return None if other is None else (one, other)

    def _inner(self, node: libcst.If) -> list[Statement] | None:
        """An ``elif`` as choices of its own."""
        sides = self._sides(node)
        if sides is None:
            return None
        asked = condition(node.test, self.site)
        if asked is None or asked.plain is not None:
            return None
        return self._choices(node, sides[0], sides[1] or Branch(), (), inner=True)

    def _replace(self, one: Branch, other: Branch, rest: Sequence[libcst.CSTNode]) -> Changed | None:
        if (one.leaves == "return") != (other.leaves == "return") or "break" in (one.leaves, other.leaves):
            return None
        asked = condition(self.node.test, self.site)
        if asked is None or (asked.plain is not None and (other.steps or other.leaves)):
            return None
        lines = self._choices(self.node, one, other, rest)
        if lines is None:
            return None
        if asked.plain is not None:
            kept = statement("if {test}:\n    pass", test=asked.plain)
            lines = [kept.with_changes(body=block(lines))]
        changes: dict[libcst.CSTNode, Any] = {self.node: lambda _: lines}
        changes |= {part: (lambda _: None) for part in rest}
        return Changed(replaced(self.site.tree, changes), self.site.imports())

    def _choices(
        self,
        node: libcst.If,
        one: Branch,
        other: Branch,
        rest: Sequence[libcst.CSTNode],
        inner: bool = False,
    ) -> list[Statement] | None:
        """The lines that compute both sides and choose."""
        asked = condition(node.test, self.site)
        if asked is None:
            return None
        if asked.negated:
            one, other = other, one
        merged = self._merged(node, one, other, rest, inner)
        if merged is None:
            return None
        lines: list[Statement] = []
        tensor = asked.tensor
        many = len(merged) + (1 if one.leaves == "return" else 0) > 1 or isinstance(
            one.returned, libcst.Tuple
        )
        if many and not (isinstance(tensor, libcst.Name) and tensor.value not in merged):
            name = self._fresh("taken")
            lines.append(assignment(name, tensor))
            tensor = libcst.Name(name)
        values = one.values(), other.values()
        if independent(values, merged, one, other):
            first, second = cast(Any, values)
            if not one.steps and not other.steps and one.returned is None:
                return None
            returned = (one.returned, other.returned)
        else:
            (first, one_returned), (second, other_returned) = (
                self._prelude(side, word, merged, node, lines)
                for side, word in ((one, "if"), (other, "else"))
            )
            returned = (one_returned, other_returned)
        for name in merged:
            choice = where(
                self.torch, tensor, first.get(name, libcst.Name(name)), second.get(name, libcst.Name(name))
            )
            if choice is None:
                return None
            lines.append(assignment(name, choice))
        if returned[0] is not None and returned[1] is not None:
            choice = where(self.torch, tensor, returned[0], returned[1])
            if choice is None:
                return None
            lines.append(statement("return {value}", value=choice))
        said = comments([part for part in (node.body, node.orelse) if part is not None])
        if lines and said and not any(comments([line]) for line in lines):
            lines[0] = lines[0].with_changes(leading_lines=said)
        return lines or None

    def _merged(
        self, node: libcst.If, one: Branch, other: Branch, rest: Sequence[libcst.CSTNode], inner: bool
    ) -> list[str] | None:
        """The names that are chosen: those that are bound and may be read later.  None if one may have no value."""
        function, known = self.site.function, self.site.known.get(node)
        if not isinstance(known, ast.If):
            return None
        replaced_too = (self.site.known.get(part) for part in with_small(rest))
        region = {part for root in (known, *replaced_too) if root is not None for part in ast.walk(root)}
        in_loop = function.in_loop(known)
        merged: list[str] = []
        for name in dict.fromkeys((*one.names, *other.names)):
            outside = [load for load in loads(name, function) if load not in region]
            later = any(in_loop or load.lineno > (known.end_lineno or 0) for load in outside)
            again = in_loop and any(name in side.exposed() for side in (one, other))
            if not (later or again or inner):
                continue
            everywhere = name in one.names and name in other.names
            if not everywhere and not bound_before(name, known, function.node):
                return None
            merged.append(name)
        return merged

    def _prelude(
        self, side: Branch, word: str, merged: list[str], node: libcst.If, lines: list[Statement]
    ) -> tuple[dict[str, libcst.BaseExpression], libcst.BaseExpression | None]:
        """Write the lines of one side, its variables renamed; gives what the merged names are then."""
        known = cast(ast.If, self.site.known[node])
        own = {
            name: self._fresh(f"{name}_{word}")
            for name in side.names
            if name in merged or bound_before(name, known, self.site.function.node)
        }
        so_far: dict[str, str] = {}
        for step in side.steps:
            targets = {name: own[name] for name in step.targets if name in own}
            lines.append(written(step, targets, so_far))
            so_far |= targets
        returned = renamed(side.returned, so_far) if side.returned is not None else None
        return {name: libcst.Name(own[name]) for name in merged if name in own}, returned

    def _early_return(self, one: Branch, rest: Sequence[libcst.CSTNode]) -> Changed | None:
        """A branch that returns, and the rest of the function that returns something else."""
        asked = condition(self.node.test, self.site)
        if asked is None or asked.plain is not None or not rest or one.returned is None:
            return None
        last = branch(rest[-1:])
        if last is None or last.leaves != "return":
            return None
        returns = returns_in(rest)
        if any(part.value is None for part in returns):
            return None
        if (
            len(rest) == 1
            and not one.steps
            and last.returned is not None
            and not isinstance(last.returned, libcst.Tuple)
        ):
            lines = self._choices(self.node, one, last, rest)
            if lines is None:
                return None
            changes: dict[libcst.CSTNode, Any] = {self.node: lambda _: lines, rest[-1]: lambda _: None}
            return Changed(replaced(self.site.tree, changes), self.site.imports())
        lines = []
        tensor = asked.tensor
        name = self._fresh("taken")
        lines.append(assignment(name, tensor))
        _, early = self._prelude(one, "if", [], self.node, lines)
        assert early is not None
        if not isinstance(early, libcst.Tuple) and not isinstance(early, libcst.Name):
            kept = self._fresh("early")
            lines.append(assignment(kept, early))
            early = libcst.Name(kept)
        elif isinstance(early, libcst.Tuple):
            elements = []
            for element in early.elements:
                kept = self._fresh("early")
                lines.append(assignment(kept, element.value))
                elements.append(element.with_changes(value=libcst.Name(kept)))
            early = early.with_changes(elements=elements)
        elif self._is_bound_in(early.value, rest):
            kept = self._fresh("early")
            lines.append(assignment(kept, early))
            early = libcst.Name(kept)
        changes = {self.node: lambda _: lines}
        for part in returns:
            assert part.value is not None
            sides = (part.value, early) if asked.negated else (early, part.value)
            choice = where(self.torch, libcst.Name(name), *sides)
            if choice is None:
                return None
            changes[part] = returning(choice)
        return Changed(replaced(self.site.tree, changes), self.site.imports())

    def _is_bound_in(self, name: str, rest: Sequence[libcst.CSTNode]) -> bool:
        nodes = (self.site.known.get(part) for part in rest)
        return any(
            isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)
            for node in nodes
            if node is not None
            for part in ast.walk(node)
        )

    def _fresh(self, name: str) -> str:
        new = fresh(name, self.taken)
        self.taken.add(new)
        return new
