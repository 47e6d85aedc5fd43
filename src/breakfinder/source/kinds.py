"""Kinds of values, and what is known of one value."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """The kind of a value."""

    TENSOR = "tensor"
    NUMBER = "number"
    """A Python bool, int or float, such as a size."""
    TEXT = "text"
    NONE = "none"
    CONTAINER = "container"
    MODULE = "module"
    """An nn.Module."""
    ARRAY = "array"
    """A NumPy array or scalar."""
    OTHER = "other"
    """Known to be something else, no tensor."""
    UNKNOWN = "unknown"


class Fact(NamedTuple):
    """What is known of a value; ``sure`` if it follows from the code, not from a habit of naming."""

    kind: Kind
    sure: bool = True


class Value(NamedTuple):
    """What is known of a value, with what is needed to know more of values made from it."""

    kind: Kind
    sure: bool = True
    """That it is of this kind if it is not None."""
    optional: bool = False
    """It may be None as well."""
    dtype: str = ""
    """Of a tensor ``bool``, ``int`` or ``float``; empty if not known."""
    name: str = ""
    """Of a module the full name of its class; of some others what they are, see below."""
    items: tuple[Value, ...] | None = None
    """The items of a container whose length is known."""
    item: Value | None = None
    """What every item of a container is."""

    @property
    def fact(self) -> Fact:
        return Fact(self.kind, self.sure and not self.optional)

    def element(self) -> Value:
        """What iterating over it gives."""
        if self.item is not None:
            return self.item
        if self.items is not None:
            return join_all(self.items)
        if self.kind is Kind.TENSOR:
            return self._replace(optional=False)
        return self if self.kind is Kind.ARRAY or self.name == CONFIG.name else UNKNOWN

    def at(self, index: int) -> Value:
        """The item at a constant index."""
        if self.items is not None:
            return self.items[index] if -len(self.items) <= index < len(self.items) else UNKNOWN
        return self.element()

    def given(self) -> Value:
        """The same where it cannot be None."""
        return self._replace(optional=False) if self.optional else self


UNKNOWN = Value(Kind.UNKNOWN)
TENSOR = Value(Kind.TENSOR)
LIKELY_TENSOR = Value(Kind.TENSOR, sure=False)
MASK = Value(Kind.TENSOR, dtype="bool")
INDICES = Value(Kind.TENSOR, dtype="int")
NUMBER = Value(Kind.NUMBER)
TEXT = Value(Kind.TEXT)
NONE = Value(Kind.NONE)
ARRAY = Value(Kind.ARRAY)
MODULE = Value(Kind.MODULE)
OTHER = Value(Kind.OTHER)
CONTAINER = Value(Kind.CONTAINER)
SIZE = Value(Kind.CONTAINER, item=NUMBER)
TENSORS = Value(Kind.CONTAINER, item=TENSOR)
CONFIG = Value(Kind.OTHER, name="config")
"""A configuration: nothing that it holds is a tensor."""
SELF = Value(Kind.OTHER, name="self")
SUPER = Value(Kind.OTHER, name="super")


def tuple_of(*items: Value) -> Value:
    return Value(Kind.CONTAINER, items=items)


def container_of(item: Value) -> Value:
    return CONTAINER if item is UNKNOWN else Value(Kind.CONTAINER, item=item)


def join(one: Value, other: Value) -> Value:
    """What is known of a value that is one or the other.

    Where only one of them is surely a tensor, it still may be one.
    """
    if one is other or one == other:
        return one
    if one.kind is not other.kind:
        return _join_kinds(one, other)
    if one.items == () or other.items == ():  # a list that starts empty and is filled later
        return other if one.items == () else one
    items = None
    if one.items is not None and other.items is not None and len(one.items) == len(other.items):
        items = tuple(map(join, one.items, other.items))
    item = None
    if items is None and one.kind is Kind.CONTAINER:
        item = join(one.element(), other.element())
    return Value(
        one.kind,
        one.sure and other.sure,
        one.optional or other.optional,
        one.dtype if one.dtype == other.dtype else "",
        one.name if one.name == other.name else "",
        items,
        item if item is not UNKNOWN else None,
    )


def _join_kinds(one: Value, other: Value) -> Value:
    for value, rest in ((one, other), (other, one)):
        if rest.kind is Kind.NONE and value.kind is not Kind.UNKNOWN:
            return value._replace(optional=True)
        if value.kind is Kind.TENSOR and rest.kind in (Kind.UNKNOWN, Kind.NUMBER):
            return value._replace(sure=False, optional=value.optional or rest.optional)
    return UNKNOWN


def join_all(values: Iterable[Value]) -> Value:
    """The join of several; `UNKNOWN` for none."""
    joined: Value | None = None
    for value in values:
        joined = value if joined is None else join(joined, value)
    return UNKNOWN if joined is None else joined
