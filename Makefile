# The words people try first. Everything happens in .venv; nothing outside the checkout is touched
# except the model folder (see `hybridge models --help`).
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin

.PHONY: help demo test lint format bench clean

help:            ## this list
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: [^#]*## */	/' | expand -t 12

demo: $(VENV)/installed            ## the gateway with a real edge model and a stand-in cloud
	$(BIN)/hybridge demo

test: $(VENV)/tested            ## every test that this machine can run
	$(BIN)/python -m pytest --numprocesses auto

lint: $(VENV)/linted            ## ruff, mypy, pyright, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

format: $(VENV)/linted            ## ruff, with fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/tested            ## gateway overhead and decision time; tables and JSON
	$(BIN)/python -m benchmarks.decision
	$(BIN)/python -m benchmarks.overhead

clean:            ## the environment and everything made by tools
	rm -rf $(VENV) .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Hybridge needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/tested: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'  # the first that knows groups
	$(BIN)/python -m pip install --quiet --group test
	@touch $@

$(VENV)/linted: $(VENV)/tested
	$(BIN)/python -m pip install --quiet --group lint
	@touch $@
