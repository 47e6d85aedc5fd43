"""breakfinder finds every torch.compile graph break, explains it and shows the line to change.

``breakfinder.check(model, *args, **kwargs)`` checks a live model and gives a `Report`.  Importing the package
imports neither torch nor anything else of weight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Report", "__version__", "check"]

if TYPE_CHECKING:
    from breakfinder.pipeline import check_object as check
    from breakfinder.report.model import Report


def __getattr__(name: str) -> Any:
    if name == "check":
        from breakfinder.pipeline import check_object

        return check_object
    if name == "Report":
        from breakfinder.report.model import Report

        return Report
    raise AttributeError(f"module 'breakfinder' has no attribute '{name}'")
