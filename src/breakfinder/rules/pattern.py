"""What a rule's source pattern gives back."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

Confidence = Literal["high", "medium", "low"]


@dataclass(frozen=True)
class Match:
    """A place in source code that looks like a rule's problem.

    ``node`` is the expression that torch would name.  ``high``: it breaks whenever this code is compiled;
    ``medium``: it does if a value is what it seems to be; ``low``: it may.
    """

    node: ast.expr | ast.stmt
    confidence: Confidence = "high"
