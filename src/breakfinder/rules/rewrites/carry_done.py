"""A loop left early when a tensor says so: run to its end, with nothing changed any more."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import libcst

from breakfinder.rules.rewrites.condition import whole
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.straight import Branch, branch, where, written
from breakfinder.rules.rewrites.tree import (
    Statement,
    assignment,
    expression,
    fresh,
    names_in,
    replaced,
    statement,
)
from breakfinder.rules.rewrites.uses import bound_before, loads


class CarryDone(Rewrite):
    title = "Run the loop to its end and keep the values from where it was left"
    condition = "All rounds can be computed; those after the loop would have been left cost time."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        node = site.around(site.node, (libcst.If, libcst.BaseSmallStatement, libcst.FunctionDef))
        block = site.parents.get(node) if isinstance(node, libcst.If) else None
        loop = site.parents.get(block) if isinstance(block, libcst.IndentedBlock) else None
        if not isinstance(node, libcst.If) or node.orelse is not None or not isinstance(loop, libcst.For):
            return None
        if loop.orelse is not None or loop.asynchronous or not isinstance(block, libcst.IndentedBlock):
            return None
        return Loop(site, loop, block, node).changed()


class Loop:
    """A ``for`` with an ``if`` in it that leaves it."""

    def __init__(self, site: Site, loop: libcst.For, block: libcst.IndentedBlock, node: libcst.If) -> None:
        self.site, self.loop, self.block, self.node = site, loop, block, node
        self.torch = site.module()
        self.taken = names_in(site.tree)

    def changed(self) -> Changed | None:
        at = self.block.body.index(self.node)
        leaving = branch(self.node.body.body if isinstance(self.node.body, libcst.IndentedBlock) else [])
        if isinstance(self.node.body, libcst.SimpleStatementSuite):
            leaving = branch([libcst.SimpleStatementLine(self.node.body.body)])
        before, after = branch(self.block.body[:at]), branch(self.block.body[at + 1 :])
        test = whole(self.node.test, self.site)
        if leaving is None or leaving.leaves != "break" or before is None or after is None or test is None:
            return None
        if before.leaves or after.leaves or self._kept_names((before, leaving, after)) is None:
            return None
        self.kept = self._kept_names((before, leaving, after)) or []
        done = self._fresh("done")
        lines: list[Statement] = []
        if not self._choose(before, done, lines):
            return None
        said = len(lines)
        if leaving.steps:
            now = self._fresh("leaving")
            fits = expression(
                f"{self.torch}.logical_and({{test}}, {self.torch}.logical_not({done}))", test=test
            )
            lines.append(assignment(now, fits))
            if not self._choose(leaving, now, lines, taken=True):
                return None
            test = libcst.Name(now)
        lines.append(statement(f"{done} = {self.torch}.logical_or({done}, {{test}})", test=test))
        lines[said] = lines[said].with_changes(leading_lines=self.node.leading_lines)
        if not self._choose(after, done, lines):
            return None
        start = statement(f"{done} = {self.torch}.zeros((), dtype={self.torch}.bool)")
        changes: dict[libcst.CSTNode, Any] = {
            self.block: lambda block: block.with_changes(body=lines),
            self.loop: lambda loop: [start, loop],
        }
        return Changed(replaced(self.site.tree, changes), self.site.imports())

    def _kept_names(self, parts: Sequence[Branch]) -> list[str] | None:
        """The variables whose values last beyond a round; None if one has none before the loop."""
        known, function = self.site.known.get(self.loop), self.site.function
        if not isinstance(known, ast.For):
            return None
        inside = set(ast.walk(known))
        target = {part.id for part in ast.walk(known.target) if isinstance(part, ast.Name)}
        if any(load not in inside for name in target for load in loads(name, function)):
            return None
        bound, exposed = list[str](), set[str]()
        for part in parts:
            exposed |= part.exposed() - {*bound}
            bound += part.names
        kept = []
        for name in dict.fromkeys(bound):
            outside = any(load not in inside for load in loads(name, function))
            if outside or name in exposed:
                if not bound_before(name, known, function.node):
                    return None
                kept.append(name)
        return kept

    def _choose(self, part: Branch, done: str, lines: list[Statement], taken: bool = False) -> bool:
        """Write the lines of a part, whose results count only where the loop was not left yet."""
        values = part.values()
        if values is not None and {*values} <= {*self.kept} and len(values) == 1:
            ((name, value),) = values.items()
            return self._add(name, value, done, lines, taken, part.steps[0].line.leading_lines)
        names = {name: self._fresh(f"{name}_next") for name in part.names if name in self.kept}
        so_far: dict[str, str] = {}
        for step in part.steps:
            targets = {name: names[name] for name in step.targets if name in names}
            lines.append(written(step, targets, so_far))
            so_far |= targets
        return all(self._add(name, libcst.Name(new), done, lines, taken) for name, new in names.items())

    def _add(
        self,
        name: str,
        value: libcst.BaseExpression,
        done: str,
        lines: list[Statement],
        taken: bool,
        leading: Sequence[libcst.EmptyLine] = (),
    ) -> bool:
        sides = (value, libcst.Name(name)) if taken else (libcst.Name(name), value)
        choice = where(self.torch, libcst.Name(done), *sides)
        if choice is not None:
            lines.append(assignment(name, choice).with_changes(leading_lines=leading))
        return choice is not None

    def _fresh(self, name: str) -> str:
        new = fresh(name, self.taken)
        self.taken.add(new)
        return new
