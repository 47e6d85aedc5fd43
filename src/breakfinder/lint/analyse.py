"""One file → what the source patterns of the rules find in it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import get_args

from breakfinder.lint.finding import LintFinding
from breakfinder.report.model import Location
from breakfinder.rules import conditions
from breakfinder.rules.pattern import Confidence, Match
from breakfinder.rules.rule import Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source import syntax
from breakfinder.source.dataflow import Function
from breakfinder.source.modules import module_of
from breakfinder.source.syntax import Syntax
from breakfinder.source.text import SourceText

UNREADABLE = "BF000"
"""The code of the one finding of a file that cannot be looked into."""
MOST_CHARACTERS = 5 << 20
_LONGEST_EXPRESSION = 200
_LINE = re.compile(r"line (\d+): ")
_LEVELS = get_args(Confidence)

Dispatch = dict[type[ast.AST], list[type[Rule]]]


def analyse(
    file: str, text: SourceText, reached: Collection[str] | None, rules: Iterable[type[Rule]]
) -> list[LintFinding]:
    """What the rules find in the functions whose qualified names are in ``reached`` (None: in all), in order.

    A finding's function is its ``qualname``, and what is found in one function does not depend on the others, so
    findings of all functions can be kept and chosen from by ``reached`` later.  A file that cannot be looked into
    gives one finding, `UNREADABLE`, that says why.
    """
    tree = parsed(text)
    if not isinstance(tree, Syntax):
        line = _LINE.match(tree)
        return [unreadable(file, tree, int(line[1]) if line else 1)]
    dispatch: Dispatch = defaultdict(list)
    for rule in rules:
        for kind in rule.pattern_nodes:
            dispatch[kind].append(rule)
    try:
        module = module_of(tree.tree, file)
        return sorted(
            _finding(file, tree, rule, match, function.qualname)
            for function in module.functions
            if reached is None or function.qualname in reached
            for rule, match in _matches(function, dispatch)
        )
    except RecursionError:
        return [unreadable(file, "it nests too deep")]


def parsed(text: SourceText) -> Syntax | str:
    """The syntax tree of a file, or why it is not looked into."""
    if sum(map(len, text.lines)) > MOST_CHARACTERS:
        return f"it is larger than {MOST_CHARACTERS >> 20} MiB"
    return syntax.parse(text)


def unreadable(file: str, reason: str, line: int = 1) -> LintFinding:
    """The finding of a file that cannot be looked into."""
    return LintFinding(file, line, 1, line, 1, UNREADABLE, f"The file cannot be looked into: {reason}")


def _matches(function: Function, dispatch: Dispatch) -> Iterable[tuple[type[Rule], Match]]:
    """One match per place: the surest, and of equally sure ones that of the first rule."""
    best: dict[tuple[int, int, int | None, int | None], tuple[int, type[Rule], Match]] = {}
    for node in function.nodes():
        for rule in dispatch.get(type(node), ()):
            match = rule.pattern(node, function)
            if match is None:
                continue
            if match.confidence == "high" and not conditions.always_runs(match.node, function):
                match = Match(match.node, "medium")
            at = match.node
            place = at.lineno, at.col_offset, at.end_lineno, at.end_col_offset
            rank = _LEVELS.index(match.confidence)
            if place not in best or (rank, rule.code) < (best[place][0], best[place][1].code):
                best[place] = rank, rule, match
    return [(rule, match) for _, rule, match in best.values()]


def _finding(file: str, tree: Syntax, rule: type[Rule], match: Match, qualname: str) -> LintFinding:
    start, end = tree.extent(match.node)
    expression = tree.text.cut(start, end)
    if len(expression) > _LONGEST_EXPRESSION:
        expression = expression[: _LONGEST_EXPRESSION - 1] + "…"
    return LintFinding(
        file=file,
        line=start[0],
        column=tree.text.column(start),
        end_line=end[0],
        end_column=tree.text.column(end),
        rule=rule.code,
        title=_title(rule, file, start[0], expression),
        confidence=match.confidence,
        qualname=qualname,
        expression=expression,
    )


def _title(rule: type[Rule], file: str, line: int, expression: str) -> str:
    if "{" not in rule.title:
        return rule.title
    location = Location(file=file, line=line, end_line=line, expression=expression)
    return rule.title.format(**rule.placeholders(Symptom("graph_break", location)))
