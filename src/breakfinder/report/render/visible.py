"""Characters that a reader would not see, or that would act on the reader's screen, made visible.

Model source, messages and paths are other people's text.  A terminal obeys escape sequences in it, and
bidirectional marks show code in another order than it runs in.
"""

from __future__ import annotations

import re

HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and newline, delete, C1
    "\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # invisible, bidirectional
    "\ud800-\udfff"  # lone surrogates, which UTF-8 cannot carry
    "\U000e0000-\U000e007f"  # tags
    "]"
)
"""One character that must not reach the page or the terminal as it is."""


def visible(text: str) -> str:
    """The text with each hidden character written as ``<U+202E>``; tabs and newlines stay."""
    return HIDDEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """`visible` text on one line."""
    return " ".join(visible(text).split())
