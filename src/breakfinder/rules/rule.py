"""What a rule is: one kind of problem, how to tell it, why it happens, what to do, and its examples."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from breakfinder.report.model import Kind, Severity
from breakfinder.rules.pattern import Match
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function

MARK = "# <--"
"""Ends the line of a broken example that the finding must point at."""

NO_MATCH = 0
FAMILY = 10
"""The break type belongs to the rule's family, and no more is known."""
BREAK_TYPE = 20
"""The break type is one of the rule's own."""
DETAIL = 30
"""The break type and something particular about it: the function called, or the operator."""
SOURCE = 40
"""The source itself names the cause."""
_LONGEST_SHOWN = 70
_LONGEST_SAID = 500


@dataclass(frozen=True)
class Example:
    """A program that has the problem, and the same program without it.

    Each defines ``Model`` or ``fn``.  ``inputs`` is an expression that gives the arguments of the first
    call, as a tuple, and ``more`` one that gives a list of them for further calls.  The tests run them.
    """

    broken: str
    """The line at fault ends with `MARK` and a word or two."""
    fixed: str = ""
    """Empty if no change of source is known that gives the same result; ``note`` then says why."""
    note: str = ""
    """What the reader must know about the fixed form: where the two differ."""
    inputs: str = "(torch.randn(4, 8),)"
    more: str = ""
    fixed_inputs: str = ""
    """The same for the fixed form, where it is the caller that changes; empty: as for the broken one."""
    fixed_more: str = ""
    kind: Kind = "graph_break"
    config: Mapping[str, Any] = field(default_factory=dict)
    """Values of ``torch._dynamo.config`` for the broken form."""
    fixed_config: Mapping[str, Any] = field(default_factory=dict)
    """The same for the fixed form, where setting them is (part of) the fix."""
    grad: bool = True
    training: bool = False
    equal: bool = True
    """Whether the fixed program gives the same output as the broken one in eager."""
    versions: str = ">=2.13"
    """The torch releases in which it has the problem, as a version specifier."""

    def __post_init__(self) -> None:
        for form in ("broken", "fixed"):
            source = textwrap.dedent(getattr(self, form)).strip()
            object.__setattr__(self, form, source + "\n" if source else "")

    def broken_module(self) -> str:
        """The broken form as a target: it also defines ``example_inputs`` and ``more_inputs``."""
        return _module(self.broken, self.inputs, self.more)

    def fixed_module(self) -> str:
        """The same for the fixed form."""
        return _module(self.fixed, self.fixed_inputs or self.inputs, self.fixed_more or self.more)

    @property
    def marked_line(self) -> int:
        """The line of ``broken`` that the finding points at, from 1.

        Raises ValueError unless exactly one is marked.
        """
        (line,) = [n for n, text in enumerate(self.broken.split("\n"), 1) if MARK in text]
        return line


def unwrapped(text: str) -> str:
    """Prose as it stands in a source file, one line per paragraph; indented paragraphs stay as they are."""
    paragraphs = textwrap.dedent(text).strip("\n").rstrip().split("\n\n")
    return "\n\n".join(
        paragraph if paragraph.startswith("    ") else " ".join(paragraph.split()) for paragraph in paragraphs
    )


class Rule:
    """One kind of problem.  Subclasses set the attributes; those that need more override `matches`.

    ``title``, ``why`` and ``remedy`` are plain words, code in backticks.  Paragraphs are apart by an empty
    line and may be wrapped; the first stands alone, and an indented one is code.  They may hold what
    `placeholders` gives.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    """In kebab-case."""
    title: ClassVar[str]
    severity: ClassVar[Severity] = "warning"
    why: ClassVar[str]
    remedy: ClassVar[str]
    examples: ClassVar[tuple[Example, ...]]

    gb_types: ClassVar[tuple[str, ...]] = ()
    """Break types that are this rule's whatever else torch says."""
    callees: ClassVar[str] = ""
    """A regular expression for the whole name of the function that torch says it could not enter."""
    guards: ClassVar[str] = ""
    """A regular expression that is found in the guard that failed, for a recompilation."""
    pattern_nodes: ClassVar[tuple[type[ast.AST], ...]] = ()
    """The kinds of syntax nodes that `pattern` is asked about; empty: the source alone cannot tell."""
    fixes: ClassVar[tuple[str, ...]] = ()
    """Modules of `breakfinder.rules.rewrites` that may take the problem away, in the order to try them."""
    knobs: ClassVar[tuple[str, ...]] = ()
    """Settings that may take the problem away without a change of the source: names of `fixes.knobs.KNOBS`."""

    def __init_subclass__(cls) -> None:
        cls.why, cls.remedy = unwrapped(cls.why), unwrapped(cls.remedy)

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        """How well the rule explains the problem: 0 not at all; the highest of all rules wins."""
        if symptom.kind == "recompilation":
            return BREAK_TYPE if cls.guards and re.search(cls.guards, symptom.guard) else NO_MATCH
        if cls.callees and symptom.callee and re.fullmatch(cls.callees, symptom.callee):
            return DETAIL
        return BREAK_TYPE if symptom.gb_type in cls.gb_types else NO_MATCH

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        """Whether the source at a node of one of the kinds ``pattern_nodes`` looks like this problem.

        ``function`` is the function that the node is in, itself in code that may be compiled.
        """
        return None

    @classmethod
    def placeholders(cls, symptom: Symptom) -> dict[str, str]:
        """What the texts may name: ``{expression}``, ``{callee}``, ``{gb_type}``, ``{said}``, ``{guard}``.

        Each reads as a noun, and is in backticks where it is code.
        """
        location = symptom.location
        return {
            "expression": code(location.expression or location.statement) or "this line",
            "callee": code(symptom.callee.lstrip(".")) or "the function called here",
            "gb_type": symptom.gb_type or "an unnamed limitation",
            "said": _opening(symptom.text) or "nothing more",
            "guard": code(symptom.guard) or "not given",
        }


def _module(source: str, inputs: str, more: str) -> str:
    return (
        f"{source}\n\ndef example_inputs():\n    return {inputs}\n"
        f"\n\ndef more_inputs():\n    return {more or []}\n"
    )


def _opening(text: str) -> str:
    """The first paragraph, on one line, cut if it is very long: the finding also shows the whole."""
    line = " ".join(text.strip().split("\n\n")[0].split())
    return line if len(line) <= _LONGEST_SAID else line[: _LONGEST_SAID - 1] + "…"


def code(source: str) -> str:
    """Source text in backticks on one line, cut if it is long; empty for none."""
    line = " ".join(source.replace("`", "'").split())
    if len(line) > _LONGEST_SHOWN:
        line = line[: _LONGEST_SHOWN - 1] + "…"
    return f"`{line}`" if line else ""
