"""The codes that `lint` has besides the rules: what it says about files and comments, not about models."""

from __future__ import annotations

from breakfinder.lint.analyse import UNREADABLE
from breakfinder.report.render.problem import RuleText

UNUSED_SUPPRESSION = "BF001"
UNREADABLE_FILE = UNREADABLE

OWN_RULES: dict[str, RuleText] = {
    UNREADABLE_FILE: RuleText(
        UNREADABLE_FILE,
        "unreadable-file",
        "The file cannot be analysed",
        "error",
        "The file cannot be read, is not text in its encoding, is too large or too deeply nested, or is not "
        "Python, so nothing is known of what is in it.",
        "Correct the file, or leave it out with `exclude` in `[tool.breakfinder]` or `--exclude`.",
    ),
    UNUSED_SUPPRESSION: RuleText(
        UNUSED_SUPPRESSION,
        "unused-suppression",
        "Unused suppression comment",
        "info",
        "The comment takes away a finding that is not there: the code was changed, or the comment is in "
        "another place than the finding was.",
        "Remove the code from the comment, or the comment.",
    ),
}
