"""Source lines as HTML: coloured by what the words are, with the finding's expression marked."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup, escape
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

from breakfinder.report.render.excerpt import Line
from breakfinder.report.render.visible import HIDDEN, visible

_CLASSES = {
    Keyword: "k",
    Operator.Word: "k",
    String: "s",
    Number: "m",
    Comment: "c",
    Name.Decorator: "d",
    Name.Function: "f",
    Name.Class: "f",
    Name.Builtin: "b",
    Name.Builtin.Pseudo: "b",
    Name.Exception: "b",
}
_LEXER = PythonLexer()

Piece = tuple[int, str, str]
"""Column, text and class of a stretch of one line."""


def highlight(lines: Sequence[Line]) -> list[Markup]:
    """One piece of markup for each line, without its newline."""
    rows: list[list[Piece]] = [[] for _ in lines]
    row = column = 0
    for _, kind, value in _LEXER.get_tokens_unprocessed("\n".join(line.text for line in lines)):
        for index, part in enumerate(value.split("\n")):
            if index:
                row, column = row + 1, 0
            if part:
                rows[row].append((column, part, _class(kind)))
                column += len(part)
    return [_markup(line, pieces) for line, pieces in zip(lines, rows, strict=True)]


def _class(kind: _TokenType) -> str:
    while kind not in _CLASSES and kind.parent is not None:
        kind = kind.parent
    return _CLASSES.get(kind, "")


def _markup(line: Line, pieces: Iterable[Piece]) -> Markup:
    start, end = line.mark or (-1, -1)
    out: list[str] = []
    for column, text, css in _split(pieces, (start, end)):
        if column == start:
            out.append("<mark>")
        if column == end:
            out.append("</mark>")
        out.append(_span(text, css))
    if "<mark>" in out and "</mark>" not in out:
        out.append("</mark>")
    return Markup("".join(out))


def _split(pieces: Iterable[Piece], at: tuple[int, int]) -> Iterator[Piece]:
    """The pieces, cut where the mark begins and ends."""
    for column, text, css in pieces:
        cuts = [0, *(cut - column for cut in at if 0 < cut - column < len(text)), len(text)]
        for left, right in itertools.pairwise(cuts):
            yield column + left, text[left:right], css


def _span(text: str, css: str) -> str:
    shown = str(escape(text))
    if HIDDEN.search(shown):
        shown = HIDDEN.sub(lambda match: f'<span class="ctl">{escape(visible(match[0]))}</span>', shown)
    return f'<span class="{css}">{shown}</span>' if css else shown
