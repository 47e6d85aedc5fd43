"""``[tool.breakfinder]`` in pyproject.toml."""

from __future__ import annotations

import difflib
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from breakfinder.configured import TargetSettings, tables_by_name
from breakfinder.errors import UsageError
from breakfinder.rules.pattern import Confidence

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE_NAME = "pyproject.toml"
LintFormat = Literal["text", "json", "github", "gitlab", "sarif", "junit", "markdown"]


def _key(name: str) -> str:
    return name.replace("_", "-")


class Settings(BaseModel):
    """The keys of the table; in the file they are written with hyphens."""

    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=_key, frozen=True)

    select: list[str] = Field(default_factory=lambda: ["ALL"])
    """Codes of rules, or how they begin."""
    ignore: list[str] = Field(default_factory=list)
    per_file_ignores: dict[str, list[str]] = Field(default_factory=dict)
    """Codes by pattern of file, as in .gitignore, relative to the file's folder."""
    exclude: list[str] | None = None
    """Patterns, as in .gitignore, of what is left out; None: those of `lint.files`."""
    extend_exclude: list[str] = Field(default_factory=list)
    """More of them."""
    respect_gitignore: bool = True
    all_functions: bool = False
    """Look into every function, not only where compiled code can be."""
    confidence: Confidence = "high"
    """The least confidence of what is shown."""
    output_format: LintFormat = "text"
    cache_dir: str | None = None
    """Where `lint` remembers what it found, relative to the file's folder; None: the user's cache folder."""


@dataclass(frozen=True)
class Config:
    """Settings, and the folder that their paths are relative to."""

    root: Path
    settings: Settings = field(default_factory=Settings)
    file: Path | None = None
    """Where they were read; None if nowhere."""
    targets: dict[str, TargetSettings] = field(default_factory=dict)
    """What `check` checks without a TARGET, by name."""


def find_config(start: Path) -> Config:
    """The settings of the nearest pyproject.toml with a ``[tool.breakfinder]`` table, from ``start`` upwards.

    A pyproject.toml without one is passed over.  Raises UsageError for a file that is not TOML and for a key
    or value that is not known.
    """
    for folder in (start, *start.parents):
        path = folder / FILE_NAME
        if path.is_file():
            table = _table(path)
            if table is not None:
                return _config(table, folder, path)
    return Config(start)


def read_config(path: Path) -> Config:
    """The settings of one file.  Raises UsageError also if it has no ``[tool.breakfinder]`` table."""
    table = _table(path)
    if table is None:
        raise UsageError(f"{path} has no [tool.breakfinder] table", "give a pyproject.toml that has one")
    return _config(table, path.resolve().parent, path)


def _config(table: Mapping[str, Any], root: Path, path: Path) -> Config:
    rest = {key: value for key, value in table.items() if key != "targets"}
    return Config(root, _settings(rest, path), path, _targets(table.get("targets", {}), path))


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """A file's text.  Raises UsageError, naming the file, for what is no TOML."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path} is no valid TOML: {error}", "correct it, or use --isolated") from error


def _table(path: Path) -> Mapping[str, Any] | None:
    try:
        document = parse_toml(path.read_text(encoding="utf-8-sig"), path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}", "give another --config") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no valid TOML: {error}", "correct it, or use --isolated") from error
    tools = document.get("tool", {})
    table = tools.get("breakfinder") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{path}: tool.breakfinder is no table", "write it as [tool.breakfinder]")
    return table


def _settings(table: Mapping[str, Any], path: Path) -> Settings:
    return _validated(Settings, table, path, "tool.breakfinder")


def _targets(value: object, path: Path) -> dict[str, TargetSettings]:
    where = "tool.breakfinder.targets"
    tables = tables_by_name(value)
    if tables is None:
        raise UsageError(
            f"{path}: {where} is no table by name, and no array of tables with different names",
            "write [tool.breakfinder.targets.NAME] with target = ...",
        )
    return {
        name: _validated(TargetSettings, table, path, f"{where}.{_shown_key(name)}")
        for name, table in tables.items()
    }


_Model = TypeVar("_Model", bound=BaseModel)


def _validated(model: type[_Model], table: object, path: Path, where: str) -> _Model:
    """The model of a table.  Raises UsageError that names the file, the key, and what is wrong."""
    if not isinstance(table, dict):
        raise UsageError(f"{path}: {where} is no table", f"it is {_shown(table)} now")
    try:
        return model.model_validate(table)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        known = [_alias(model, name) for name in model.model_fields]
        key = ".".join([where, *(_shown_key(part) for part in first["loc"])])
        if first["type"] == "extra_forbidden":
            unknown = str(first["loc"][-1])
            raise UsageError(f"{path}: unknown key {key}", _close(unknown, known)) from error
        if first["type"] == "missing":
            raise UsageError(f"{path}: {key} is missing", 'e.g. target = "model.py:Net"') from error
        raise UsageError(
            f"{path}: {key}: {_fault(first['msg'])}", f"it is {_shown(first['input'])} now"
        ) from error


def _alias(model: type[BaseModel], name: str) -> str:
    return model.model_fields[name].alias or name


def _shown_key(part: object) -> str:
    """A key on one line and of a length that can be read; quoted as in TOML where it must be."""
    text = str(part)
    text = text if len(text) <= 60 else text[:59] + "…"
    return text if re.fullmatch(r"[\w…-]+", text) else json.dumps(text)


def _close(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key, known, 1)
    return f"did you mean {close[0]}?" if close else f"the keys are: {', '.join(known)}"


def _fault(message: str) -> str:
    return message.removeprefix("Input ")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
