# Everything runs in .venv, which the first call builds; nothing outside this folder is changed.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt

CANDIDATES := python3.13 python3.12 python3.11 python3
SUITABLE := import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))

ifndef PYTHON
PYTHON := $(shell for python in $(CANDIDATES); do \
	if $$python -c '$(SUITABLE)' 2>/dev/null; then echo $$python; break; fi; done)
endif

.DEFAULT_GOAL := help
# Of `make table1`: seeds of each row, and runs at a time, among which the cores are divided.
SEEDS := 1
WORKERS := 2

.PHONY: help install demo table1 test bench soak worlds vectors lint format clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  PYTHON=/path/to/python chooses the interpreter (3.11 to 3.13) that .venv is built with"

install: $(STAMP) ## build .venv with everything in it; does nothing when it is up to date

$(STAMP): requirements.txt constraints.txt pyproject.toml $(wildcard elmo_tasks/compat/site/*.p*)
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11, 3.12 or 3.13 with venv and ensurepip" \
		"found (tried $(CANDIDATES)); install one, or call make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c '$(SUITABLE)' 2>/dev/null || { echo "error: $(PYTHON) is not a Python 3.11, 3.12" \
		"or 3.13 with venv and ensurepip" >&2; exit 1; }
	@echo "building $(VENV) with $(PYTHON); the first time takes a few minutes"
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@echo "  PyTorch"
	@$(PIP) torch
	@echo "  the packages of requirements.txt"
	@$(PIP) --requirement requirements.txt
	@echo "  AllenNLP and elmo_tasks"
	@$(PIP) --no-deps allennlp==2.10.1
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

demo: install ## train ner with and without ELMo at scale mini, and show both scores
	@$(BIN)/python -m elmo_tasks.commands.demo

table1: install ## Table 1 for all six tasks at scale mini, into out/table1; SEEDS=3 for three seeds
	@ELMO_TASKS_SCALE=mini ELMO_TASKS_DATA= $(BIN)/allennlp ablate training_config/ablations/table1.jsonnet \
		-s out/table1 --seeds $(SEEDS) --workers $(WORKERS)

test: lint ## lint, types and tests
	@$(BIN)/python -m pytest

bench: install ## the biLM's speed beside AllenNLP's, as docs/PERFORMANCE.md has it
	@$(BIN)/python benchmarks/bilm.py

soak: install ## trainings killed and resumed, and damaged files read, as docs/RELIABILITY.md has it: half an hour
	@PYTHONPATH=. OMP_NUM_THREADS=1 $(BIN)/python benchmarks/soak.py
	@PYTHONPATH=. OMP_NUM_THREADS=1 $(BIN)/python benchmarks/fuzz.py

worlds: install ## write the embedded corpora anew, which a test compares with the committed ones
	@$(BIN)/python -c "from elmo_tasks.miniworld.generate import write_all; write_all('fixtures/miniworld')"

vectors: worlds ## train scale mini's word vectors anew on ELMO_TASKS_DATA/lm, with gensim: ten minutes
	@test -n "$(ELMO_TASKS_DATA)" || { echo "error: ELMO_TASKS_DATA must name the data root" >&2; exit 1; }
	@$(PIP) "gensim>=4.4,<5"
	@$(BIN)/python -c "import glob; from elmo_tasks.miniworld.vectors import corpus_words, train_vectors; \
		train_vectors(sorted(glob.glob('$(ELMO_TASKS_DATA)/lm/train.*.txt*')), \
		'fixtures/miniworld/vectors/w2v.100d.txt.gz', words=corpus_words('fixtures/miniworld'))"

lint: install ## ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: install ## let ruff format the code and mend what it can
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

clean: ## remove what building and testing left
	@rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
	@echo "build outputs and caches removed; $(VENV) and trained models (output folders) stay"
