# Everything runs in .venv, which the first target that needs it makes; only python3 and make have to be there.
PYTHON ?= python3
# For gpu-check: which extra brings CuPy, and options of .ci/gpu-check.
CUDA ?= 13
GPU_CHECK ?=
# For fuzz: mutants of each kind, and what they are drawn from.
FUZZ ?= 100000
FUZZ_SEED ?= ndwright
# For test-slow and test-extras: the share of long sweeps and of tables with many rows that runs, 0.25 for a quarter.
SWEEP ?= 1
# For java-check: the release of Deeplearning4j.
DL4J ?= 1.0.0-M2.1
# For cupy-check: the release of CuPy, options of tests/cuda_on_host.
CUPY ?= 14.2.0
CUPY_CHECK ?=
# For backends-check: the release of PyTorch, options of pytest.
TORCH ?= 2.13.0
BACKENDS_CHECK ?=
# For onednn-check: what computes nothing, or the same whatever computes it.
NOTHING_OF_ONEDNN := tests/fuzz tests/optimize tests/nd/dataset tests/nn/cli tests/nn/conf tests/nn/dl4j tests/nn/files tests/nn/keras \
	tests/nn/onnx tests/test_architecture.py tests/test_architecture_page.py tests/test_articles.py \
	tests/test_contributing.py tests/test_docs.py tests/test_gpu_check.py tests/test_import_cost.py tests/test_names.py \
	tests/test_names_in_use.py tests/test_on_demand.py tests/test_packaging.py tests/test_public_interface.py \
	tests/test_readme.py tests/test_typed_blocks.py tests/test_words.py
# For test-extras, which runs all tests of it: what people bring, in pipelines, folders and files of weights.
BROUGHT := tests/test_sklearn_example.py tests/nn/sklearn tests/nn/zoo tests/nd/dataset/augmentation tests/nd/dataset/images
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
CUPY_VENV := .cupy/venv-$(CUPY)
TORCH_VENV := .torch/venv-$(TORCH)
EXTRAS_VENV := $(VENV)/extras

# Tests start hundreds of programs, each of which would compile the whole package where no bytecode may be kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: backends-check onednn-check help lenet test test-extras test-slow fuzz fuzz-api java-check cupy-check cupy-slow gpu-check gpu-rehearsal lint format bench \
	bench-quick clean

help:
	@echo "make lenet      train and evaluate LeNet (MNIST, or the bundled digits)"
	@echo "make test       run the tests                make test-slow  the ones that take minutes"
	@echo "make gpu-check  check and measure on a GPU   make lint       ruff, mypy, Pyright"
	@echo "make test-extras  run Caffe's nets beside OpenCV, Keras' models beside Keras, estimators, the zoo"
	@echo "make bench      measure against PyTorch, most of an hour; make bench-quick: some minutes, prints only"
	@echo "make clean      remove .venv and caches"
	@echo "make fuzz       open damaged files, FUZZ=n of each kind"
	@echo "make fuzz-api   call everything public with wrong arguments"
	@echo "make onednn-check  run the tests of what computes with oneDNN, where they otherwise take NumPy alone"
	@echo "make backends-check  run what runs on every backend on PyTorch's arrays. TORCH=2.12.0 another release"
	@echo "make cupy-check run everything on the real CuPy, on a processor; needs g++. CUPY=14.1.1 another release"
	@echo "make gpu-rehearsal  run gpu-check and its benchmark on a processor; the figures mean nothing"
	@echo "make java-check hold everything against Java itself, DL4J=1.0.0-M1.1 another release; needs Java and Maven"

lenet: $(VENV)/core
	$(BIN)/python examples/lenet_mnist.py

test: $(VENV)/test
	$(BIN)/python -m pytest -n auto --dist=worksteal

onednn-check: $(VENV)/test
	ND_ONEDNN=1 $(BIN)/python -m pytest -n auto --dist=worksteal tests $(NOTHING_OF_ONEDNN:%=--ignore=%)

test-slow: $(VENV)/test
	SWEEP=$(SWEEP) $(BIN)/python -m pytest -n auto --dist=worksteal -m slow tests $(BROUGHT:%=--ignore=%)
	@$(MAKE) --no-print-directory cupy-slow

