"""What a fix is: a change of one function, class or module that keeps all formatting around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import libcst

from breakfinder.report.model import Applicability
from breakfinder.source.dataflow import Function
from breakfinder.source.nodes import Path

Extent = Literal["function", "class", "module"]


@dataclass(frozen=True)
class Site:
    """The place that a fix starts from.

    ``tree`` is the code that the fix may change: the outermost function around the place (or its class, or the
    whole module, see `Rewrite.extent`), as a libcst tree of its own with the text's own indentation.
    """

    tree: libcst.Module
    node: libcst.CSTNode
    """The expression at the place, or the statement where there is no expression, within ``tree``."""
    syntax: Path
    """The same place as ``ast`` nodes, from the module down."""
    function: Function
    """What is known of the values in the function around it."""


@dataclass(frozen=True)
class Changed:
    """The tree after the fix, and what it needs imported."""

    tree: libcst.Module
    imports: Sequence[str] = field(default=())
    """Import statements that the module must have, such as ``import torch``."""


class Rewrite:
    """A change of source that takes one kind of problem away.

    Subclasses set the attributes and `change`.  They may propose what does not hold: for `check` a proposal is
    tried and proved; only what is ``safe`` must be right for every input, since `lint --fix` runs nothing.
    """

    title: ClassVar[str]
    """What it does, in the imperative, with code in backticks."""
    applicability: ClassVar[Applicability] = "review"
    condition: ClassVar[str] = ""
    """For ``review``: what must hold for the result to stay the same, a sentence."""
    extent: ClassVar[Extent] = "function"

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        """The code with the problem at ``site.node`` taken away; None if this fix has no use there."""
        raise NotImplementedError


def rewrite(text: str, fix: type[Rewrite], position: tuple[int, int], end: tuple[int, int]) -> str | None:
    """The text of a file after a fix of the place from ``position`` to ``end``; None if it does not apply.

    Positions are lines, 1-based, and columns, 1-based characters (the end exclusive), as in a `Location`.
    Only the lines of what is changed and those of added imports differ.
    """
    raise NotImplementedError
