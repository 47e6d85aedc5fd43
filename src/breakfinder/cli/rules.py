"""``breakfinder rules``: list the rules, or explain one."""

from __future__ import annotations

import difflib
import json
import sys
from typing import TYPE_CHECKING, Any

import click

from breakfinder.errors import UsageError

if TYPE_CHECKING:
    from breakfinder.report.render.problem import RuleText
    from breakfinder.rules.lookup import TorchBreak
    from breakfinder.rules.rule import Rule


@click.command("rules", context_settings={"max_content_width": 100})
@click.argument("rule", required=False)
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(rule: str | None, output_format: str) -> None:
    """List the rules, or explain RULE.

    RULE is a code (BF101), a name (tensor-to-python-number, item), or torch's own number of a graph break (GB0109).
    """
    if rule is None:
        click.echo(_list_json() if output_format == "json" else _list_text(), nl=False)
    elif output_format == "json":
        click.echo(json.dumps(_explained_json(rule), indent=2))
    else:
        _print_markdown(_explained(rule))


def _list_json() -> str:
    from breakfinder.lint.own import OWN_RULES
    from breakfinder.rules import all_rules

    return json.dumps([*map(_own, OWN_RULES.values()), *map(_short, all_rules())], indent=2) + "\n"


def _own(text: RuleText) -> dict[str, Any]:
    return {
        "code": text.code, "name": text.name, "title": text.title, "severity": text.severity, "lint": True,
        "fixes": [],
    }  # fmt: skip


def _short(rule: type[Rule]) -> dict[str, Any]:
    from breakfinder.rules.docs import plain

    return {
        "code": rule.code,
        "name": rule.name,
        "title": plain(rule.title),
        "severity": rule.severity,
        "lint": bool(rule.pattern_nodes),
        "fixes": list(rule.fixes),
    }


def _list_text() -> str:
    import io

    from rich.console import Console
    from rich.table import Table

    terminal = sys.stdout.isatty()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("code", "name", "lint", "fix", "problem"):
        table.add_column(heading, no_wrap=not terminal or heading != "problem")
    for rule in json.loads(_list_json()):
        marks = ["yes" if rule[key] else "" for key in ("lint", "fixes")]
        table.add_row(rule["code"], rule["name"], *marks, rule["title"])
    width = Console().width if terminal else 200
    console = Console(file=io.StringIO(), width=width, force_terminal=terminal, markup=False, highlight=False)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


def _explained(text: str) -> str:
    """The page of a rule; of torch's number, what torch says and then the pages of the rules for it."""
    from breakfinder.lint.own import OWN_RULES
    from breakfinder.rules.docs import page
    from breakfinder.rules.lookup import is_torch_id, rules_of

    if own := OWN_RULES.get(text.upper()):
        return f"# {own.code}: {own.title}\n\nName: `{own.name}`.\n\n{own.why}\n\n{own.remedy}\n"
    if not is_torch_id(text):
        return page(_one(text))
    found = _torch_break(text)
    said = "\n".join(f"- {hint}" for hint in found.hints)
    explained = rules_of(found.gb_type)
    family = f" It is one of a family: {explained.family}." if explained.family else ""
    codes = ", ".join(rule.code for rule in explained.rules)
    head = f"# {found.gb_id}: {found.gb_type}\n\ntorch says: {found.explanation}\n\n{said}\n\nExplained by {codes}.{family}"
    return "\n".join([head, "", *(page(rule) for rule in explained.rules)])


def _explained_json(text: str) -> dict[str, Any]:
    from breakfinder.lint.own import OWN_RULES
    from breakfinder.rules.lookup import is_torch_id, rules_of

    if own := OWN_RULES.get(text.upper()):
        return {**_own(own), "why": own.why, "remedy": own.remedy, "gb_types": [], "examples": []}
    if not is_torch_id(text):
        return _long(_one(text))
    found = _torch_break(text)
    explained = rules_of(found.gb_type)
    return {
        "gb_id": found.gb_id,
        "gb_type": found.gb_type,
        "explanation": found.explanation,
        "hints": list(found.hints),
        "family": explained.family,
        "rules": [_long(rule) for rule in explained.rules],
    }


def _long(rule: type[Rule]) -> dict[str, Any]:
    from breakfinder.rules.docs import plain

    return {
        **_short(rule),
        "why": plain(rule.why),
        "remedy": plain(rule.remedy),
        "gb_types": list(rule.gb_types),
        "examples": [
            {
                "broken": example.broken,
                "fixed": example.fixed,
                "note": example.note,
                "inputs": example.inputs,
                "versions": example.versions,
            }
            for example in rule.examples
        ],
    }


def _one(text: str) -> type[Rule]:
    from breakfinder.lint.selection import close_codes
    from breakfinder.lint.session import known_codes
    from breakfinder.rules import all_rules
    from breakfinder.rules.lookup import named

    found = named(text)
    if len(found) == 1:
        return found[0]
    if found:
        choices = ", ".join(f"{rule.code} ({rule.name})" for rule in found)
        raise UsageError(f"'{text}' may be several rules", f"one of {choices}")
    names = [rule.name for rule in all_rules()]
    close = difflib.get_close_matches(text.lower(), names, 3)
    hint = f"did you mean {' or '.join(close)}?" if close else close_codes(text.upper(), known_codes())
    raise UsageError(f"no rule '{text}'", hint)


def _torch_break(gb_id: str) -> TorchBreak:
    from breakfinder.rules.lookup import torch_breaks

    known = torch_breaks()
    found = known.get(gb_id.upper())
    if found is None:
        close = difflib.get_close_matches(gb_id.upper(), known, 3)
        hint = f"did you mean {' or '.join(close)}?" if close else "is torch installed?"
        raise UsageError(f"the installed torch has no graph break {gb_id.upper()}", hint)
    return found


def _print_markdown(text: str) -> None:
    """As it is in a file or a pipe; laid out on a terminal."""
    if not sys.stdout.isatty():
        click.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))
