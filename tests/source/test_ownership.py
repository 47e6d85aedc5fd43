"""Whose code is whose, and how files are named."""

import copy
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import libcst
import pydantic
import pytest

from breakfinder.source.ownership import module_path, owner, shown_path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def file_of(module):
    """Where a module would be imported from, without importing it."""
    return importlib.util.find_spec(module).origin


@pytest.mark.parametrize(
    "file", [copy.__file__, json.__file__, os.__file__, "<frozen importlib._bootstrap>", "<string>"]
)
def test_the_standard_library_is_pythons(file):
    assert owner(file) == "python"


def test_torch_and_other_distributions_have_their_names():
    assert owner(str(Path(file_of("torch")).parent / "_tensor.py")) == "torch"
    assert owner(file_of("torchgen")) == "torch"
    assert owner("<eval_with_key>.3") == "torch"
    assert owner(libcst.__file__) == "libcst"
    assert owner(pydantic.__file__) == "pydantic"
    assert owner(file_of("jinja2")) == "jinja2"  # which calls itself Jinja2
    assert owner(file_of("markdown_it")) == "markdown-it-py"


@pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="needs transformers")
def test_transformers_is_told_without_importing_it():
    assert (
        owner(str(Path(file_of("transformers")).parent / "models/llama/modeling_llama.py")) == "transformers"
    )


@pytest.mark.parametrize(
    "file",
    [
        __file__,
        "/home/someone/project/model.py",
        "/tmp/ipykernel_4242/1234567890.py",
        "<ipython-input-3-abcdef>",
        "<stdin>",
        "<doctest readme[2]>",
        shown_path.__code__.co_filename,  # this project, where it is installed as editable
    ],
)
def test_the_rest_is_the_users(file):
    if "site-packages" in file:
        pytest.skip("breakfinder is installed for good here")
    assert owner(file) == "user"


def test_a_distribution_of_another_environment_has_its_folders_name():
    assert owner("/elsewhere/lib/python3.12/site-packages/some_models/vit.py") == "some-models"
    assert owner("/usr/lib/python3/dist-packages/torch/nn/functional.py") == "torch"


def test_namespace_packages_go_by_the_files_that_are_recorded(monkeypatch):
    from breakfinder.source import ownership

    records = {"space-one": ["space/one.py"], "space-two": ["space/two.py"]}
    monkeypatch.setattr(ownership, "_packages", lambda: {"space": sorted(records)})
    monkeypatch.setattr(importlib.metadata, "files", records.get)
    assert owner("/env1/site-packages/space/two.py") == "space-two"
    assert owner("/env1/site-packages/space/one.py") == "space-one"


def test_hub_code(monkeypatch, tmp_path):
    file = f"/home/someone/.cache/huggingface/modules/transformers_modules/org/model/{COMMIT}/modeling_x.py"
    assert owner(file) == "hub"
    other = file.replace("0123", "4567").replace("/home/someone", "/mnt")
    assert module_path(file) == module_path(other) == "org/model/modeling_x.py"


def test_files_are_shown_relative_to_the_root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pkg").mkdir()
    file = tmp_path / "pkg" / "model.py"
    file.touch()
    link = tmp_path.parent / f"{tmp_path.name}-link"
    link.symlink_to(tmp_path)
    assert shown_path(str(file)) == shown_path("pkg/model.py") == "pkg/model.py"
    assert shown_path(str(file), tmp_path / "pkg") == "model.py"
    assert shown_path(str(file), Path("pkg")) == "model.py"
    assert shown_path(str(file), link) == shown_path(str(link / "pkg" / "model.py")) == "pkg/model.py"
    assert shown_path(str(file), tmp_path / "elsewhere") == str(file)
    assert shown_path("<string>") == "<string>"
    assert shown_path("/tmp/ipykernel_1/2.py") == "/tmp/ipykernel_1/2.py"


def test_fingerprints_know_nothing_of_the_machine(tmp_path):
    root = tmp_path / "project"
    package = tmp_path / "libs" / "models" / "vision"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    assert module_path(str(root / "src" / "model.py"), root) == "src/model.py"
    assert module_path(str(package / "vit.py"), root) == "models/vision/vit.py"
    assert module_path("/a/lib/python3.11/site-packages/timm/vit.py", root) == "timm/vit.py"
    assert module_path(copy.__file__, root) == "copy.py"
    cells = [
        "/tmp/ipykernel_12/3.py",
        "/var/tmp/ipykernel_9/77.py",
        "<ipython-input-3-abc>",
        "<ipython-input-14-d>",
    ]
    assert {module_path(cell, root) for cell in cells} == {"<notebook>"}
    assert module_path("<eval_with_key>.17") == module_path("<eval_with_key>.3")


def test_nothing_imports_torch():
    code = (
        "import sys; from breakfinder import source; from breakfinder.trace import StackEntry as Entry;"
        f"source.locate([Entry({__file__!r}, 1, '<module>'), Entry({file_of('torch')!r}, 1, '<module>')]);"
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'libcst')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
