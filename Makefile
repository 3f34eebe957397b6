# `make demo` and `make test` set up everything they need; the other targets are their parts.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python -m
# Progress bars on a terminal, silence in a log.
PIP := $(RUN) pip --disable-pip-version-check $(if $(MAKE_TERMOUT),,--quiet) install -c constraints.txt
CORE := $(VENV)/.core-installed
DEV := $(VENV)/.dev-installed
TESTED := tests rt_gym agents training
# All but what they share, the comparison with another checkout, which wants to be told where that is, and the one that
# asks the same question for most of an hour.
BENCHMARKS := $(filter-out %/measure.py %/against.py %/recommend.py,$(wildcard benchmarks/*.py))

# For while one works: agents, references, search and environments, without what takes longest.
QUICK := tests/agents tests/reference tests/rt_gym tests/test_layout.py \
	$(addprefix --ignore-glob=*/test_,adding.py env_registry.py jit.py maps_*.py render.py sb3.py splits.py)

# What touches every library: environments, files and pictures, trainings and commands, and two agents.
OTHER_VERSIONS_TESTED := tests/rt_gym tests/training tests/agents/test_contract.py tests/agents/test_astar.py

.PHONY: demo test quick lint types docs unit lowest newest bench fuzz dist help clean

demo: $(CORE)
	$(VENV)/bin/rt-gym demo

# The first three take one core each.
test: $(DEV)
	@$(MAKE) --no-print-directory --jobs=2 lint types docs
	@$(MAKE) --no-print-directory unit

quick: lint
	RTGYM_HYPOTHESIS=quick $(RUN) pytest -n 2 --dist worksteal $(QUICK)

lint: $(DEV)
	$(RUN) ruff check
	$(RUN) ruff format --check

types: $(DEV)
	$(RUN) mypy

# In build/docs/index.html. Pages that have not changed are not made again.
docs: $(DEV)
	$(RUN) sphinx --quiet --jobs auto --nitpicky --fail-on-warning --keep-going docs build/docs

unit: $(DEV)
	$(RUN) pytest -n 2 --dist worksteal --doctest-modules $(TESTED)
	NUMBA_DISABLE_JIT=1 $(RUN) pytest -n 2 --dist worksteal -m "plain and not slow"

# Other versions than those of constraints.txt, PyTorch apart, in an environment that is made anew each time: pip leaves
# alone what is already there and fits.
lowest newest:
	@rm -rf .venv-$@
	@$(MAKE) --no-print-directory VENV=.venv-$@ .venv-$@/bin/python
	@echo "Installing rt_gym and its development tools at the $@ versions into .venv-$@."
	@.venv-$@/bin/python tests/versions.py $@ >.venv-$@/constraints.txt
	@.venv-$@/bin/python -m pip --disable-pip-version-check --quiet install -c .venv-$@/constraints.txt -e ".[dev]"
	RTGYM_HYPOTHESIS=quick .venv-$@/bin/python -m pytest -n 2 --dist worksteal $(OTHER_VERSIONS_TESTED)

bench: $(DEV)
	for script in $(BENCHMARKS); do $(VENV)/bin/python $$script || exit 1; done

# What docs/reliability.md promises, on random cases: PARTS="recount files", CASES=1000, WRITE=docs/reliability.md.
MINUTES ?= 10
SEED ?= 0
FUZZ = $(PARTS) --minutes $(MINUTES) --seed $(SEED) $(CASES:%=--cases %) $(WRITE:%=--write-docs %)

fuzz: $(DEV)
	PYTHONPATH=.:tests $(RUN) fuzz $(FUZZ)

# Wheel and source archive in dist/, checked as the package index would, and for files that are missing.
dist: $(DEV)
	@$(PIP) -e ".[release]"
	rm -rf dist build/lib build/bdist.*
	$(RUN) build
	$(RUN) twine check --strict dist/*
	$(VENV)/bin/python tests/wheel_files.py dist/*.whl

# What CONTRIBUTING.md says of the commands.
help:
	@sed -n 's/^| `\(make [^`]*\)` | \(.*\) |$$/\1\t\2/p' CONTRIBUTING.md | expand -t 36

clean:
	rm -rf $(VENV) .venv-lowest .venv-newest build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
	find . -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || \
		{ echo "There is no command $(PYTHON); name yours, as in: make PYTHON=python3.12 demo" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "rt_gym needs Python 3.11 or newer; name one, as in: make PYTHON=python3.12 demo" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(CORE): pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing rt_gym into $(VENV); the first time this takes a few minutes."
	@$(PIP) -e .
	@touch $@

# The tools contain the core, so both stamps are fresh afterwards.
$(DEV): pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing rt_gym and its development tools into $(VENV); the first time this takes several minutes."
	@$(PIP) -e ".[dev]"
	@touch $(CORE) $@
