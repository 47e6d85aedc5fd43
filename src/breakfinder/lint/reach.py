"""Which functions compiled code can be in, by reading all files of a tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from breakfinder.source.modules import module_of
from breakfinder.source.syntax import Syntax


@dataclass(frozen=True)
class Summary:
    """What other files need to know of one file."""

    file: str
    functions: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """For JSON; `Summary.of_dict` takes it back."""
        return asdict(self)

    @classmethod
    def of_dict(cls, data: dict[str, Any]) -> Summary:
        return cls(**data)


def summarise(file: str, tree: Syntax | str) -> Summary:
    """The summary of a file; of one that cannot be parsed (``tree`` says why), an empty one."""
    if isinstance(tree, str):
        return Summary(file)
    return Summary(file, [function.qualname for function in module_of(tree.tree).functions])


def reachable(summaries: Iterable[Summary]) -> dict[str, frozenset[str]]:
    """For each file the qualified names of the functions that compiled code can be in."""
    return {
        summary.file: frozenset(name for name in summary.functions if name.endswith("forward"))
        for summary in summaries
    }
