"""What is found at a position, against libcst as a second opinion."""

import ast
from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from breakfinder.source import nodes, syntax
from breakfinder.source.text import SourceText, read

CASES = sorted((Path(__file__).parents[1] / "fixtures" / "cases").rglob("*.py"))
CONSTRUCTS = """
@decorate(a.b)
def f(a: int = 1, *args: str, b=(2, 3), **kw) -> dict[str, int]:
    x, *rest = (y for y in [*args, a[1:2, ::3]] if y and not b or (c := kw))
    é = f"ü{a!r:>{b[0]}} {kw['k']}" "more"  # comment
    with open("é") as g, (lock):
        del x[0], a.b
    (yield)
    await_ = lambda q, /, *, r=(1): (q if q else -r) ** 2 < 3 <= 4
    for i, in {1: a, **kw}.items():
        raise ValueError((1, 2)) from None
    try:
        return {s for s in "a" "b"}
    except (A, B) as error:
        assert x.sum().item() > 0, "no"
    g(  # call
        a, *b,
        key=c [ 0 ] . d ,
    ) \\
        .h()
async def h():
    async with a as b, c: pass
    async for d in e: print(await d @ -d)
    return [z async for z in (w)], ..., 1_000, 0x1F, b"x", 2j
class K(metaclass=M): t: int = 3; u += v
match p:
    case Point(x=0, y=[1, *_]) if p.x > (0): pass
    case {"k": v} | None: pass
"""


def cst_ranges(text: str):
    """Start and end (line, 0-based character) of every libcst expression, its own parentheses left out."""
    wrapper = MetadataWrapper(cst.parse_module(text))
    for node, place in wrapper.resolve(PositionProvider).items():
        if isinstance(node, cst.BaseExpression):
            yield (place.start.line, place.start.column), (place.end.line, place.end.column)


def smallest_cst(ranges, start, end, parenthesised):
    """The smallest range over the given one; ``ast`` counts the parentheses of a tuple or a generator to it,
    libcst does not, so for those it may be the largest inside."""
    inside = [one for one in ranges if parenthesised and start <= one[0] and one[1] <= end]
    if inside:
        return max(inside, key=lambda one: (one[1], -one[0][1]))
    covering = [one for one in ranges if one[0] <= start and end <= one[1]]
    return min(covering, key=lambda one: (one[1][0] - one[0][0], one[1][1] - one[0][1]))


@pytest.mark.parametrize("file", [None, *CASES], ids=lambda file: file.stem if file else "constructs")
def test_it_is_the_smallest_libcst_expression_over_the_range(file):
    text = SourceText(CONSTRUCTS) if file is None else read(str(file))
    tree = syntax.parse(text)
    ranges = list(cst_ranges("\n".join(text.lines) + "\n"))
    expressions = [
        (node, parent)
        for parent in ast.walk(tree.tree)
        for node in nodes.children(parent)
        if nodes.is_expression(node, parent)
    ]
    assert len(expressions) > 10
    for node, parent in expressions:
        if isinstance(node, ast.Tuple) and isinstance(parent, ast.Subscript):
            continue  # ``a[1, 2]``: libcst has no node for ``1, 2``
        found = nodes.to_expression(tree.path_to(*nodes.span(node)))
        assert found[-1] is node
        start, end = ((line, text.column((line, offset)) - 1) for line, offset in nodes.span(node))
        first, last = smallest_cst(ranges, start, end, isinstance(node, ast.Tuple | ast.GeneratorExp))
        lines = [text.line(number) for number in range(first[0], last[0] + 1)]
        lines[-1] = lines[-1][: last[1]]
        lines[0] = lines[0][first[1] :]
        code = tree.code(node)
        assert "\n".join(lines) in (code, code.removeprefix("(").removesuffix(")").strip())
