# Everything a newcomer needs. Each target sets up what it needs by itself; the second time is quick.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
WORKERS ?= 2

SAMPLE = Plan a trip from San Francisco to Berlin and Cologne and then back to San Francisco in June 2025, \
flexible within the month, at most $$5,000 in total, 3-4 star hotels, direct flights when possible, \
4 days in Berlin and 2 in Cologne

.PHONY: help install trip test check lint sweep explore lock wheel clean

help:
	@echo "make trip     plan and book the sample trip (approves itself, prints committed)"
	@echo "make test     all tests"
	@echo "make check    lint, types, import contracts, tests: what CI runs"
	@echo "make sweep    kill the sample trip at every boundary, resume it, print the matrix"
	@echo "make explore  the long form of the exploration of the pure core"

install: $(STAMP)

$(STAMP): pyproject.toml requirements.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv>=0.9"
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

trip: $(STAMP)
	@$(BIN)/sagagraph trip "$(SAMPLE)" --yes

test: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test

sweep: $(STAMP)
	$(BIN)/python -m sagagraph.testing --jobs $(WORKERS)

explore: $(STAMP)
	SAGAGRAPH_EXPLORE=full $(BIN)/python -m pytest -n $(WORKERS) tests/saga

wheel: $(STAMP)
	$(BIN)/uv build --quiet --wheel --no-build-isolation --python $(BIN)/python --out-dir dist

lock:
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --group dev pyproject.toml -o requirements.lock

clean:
	rm -rf .venv dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis
