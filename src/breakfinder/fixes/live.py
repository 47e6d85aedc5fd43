"""Put patched source in place of the code that runs, in this process and nowhere else."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from breakfinder.fixes.edit import Edit
from breakfinder.source.text import stand_in

CONSTRUCTORS = ("__init__", "__new__", "__post_init__")


def apply(edits: Mapping[str, Edit]) -> bool:
    """Make the process run the files as they are after the edits.

    Where only the bodies of functions differ their code objects are replaced, in every function that is
    alive; else the module is executed anew.  Gives whether objects must be built anew to show the change.
    Raises SyntaxError if the text after an edit is no Python.
    """
    gc.unfreeze()
    rebuild = False
    for edit in edits.values():
        functions = _functions_of(edit.file)
        modules = _modules_of(edit.file)
        names = {function.__code__.co_filename for function in functions} | {edit.file}
        for name in names | {str(module.__file__) for module in modules}:
            stand_in(name, edit.after)
        if _skeleton(edit.before) == _skeleton(edit.after):
            codes = _new_codes(edit, names)
            if all(_replace(function, codes) for function in functions):
                _run_new_imports(edit, modules)
                rebuild = rebuild or _constructor_differs(edit)
                continue
        for module in modules:
            exec(compile(edit.after, str(module.__file__), "exec"), module.__dict__)  # the user's own module
        rebuild = True
    return rebuild


def _functions_of(file: str) -> list[FunctionType]:
    same: dict[str, bool] = {}

    def here(name: str) -> bool:
        if name not in same:
            same[name] = name == file or (not name.startswith("<") and str(Path(name).resolve()) == file)
        return same[name]

    return [
        item for item in gc.get_objects() if type(item) is FunctionType and here(item.__code__.co_filename)
    ]


def _modules_of(file: str) -> list[ModuleType]:
    found = []
    for module in list(sys.modules.values()):
        name = getattr(module, "__file__", None)
        if isinstance(module, ModuleType) and isinstance(name, str) and str(Path(name).resolve()) == file:
            found.append(module)
    return found


class _Hollow(ast.NodeTransformer):
    """Leaves of a module what is run when it is imported, without its imports."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [ast.Pass()]
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.body = [ast.Pass()]
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        node.body = ast.Constant(None)
        return node

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None


def _skeleton(text: str) -> str:
    return ast.dump(_Hollow().visit(ast.parse(text)))


_Key = tuple[int, str]
"""First line and name of a code object, which is how a live one is told."""


def _new_codes(edit: Edit, names: set[str]) -> dict[_Key, dict[str, CodeType]]:
    """For the code objects that differ, the new one, under each name that the file goes by."""
    codes: dict[_Key, dict[str, CodeType]] = {}
    for name in names:
        old, new = compile(edit.before, name, "exec"), compile(edit.after, name, "exec")
        for one, other in _pairs(old, new):
            if _stripped(one) != _stripped(other) or one.co_firstlineno != other.co_firstlineno:
                codes.setdefault((one.co_firstlineno, one.co_name), {})[name] = other
    return codes


def _constructor_differs(edit: Edit) -> bool:
    pairs = _pairs(compile(edit.before, edit.file, "exec"), compile(edit.after, edit.file, "exec"))
    return any(old.co_name in CONSTRUCTORS and _stripped(old) != _stripped(new) for old, new in pairs)


def _pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The code objects at the same place in both: of the same name, in the order of the source."""
    todo = [(old, new)]
    while todo:
        one, other = todo.pop()
        waiting: dict[str, list[CodeType]] = {}
        for inner in _inside(other):
            waiting.setdefault(inner.co_name, []).append(inner)
        for inner in _inside(one):
            if waiting.get(inner.co_name):
                pair = inner, waiting[inner.co_name].pop(0)
                yield pair
                todo.append(pair)


def _inside(code: CodeType) -> list[CodeType]:
    return [item for item in code.co_consts if isinstance(item, CodeType)]


def _stripped(code: CodeType) -> tuple[object, ...]:
    """What a code object does, apart from where it stands and from the functions in it."""
    constants = tuple("code" if isinstance(item, CodeType) else (type(item), item) for item in code.co_consts)
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars


def _replace(function: FunctionType, codes: dict[_Key, dict[str, CodeType]]) -> bool:
    """Give a live function its new code; False where what it closes over has changed."""
    code = function.__code__
    new = codes.get((code.co_firstlineno, code.co_name), {}).get(code.co_filename)
    if new is None:
        return True
    if new.co_freevars != code.co_freevars:
        return False
    function.__code__ = new
    return True


def _run_new_imports(edit: Edit, modules: list[ModuleType]) -> None:
    old = {ast.dump(node) for node in ast.parse(edit.before).body}
    for node in ast.parse(edit.after).body:
        if isinstance(node, ast.Import | ast.ImportFrom) and ast.dump(node) not in old:
            code = compile(ast.Module([node], []), edit.file, "exec")
            for module in modules:
                exec(code, module.__dict__)
