PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_SEED ?= 0
OUT ?= runs/cube-stack-$(RUN_SEED)

.PHONY: setup learn test bench clean

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "surefoot needs Python 3.11 or newer; set PYTHON=…")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[robosuite,dev]'
	touch $@

learn: setup
	if [ -e $(OUT)/manifest.json ]; then $(BIN)/surefoot resume $(OUT); \
	else $(BIN)/surefoot learn robosuite/cube-stack --held-out 1-20 --run-seed $(RUN_SEED) --out $(OUT); fi

test: setup
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/pytest

bench: setup
	$(BIN)/python benchmarks/boundary.py
	$(BIN)/python benchmarks/stepping.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
