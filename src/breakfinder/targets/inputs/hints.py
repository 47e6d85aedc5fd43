"""What no rule can tell from a config: the table in ``hints.json``, by model type.

An entry may have ``config`` (values for the default config), ``parts`` (model types of parts that have no
default), ``class`` (the name of the model class), ``sizes`` (see `Setting.size`), ``inputs`` (name:
shape, as in ``float32[batch, 80]``) and ``omit`` (optional inputs to leave out).
"""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import Any


@functools.cache
def _table() -> dict[str, dict[str, Any]]:
    text = resources.files(__package__).joinpath("hints.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def hint(model: Any, name: str, otherwise: Any) -> Any:
    """The hint of this name for a model type, or for a config's model type; ``otherwise`` if there is
    none.
    """
    model_type = model if isinstance(model, str) else getattr(model, "model_type", "")
    return _table().get(model_type, {}).get(name, otherwise)
