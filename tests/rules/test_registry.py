"""Rules are complete, found and told apart."""

import re

import pytest

from breakfinder import rules

each_rule = pytest.mark.parametrize("rule", rules.all_rules(), ids=lambda rule: rule.code)
WITHOUT_EXAMPLES = {"BF700", "BF900"}


def test_codes_and_names_are_unique_and_in_order():
    codes = [rule.code for rule in rules.all_rules()]
    names = [rule.name for rule in rules.all_rules()]
    assert codes == sorted(set(codes))
    assert len(names) == len(set(names))
    assert len(codes) > 40


@each_rule
def test_a_rule_is_complete(rule):
    module = rule.__module__.rsplit(".", 1)[1]
    assert module.startswith(rule.code.lower() + "_")
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert len(rule.why) > 40
    assert len(rule.remedy) > 20
    assert bool(rule.examples) == (rule.code not in WITHOUT_EXAMPLES)


@each_rule
def test_texts_are_prose_with_paired_backticks(rule):
    for text in (rule.title, rule.why, rule.remedy):
        for paragraph in text.split("\n\n"):
            assert "\n" not in paragraph
            assert paragraph.count("`") % 2 == 0
            assert "  " not in paragraph


@each_rule
def test_an_example_without_a_fixed_form_says_why(rule):
    for example in rule.examples:
        assert example.fixed or example.note
        assert example.equal or example.note
        assert example.marked_line


def test_by_code():
    assert rules.by_code("BF101").name == "tensor-to-python-number"
    with pytest.raises(KeyError):
        rules.by_code("BF000")
