"""Which functions compiled code can be in, by what all files of a tree say."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from breakfinder.lint.summary import ClassSummary, FunctionSummary, Summary, summarise

__all__ = ["Summary", "reachable", "summarise"]

_MODULE_NAMES = frozenset(
    (
        "Module",
        "LightningModule",
        "PreTrainedModel",
        "GradientCheckpointingLayer",
        "ModelMixin",
        "ScriptModule",
        "FlaxModule",
    )
)
"""Classes of other libraries that are modules, by their last name."""
_NO_MODULES = frozenset(
    ("builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol", "torch.autograd.Function")
)
_FUNCTION = "torch.autograd.Function"
_NOT_FOLLOWED = re.compile(
    r"""__init__|__new__|__init_subclass__|generate|(from|save)_pretrained|_?from_config|_?init_weights|post_init
    |reset_parameters|(training|validation|test|predict)_step|configure_optimizers
    |gradient_checkpointing_(en|dis)able""",
    re.VERBOSE,
)
"""What compiled code does not call, or what is never meant to be compiled with it."""
_TENSOR = "torch.Tensor"
_TENSOR_HOOKS = ("__torch_function__", "__torch_dispatch__")
_MOST_ALIASES = 8

Place = tuple[str, str]
"""A file and a qualified name in it."""


def reachable(summaries: Iterable[Summary]) -> dict[str, frozenset[str]]:
    """For each file the qualified names of the functions that compiled code can be in.

    These are ``forward`` of every module, what is given to ``torch.compile``, what torch itself calls of a tensor
    subclass, and what those use in turn.
    """
    return _Tree(summaries).reached()


class _Tree:
    def __init__(self, summaries: Iterable[Summary]) -> None:
        self.files = {summary.file: summary for summary in summaries}
        self.functions: dict[Place, FunctionSummary] = {}
        self.classes: dict[Place, ClassSummary] = {}
        self.inside: dict[Place, list[Place]] = defaultdict(list)
        self.by_stem: dict[str, list[str]] = defaultdict(list)
        for file, summary in self.files.items():
            self.by_stem[_stem(file)].append(file)
            for function in summary.functions:
                self.functions[file, function.name] = function
                if function.outer:
                    self.inside[file, function.outer].append((file, function.name))
            for a_class in summary.classes:
                self.classes[file, a_class.name] = a_class
        self.bases: dict[Place, list[Place]] = {}
        self.subclasses: dict[Place, list[Place]] = defaultdict(list)
        for (file, name), a_class in self.classes.items():
            found = [self.find(file, base) for base in a_class.bases]
            self.bases[file, name] = [
                place for place in found if place in self.classes and place != (file, name)
            ]
            for base in self.bases[file, name]:
                self.subclasses[base].append((file, name))

    def reached(self) -> dict[str, frozenset[str]]:
        todo = [*self._starts()]
        seen: set[Place] = set()
        while todo:
            place = todo.pop()
            function = self.functions.get(place)
            if place in seen or function is None or function.left_alone:
                continue
            seen.add(place)
            todo += self.inside[place]
            todo += self._used(place[0], function)
            todo += self._around(place[0], function)
        found: dict[str, set[str]] = {file: set() for file in self.files}
        for file, name in seen:
            found[file].add(name)
        return {file: frozenset(names) for file, names in found.items()}

    def _starts(self) -> Iterator[Place]:
        for place in self._modules():
            for name in ("forward", "__call__"):
                yield from self.method(place, name)
        for place, a_class in self.classes.items():
            if _TENSOR in a_class.bases:
                for name in _TENSOR_HOOKS:
                    yield from self.method(place, name)
        for file, summary in self.files.items():
            for name, owner in summary.compiled:
                yield from self.resolve(file, name, owner)

    def _modules(self) -> set[Place]:
        """All classes that are modules, by one of their bases at whatever distance."""
        found: set[Place] = set()
        todo = [place for place, a_class in self.classes.items() if self._is_module(place, a_class)]
        while todo:
            place = todo.pop()
            if place not in found:
                found.add(place)
                todo += self.subclasses[place]
        return found

    def _is_module(self, place: Place, a_class: ClassSummary) -> bool:
        """Whether a class is a module by what can be seen without the tree's other classes."""
        outside = [base for base in a_class.bases if self.find(place[0], base) not in self.classes]
        known = any(base.startswith("torch.nn.") or _last(base) in _MODULE_NAMES for base in outside)
        return known or (a_class.holds_modules and any(base not in _NO_MODULES for base in outside))

    def _used(self, file: str, function: FunctionSummary) -> Iterator[Place]:
        owner = self._owner(file, function)
        for name in function.uses:
            if not _NOT_FOLLOWED.fullmatch(_last(name)):
                yield from self.resolve(file, name, owner)

    def _around(self, file: str, function: FunctionSummary) -> Iterator[Place]:
        """What runs in place of a function that is decorated: the functions inside its decorators."""
        for name in function.decorators:
            for place in self.resolve(file, name, ""):
                yield from self.inside[place]

    def _owner(self, file: str, function: FunctionSummary) -> str:
        """The class that ``self`` is of; in a function inside a method, the method's."""
        while not function.owner and function.outer:
            function = self.functions[file, function.outer]
        return function.owner

    def resolve(self, file: str, name: str, owner: str) -> Iterator[Place]:
        """The functions that a name may stand for in a file, in a method of the class ``owner``."""
        head, _, last = name.partition(".")
        if head == "self" and owner:
            for place in self._with_subclasses((file, owner)):
                yield from self.method(place, last)
        elif head == "super" and owner:
            for base in self.bases.get((file, owner), ()):
                yield from self.method(base, last)
        else:
            found = self.find(file, name)
            if found in self.functions:
                yield found
            elif found in self.classes:
                yield from self.method(found, "forward")
            else:
                yield from self._static(file, name)

    def _static(self, file: str, name: str) -> Iterator[Place]:
        """A method that is named by its class: ``Class.method``, ``Function.apply``."""
        head, _, last = name.rpartition(".")
        place = self.find(file, head) if head else None
        if place in self.classes:
            if last == "apply" and _FUNCTION in self.classes[place].bases:
                yield from self.method(place, "forward")
            else:
                yield from self.method(place, last)

    def method(self, place: Place, name: str) -> Iterator[Place]:
        """The method that an instance of a class has under a name, if it is of the tree."""
        todo, seen = [place], {place}
        while todo:
            file, class_name = place = todo.pop(0)
            a_class = self.classes.get(place)
            if a_class is not None and name in a_class.methods:
                yield file, f"{class_name}.{name}"
                return
            new = [base for base in self.bases.get(place, ()) if base not in seen]
            seen.update(new)
            todo += new

    def _with_subclasses(self, place: Place) -> Iterator[Place]:
        todo, seen = [place], {place}
        while todo:
            place = todo.pop()
            yield place
            new = [one for one in self.subclasses[place] if one not in seen]
            seen.update(new)
            todo += new

    def find(self, file: str, name: str) -> Place | None:
        """Where the function or class of a full name is defined, as seen from a file."""
        for _ in range(_MOST_ALIASES):
            if (file, name) in self.functions or (file, name) in self.classes:
                return file, name
            head, _, rest = name.partition(".")
            imports = self.files[file].imports
            if head and head in imports and imports[head].partition(".")[0] != head:
                name = imports[head] + (f".{rest}" if rest else "")
            found = self._defining(file, name)
            if found is None or found == (file, name):
                return None
            file, name = found
        return None

    def _defining(self, file: str, name: str) -> Place | None:
        """The file that a full name begins with, and the rest of the name."""
        module, rest = name, ""
        while "." in module.lstrip("."):
            module, _, last = module.rpartition(".")
            rest = f"{last}.{rest}" if rest else last
            other = self._file_of(file, module)
            if other is not None:
                return other, rest
        if name.startswith("."):
            other = self._file_of(file, "." * (len(name) - len(name.lstrip("."))))
            return (other, name.lstrip(".")) if other else None
        return None

    def _file_of(self, file: str, module: str) -> str | None:
        """The file of a module, the nearest to the one that imports it if there are several."""
        if module.startswith("."):
            folder = posixpath.dirname(file)
            for _ in range(len(module) - len(module.lstrip(".")) - 1):
                folder = posixpath.dirname(folder)
            path = posixpath.join(folder, *filter(None, module.lstrip(".").split(".")))
            return next((one for one in (f"{path}.py", f"{path}/__init__.py") if one in self.files), None)
        ending = "/" + module.replace(".", "/")
        fitting = [
            other
            for other in self.by_stem.get(module.rpartition(".")[2], ())
            if ("/" + _without_suffix(other)).endswith(ending)
        ]
        return max(fitting, key=lambda other: len(posixpath.commonprefix([other, file])), default=None)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _without_suffix(file: str) -> str:
    return posixpath.splitext(file)[0].removesuffix("/__init__")


def _stem(file: str) -> str:
    return posixpath.basename(_without_suffix(file))
