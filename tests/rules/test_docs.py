"""docs/rules/ is what the rules say now."""

from pathlib import Path

from breakfinder.rules import all_rules, docs

DIRECTORY = Path(__file__).parents[2] / "docs" / "rules"


def test_pages_are_up_to_date():
    there = {path.name: path.read_text(encoding="utf-8") for path in DIRECTORY.glob("*.md")}
    assert there == docs.pages(), "run `python -m breakfinder.rules.docs`"


def test_index_links_every_rule():
    index = docs.pages()["index.md"]
    for rule in all_rules():
        assert index.count(f"[{rule.code}]({rule.code}.md)") == 1


def test_no_placeholder_is_left():
    for rule in all_rules():
        page = docs.pages()[f"{rule.code}.md"]
        for placeholder in ("{expression}", "{callee}", "{gb_type}", "{said}", "{guard}", "{family}"):
            assert placeholder not in page


def test_pages_of_rules_that_are_gone_are_taken_away(tmp_path):
    (tmp_path / "BF999.md").write_text("old")
    docs.write(tmp_path)
    assert not (tmp_path / "BF999.md").exists()
    assert {path.stem for path in tmp_path.glob("*.md")} == {"index", *(rule.code for rule in all_rules())}
