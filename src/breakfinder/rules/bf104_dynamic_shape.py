"""BF104: an operator whose output shape depends on values."""

from breakfinder.rules.rule import Example, Rule
from breakfinder.rules.symptom import Symptom


class DynamicShape(Rule):
    code = "BF104"
    name = "data-dependent-shape"
    title = "The shape of a result depends on values"
    why = """
        The shape of {expression} depends on the values in a tensor ({operator}), and Dynamo traces
        without values. It ends the graph here, lets the operator run, and starts a new graph with the
        shape that came out.

        Indexing with a mask, `torch.nonzero`, `torch.where` with one argument, `torch.unique`,
        `torch.masked_select`, `torch.bincount` and `torch.repeat_interleave` do this.
        """
    remedy = """
        Keep the full shape and mask: `torch.where(mask, new, old)` in place of `x[mask]`, if rows do not
        depend on each other. Where a function takes the size as an argument (`num_classes` of `one_hot`),
        give it.

        Otherwise set `torch._dynamo.config.capture_dynamic_output_shape_ops = True`: the size then
        becomes a symbol in the graph. `fullgraph=True` switches this on as well.
        """
    gb_types = (
        "Dynamic shape operator",
        "Dynamic shape operator (no meta kernel)",
        "Dynamic slicing with Tensor arguments",
        "Attempted to use `torch.nn.functional.one_hot` with data-dependent output shape",
    )
    examples = (
        Example(
            broken="""
                import torch


                def fn(x, valid):
                    out = torch.zeros_like(x)
                    picked = x[valid]  # <-- break
                    out[valid] = picked.tanh()
                    return out
                """,
            fixed="""
                import torch


                def fn(x, valid):
                    return torch.where(valid[:, None], x.tanh(), torch.zeros_like(x))
                """,
            inputs="(torch.randn(4, 8), torch.tensor([True, False, True, True]))",
        ),
        Example(
            broken="""
                import torch


                def fn(ids):
                    return torch.unique(ids).sum()  # <-- break
                """,
            fixed="""
                import torch


                def fn(ids):
                    return torch.unique(ids).sum()
                """,
            fixed_config={"capture_dynamic_output_shape_ops": True},
            inputs="(torch.tensor([1, 2, 2]),)",
        ),
        Example(
            broken="""
                import torch


                def fn(ids):
                    return torch.nn.functional.one_hot(ids) * 2  # <-- break
                """,
            fixed="""
                import torch


                def fn(ids):
                    return torch.nn.functional.one_hot(ids, num_classes=3) * 2
                """,
            inputs="(torch.tensor([1, 2, 2]),)",
        ),
    )

    @classmethod
    def placeholders(cls, symptom: Symptom) -> dict[str, str]:
        operator = symptom.context if symptom.context.startswith("aten.") else ""
        return {
            **super().placeholders(symptom),
            "operator": f"`{operator}`" if operator else "no operator named",
        }
