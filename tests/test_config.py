"""[tool.breakfinder]: found, read, and wrong ones said in one line."""

from pathlib import Path

import pytest

from breakfinder.config import Settings, find_config, read_config
from breakfinder.errors import UsageError


def write(folder, text):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "pyproject.toml"
    path.write_text(text)
    return path


def test_every_key(tmp_path):
    path = write(
        tmp_path,
        """
        [tool.breakfinder]
        select = ["BF1", "BF201"]
        ignore = ["BF103"]
        exclude = ["old/"]
        extend-exclude = ["generated/*.py"]
        respect-gitignore = false
        all-functions = true
        confidence = "low"
        output-format = "sarif"
        cache-dir = ".cache/breakfinder"
        [tool.breakfinder.per-file-ignores]
        "tests/" = ["BF2"]
        """,
    )
    config = find_config(tmp_path)
    assert (config.root, config.file) == (tmp_path, path)
    assert config.settings.model_dump() == {
        "select": ["BF1", "BF201"],
        "ignore": ["BF103"],
        "per_file_ignores": {"tests/": ["BF2"]},
        "exclude": ["old/"],
        "extend_exclude": ["generated/*.py"],
        "respect_gitignore": False,
        "all_functions": True,
        "confidence": "low",
        "output_format": "sarif",
        "cache_dir": ".cache/breakfinder",
    }


def test_the_nearest_file_with_a_table_counts(tmp_path):
    write(tmp_path, '[tool.breakfinder]\nconfidence = "low"')
    write(tmp_path / "a", '[tool.breakfinder]\nconfidence = "medium"')
    write(tmp_path / "a" / "b", '[project]\nname = "b"')
    (tmp_path / "a" / "b" / "c").mkdir()
    config = find_config(tmp_path / "a" / "b" / "c")
    assert config.settings.confidence == "medium"
    assert config.root == tmp_path / "a"
    assert find_config(tmp_path / "a").settings.confidence == "medium"
    assert find_config(tmp_path).settings.confidence == "low"


def test_without_a_file_the_defaults_hold(tmp_path):
    config = find_config(tmp_path)
    assert config.settings == Settings()
    assert config.settings.select == ["ALL"]
    assert (config.root, config.file) == (tmp_path, None)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[tool.breakfinder]\nselct = []", "unknown key tool.breakfinder.selct", "did you mean select?"),
        ("[tool.breakfinder]\nper_file_ignores = {}", "unknown key", "did you mean per-file-ignores?"),
        ("[tool.breakfinder]\nxyzzy = 1", "unknown key tool.breakfinder.xyzzy", "the keys are: select"),
        ("[tool.breakfinder]\nselect = 'BF1'", "tool.breakfinder.select: should be a valid list", "'BF1'"),
        ("[tool.breakfinder]\nselect = [1]", "tool.breakfinder.select.0: should be a valid string", "1"),
        (
            "[tool.breakfinder]\nconfidence = 'sure'",
            "tool.breakfinder.confidence: should be 'high'",
            "'sure'",
        ),
        ("[tool.breakfinder]\nall-functions = 'yes'", "tool.breakfinder.all-functions", "'yes'"),
        ("[tool.breakfinder]\noutput-format = 'html'", "tool.breakfinder.output-format", "'html'"),
        ("[tool]\nbreakfinder = 3", "tool.breakfinder is no table", "[tool.breakfinder]"),
        ("[tool.breakfinder\n", "is no valid TOML", "--isolated"),
        ("\x00", "is no valid TOML", "--isolated"),
    ],
)
def test_one_line_names_file_and_key(tmp_path, text, message, hint):
    path = write(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        find_config(tmp_path)
    assert str(path) in caught.value.message
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert "\n" not in caught.value.message + caught.value.hint


def test_not_utf8(tmp_path):
    (tmp_path / "pyproject.toml").write_bytes(b"# \xff")
    with pytest.raises(UsageError, match="no valid TOML"):
        find_config(tmp_path)


def test_a_file_that_is_named(tmp_path):
    path = write(tmp_path / "x", '[tool.breakfinder]\nignore = ["BF6"]')
    assert read_config(path).settings.ignore == ["BF6"]
    assert read_config(path).root == tmp_path / "x"
    with pytest.raises(UsageError, match="cannot read"):
        read_config(tmp_path / "none.toml")
    with pytest.raises(UsageError, match=r"no \[tool.breakfinder\] table"):
        read_config(write(tmp_path, ""))


def test_every_key_is_documented():
    page = (Path(__file__).parents[1] / "docs" / "lint.md").read_text()
    for name in Settings.model_fields:
        assert f"`{name.replace('_', '-')}`" in page
