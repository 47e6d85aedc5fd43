"""BF308: sparse and nested tensors."""

import ast
import re

from breakfinder.rules.pattern import Match, argument, call_of, certainty, match, receiver_of
from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function


class Layout(Rule):
    code = "BF308"
    name = "sparse-or-nested-tensor"
    title = "A sparse or nested tensor is used"
    why = """
        {expression} makes or uses a sparse or nested tensor, which `torch.compile` does not support. The
        graph ends here; a function that gets such a tensor from outside is skipped.
        """
    remedy = """
        Compute with dense tensors: a product with a sparse matrix is a gather of rows and `index_add`,
        and a nested tensor is a padded one with a mask. Or keep that part out of the compiled function.
        """
    gb_types = (
        "Attempted to wrap sparse Tensor",
        "Attempted to wrap sparse Tensor with VariableTracker",
        "Attempted to wrap strided NestedTensor",
        "Attempted to use `nested_tensor` with non-list input",
        "Attempted to use strided NestedTensor",
        "Encountered strided NestedTensor in automatic dynamic dim determination",
        "Sparse tensor creation not supported",
        "Unsupported Tensor.sparse_resize_() call",
        "Unsupported Tensor.sparse_resize_and_clear_() call",
        "sparse_grad_accumulate_grad",
    )
    callees = r"torch\..*sparse.*"
    pattern_nodes = (ast.Call,)
    fixes = ("sparse_to_index_add",)
    examples = (
        Example(
            broken="""
                import torch


                def fn(x, edges, weight):
                    adjacency = torch.sparse_coo_tensor(edges, weight, (4, 4)).mm(x)  # <-- break
                    return adjacency.relu()
                """,
            fixed="""
                import torch


                def fn(x, edges, weight):
                    row, column = edges
                    adjacency = torch.zeros_like(x).index_add(0, row, x[column] * weight[:, None])
                    return adjacency.relu()
                """,
            inputs="(torch.randn(4, 8), torch.tensor([[0, 1, 2], [1, 2, 3]]), torch.rand(3))",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        return DETAIL if re.search(r"aten\._?(nested|sparse)", symptom.context) else super().matches(symptom)

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if call_of(node, function, r"torch\.nested\.(nested_tensor|as_nested_tensor)") and isinstance(
            node, ast.Call
        ):
            layout = argument(node, 9, "layout")
            return Match(node) if layout is None or function.names.dotted(layout) == "torch.strided" else None
        if found := call_of(node, function, r"torch\.sparse_(coo|csr|csc|bsr|bsc|compressed)_tensor"):
            return found
        tensor = receiver_of(node, r"to_sparse(_\w+)?")
        return match(node, certainty(tensor, function)) if tensor else None
