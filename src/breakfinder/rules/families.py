"""The break types that have no rule of their own, sorted into named families.

torch's registry has some hundreds of types, most of them rare.  A family says in plain words what its types
have in common; the rule that stands for it shows what torch itself says about the one at hand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from breakfinder.rules.rule import FAMILY, Rule
from breakfinder.rules.symptom import Symptom


@dataclass(frozen=True)
class Family:
    name: str
    """What its types are about, as it stands in a sentence."""
    code: str
    """The rule that stands for it."""
    pattern: re.Pattern[str]
    """Found in the names of its types, of those that no earlier family takes."""


def _family(name: str, code: str, *patterns: str) -> Family:
    return Family(name, code, re.compile("|".join(patterns)))


FAMILIES = (
    _family("distributed communication", "BF390", r"distributed|P2P|FSDP|Placement with"),
    _family("Triton kernels", "BF390", r"[Tt]riton|tma_descriptor|FlexAttention"),
    _family(
        "operators that take functions",
        "BF590",
        r"HOP\b|HigherOrder|higher order|torch\.(cond|switch|scan|map|while_loop|func)\b",
        r"invoke_subgraph|hints_wrapper|out_dtype|[Ss]trict[ _]mode|wrap_with_|executorch|subgraph_inputs",
        r"functor\w*|rewrite_signature|leaf_function|nonstrict_trace|pytree|non-single Tensor return",
        r"backward_state|assume_constant_result|associative_scan|flex_gemm|dual tensor",
    ),
    _family("opaque objects", "BF390", r"[Oo]paque"),
    _family(
        "modules and optimizers",
        "BF590",
        r"nn\.Module\b|NNModule|optimizer|unittest|_ntuple",
    ),
    _family(
        "symbolic numbers",
        "BF390",
        r"SymInt|SymNode|symbolic|torch\._check|Tensor comparison|non-scalar tensor|meta_consistency",
        r"FakeTensor example|real value|elementwise_dtypes|object identity",
    ),
    _family(
        "settings, devices and other functions of torch",
        "BF390",
        r"torch\.(accelerator|get_device_module|use_deterministic|compile\b|is_inference|\* op)",
        r"tensor\.is_inference|COW tensor|Data pointer|torch\.cuda|_SDPAParams|event method",
        r"op packet|call_method node|[Tt]ensor method|args/kwargs to proxy|reorder a debugging function",
    ),
    _family(
        "iteration and unpacking",
        "BF490",
        r"itertools|iter\w*\(|next\(|tp_iter|[Uu]npack|UNPACK|list\(\)|Comprehension",
    ),
    _family(
        "values that have to outlive a graph break",
        "BF490",
        r"[Rr]econstruct|closure|cell\b|source\b|[Ss]ourceless|SourceType|NullVariable|proxy not set",
        r"deleted variable|partial graph|Side effect on|SideEffects",
    ),
    _family(
        "classes and special methods",
        "BF490",
        r"super\b|__\w+__|[Hh]ash|attr|isinstance|issubclass|\bmro\b|[Mm]etaclass|dataclass|Enum\b",
        r"[Nn]amed[Tt]uple|TypedDict|descriptor|\bslot\b|_impl\b|\b(sq|mp|nb|tp)_\w+|richcompare|repr\(",
        r"comparison|str\(\)|[Ww]eakref|[Uu]ser[- ][Dd]efined|python_type|\bid\b",
        r"subscript|Python constant|typing",
    ),
    _family(
        "containers",
        "BF490",
        r"\bdict|\blist\b|deque|\bset\b|\bSET\b|slice|mapping|range\(\)",
    ),
    _family(
        "builtin functions",
        "BF490",
        r"builtin|constant fold|constant-like|cast\(\)|vars\(\)",
    ),
    _family(
        "functions and their arguments",
        "BF490",
        r"functools|inline|bind arguments|inspect|function call|method call|TypeError from user code",
        r"Variadic|\bargument",
    ),
    _family(
        "variables, imports and bytecode",
        "BF490",
        r"^_gb_type$|[Vv]ariable|ContextVar|GLOBAL|[Ii]mport|bytecode|LOAD_|BUILD_",
        r"CALL_INTRINSIC|assert with|name in frame|loop",
    ),
)


def family_of(gb_type: str) -> Family | None:
    """The family of a break type that has no rule of its own; None where nothing in its name is known."""
    return next((family for family in FAMILIES if family.pattern.search(gb_type)), None)


class FamilyRule(Rule):
    """Stands for the families that have its code.  Its texts may also name the ``{family}``."""

    title = "Not traced: {gb_type}"
    why = """
        At {expression} the graph ends, and a new one starts after it. torch names the reason "{gb_type}",
        one that has to do with {family}.

        torch says: {said}
        """
    remedy = """
        Follow torch's own hints, shown with this finding; or write the place in a simpler way, or move it
        out of the compiled function.
        """

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        family = family_of(symptom.gb_type)
        return FAMILY if family and family.code == cls.code else super().matches(symptom)

    @classmethod
    def placeholders(cls, symptom: Symptom) -> dict[str, str]:
        family = family_of(symptom.gb_type)
        return {**super().placeholders(symptom), "family": family.name if family else "none that is known"}
