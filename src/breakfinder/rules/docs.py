"""The reference pages of the rules, made from the rules themselves: ``python -m breakfinder.rules.docs``.

Writes ``docs/rules/`` below the working directory, or below the directory given.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from breakfinder.rules.families import FAMILIES
from breakfinder.rules.registry import all_rules
from breakfinder.rules.rule import Example, Rule

RANGES = {
    "BF1": "Data-dependent values and control flow",
    "BF2": "Side effects",
    "BF3": "Calls that Dynamo cannot enter",
    "BF4": "Python constructs",
    "BF5": "Autograd, hooks and modules",
    "BF6": "Recompilations",
    "BF7": "Backends",
    "BF9": "Unclassified",
}
_GENERATED = "<!-- Made from the rules by `python -m breakfinder.rules.docs`; do not edit. -->"
_STANDS_FOR = {
    "expression": "the expression",
    "callee": "the function",
    "gb_type": "(torch's name for it)",
    "said": "(torch's explanation)",
    "guard": "the check",
    "operator": "the operator",
    "family": "(one of the families below)",
    "what_it_is": "is a call that does nothing but end the graph, or calls code that does so on purpose",
    "what_to_do": "Remove the call, or leave it outside of the compiled function",
}
"""What a reader sees where a finding names its own place."""


def pages() -> dict[str, str]:
    """The text of each page by its file name."""
    return {
        "index.md": _index(),
        **{f"{rule.code}.md": f"{_GENERATED}\n\n{page(rule)}" for rule in all_rules()},
    }


def _index() -> str:
    lines = [_GENERATED, "# Rules", ""]
    lines += [
        "Every finding carries the code of the rule that explains it. The examples are run by the tests."
    ]
    for prefix, title in RANGES.items():
        lines += ["", f"## {prefix}xx: {title}", "", "| code | name | problem |", "|---|---|---|"]
        for rule in all_rules():
            if rule.code.startswith(prefix):
                lines.append(f"| [{rule.code}]({rule.code}.md) | {rule.name} | {plain(rule.title)} |")
    return "\n".join(lines) + "\n"


def page(rule: type[Rule]) -> str:
    """All that is known of a rule, in Markdown."""
    parts = [
        f"# {rule.code}: {plain(rule.title)}",
        f"Name: `{rule.name}`. Severity: {rule.severity}."
        + (" `breakfinder lint` finds it." if rule.pattern_nodes else ""),
        "## Why",
        plain(rule.why),
        "## What to do",
        plain(rule.remedy),
    ]
    if rule.fixes:
        parts += ["## Fixes", "\n".join(map(_fix, rule.fixes))]
    for number, example in enumerate(rule.examples, 1):
        parts += [f"## Example {number}" if len(rule.examples) > 1 else "## Example", *_example(example)]
    families = [family.name for family in FAMILIES if family.code == rule.code]
    if families:
        parts += ["## Families", "\n".join(f"- {name}" for name in families)]
    if rule.gb_types:
        parts += ["## What torch calls it", "\n".join(f"- {_no_markup(name)}" for name in rule.gb_types)]
    return "\n\n".join(parts) + "\n"


def _fix(name: str) -> str:
    from breakfinder.rules.rewrites import by_name

    fix = by_name(name)
    holds = {
        "safe": "the result is the same for every input",
        "review": f"the result is the same if this holds: {fix.condition}",
        "manual": "shown, never applied",
    }
    return f"- {fix.title} ({holds[fix.applicability]})"


def _example(example: Example) -> list[str]:
    parts = [
        f"```python\n{example.broken}```",
        f"{_called_with(example.inputs, example.more)} In torch {example.versions}.",
    ]
    if example.fixed:
        parts += ["Without the problem:", f"```python\n{example.fixed}```"]
        if example.fixed_inputs or example.fixed_more:
            parts.append(
                _called_with(example.fixed_inputs or example.inputs, example.fixed_more or example.more)
            )
        if example.fixed_config:
            settings = ", ".join(
                f"`{name} = {_value(value)}`" for name, value in example.fixed_config.items()
            )
            parts.append(f"with `torch._dynamo.config` set to {settings}.")
    if example.note:
        parts.append(example.note)
    return parts


def _called_with(inputs: str, more: str) -> str:
    return f"Called with `{inputs}`" + (f", then with each of `{more}`." if more else ".")


def _value(value: object) -> str:
    if isinstance(value, set):
        return "{" + ", ".join(getattr(item, "__name__", repr(item)) for item in value) + "}"
    return repr(value)


def plain(text: str) -> str:
    """A rule's text with words in place of what it says about one finding."""
    told = text.format_map(_STANDS_FOR)
    return re.sub(r"(\A|(?<=[.] ))the (?=expression|check)", "The ", told)


def _no_markup(text: str) -> str:
    return re.sub(r"([`*_<\[\]])", r"\\\1", text)


def write(directory: Path) -> None:
    """Bring the pages in ``directory`` up to date, and take away those of rules that are gone."""
    directory.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for stale in directory.glob("*.md"):
        if stale.name not in wanted:
            stale.unlink()
    for name, text in wanted.items():
        (directory / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs/rules"))
