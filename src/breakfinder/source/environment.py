"""What is known of variables at one point of a function, by name; of attributes by dotted name."""

from __future__ import annotations

from breakfinder.source.kinds import Value, join

Environment = dict[str, Value]
MOST_VARIABLES = 300
"""Of one function; only code that was generated has more, and nothing is known of those."""


def assign(name: str, value: Value, known: Environment) -> None:
    """Give a variable or an attribute a value; nothing is known of its attributes then."""
    if len(known) >= MOST_VARIABLES and name not in known:
        return
    known[name] = value
    prefix = f"{name}."
    for path in [path for path in known if path.startswith(prefix)]:
        del known[path]


def joined(several: list[Environment]) -> Environment:
    """What is known after one of several ways.

    A variable that only some of them set keeps their value, for only after them it can be read; an attribute
    has its old value after the others, and is left out.
    """
    first, *rest = several
    known = {**first}
    for other in rest:
        for name, value in other.items():
            if name in known:
                if known[name] is not value:
                    known[name] = join(known[name], value)
            elif "." not in name:
                known[name] = value
        for name in [name for name in known if "." in name and name not in other]:
            del known[name]
    return known


def around(start: Environment, end: Environment) -> Environment:
    """What a function can know of the variables around it, which may change after it is defined."""
    return {name: join(start.get(name, value), value) for name, value in end.items() if "." not in name}
