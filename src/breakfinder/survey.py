"""What a repository holds that could be checked, found by reading its source; nothing is run."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from breakfinder.lint.files import DEFAULT_EXCLUDES, Exclusion, Patterns, find_files

_LEFT_OUT = (*DEFAULT_EXCLUDES, ".*", "tests/", "test/", "test_*.py", "*_test.py", "conftest.py")
_LARGEST = 1 << 20
_INPUTS = "example_inputs"


@dataclass(frozen=True)
class Candidate:
    """A module class that no other module class is made of, a compiled function, or a folder with a config."""

    target: str
    """As `breakfinder check` takes it."""
    name: str
    line: int = 0
    missing_inputs: bool = False
    unsure_inputs: bool = False
    """Its file has example_inputs, but holds other candidates that they may be for."""
    missing_arguments: tuple[str, ...] = ()
    """Of its constructor."""

    @property
    def ready(self) -> bool:
        return not (self.missing_inputs or self.unsure_inputs or self.missing_arguments)


@dataclass
class Survey:
    """Paths are relative to the root, with slashes."""

    candidates: list[Candidate] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    """Files that define example_inputs."""
    compiled: list[str] = field(default_factory=list)
    """``file:line`` of each use of torch.compile."""
    unreadable: list[str] = field(default_factory=list)
    """Files that cannot be parsed."""


@dataclass
class _File:
    path: str
    tree: ast.Module
    names: dict[str, str] = field(default_factory=dict)
    """What the imports of the file call what."""

    def dotted(self, node: ast.expr) -> str:
        """The full name of a name or attribute; empty for anything else."""
        if isinstance(node, ast.Attribute):
            owner = self.dotted(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        return self.names.get(node.id, node.id) if isinstance(node, ast.Name) else ""

    @property
    def classes(self) -> list[ast.ClassDef]:
        return [node for node in self.tree.body if isinstance(node, ast.ClassDef)]


def survey(root: Path) -> Survey:
    """Look at the files below a folder; tests, hidden and ignored ones are left out."""
    found = Survey()
    files: list[_File] = []
    exclusion = Exclusion(Patterns.of(root.absolute(), _LEFT_OUT))
    for path in find_files([root], exclusion, suffixes=(".py", "config.json")).files:
        relative = path.relative_to(root).as_posix()
        if not relative.isprintable():
            continue
        if path.name == "config.json":
            if _is_model(path) and relative != "config.json":
                folder = f"./{Path(relative).parent.as_posix()}"
                found.candidates.append(Candidate(folder, path.parent.name))
        elif path.suffix == ".py":
            file = _parse(path, relative)
            if file:
                files.append(file)
            else:
                found.unreadable.append(relative)
    modules = _module_classes(files)
    parts = Counter(name for file in files for name in _parts(file, modules))
    for file in files:
        found.inputs += [file.path] if _has_inputs(file.tree) else []
        found.compiled += [f"{file.path}:{line}" for line in sorted(set(_compile_lines(file)))]
        found.candidates += _candidates(file, modules, parts)
    return found


def _parse(path: Path, relative: str) -> _File | None:
    try:
        if path.stat().st_size > _LARGEST:
            return None
        file = _File(relative, ast.parse(path.read_bytes()))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    file.names[alias.asname] = alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                file.names[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}"
    return file


def _is_model(path: Path) -> bool:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(data, dict) and isinstance(data.get("model_type"), str)


def _module_classes(files: list[_File]) -> set[str]:
    """Names of the classes that come from nn.Module, also by way of each other."""
    bases = {
        (file.path, owner.name): {file.dotted(base) for base in owner.bases}
        for file in files
        for owner in file.classes
    }
    known: set[str] = set()
    while True:
        more = {
            name
            for (_, name), dotted in bases.items()
            if any(base == "torch.nn.Module" or base.rpartition(".")[2] in known for base in dotted)
        }
        if more <= known:
            return known
        known |= more


def _parts(file: _File, modules: set[str]) -> Iterator[str]:
    """Names of the module classes that others in the file make, or are derived from."""
    for owner in file.classes:
        if owner.name not in modules:
            continue
        used = {file.dotted(base) for base in owner.bases}
        used |= {file.dotted(node.func) for node in ast.walk(owner) if isinstance(node, ast.Call)}
        yield from {name.rpartition(".")[2] for name in used} & modules - {owner.name}


def _has_inputs(tree: ast.Module) -> bool:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == _INPUTS:
            return True
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value:
            targets = [node.target]
        if any(isinstance(target, ast.Name) and target.id == _INPUTS for target in targets):
            return True
        if isinstance(node, ast.ImportFrom) and any(
            (alias.asname or alias.name) == _INPUTS for alias in node.names
        ):
            return True
    return False


def _compile_lines(file: _File) -> Iterator[int]:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call) and file.dotted(node.func) == "torch.compile":
            yield node.lineno
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from (part.lineno for part in node.decorator_list if _is_compile(file, part))


def _is_compile(file: _File, decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return file.dotted(called) == "torch.compile"


def _candidates(file: _File, modules: set[str], parts: Counter[str]) -> list[Candidate]:
    tops: list[ast.ClassDef | ast.FunctionDef] = [
        owner
        for owner in file.classes
        if owner.name in modules and owner.name not in parts and not owner.name.startswith("_")
    ]
    tops += [
        node
        for node in file.tree.body
        if isinstance(node, ast.FunctionDef)
        and any(_is_compile(file, decorator) for decorator in node.decorator_list)
    ]
    has_inputs = _has_inputs(file.tree)
    return [
        Candidate(
            target=f"{file.path}:{top.name}",
            name=top.name,
            line=top.lineno,
            missing_inputs=not has_inputs,
            unsure_inputs=has_inputs and len(tops) > 1,
            missing_arguments=_needed(top) if isinstance(top, ast.ClassDef) else (),
        )
        for top in tops
    ]


def _needed(owner: ast.ClassDef) -> tuple[str, ...]:
    """Arguments without a default of the class's own constructor."""
    for node in owner.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            positional = [*node.args.posonlyargs, *node.args.args]
            needed = positional[1 : len(positional) - len(node.args.defaults)]
            needed += [
                argument
                for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
                if default is None
            ]
            return tuple(argument.arg for argument in needed)
    return ()
