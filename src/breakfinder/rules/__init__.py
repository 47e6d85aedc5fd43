"""Rules: what each kind of problem looks like, why it happens and what to do about it.

One module per rule, named after its code.  Nothing here imports torch.
"""

from breakfinder.rules.diagnosis import (
    Diagnosis,
    diagnose,
    diagnose_error,
    diagnose_pattern,
    diagnose_recompilation,
    diagnose_skip,
)
from breakfinder.rules.registry import all_rules, by_code
from breakfinder.rules.rule import Example, Rule

__all__ = [
    "Diagnosis",
    "Example",
    "Rule",
    "all_rules",
    "by_code",
    "diagnose",
    "diagnose_error",
    "diagnose_pattern",
    "diagnose_recompilation",
    "diagnose_skip",
]
