"""BF700: the backend fails."""

from breakfinder.rules.rule import Rule


class Backend(Rule):
    """Has no example: it takes a backend that fails, which the tests make."""

    code = "BF700"
    name = "backend-failure"
    title = "The backend could not compile a graph"
    severity = "error"
    why = """
        Dynamo captured the graph, and the backend that was to compile it raised: {said}
        """
    remedy = """
        The source is not at fault as far as Dynamo can tell. Try `backend="eager"` and
        `backend="aot_eager"` to see which stage fails, and report it to PyTorch with the graph.
        """
    gb_types = ("Backend compiler exception", "BackendCompilerFailed")
    examples = ()
