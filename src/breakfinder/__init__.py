"""breakfinder finds every torch.compile graph break, explains it and shows the line to change."""

__version__ = "0.1.0"
