"""Text → Target: what the user typed, taken apart without importing torch or transformers.

`breakfinder.targets.build` makes the subject of a target, in the process that has torch.
"""

from __future__ import annotations

import ast
import difflib
import re
from pathlib import Path

from breakfinder.errors import UsageError
from breakfinder.report.model import Target

_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_EXAMPLES = "a model type (llama), a hub id (org/name), ./folder, file.py:Model or package.module:attr"


def resolve(text: str, revision: str = "", trust_remote_code: bool = False) -> Target:
    """What kind of target ``text`` names, and where it is.

    A bare name is taken for a model type; whether it is one is found out when it is built.
    Raises UsageError where the text can be none of the kinds, or names a file that is not there.
    """
    target = _resolve(text.strip())
    return target.model_copy(update={"revision": revision, "trust_remote_code": trust_remote_code})


def _resolve(text: str) -> Target:
    if not text:
        raise UsageError("the target is empty", f"give {_EXAMPLES}")
    if text.startswith("hf:"):
        return _hub(text, text[3:])
    path, colon, attribute = text.rpartition(":")
    if colon and (path.endswith(".py") or Path(path).is_file()):
        return _file(text, path, attribute)
    if text.endswith(".py") or Path(text).is_file():
        return _file(text, text, "")
    if text.startswith((".", "/", "~")) or text.endswith("/") or _is_config_folder(text):
        return _folder(text)
    if colon:
        if not _MODULE.fullmatch(path) or not _MODULE.fullmatch(attribute):
            raise UsageError(f"'{text}' is no package.module:attr", f"give {_EXAMPLES}")
        return Target(text=text, kind="module", location=text)
    if "/" in text:
        return _hub(text, text)
    if not _HUB_ID.fullmatch(text):
        raise UsageError(f"'{text}' is no target", f"give {_EXAMPLES}")
    return Target(text=text, kind="model_type", location=text)


def _is_config_folder(text: str) -> bool:
    return "/" in text and (Path(text) / "config.json").is_file()


def _hub(text: str, name: str) -> Target:
    if not _HUB_ID.fullmatch(name):
        raise UsageError(
            f"'{name}' is no hub id", "a hub id is org/name; a local folder is given as ./folder"
        )
    return Target(text=text, kind="hub", location=name)


def _folder(text: str) -> Target:
    path = Path(text).expanduser()
    if not path.is_dir():
        close = difflib.get_close_matches(path.name, [entry.name for entry in _entries(path.parent)], 1)
        hint = f"did you mean {path.parent / close[0]}?" if close else f"give {_EXAMPLES}"
        raise UsageError(f"no folder {text}", hint)
    if not (path / "config.json").is_file():
        raise UsageError(
            f"the folder {text} has no config.json",
            "give a folder that save_pretrained wrote, or file.py:Model",
        )
    return Target(text=text, kind="folder", location=str(path))


def _entries(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _file(text: str, path_text: str, attribute: str) -> Target:
    path = Path(path_text).expanduser()
    if not path.is_file():
        names = [entry.name for entry in _entries(path.parent) if entry.suffix == ".py"]
        close = difflib.get_close_matches(path.name, names, 1)
        raise UsageError(
            f"no file {path_text}",
            f"did you mean {path.with_name(close[0])}?" if close else "check the path",
        )
    if not attribute:
        names = defined_names(path)
        raise UsageError(
            f"'{text}' does not say what in the file to check",
            f"add a class, instance or function, e.g. {path_text}:{names[0]}" if names else "add :Name",
        )
    if not _MODULE.fullmatch(attribute):
        raise UsageError(f"'{attribute}' is no name in {path_text}", f"e.g. {path_text}:Model")
    return Target(text=text, kind="file", location=f"{path}:{attribute}")


def defined_names(path: Path) -> list[str]:
    """Classes and functions that a file defines, classes first; none where it cannot be parsed."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return []
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return classes + functions
