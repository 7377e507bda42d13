# The commands of the project. Needs Python >= 3.11 with its venv, and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
REPORT := consilience-report
DB ?= sqlite:///consilience.db
DATA ?=
BASE ?= HEAD
FEATURES ?=

export CONSILIENCE_DATA ?= $(abspath $(wildcard ../shared/data))

.PHONY: help setup demo report serve bench test test-all test-model test-near test-lowest lint format hooks docs docs-quick dist papers people speed speed-compare papers-check clean

help:
	@echo "make setup     virtual environment in $(VENV) with everything"
	@echo "make demo      cluster digits from a simulated crowd, or DATA=file.csv [FEATURES=file.csv]; writes $(REPORT)/report.html"
	@echo "make report    show the report of make demo at http://127.0.0.1:8000/report.html"
	@echo "make serve     collect groupings in the browser, with a demo study, at http://127.0.0.1:8000/admin; keeps them in $(DB)"
	@echo "make test      the test suite"
	@echo "make test-all  the slow tests too"
	@echo "make test-model MODEL=dawid_skene  the tests that concern one model, by its module or class"
	@echo "make test-near  the tests that concern what changed since the last commit, or since BASE=main~3"
	@echo "make test-lowest  the test suite with the lowest versions that pyproject.toml allows, in .venv-lowest"
	@echo "make lint      format, style and types"
	@echo "make hooks     check each commit, with pre-commit"
	@echo "make docs      the documentation, in docs/_build/html"
	@echo "make docs-quick  the same without running the examples of the gallery"
	@echo "make dist      the sdist and the wheel, in dist, checked"
	@echo "make bench     a server of studies under load and under kills, with SQLite and with PostgreSQL"
	@echo "make papers    the pages of the papers: compute what is missing or out of date, and write them"
	@echo "make people    the pages on data of people, in the same way"
	@echo "make speed     the page of seconds and memory, against peers and against the machine, in the same way"
	@echo "make speed-compare  fail if something takes 1.5 times as long as when it was kept, by the clock of this machine"
	@echo "make papers-check  say what is out of date, and where the pages differ from the record of results"
	@echo "make clean     remove what these targets made"

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Consilience needs Python 3.11 or later; set PYTHON=…")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(VENV)/bin/python pyproject.toml
	@test -e $(VENV)/.full || $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.collect: $(VENV)/bin/python pyproject.toml
	@test -e $(VENV)/.full || $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[collect,parquet]'
	@touch $@

$(VENV)/.full: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all,dev]'
	@touch $@

setup: $(VENV)/.full

demo: $(VENV)/.core
ifeq ($(DATA),)
	mkdir -p $(REPORT)
	$(BIN)/consilience simulate crowd digits --annotators 20 --items-each 400 --merge 0.2 \
	    --out $(REPORT)/annotations.csv --features-out $(REPORT)/features.csv
	$(BIN)/consilience fit $(REPORT)/annotations.csv --features $(REPORT)/features.csv --set max_clusters=30 \
	    --words digits,people --jobs -1 --out $(REPORT)
else
	$(BIN)/consilience fit "$(DATA)" $(if $(FEATURES),--features "$(FEATURES)") --jobs -1 --out $(REPORT)
endif

# three workers, a thread each, on two cores: one of them waits for a browser or a server; what the tests of a file share
# is made once
TESTS := $(BIN)/python -m pytest -n 3 --dist loadfile
test test-all test-model test-near test-lowest: export OMP_NUM_THREADS = 1

# without compiled files, each process that the tests start compiles the package again
test test-all test-model test-near: export PYTHONDONTWRITEBYTECODE =

test: setup
	$(TESTS)

test-all: setup
	$(TESTS) -m '' --check-every-call --thorough

test-model: setup
	$(TESTS) --model '$(MODEL)'

test-near: setup
	$(TESTS) --near '$(BASE)'

# its own environment; the constraints come from pyproject.toml
test-lowest:
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip packaging
	$(LOWEST)/bin/python tools/lowest_versions.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check \
	    --constraint $(LOWEST)/constraints.txt --editable '.[all,dev]'
	$(LOWEST)/bin/python -m pytest -n 3 --dist loadfile -p no:cacheprovider

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

hooks: setup
	$(BIN)/pre-commit install

docs-quick: SPHINX_OPTIONS = -D plot_gallery=0

# all pages anew: the warnings of a page that was kept would be silent
docs docs-quick: setup
	$(BIN)/python -m sphinx -E -W --keep-going $(SPHINX_OPTIONS) -b html docs docs/_build/html

dist: setup
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tools/check_dist.py

papers: setup
	$(BIN)/python -m benchmarks.papers

people: setup
	$(BIN)/python -m benchmarks.people

speed: setup
	$(BIN)/python -m benchmarks.speed

speed-compare: setup
	$(BIN)/python -m benchmarks.speed --compare

bench: setup
	$(BIN)/python -m benchmarks.collect_cost
	$(BIN)/python -m benchmarks.collect_load
	$(BIN)/python -m benchmarks.collect_load --postgres
	$(BIN)/python -m benchmarks.collect_load --highest --seconds 15
	$(BIN)/python -m benchmarks.collect_load --highest --seconds 15 --postgres
	$(BIN)/python -m benchmarks.collect_kills
	$(BIN)/python -m benchmarks.collect_kills --postgres

papers-check: setup
	@status=0; for package in papers people speed; do $(BIN)/python -m benchmarks.$$package --check || status=1; done; exit $$status

report: $(VENV)/.core
	@test -e $(REPORT)/report.html || { echo "There is no $(REPORT)/report.html; run make demo first." >&2; exit 2; }
	$(BIN)/python -m http.server 8000 --bind 127.0.0.1 --directory $(REPORT)

serve: $(VENV)/.collect
	$(BIN)/consilience serve --demo --db "$(DB)"

clean:
	rm -rf $(VENV) $(LOWEST) $(REPORT) docs/_build docs/gallery docs/generated dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
