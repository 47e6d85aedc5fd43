"""Comments that take findings away: ``# noqa``, ``# noqa: BF101`` and ``# breakfinder: ignore[BF101] reason``."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

_QUICK = re.compile(r"#\s*noqa\b(?!\s*:)|#\s*noqa\b[^\n]*\bBF\d|#\s*breakfinder\s*:", re.IGNORECASE)
"""Found in every text that has a suppression; most have none, and need not be split into tokens."""
_CODES = r"[A-Z]+\d+(?:[\s,]+[A-Z]+\d+)*"
_NOQA = re.compile(rf"#\s*noqa\b(?:\s*:\s*(?P<codes>{_CODES})|(?!\s*:))", re.IGNORECASE)
_IGNORE = re.compile(
    rf"#\s*breakfinder\s*:\s*(?P<kind>ignore-file|ignore)\b(?!-)(?:\[\s*(?P<codes>{_CODES})\s*\])?(?!\[)"
    r"(?P<reason>[^#\n]*)",
    re.IGNORECASE,
)
_OWN = re.compile(r"BF\d{1,3}")

Kind = Literal["noqa", "ignore", "ignore-file"]


@dataclass(frozen=True)
class Suppression:
    """One comment. Lines and columns are 1-based, columns in characters, ends of columns exclusive."""

    kind: Kind
    codes: tuple[str, ...]
    """Codes of breakfinder's rules, or how they begin; empty: all."""
    line: int
    column: int
    end_column: int
    first: int
    last: int
    """The lines of the statement that it stands in; of a comment on a line of its own, of the next one."""
    reason: str = ""

    def covers(self, line: int, end_line: int) -> bool:
        """Whether it is about what stands on these lines.

        At the first or last line of a statement it is about all of it; in the middle, about what is there.
        """
        if self.kind == "ignore-file":
            return True
        if not self.first <= line <= self.last:
            return False
        return self.line <= self.first or self.line == self.last or line <= self.line <= end_line

    def suppresses(self, code: str, line: int, end_line: int) -> bool:
        return (not self.codes or code.startswith(self.codes)) and self.covers(line, end_line)


@dataclass
class Statement:
    """A logical line: from the first token to the end of its last line."""

    first: int
    last: int
    ends: list[int] = field(default_factory=list)
    """Its lines after which a comment can stand."""
    comments: list[tokenize.TokenInfo] = field(default_factory=list)
    own_comments: list[tokenize.TokenInfo] = field(default_factory=list)
    """Those on lines of their own before it."""


def statements(text: str) -> Iterator[Statement]:
    """The logical lines of a text, up to where it is no longer Python."""
    ends: list[int] = []
    comments: list[tokenize.TokenInfo] = []
    before: list[tokenize.TokenInfo] = []
    first = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                (comments if first else before).append(token)
            elif token.type in (tokenize.NEWLINE, tokenize.NL):
                if first:
                    ends.append(token.start[0])
                if first and token.type == tokenize.NEWLINE:
                    yield Statement(first, token.start[0], ends, comments, before)
                    first, ends, comments, before = 0, [], [], []
            elif token.type not in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
                first = first or token.start[0]
    except (tokenize.TokenError, SyntaxError):
        pass  # that the text does not parse is a finding of its own
    if before:
        yield Statement(0, 0, own_comments=before)


def suppressions(text: str) -> list[Suppression]:
    """All suppressions in a text, in order."""
    if not _QUICK.search(text):
        return []
    found = []
    for statement in statements(text):
        for token in statement.own_comments:
            found += [one for one in _of_comment(token, statement) if one.kind != "noqa"]
        for token in statement.comments:
            found += _of_comment(token, statement)
    return found


def _of_comment(token: tokenize.TokenInfo, statement: Statement) -> Iterator[Suppression]:
    line, column = token.start
    for match in [*_NOQA.finditer(token.string), *_IGNORE.finditer(token.string)]:
        all_codes = re.findall(r"[A-Z]+\d+", (match["codes"] or "").upper())
        codes = tuple(code for code in all_codes if _OWN.fullmatch(code))
        if all_codes and not codes:
            continue  # about another tool's
        groups = match.groupdict()
        kind: Kind = "noqa"
        if "kind" in groups:
            kind = "ignore-file" if groups["kind"].lower() == "ignore-file" else "ignore"
        yield Suppression(
            kind,
            codes,
            line,
            column + match.start() + 1,
            column + match.end() + 1,
            statement.first,
            statement.last,
            (groups.get("reason") or "").strip(" -:"),
        )


def with_noqa(text: str, wanted: Iterable[tuple[str, int, int]]) -> str:
    """The text with a ``# noqa`` for each (code, line, end line), joined with those that are there."""
    by_line: dict[int, set[str]] = {}
    notes: dict[int, tokenize.TokenInfo] = {}
    logical = list(statements(text))
    for code, line, end_line in wanted:
        statement = next((one for one in logical if one.first <= line <= one.last), None)
        if statement:
            place = next((end for end in statement.ends if line <= end <= end_line), statement.last)
            by_line.setdefault(place, set()).add(code)
    for statement in logical:
        notes.update({token.start[0]: token for token in statement.comments})
    lines = re.split(r"(\r\n|\r|\n)", text)  # texts at even places, their ends at odd ones
    for number, codes in by_line.items():
        index = 2 * (number - 1)
        lines[index] = _noted(lines[index], notes.get(number), sorted(codes))
    return "".join(lines)


def _noted(line: str, comment: tokenize.TokenInfo | None, codes: list[str]) -> str:
    if comment is not None:
        start = comment.start[1]
        for match in _NOQA.finditer(comment.string):
            if match["codes"]:
                there = {code.upper() for code in re.findall(r"[A-Za-z]+\d+", match["codes"])}
                more = "".join(f", {code}" for code in codes if code not in there)
                end = start + match.end("codes")
                return line[:end] + more + line[end:]
    return f"{line.rstrip()}  # noqa: {', '.join(codes)}"
