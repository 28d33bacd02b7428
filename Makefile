# The words people try first. Everything happens in .venv, and in .venv-clients for the SDKs of
# tests/clients; nothing outside the checkout is touched except the model folder (see
# `hybridge models --help`).
PYTHON  ?= python3
VENV    ?= .venv
BIN      = $(VENV)/bin
CLIENTS ?= .venv-clients
WORKERS ?= auto
NODE     = tests/clients/node

.PHONY: help demo test clients node-clients fuzz lint format bench clean

help:            ## this list
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: [^#]*## */	/' | expand -t 12

demo: $(VENV)/installed            ## the gateway with a real edge model and a stand-in cloud
	$(BIN)/hybridge demo

test: $(VENV)/tested            ## every test that this machine can run
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal

clients: $(CLIENTS)/installed $(VENV)/tested            ## real SDKs, Python's and Node's, against a started gateway
	HYBRIDGE_PYTHON=$(abspath $(BIN))/python $(CLIENTS)/bin/python -m pytest -rfEs tests/clients
	@if command -v node >/dev/null && command -v npm >/dev/null; then $(MAKE) node-clients; \
	elif [ "$$CI" = true ]; then echo "the Node suites need node and npm" >&2; exit 1; \
	else echo "SKIPPED: the Node suites, for node and npm are not installed"; fi

node-clients: $(NODE)/node_modules/installed $(VENV)/tested
	cd $(NODE) && HYBRIDGE_PYTHON=$(abspath $(BIN))/python node --test

fuzz: $(VENV)/tested            ## a million bytes of events, a hundred thousand requests
	FUZZ_ROUNDS=20 $(BIN)/python -m pytest --numprocesses auto tests/fuzz

lint: $(VENV)/linted            ## ruff, mypy, pyright, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

format: $(VENV)/linted            ## ruff, with fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/tested            ## decision time, gateway overhead, a thousand streams; tables and JSON
	$(BIN)/python -m benchmarks.decision
	$(BIN)/python -m benchmarks.overhead
	$(BIN)/python -m benchmarks.streams

clean:            ## the environment and everything made by tools
	rm -rf $(VENV) $(CLIENTS) $(NODE)/node_modules .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

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

$(CLIENTS)/installed: pyproject.toml
	$(PYTHON) -m venv $(CLIENTS)
	@echo '*' > $(CLIENTS)/.gitignore
	$(CLIENTS)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'  # the first that knows groups
	$(CLIENTS)/bin/python -m pip install --quiet --group clients
	@touch $@

$(NODE)/node_modules/installed: $(NODE)/package-lock.json
	cd $(NODE) && npm ci --silent
	@touch $@
