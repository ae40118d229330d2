# Two commands matter: `make demo` and `make test`. Both set up what is missing, on a bare
# Debian or Ubuntu with Python 3.11+, make and git. `make help` lists the rest.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.SUFFIXES:
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && exit; done; echo python3)
BIN := .venv/bin
ARGS ?=
JOBS ?= 2
GENERATORS := $(sort $(wildcard tools/gen_*.py))

.PHONY: help setup setup-python demo test check format up down status lock proto pages conformance verify bench-decide bench bench-relay bench-reference

help:  ## list these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10
	@echo 'variables: demo: ONCE=1 KEEP=1 FLIGHTS=300 SEED=1 SPEED=   up: KEEP=1 DETACH=1   test: ARGS="-k name" JOBS=0'
	@echo 'ports:     MSGX_LOCAL_{POSTGRES,MYSQL,REDIS,KAFKA}_PORT   folder: MSGX_LOCAL_FOLDER'

setup:  ## install what is missing: packages, virtual environment, Kafka's libraries
	@$(PYTHON) tools/setup.py

setup-python:
	@$(PYTHON) tools/setup.py --python-only

demo: setup  ## run everything on this machine and play a simulated airport day
	@exec $(BIN)/python -m deploy.local.demo

test: setup  ## run every test, in JOBS processes with servers of their own
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(ARGS)

conformance: setup  ## run and print the conformance matrix
	@$(BIN)/python tools/conformance.py

verify: setup-python  ## compare journal, tables, outbox and Redis of a kept or running demo
	@exec $(BIN)/python -m deploy.local.verify

bench-relay: setup  ## measure how fast a backlog leaves, beside a floor
	@$(BIN)/python -m tests.bench.relay $(ARGS)

bench-reference: setup  ## time a package of reference data, and the hand-off to refdata
	@$(BIN)/python -m tests.bench.reference $(ARGS)

bench: setup  ## time the processor over a backlog: messages a second, memory
	@$(BIN)/python tools/bench_processor.py

bench-decide: setup-python  ## time the pure decisions, in microseconds
	@$(BIN)/python tools/bench_decide.py

check: setup-python  ## formatting, lint, types, import contracts, generated pages
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/buf lint proto
	$(BIN)/python tools/breaking.py
	@set -e; for generator in $(GENERATORS); do echo "$$generator --check"; $(BIN)/python $$generator --check; done

proto: setup-python  ## generate msgx/rpc from proto/
	$(BIN)/python tools/gen_proto.py

pages: setup-python  ## write the generated pages anew
	@set -e; for generator in $(GENERATORS); do echo $$generator; $(BIN)/python $$generator; done

format: setup-python  ## format the code and repair what lint can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

up: setup  ## start PostgreSQL, MariaDB, Redis and Kafka on loopback
	@exec $(BIN)/python -m deploy.local up

down: setup-python  ## stop them
	@exec $(BIN)/python -m deploy.local down

status: setup-python  ## say where they are reached
	@exec $(BIN)/python -m deploy.local status

lock:  ## pin the versions that a clean installation gets now
	@set -e; trap 'rm -rf build/lock' EXIT; rm -rf build/lock; \
	$(PYTHON) -m venv build/lock && build/lock/bin/pip install -q -e '.[dev]' && \
	build/lock/bin/pip freeze --exclude-editable > build/lock/constraints.txt && \
	mv build/lock/constraints.txt constraints.txt && echo 'constraints.txt is written: review it like code'
