"""BF206: files, the environment and the operating system."""

import ast
import re

from breakfinder.rules.pattern import Match, call_of
from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function

_MODULES = (
    "posix|nt|os|io|_io|posixpath|ntpath|genericpath|pathlib|shutil|subprocess|_posixsubprocess|tempfile|socket"
    "|_socket|select|fcntl|glob|pickle|_pickle|torch.serialization"
)
_STREAM = re.compile(r"(TextIOWrapper|BufferedReader|BufferedWriter|FileIO|StringIO|BytesIO)\b")

# Dynamo follows these: they compute with strings, or read what it knows.
_PURE = (
    r"os\.(getenv|fspath|fsdecode|fsencode|environ\.(get|keys|values|items|copy))"
    r"|os\.path\.(join|split|splitext|basename|dirname|normpath|isabs|normcase|commonprefix|commonpath|expanduser)"
    r"|io\.\w*Error|subprocess\.\w*Error|shutil\.\w*Error|pickle\.\w*Error|tempfile\.gettempdir"
)
_CALLS = (
    r"builtins\.(open|input)|(os|shutil|subprocess|tempfile|glob|pickle|io|socket)\.\w.*|torch\.(save|load)"
    r"|sys\.(stdout|stderr|stdin)\.\w+|pprint\.(pprint|pp|pformat)|uuid\.uuid[14]"
)


class InputOutput(Rule):
    code = "BF206"
    name = "files-and-system"
    title = "Files or the operating system are used in compiled code"
    why = """
        {expression} reaches out of the program: to a file, a stream, the environment or the operating
        system. That cannot be put into a graph, so Dynamo ends the graph here, runs the call in Python
        and starts a new graph after it.
        """
    remedy = """
        Do it before the compiled function is called, or once in `__init__`, and keep the result. A change
        of the file or the environment after that is not seen.
        """
    callees = rf"({_MODULES.replace('.', chr(92) + '.')})\..*|builtins\.(open|input)"
    pattern_nodes = (ast.Call, ast.Subscript)
    fixes = ("guard_call", "constant_to_init", "constant_to_module")
    examples = (
        Example(
            broken="""
                import os

                import torch


                class Model(torch.nn.Module):
                    def forward(self, x):
                        if os.path.exists("no-such-file"):  # <-- break
                            x = x + 1
                        return x * 2
                """,
            fixed="""
                import os

                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.shifted = os.path.exists("no-such-file")

                    def forward(self, x):
                        if self.shifted:
                            x = x + 1
                        return x * 2
                """,
        ),
        Example(
            broken="""
                import os

                import torch


                def fn(x):
                    with open(os.devnull) as settings:  # <-- break
                        shift = len(settings.read())
                    return x + shift
                """,
            fixed="""
                import os

                import torch

                with open(os.devnull) as settings:
                    SHIFT = len(settings.read())


                def fn(x):
                    return x + SHIFT
                """,
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        return DETAIL if _STREAM.search(symptom.context) else super().matches(symptom)

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if isinstance(node, ast.Subscript):
            written = not isinstance(node.ctx, ast.Load)
            return Match(node) if written and function.names.dotted(node.value) == "os.environ" else None
        return None if call_of(node, function, _PURE) else call_of(node, function, _CALLS)
