# Everything a newcomer needs. Each target sets up what it needs; the second time is quick.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
WORKERS ?= 2

.PHONY: install trip test check lint lock wheel clean

install: $(STAMP)

$(STAMP): pyproject.toml requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv>=0.9"
	$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	touch $(STAMP)

lock:
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --group dev pyproject.toml -o requirements.lock
