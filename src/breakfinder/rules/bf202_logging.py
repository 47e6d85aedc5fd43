"""BF202: logging in compiled code."""

import ast
import re

from breakfinder.rules.pattern import Match, receiver_of
from breakfinder.rules.rule import SOURCE, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function

_METHODS = r"(debug|info|warning|error)(_once)?|warn|warning_advice|exception|critical|fatal|log"
_LOGGER = re.compile(r"(^|[._])(logger|logging|log)$", re.IGNORECASE)


class Logging(Rule):
    code = "BF202"
    name = "logging"
    title = "A logger is called in compiled code"
    why = """
        At {expression} a logger is called, which cannot be put into a graph: Dynamo ends the graph here,
        runs the call in Python and starts a new graph after it. It does so for levels that are switched
        off as well.
        """
    remedy = """
        Remove it, or guard it: `if not torch.compiler.is_compiling(): logger.info(...)`. The message then
        appears in eager only.

        To drop messages from compiled code without touching the source, name the methods:
        `torch._dynamo.config.ignore_logging_functions = {{logging.Logger.info}}`.
        """
    gb_types = ("logging.Logger method not supported for non-export cases",)
    callees = r"logging\..*"
    pattern_nodes = (ast.Call,)
    fixes = ("guard_message", "guard_call")
    knobs = ("ignore-logging",)
    examples = (
        Example(
            broken="""
                import logging

                import torch

                logger = logging.getLogger(__name__)


                def fn(x):
                    h = x.sin()
                    logger.info("shape %s", h.shape)  # <-- break
                    return h.cos()
                """,
            fixed="""
                import logging

                import torch

                logger = logging.getLogger(__name__)


                def fn(x):
                    h = x.sin()
                    if not torch.compiler.is_compiling():
                        logger.info("shape %s", h.shape)
                    return h.cos()
                """,
        ),
        Example(
            broken="""
                import logging

                import torch


                def fn(x):
                    h = x.sin()
                    logging.info("half way")  # <-- break
                    return h.cos()
                """,
            fixed="""
                import logging

                import torch


                def fn(x):
                    h = x.sin()
                    if not torch.compiler.is_compiling():
                        logging.info("half way")
                    return h.cos()
                """,
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        named = symptom.location.expression.startswith(("logging.", "logger.", "log."))
        inside = "Logger" in symptom.context or "logging" in symptom.text
        return SOURCE if named and inside else super().matches(symptom)

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if not isinstance(node, ast.Call):
            return None
        if function.called(node) == "logging.getLogger":
            return Match(node)
        logger = receiver_of(node, _METHODS)
        return Match(node) if logger and _LOGGER.search(function.names.dotted(logger)) else None
