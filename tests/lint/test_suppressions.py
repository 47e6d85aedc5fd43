"""Comments that take findings away."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakfinder.lint.suppressions import suppressions, with_noqa


def one(text):
    (found,) = suppressions(text)
    return found


@pytest.mark.parametrize(
    ("comment", "kind", "codes", "reason"),
    [
        ("# noqa", "noqa", (), ""),
        ("#NOQA", "noqa", (), ""),
        ("# noqa: BF101", "noqa", ("BF101",), ""),
        ("# noqa:BF101,E501", "noqa", ("BF101",), ""),
        ("# noqa: E501, bf101 BF2", "noqa", ("BF101", "BF2"), ""),
        ("# type: ignore  # noqa: BF101", "noqa", ("BF101",), ""),
        ("# noqa: BF101 since it is cold", "noqa", ("BF101",), ""),
        ("# breakfinder: ignore[BF101]", "ignore", ("BF101",), ""),
        ("# breakfinder:ignore[ BF101 , BF2 ] runs once", "ignore", ("BF101", "BF2"), "runs once"),
        ("# breakfinder: ignore", "ignore", (), ""),
        (
            "# breakfinder: ignore[BF201] - debugging only # noqa: E501",
            "ignore",
            ("BF201",),
            "debugging only",
        ),
        ("# breakfinder: ignore-file[BF3]", "ignore-file", ("BF3",), ""),
        ("# breakfinder: ignore-file: made by a tool", "ignore-file", (), "made by a tool"),
    ],
)
def test_forms(comment, kind, codes, reason):
    found = one(f"x = 1  {comment}\n")
    assert (found.kind, found.codes, found.reason) == (kind, codes, reason)
    assert found.line == 1


@pytest.mark.parametrize(
    "text",
    [
        'x = "# noqa"\n',
        's = """\n# breakfinder: ignore\n"""\n',
        "x = 1  # noqa: E501\n",
        "x = 1  # noqa: because\n",
        "x = 1  # noqable\n",
        "x = 1  # see noqa: BF101\n",
        "x = 1  # breakfinder: ignored\n",
        "x = 1  # breakfinder: ignore[nonsense]\n",
        "x = 1  # breakfinder: ignore-files\n",
        "x = 1  # breakfinder: check\n",
        "# noqa\nx = 1\n",
        "f'{x!r:# noqa}'\n",
    ],
)
def test_what_is_none(text):
    assert suppressions(text) == []


def test_place_of_the_comment():
    found = one("é = 'ü'  # why  # noqa: BF101\n")
    assert (found.line, found.column, found.end_column) == (1, 17, 30)


MULTILINE = """\
y = f(
    a.item(),
    b.item(),
)
z = c.item()
"""


def comment_at(line, comment="# noqa: BF101"):
    lines = MULTILINE.split("\n")
    lines[line - 1] += f"  {comment}"
    return one("\n".join(lines))


@pytest.mark.parametrize(
    ("line", "covered"), [(1, {1, 2, 3, 4}), (2, {2}), (3, {3}), (4, {1, 2, 3, 4}), (5, {5})]
)
def test_lines_that_are_covered(line, covered):
    suppression = comment_at(line)
    assert {n for n in range(1, 6) if suppression.suppresses("BF101", n, n)} == covered
    assert not suppression.suppresses("BF102", line, line)


def test_a_finding_over_several_lines_is_covered_at_each():
    text = "y = [\n    f(\n        a,\n        b,\n    ),\n    g(),\n]\n"
    for line in (2, 3, 4, 5):
        lines = text.split("\n")
        lines[line - 1] += "  # breakfinder: ignore"
        suppression = one("\n".join(lines))
        assert suppression.suppresses("BF101", 2, 5)
        assert not suppression.suppresses("BF101", 6, 6)


def test_a_comment_in_a_body_is_not_about_the_header():
    suppression = one("with f():\n    x = 1  # noqa\n")
    assert suppression.suppresses("BF401", 2, 2)
    assert not suppression.suppresses("BF401", 1, 2)


def test_a_comment_on_a_line_of_its_own_is_about_the_next_statement():
    suppression = one("a = 1\n# breakfinder: ignore[BF101] once\n# more\n\nb = f(\n    1)\nc = 3\n")
    assert {n for n in range(1, 8) if suppression.suppresses("BF101", n, n)} == {5, 6}


