PYTHON ?= .venv/bin/python

.PHONY: test lint docs
test: lint
	$(PYTHON) -m pytest -n 2 --dist worksteal

lint:
	$(PYTHON) -m ruff check src tests benchmarks
	$(PYTHON) -m ruff format --check src tests benchmarks
	$(PYTHON) -m mypy

docs:
	$(PYTHON) -m breakfinder.rules.docs
	$(PYTHON) -m breakfinder.cli.docs
