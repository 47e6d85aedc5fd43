"""What the rules for inputs work with: one model, the sizes wanted, and the inputs made so far."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from breakfinder.targets.inputs.hints import hint
from breakfinder.targets.layer_configs import is_config

Rule = Callable[["Setting"], Any]
RULES: dict[str, Rule] = {}
"""The rule for each parameter of a forward method, by its name."""

_SPECIAL = re.compile(r"_token_ids?$|_token_index$|_token_idx$")
_HIGHEST_ID = 4096


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule that makes the input of each of these names, or gives None to leave it out."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


@dataclass
class Setting:
    """One model, the sizes wanted, and the inputs made so far; all tensors are made on the CPU."""

    model: Any
    config: Any
    parameters: Mapping[str, inspect.Parameter]
    batch: int
    length: int
    """Length of the text, without placeholders of other modalities."""
    dtype: torch.dtype = torch.float32
    variant: int = 0
    made: dict[str, Any] = field(default_factory=dict)

    def takes(self, *names: str) -> bool:
        """Whether the forward method has a parameter of one of these names."""
        return any(name in self.parameters for name in names)

    def needs(self, name: str) -> bool:
        """Whether the forward method has a parameter of this name without a default."""
        return name in self.parameters and self.parameters[name].default is inspect.Parameter.empty

    def get(self, name: str) -> Any:
        """The input of this name, None if it is not given; made on first use."""
        if name not in self.made:
            # A rule that asks for its own input gets None.
            self.made[name] = None
            if name in self.parameters and name not in hint(self.config, "omit", ()):
                value = self._make(name)
                # The rule of another input may have set it.
                self.made[name] = self.made[name] if value is None else value
        return self.made[name]

    def _make(self, name: str) -> Any:
        from breakfinder.targets.inputs.shapes import from_description

        if name in RULES and name not in hint(self.config, "inputs", {}):
            return RULES[name](self)
        return from_description(self, name)

    def gives(self, *names: str) -> bool:
        return any(self.get(name) is not None for name in names)

    # Configs

    @property
    def text(self) -> Any:
        """The config of the part that reads text: the encoder, where there is one."""
        return (
            self.config.get_text_config(encoder=True)
            if self.encodes
            else self.config.get_text_config(decoder=True)
        )

    @property
    def encodes(self) -> bool:
        return bool(getattr(self.config, "is_encoder_decoder", False))

    def parts(self, *words: str) -> Iterator[Any]:
        """Configs within the config whose names hold one of these words, then the config itself."""
        for name, value in vars(self.config).items():
            if is_config(value) and any(word in name for word in words):
                yield value
                for inner in vars(value).values():
                    if is_config(inner):
                        yield inner
        yield self.config

    def lacks(self, part: str) -> bool:
        """Whether the config leaves out a part that models of its type may have."""
        return hasattr(self.config, part) and getattr(self.config, part) is None

    def size(self, *names: str, of: tuple[str, ...] = (), default: Any = None) -> Any:
        """The first value under one of these names in the hints, in the parts named by ``of``, or in the
        config.
        """
        sizes = hint(self.config, "sizes", {})
        for name in names:
            if name in sizes:
                return sizes[name]
        for config in self.parts(*of) if of else (self.config,):
            for name in names:
                value = getattr(config, name, None)
                if value is not None:
                    return value
        return default

    @property
    def special_ids(self) -> set[int]:
        """Ids of tokens with a meaning of their own, in the config and its parts."""
        found: set[int] = set()
        waiting = [self.config]
        while waiting:
            config = waiting.pop()
            for name, value in vars(config).items():
                if is_config(value):
                    waiting.append(value)
                elif _SPECIAL.search(name):
                    found.update(
                        item for item in (value if isinstance(value, list) else [value]) if type(item) is int
                    )
        return found

    # Tensors

    def floats(self, *shape: int) -> torch.Tensor:
        """Small values of both signs, none of them equal over a whole row."""
        number = math.prod(shape)
        values = torch.arange(number, dtype=torch.float32).mul_(0.7 + 0.1 * self.variant).sin_().mul_(0.5)
        return values.reshape(shape).to(self.dtype)

    def ids(self, *shape: int, vocabulary: int) -> torch.Tensor:
        """Token ids below ``vocabulary``, none with a meaning of its own."""
        special = self.special_ids
        plain = [item for item in range(min(vocabulary, _HIGHEST_ID)) if item not in special] or [0]
        choice = torch.tensor(plain)
        return choice[(torch.arange(math.prod(shape)) * 7 + 11) % len(plain)].reshape(shape)

    def ones(self, *shape: int, dtype: torch.dtype = torch.long) -> torch.Tensor:
        return torch.ones(shape, dtype=dtype)