def test_a_whole_file():
    suppression = one("x = 1\n# breakfinder: ignore-file[BF2]\n")
    assert suppression.suppresses("BF201", 99, 99)
    assert not suppression.suppresses("BF101", 1, 1)


def test_text_that_does_not_parse():
    assert [found.line for found in suppressions("x = 1  # noqa\n(\n")] == [1]
    assert suppressions("x = '''  # noqa\n") == []
    assert suppressions("if x:\n        a\n    b  # noqa\n") == []


def covered(text, wanted):
    found = suppressions(text)
    return all(any(one.suppresses(code, line, end) for one in found) for code, line, end in wanted)


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        ("x = a\n", [("BF101", 1, 1)], "x = a  # noqa: BF101\n"),
        ("x = a", [("BF101", 1, 1)], "x = a  # noqa: BF101"),
        ("x = a\r\ny\r\n", [("BF101", 1, 1)], "x = a  # noqa: BF101\r\ny\r\n"),
        ("x = a   \n", [("BF101", 1, 1)], "x = a  # noqa: BF101\n"),
        ("x = a  # noqa: E501\n", [("BF101", 1, 1)], "x = a  # noqa: E501, BF101\n"),
        ("x = a  # noqa:BF2,E5 # y\n", [("BF101", 1, 1)], "x = a  # noqa:BF2,E5, BF101 # y\n"),
        ("x = a  # why\n", [("BF101", 1, 1)], "x = a  # why  # noqa: BF101\n"),
        ("x = a\n", [("BF2", 1, 1), ("BF101", 1, 1)], "x = a  # noqa: BF101, BF2\n"),
        ("f(\n  a,\n  b)\n", [("BF101", 2, 2)], "f(\n  a,  # noqa: BF101\n  b)\n"),
        ("x = a + \\\n  b\n", [("BF101", 1, 1)], "x = a + \\\n  b  # noqa: BF101\n"),
        ('p(t, """\n  x\n""")\n', [("BF201", 1, 1)], 'p(t, """\n  x\n""")  # noqa: BF201\n'),
        ("if a:\n  b\n", [("BF103", 1, 2)], "if a:  # noqa: BF103\n  b\n"),
        ("a; b\n", [("BF1", 1, 1)], "a; b  # noqa: BF1\n"),
        ("x = '\x0c'\ny\n", [("BF1", 2, 2)], "x = '\x0c'\ny  # noqa: BF1\n"),
    ],
)
def test_adding_comments(text, wanted, expected):
    noted = with_noqa(text, wanted)
    assert noted == expected
    assert covered(noted, wanted)


LINES = st.sampled_from(
    [
        "x = a.item()",
        "x = f(\n    a,\n    b.item(),\n)",
        'print("""\n# noqa\n""", a)',
        "y = a \\\n    + b",
        "if a:\n    b = 1",
        "z = 1  # noqa: E501",
        "z = 1  # breakfinder: ignore[BF101] once",
        "# a comment",
        "",
        "s = '# noqa: BF101'; t = 2",
        "u = [  # noqa\n  1,\n]",
        "v = 'é'",
    ]
)


@given(
    st.lists(LINES, max_size=8),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.tuples(st.sampled_from(["BF101", "BF2"]), st.integers(1, 30), st.integers(0, 3)), max_size=6),
    st.booleans(),
)
def test_added_comments_cover_and_change_nothing_else(lines, newline, places, ends):
    text = "\n".join(lines) + "\n" * ends
    starts = {
        node.lineno: node.end_lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.expr)
    }
    wanted = [(code, line, min(line + more, starts[line])) for code, line, more in places if line in starts]
    text = text.replace("\n", newline)
    noted = with_noqa(text, wanted)
    assert covered(noted, wanted)
    assert ast.dump(ast.parse(noted)) == ast.dump(ast.parse(text))
    assert noted.count("\r") == text.count("\r")
    left = [item for item in wanted if not covered(noted, [item])]
    assert with_noqa(noted, left) == noted


@given(st.text(alphabet="x#noqa: BF101[](),\n\r'\"\\breakfinder:ignore \t\x0c", max_size=200))
def test_any_text(text):
    for found in suppressions(text):
        assert found.line >= 1
        assert found.column < found.end_column
