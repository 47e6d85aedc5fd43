"""BF900: a problem that no rule explains."""

from breakfinder.rules.rule import Rule


class Unclassified(Rule):
    """Chosen when nothing else matches, so it matches nothing by itself and has no example."""

    code = "BF900"
    name = "unclassified"
    title = "Unclassified: {gb_type}"
    why = """
        Dynamo stopped at {expression}, and no rule of breakfinder explains it. torch says: {said}
        """
    remedy = """
        Follow torch's own hints and its reference page, both shown with this finding.
        """
    examples = ()
