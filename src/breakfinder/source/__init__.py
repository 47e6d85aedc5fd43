"""A stack of (file, line, columns) → the place in the source, with its expression, owner and fingerprint.

Nothing here imports torch.
"""

from breakfinder.source.location import describe_stack, locate, locate_function
from breakfinder.source.ownership import owner, shown_path
from breakfinder.source.place import resumed_function

__all__ = ["describe_stack", "locate", "locate_function", "owner", "resumed_function", "shown_path"]
