"""Whose code a file is, and how the file is named: to the reader, and apart from the machine."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import sysconfig
from functools import lru_cache
from pathlib import Path

_SITE_PACKAGES = ("site-packages", "dist-packages")
_HUB_MODULES = ("transformers_modules", "diffusers_modules", "datasets_modules")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_NOTEBOOK_CELL = re.compile(r"<ipython-input-|[/\\]ipykernel_\d+[/\\]")
_TYPED_IN = ("<stdin>", "<console>", "<doctest ", "<ipython-input-")


@lru_cache(maxsize=4096)
def owner(file: str) -> str:
    """Whose code ``file`` is.

    ``torch``; ``python`` for the standard library and for code that was generated without a file; ``hub``
    for model code in the hub's modules cache; the name of an installed distribution (``transformers``);
    else ``user``, which is also who owns notebook cells and what is installed as editable.
    """
    if _is_pseudo(file):
        if file.startswith(_TYPED_IN):
            return "user"
        return "torch" if file.startswith("<eval_with_key>") else "python"
    path = Path(file)
    if _hub_part(path) is not None:
        return "hub"
    installed = _in_site_packages(path)
    if installed is not None:
        return _distribution(installed.as_posix())
    for folder in _torch_folders():
        if path.is_relative_to(folder):
            return "torch"
    if any(path.is_relative_to(folder) for folder in _standard_library()):
        return "python"
    return "user"


def shown_path(file: str, root: Path | None = None) -> str:
    """The file as it is shown: relative to ``root`` (default: the working directory) where it lies below it,
    else absolute; names that are no path (``<string>``) as they are."""
    if not file or _is_pseudo(file):
        return file
    path = Path(os.path.abspath(file))  # noqa: PTH100  (Path.resolve would follow links)
    below = _below(path, root or Path.cwd())
    return (below or path).as_posix()


def module_path(file: str, root: Path | None = None) -> str:
    """The file named without anything of this machine, for fingerprints.

    Relative to site-packages, the standard library or the hub's modules cache (the commit left out); else to
    ``root``; else to the folder that holds its outermost package.  All notebook cells are one file.
    """
    if _NOTEBOOK_CELL.search(file):
        return "<notebook>"
    if not file or _is_pseudo(file):
        return re.sub(r"\d+", "", file)
    path = Path(os.path.abspath(file))  # noqa: PTH100
    hub = _hub_part(path)
    if hub is not None:
        return "/".join(part for part in hub.parts if not _COMMIT.fullmatch(part))
    installed = _in_site_packages(path)
    if installed is not None:
        return installed.as_posix()
    for folder in (*_torch_folders(), *_standard_library()):
        if path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return (_below(path, root or Path.cwd()) or path.relative_to(_import_folder(path))).as_posix()


def _is_pseudo(file: str) -> bool:
    return file.startswith("<")


def _below(path: Path, root: Path) -> Path | None:
    """``path`` relative to ``root``, whichever of the two is reached through a link; None if not below it."""
    for folder in (Path(os.path.abspath(root)), Path(os.path.realpath(root))):  # noqa: PTH100
        for candidate in (path, Path(os.path.realpath(path))):
            if candidate.is_relative_to(folder):
                return candidate.relative_to(folder)
    return None


def _import_folder(path: Path) -> Path:
    folder = path.parent
    while (folder / "__init__.py").exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def _after(path: Path, names: tuple[str, ...]) -> Path | None:
    """The part of ``path`` below its last folder that has one of these names."""
    for index in range(len(path.parts) - 2, -1, -1):
        if path.parts[index] in names:
            return Path(*path.parts[index + 1 :])
    return None


def _hub_part(path: Path) -> Path | None:
    cache = os.environ.get("HF_MODULES_CACHE")
    if cache and path.is_relative_to(cache):
        return path.relative_to(cache)
    return _after(path, _HUB_MODULES)


def _in_site_packages(path: Path) -> Path | None:
    return _after(path, _SITE_PACKAGES)


@lru_cache(maxsize=1)
def _torch_folders() -> tuple[Path, ...]:
    """Where torch is imported from, which matters where that is a checkout of it."""
    spec = importlib.util.find_spec("torch")
    return tuple(Path(folder) for folder in (spec.submodule_search_locations or ())) if spec else ()


@lru_cache(maxsize=1)
def _standard_library() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    folders = [Path(paths[name]) for name in ("stdlib", "platstdlib")]
    return tuple(dict.fromkeys([*folders, *(folder.resolve() for folder in folders)]))


@lru_cache(maxsize=4096)
def _distribution(installed: str) -> str:
    """The normalised name of the distribution that installed this file (a path below site-packages)."""
    top = installed.split("/")[0].removesuffix(".py")
    if top in ("torch", "transformers"):
        return top
    names = _packages().get(top, [])
    if len(names) > 1:
        names = [name for name in names if installed in _files(name)] or names
    return re.sub(r"[-_.]+", "-", names[0] if names else top).lower()


@lru_cache(maxsize=1)
def _packages() -> dict[str, list[str]]:
    """The distributions that each importable name comes from."""
    return {top: sorted(set(names)) for top, names in importlib.metadata.packages_distributions().items()}


@lru_cache(maxsize=64)
def _files(distribution: str) -> frozenset[str]:
    return frozenset(str(path) for path in importlib.metadata.files(distribution) or ())
