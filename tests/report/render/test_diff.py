from markupsafe import Markup

from breakfinder.report.render.diff import Row, changed, diff_lines, rows
from breakfinder.source.diff import unified_diff

BEFORE = "a = 1\nb = x.item()\n-- a\nc = 3\n"
AFTER = "a = 1\nb = x.detach()\n++ a\nc = 3"


def test_every_line_has_its_kind_its_text_and_its_number():
    assert [(row.kind, row.text, row.number) for row in rows(unified_diff("m.py", BEFORE, AFTER))] == [
        ("file", "--- a/m.py", None),
        ("file", "+++ b/m.py", None),
        ("at", "@@ -1,4 +1,4 @@", None),
        ("same", "a = 1", 1),
        ("del", "b = x.item()", 2),
        ("del", "-- a", 3),
        ("del", "c = 3", 4),
        ("add", "b = x.detach()", 2),
        ("add", "++ a", 3),
        ("add", "c = 3", 4),
        ("note", "\\ No newline at end of file", None),
    ]


def test_changed_lines_that_look_like_a_files_head_are_changed_lines():
    assert changed(unified_diff("m.py", BEFORE, AFTER))[1] == "--- a"
    assert "+++ a" in changed(unified_diff("m.py", BEFORE, AFTER))


def test_signs_and_texts_together_are_the_diff_again():
    diff = unified_diff("m.py", BEFORE, AFTER) + unified_diff("n.py", "x\x0c\u2028y\r\n", "x\r\n")
    assert "".join(f"{row.sign}{row.text}\n" for row in rows(diff)) == diff


def test_numbers_start_anew_in_each_hunk():
    lines = [f"v{n} = {n}" for n in range(1, 41)]
    old, new = "\n".join(lines), "\n".join(["import torch", *lines[:-1]])
    numbered = [(row.kind, row.number) for row in rows(unified_diff("m.py", old, new))]
    assert ("add", 1) in numbered and ("del", 40) in numbered


def markup(old, new):
    return [
        str(line) for row, line in diff_lines(unified_diff("m.py", old, new)) if row.kind in ("add", "del")
    ]


def test_what_changed_inside_a_line_is_marked():
    old, new = markup("y = x.item() * 2\n", "y = x.detach() * 2\n")
    assert "<mark>item</mark>" in old
    assert "<mark>detach</mark>" in new


def test_lines_with_little_in_common_have_no_mark():
    assert not any("<mark>" in line for line in markup("return x\n", "raise ValueError(y)\n"))


def test_only_one_side_is_marked_where_something_was_put_in():
    old, new = markup("y = f(x)\n", "y = f(x, 1)\n")
    assert "<mark>" not in old and "</mark>" in new


def test_each_side_is_coloured_by_its_own_context():
    lines = markup('x = """\na\n"""\n', 'x = """\na\n"""\nfor i in y: pass\n')
    assert '<span class="k">for</span>' in lines[-1]


def test_what_is_no_diff_is_shown_as_text():
    (row, line), *_ = diff_lines("<b>+x")
    assert row == Row("note", "<b>+x")
    assert line == Markup("&lt;b&gt;+x")
    assert rows("") == []
