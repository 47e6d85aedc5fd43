"""BF302: a function written in C."""

import ast
import re

from breakfinder.rules import kept
from breakfinder.rules.pattern import Match, call_of, match
from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function

_CALLS = (
    r"(zlib|bz2|lzma|hashlib|heapq|bisect|gc|binascii|base64)\.[a-z]\w*|ctypes\.\w.*|scipy\.[a-z]\w*\..*"
    r"|sys\.(getsizeof|getrefcount|_getframe)|inspect\.(currentframe|stack)"
    r"|threading\.(get_ident|current_thread|get_native_id)|torch\.set_num_threads"
    r"|torch\.distributed\.(barrier|broadcast|reduce|scatter|new_group)"
    r"|warnings\.(simplefilter|filterwarnings|resetwarnings)"
)


class CFunction(Rule):
    code = "BF302"
    name = "c-function"
    title = "A function written in C is called"
    why = """
        {expression} calls {callee}, which is written in C or another compiled language. Dynamo follows
        Python bytecode, and there is none, so it ends the graph here, makes the call and starts a new
        graph after it.
        """
    remedy = """
        If the result is the same at each call, compute it once, at import or in `__init__`. If it takes
        or gives tensors, make it an operator with `torch.library.custom_op` and `register_fake`.
        Otherwise call it outside the compiled function and pass the result in.
        """
    gb_types = (
        "can't handle functions not implemented in python ",
        "vectorcall_maybe on C method descriptor",
        "Attempted to a str() method implemented in C/C++",
        "Attempted to call repr() method implemented in C/C++",
        "C-implemented special method without VariableTracker model",
        "Untraceable C tp_hash",
        "Untraceable C tp_richcompare",
    )
    pattern_nodes = (ast.Call,)
    fixes = ("constant_to_module", "constant_to_init")
    examples = (
        Example(
            broken="""
                import zlib

                import torch


                def fn(x):
                    return x * (zlib.crc32(b"layer") % 7)  # <-- break
                """,
            fixed="""
                import zlib

                import torch

                SCALE = zlib.crc32(b"layer") % 7


                def fn(x):
                    return x * SCALE
                """,
        ),
        Example(
            broken="""
                import ctypes

                import torch

                absolute = ctypes.CDLL(None).abs


                def fn(x):
                    return x * absolute(-3)  # <-- break
                """,
            fixed="""
                import ctypes

                import torch

                FACTOR = ctypes.CDLL(None).abs(-3)


                def fn(x):
                    return x * FACTOR
                """,
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        skipped = symptom.gb_type == "Attempted to call function marked as skipped"
        compiled = "C extension or builtin" in symptom.context
        foreign = re.search(r"\(_FuncPtr\) __call__|object=<_FuncPtr ", symptom.context)
        # Not DETAIL for the first: the rules for single modules know more of them.
        return DETAIL if foreign else DETAIL - 1 if skipped and compiled else super().matches(symptom)

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        foreign = kept.global_value(node.func, function) if isinstance(node, ast.Call) else None
        while isinstance(foreign, ast.Attribute | ast.Call):
            foreign = foreign.value if isinstance(foreign, ast.Attribute) else foreign.func
        loaded = foreign is not None and function.names.dotted(foreign) == "ctypes"
        return match(node, "high") if loaded else call_of(node, function, _CALLS)