test-extras: $(EXTRAS_VENV)/made
	SWEEP=$(SWEEP) $(EXTRAS_VENV)/bin/python -m pytest -m "slow or not slow" --needing=opencv tests/nn/caffe
	SWEEP=$(SWEEP) OMP_NUM_THREADS=1 $(EXTRAS_VENV)/bin/python -m pytest -n auto -m "slow or not slow" --needing=keras tests
	SWEEP=$(SWEEP) OMP_NUM_THREADS=1 $(EXTRAS_VENV)/bin/python -m pytest -n auto --dist=worksteal -m "slow or not slow" $(BROUGHT)

backends-check: $(TORCH_VENV)/made
	OMP_NUM_THREADS=1 $(TORCH_VENV)/bin/python -m pytest -n auto --dist=worksteal --backend=array_api:torch \
		--needing=backend --needing=any_backend --needing=torch --needing=libraries $(BACKENDS_CHECK)

cupy-slow: $(CUPY_VENV)/made
	$(CUPY_VENV)/bin/python -m tests.cuda_on_host .cupy -m slow --needing=cupy

fuzz: $(VENV)/test
	FUZZ=$(FUZZ) FUZZ_SEED=$(FUZZ_SEED) $(BIN)/python -m pytest -m slow -s tests/fuzz/test_fuzz.py tests/fuzz/test_fuzz_caffe.py

fuzz-api: $(VENV)/test
	$(BIN)/python -m pytest -m "slow or not slow" -s tests/fuzz/test_fuzz_api.py

java-check: $(VENV)/test
	$(BIN)/python -m tests.java_check --release $(DL4J)

cupy-check: $(CUPY_VENV)/made
	$(CUPY_VENV)/bin/python -m tests.cuda_on_host .cupy $(CUPY_CHECK)

gpu-rehearsal: $(CUPY_VENV)/made
	$(CUPY_VENV)/bin/python -m tests.cuda_on_host.install .cupy
	$(CUPY_VENV)/bin/python -m tests.cuda_on_host.rehearsal

gpu-check: $(VENV)/test $(VENV)/cuda$(CUDA)
	PYTHON=$(BIN)/python .ci/gpu-check --device-only
	@$(MAKE) --no-print-directory $(VENV)/bench
	PYTHON=$(BIN)/python .ci/gpu-check $(GPU_CHECK)

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m tests.typed_blocks

format: $(VENV)/dev
	$(BIN)/python -m tests.type_imports
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/bench
	$(BIN)/python benchmarks/results.py

bench-quick: $(VENV)/bench
	$(BIN)/python benchmarks/suite.py --quick

clean:
	rm -rf $(VENV) .cupy .torch .pytest_cache .mypy_cache .ruff_cache *.egg-info

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "ndwright needs Python 3.11 or newer, $(PYTHON) is older; set PYTHON=python3.12, say"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "python3 -m venv failed; on Debian: apt-get install python3-venv"; exit 1; }
	@touch $@

$(CUPY_VENV)/made: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 4))' && command -v g++ > /dev/null || \
		{ echo "cupy-check needs Linux on x86-64, Python 3.11.4 or newer with its headers, and g++"; exit 1; }
	@mkdir -p .cupy
	@$(PYTHON) -m venv $(CUPY_VENV)
	$(CUPY_VENV)/bin/python -m pip --disable-pip-version-check install --quiet --editable ".[test,cupy-check]" \
		cupy-cuda13x==$(CUPY)
	@touch $@

$(TORCH_VENV)/made: $(VENV)/made pyproject.toml
	@mkdir -p .torch
	@$(PYTHON) -m venv $(TORCH_VENV)
	$(TORCH_VENV)/bin/python -m pip --disable-pip-version-check install --quiet --editable ".[test,torch]" \
		torch==$(TORCH)
	@touch $@

$(EXTRAS_VENV)/made: $(VENV)/made pyproject.toml
	@$(PYTHON) -m venv $(EXTRAS_VENV)
	$(EXTRAS_VENV)/bin/python -m pip --disable-pip-version-check install --quiet --editable ".[test,keras-check,opencv-check]"
	@touch $@

$(VENV)/core: $(VENV)/made pyproject.toml
	$(PIP) --editable ".[download,progress]"
	@touch $@

$(VENV)/test $(VENV)/dev $(VENV)/bench $(VENV)/cuda12 $(VENV)/cuda13: $(VENV)/made pyproject.toml
	$(PIP) --editable ".[$(notdir $@)]"
	@touch $@
