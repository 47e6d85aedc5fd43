"""``[tool.breakfinder.targets]``: what to check, each target with its own options."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from breakfinder.options import Weights


def _key(name: str) -> str:
    return {"class_name": "class"}.get(name, name.replace("_", "-"))


class TargetSettings(BaseModel):
    """The keys of one target: those of the options of ``breakfinder check``; None means as they have it."""

    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=_key, frozen=True)

    target: str = Field(min_length=1)
    """As it is given to ``breakfinder check``; paths are relative to the file's folder."""
    scenarios: list[Literal["forward", "decode", "train", "all"]] | None = Field(None, min_length=1)
    weights: Weights | None = None
    shrink: bool | None = None
    depth: Literal["auto", "full"] | int | None = None
    task: str | None = None
    class_name: str | None = None
    inputs: str | None = None
    model_kwargs: dict[str, JsonValue] | None = None
    batch_size: int | None = Field(None, ge=1)
    seq_len: int | None = Field(None, ge=1)
    dtype: str | None = None
    device: str | None = None
    attn_implementation: str | None = None
    training: bool | None = None
    no_grad: bool | None = None
    revision: str | None = None
    trust_remote_code: bool | None = None
    dynamo_config: dict[str, JsonValue] | None = None
    fixes: bool | None = None
    fix_timeout: float | None = Field(None, gt=0)
    timeout: float | None = Field(None, gt=0)
    memory_limit: str | None = None

    def given(self) -> dict[str, Any]:
        """The options as a command line would give them."""
        given = self.model_dump(exclude_none=True, exclude={"target"})
        if "scenarios" in given:
            given["scenarios"] = tuple(given["scenarios"])
        if "depth" in given:
            given["depth"] = str(given["depth"])
        if "model_kwargs" in given:
            given["model_kwargs"] = json.dumps(given["model_kwargs"])
        if "dynamo_config" in given:
            pairs = given["dynamo_config"].items()
            given["dynamo_config"] = tuple(f"{name}={json.dumps(value)}" for name, value in pairs)
        return given


KEYS = tuple(_key(name) for name in TargetSettings.model_fields)
"""As they are written in the file."""


def tables_by_name(value: object) -> Mapping[str, object] | None:
    """The tables of the targets by name: of a table of tables, or of an array in which each may have a ``name``.

    None for anything else, and for two of one name.
    """
    if isinstance(value, dict):
        return value
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        return None
    tables: dict[str, object] = {}
    for entry in value:
        name = entry.get("name", entry.get("target", ""))
        if not isinstance(name, str) or name in tables:
            return None
        tables[name] = {key: item for key, item in entry.items() if key != "name"}
    return tables
