"""Dynamo's messages are taken apart as torch words them."""

from breakfinder.tracing.messages import (
    parse_break,
    parse_guard_failure,
    reason_from_artifact,
    stack_from_text,
)

ITEM = """\
Unsupported Tensor.item() call with capture_scalar_outputs=False
  Explanation: Dynamo does not support tracing `Tensor.item()` with config.capture_scalar_outputs=False.
  Hint: Set `torch._dynamo.config.capture_scalar_outputs = True`
  Hint: Second hint
    over two lines.

  Developer debug context: call_method TensorVariable() item () {}

 For more details about this graph break, please visit: https://example.org/gb/gb0124.html"""
LOOP = (
    ITEM
    + """

*** While handling this graph break, another graph break occurred: ***

graph break in loop
  Explanation: torch.compile detected a graph break in a for/while loop.
  Hint: This graph break may have been caused by an earlier graph break.

  Developer debug context: frame skipped: forward (model.py line 14)

 For more details about this graph break, please visit: https://example.org/gb/gb7000.html"""
)


def test_all_parts_of_a_message():
    parsed = parse_break(ITEM)
    assert parsed.gb_type == "Unsupported Tensor.item() call with capture_scalar_outputs=False"
    assert parsed.gb_id == "GB0124"
    assert parsed.explanation.startswith("Dynamo does not support tracing")
    assert parsed.hints == (
        "Set `torch._dynamo.config.capture_scalar_outputs = True`",
        "Second hint\nover two lines.",
    )
    assert parsed.context == "call_method TensorVariable() item () {}"
    assert not parsed.in_loop


def test_a_break_in_a_loop_is_given_its_real_cause():
    parsed = parse_break(LOOP)
    assert (parsed.gb_id, parsed.in_loop) == ("GB0124", True)
    assert parsed.hints == parse_break(ITEM).hints


def test_text_that_is_no_break_message_is_kept():
    assert parse_break("something else\nentirely").gb_type == "something else"
    assert parse_break("").gb_type == ""


def test_reason_and_stack_of_an_artifact():
    artifact = (
        "Graph break in user code at model.py:16\nGraph Break Reason: Failed to handle graph break gracefully. "
        "Skipping the function and falling back to eager. Graph break encountered:\n\n" + LOOP + "\n\n"
        'User code traceback:\n  File "a.py", line 3, in outer\n    x()\n  File "b c.py", line 16, in forward\n    y\n'
    )
    assert parse_break(reason_from_artifact(artifact)) == parse_break(LOOP)
    stack = stack_from_text(artifact)
    assert [(entry.file, entry.line, entry.name) for entry in stack] == [
        ("a.py", 3, "outer"),
        ("b c.py", 16, "forward"),
    ]


def test_guard_failures():
    reason = (
        "0/1: self.n == 3                    # self.n += 1  # model.py:7 in forward (HINT: make it dynamic)\n"
        'User stack trace:\n  File "model.py", line 7, in forward\n    self.n += 1'
    )
    parsed = parse_guard_failure(reason)
    assert (parsed.cache_entry, parsed.guard) == ("0/1", "self.n == 3")
    assert [(entry.file, entry.line) for entry in parsed.stack] == [("model.py", 7)]
    bare = parse_guard_failure("0/0: tensor 'x' size mismatch at index 0. expected 4, actual 5")
    assert bare.guard == "tensor 'x' size mismatch at index 0. expected 4, actual 5"
    assert bare.stack == ()
    assert parse_guard_failure("no cache entry: here").guard == "no cache entry: here"
