"""Which files are looked at."""

import os

import pytest

from breakfinder.errors import UsageError
from breakfinder.lint.files import DEFAULT_EXCLUDES, Exclusion, Patterns, find_files, shown


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Makes files, gives what is found in the working directory."""
    monkeypatch.chdir(tmp_path)

    def make(*names, **texts):
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        return tmp_path

    return make


def found(folder, *paths, excludes=DEFAULT_EXCLUDES, **options):
    exclusion = Exclusion(Patterns.of(folder, excludes), **options)
    return [shown(path) for path in find_files([folder / path for path in paths or (".",)], exclusion).files]


def test_python_files_and_notebooks_in_order(tree):
    folder = tree("b.py", "a/z.py", "a/n.ipynb", "a/types.pyi", "a/readme.md", "c.pyc", "Makefile")
    assert found(folder) == ["a/n.ipynb", "a/z.py", "b.py"]


def test_default_excludes_hold_below_what_is_given(tree):
    folder = tree(
        "a.py", "x/.venv/b.py", "build/c.py", "x/node_modules/d.py", ".git/e.py", "lib/site-packages/f.py"
    )
    assert found(folder) == ["a.py"]
    assert found(folder, "build", "lib/site-packages", "x/.venv") == [
        "build/c.py", "lib/site-packages/f.py", "x/.venv/b.py",
    ]  # fmt: skip


def test_a_file_that_is_given_is_taken_whatever_it_is_called(tree):
    folder = tree("script", "build/c.py")
    assert found(folder, "script", "build/c.py") == ["build/c.py", "script"]
    assert found(folder, "script", "build/c.py", force=True) == ["script"]
    assert found(folder, "build", force=True) == []


def test_type_stubs_are_not_code(tree):
    assert found(tree("a.pyi"), "a.pyi") == []


def test_each_file_once(tree):
    folder = tree("a/b.py")
    (folder / "a" / "link.py").symlink_to(folder / "a" / "b.py")
    assert found(folder, "a", "a/b.py", "./a/../a", ".") == ["a/b.py"]


@pytest.mark.parametrize("in_git", [True, False])
def test_gitignore_of_every_folder(tree, in_git):
    folder = tree(
        "keep.py", "gen/a.py", "gen/keep.py", "sub/x.py", "sub/y.py", "sub/deep/x.py", "sub/deep/y.py"
    )
    if in_git:
        (folder / ".git").mkdir()
    (folder / ".gitignore").write_text("gen/*\n!gen/keep.py\n# keep.py\n")
    (folder / "sub" / ".gitignore").write_text("x.py\n/y.py\n")
    (folder / "sub" / "deep" / ".gitignore").write_text("!x.py\n")
    assert found(folder) == ["gen/keep.py", "keep.py", "sub/deep/x.py", "sub/deep/y.py"]
    assert len(found(folder, gitignore=False)) == 7


def test_gitignore_above_the_given_folder_counts_within_the_repository(tree):
    folder = tree("repo/src/a.py", "repo/src/gen.py", "repo/out/b.py")
    (folder / "repo" / ".git").mkdir()
    (folder / ".gitignore").write_text("*.py\n")  # outside of the repository
    (folder / "repo" / ".gitignore").write_text("gen.py\nout/\n")
    assert found(folder, "repo/src") == ["repo/src/a.py"]
    assert found(folder, "repo/out") == ["repo/out/b.py"], "given by name"
    assert found(folder, "repo") == ["repo/src/a.py"]


def test_a_broken_gitignore_line_is_passed_over(tree):
    folder = tree("a.py", "b.py")
    (folder / ".gitignore").write_bytes(b"!\n\xff\xfe\nb.py\n")
    assert found(folder) == ["a.py"]


def test_patterns_of_the_settings(tree):
    folder = tree("a.py", "gen/b.py", "x/gen/c.py", "x/d_pb2.py")
    assert found(folder, excludes=["/gen/", "*_pb2.py"]) == ["a.py", "x/gen/c.py"]


def test_patterns_that_name_no_place_hold_outside_of_the_settings_folder(tree):
    folder = tree("project/a.py", "other/gen/b.py", "other/.venv/c.py", "other/d.py")
    exclusion = Exclusion(Patterns.of(folder / "project", ["/gen/", ".venv/"], everywhere=True))
    found = find_files([folder / "other"], exclusion).files
    assert [shown(path) for path in found] == ["other/d.py", "other/gen/b.py"]
    found = find_files([folder / "other" / ".venv"], exclusion).files
    assert [shown(path) for path in found] == ["other/.venv/c.py"]


def test_a_pattern_that_is_none(tmp_path):
    with pytest.raises(UsageError, match="pattern"):
        Patterns.of(tmp_path, ["!"])


def test_linked_folders_are_not_followed_and_loops_end(tree):
    folder = tree("a/b.py")
    (folder / "a" / "up").symlink_to(folder)
    (folder / "loop.py").symlink_to(folder / "loop.py")
    (folder / "dangling.py").symlink_to(folder / "gone.py")
    assert found(folder) == ["a/b.py", "dangling.py", "loop.py"]
    assert found(folder, "a/up/a") == ["a/up/a/b.py"]


def test_pipes_are_passed_over(tree):
    folder = tree("a.py")
    os.mkfifo(folder / "pipe.py")
    assert found(folder) == ["a.py"]


def test_a_folder_that_cannot_be_read_is_said(tree, monkeypatch):
    folder = tree("a.py", "secret/b.py")
    scandir = os.scandir

    def denied(path):
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", denied)
    everything = find_files([folder], Exclusion())
    assert [path.name for path in everything.files] == ["a.py"]
    assert everything.unreadable == [(folder / "secret", "Permission denied")]


@pytest.mark.parametrize(
    ("name", "hint"), [("modle.py", "did you mean"), ("q/w/e.py", "existing path"), ("zzz", "existing path")]
)
def test_a_path_that_is_not_there(tree, name, hint):
    folder = tree("model.py")
    with pytest.raises(UsageError) as caught:
        find_files([folder / name], Exclusion())
    assert name in caught.value.message
    assert hint in caught.value.hint


def test_paths_are_shown_relative_to_the_working_directory(tree, tmp_path):
    folder = tree("a/b.py")
    assert shown(folder / "a" / ".." / "a" / "b.py") == "a/b.py"
    assert shown(folder.parent / "elsewhere.py") == str(folder.parent / "elsewhere.py")
