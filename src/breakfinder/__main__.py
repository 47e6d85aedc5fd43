"""``python -m breakfinder``."""

from breakfinder.cli import main

main()
