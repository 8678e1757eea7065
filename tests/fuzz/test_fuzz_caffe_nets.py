"""Mutants of nets and solvers that are built and run, and of snapshots that are restored: typed errors, no others."""

import os

import pytest

from nn.caffe.net import Net
from nn.caffe.solver import get_solver
from tests.cases.caffe_solvers import EVERYTHING, SETTINGS, least_squares, solver_text, write_everything
from tests.fuzz.test_fuzz_caffe import damaged_text
from tests.nn.caffe.solver.test_resume import everything
from tests.sweeps import share

from .mutator import damaged_bytes, generator
from .surveys import check

FAST = {"nets": 150, "solvers": 100, "states": 100, "weights": 100}
SLOW = int(os.environ.get("FUZZ", share(20000))) // 20
SEED = os.environ.get("FUZZ_SEED", "ndwright")
NUMBERS = ("-1", "0", "1", "2", "3", "7", "0.5", "-2.5", "1e30", "nan", "-inf", "2147483647", "4294967295", "300")
NETS = (
    """layer { name: "data" type: "Input" top: "data" top: "label" input_param {
  shape { dim: 2 dim: 3 dim: 8 dim: 8 } shape { dim: 2 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" param { lr_mult: 1 } convolution_param {
  num_output: 4 kernel_size: 3 stride: 2 pad: 1 group: 1 dilation: 1 weight_filler { type: "xavier" } } }
layer { name: "lrn" type: "LRN" bottom: "conv" top: "lrn" lrn_param { local_size: 3 alpha: 0.1 beta: 0.75 } }
layer { name: "relu" type: "ReLU" bottom: "lrn" top: "lrn" relu_param { negative_slope: 0.1 } }
layer { name: "pool" type: "Pooling" bottom: "lrn" top: "pool" pooling_param { kernel_size: 2 stride: 2 pad: 0 } }
layer { name: "flat" type: "Reshape" bottom: "pool" top: "flat" reshape_param { shape { dim: 0 dim: -1 } axis: 0 } }
layer { name: "ip" type: "InnerProduct" bottom: "flat" top: "ip" inner_product_param {
  num_output: 5 axis: 1 weight_filler { type: "gaussian" std: 0.1 } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" loss_weight: 1
  softmax_param { axis: 1 } loss_param { ignore_label: 1 normalization: VALID } }""",
    """layer { name: "data" type: "DummyData" top: "a" top: "b" dummy_data_param { shape { dim: 2 dim: 6 }
  data_filler { type: "uniform" min: 0 max: 1 } } }
layer { name: "slice" type: "Slice" bottom: "a" top: "c" top: "d" slice_param { axis: 1 slice_point: 2 } }
layer { name: "tile" type: "Tile" bottom: "c" top: "e" tile_param { axis: 1 tiles: 2 } }
layer { name: "concat" type: "Concat" bottom: "e" bottom: "d" top: "f" concat_param { axis: 1 } }
layer { name: "power" type: "Power" bottom: "f" top: "g" power_param { power: 2 scale: 0.5 shift: 1 } }
layer { name: "scale" type: "Scale" bottom: "g" top: "h" scale_param { axis: 1 num_axes: 1 bias_term: true } }
layer { name: "sum" type: "Reduction" bottom: "h" top: "s" reduction_param { axis: 1 coeff: 0.5 } loss_weight: 0.5 }
layer { name: "max" type: "ArgMax" bottom: "b" top: "m" argmax_param { top_k: 2 axis: 1 } }""",
)


def numbers_too(content, rng, others):
    """Words damaged, or numbers exchanged for others."""
    if rng.random() < 0.5:
        return damaged_text(content, rng, others)
    words = content.decode().split(" ")
    places = [at for at, word in enumerate(words) if word.replace(".", "").replace("-", "").isdigit()]
    for at in rng.sample(places, rng.choice((1, 1, 2))):
        words[at] = rng.choice(NUMBERS)
    return " ".join(words).encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_everything(tmp_path_factory.mktemp("data"))


def folder_file(path, ending):
    with open(f"{path.removesuffix('.solverstate')}.{ending}", "rb") as file:
        return file.read()


@pytest.fixture(scope="module")
def originals(folder):
    """Kind -> contents that mutants are made of; a solver that states and weights are restored into."""
    settings = SETTINGS["Adam"] + ' weight_decay: 0.01 snapshot_prefix: "saved" '
    said = solver_text(EVERYTHING, settings)
    solver = get_solver(said, folder=folder)
    solver.step(2)
    path = solver.snapshot()
    solvers = [said, least_squares("SGD", lr_policy="'multistep' gamma: 0.5 stepvalue: 3", average_loss=2, iter_size=2)]
    read = {name: folder_file(path, name) for name in ("caffemodel", "solverstate")}
    return {
        "nets": [text.encode() for text in NETS],
        "solvers": [text.encode() for text in solvers],
        "states": [read["solverstate"]],
        "weights": [read["caffemodel"]],
        "solver": said,
    }


def build_net(content, folder, solver):
    net = Net(content.decode("utf-8", "replace") + " # {", phase="TRAIN", seed=1)
    net.forward_backward()


def build_solver(content, folder, solver):
    get_solver(content.decode("utf-8", "replace") + "\n# :", folder=folder).step(2)


def restore(name):
    def run(content, folder, solver):
        path = os.path.join(folder, f"mutant.{name}")
        with open(path, "wb") as file:
            file.write(content)
        before = everything(solver)
        try:
            solver.restore(path) if name == "solverstate" else solver.net.copy_from(path)
        except Exception:
            assert everything(solver) == before
            raise
        solver.step(1)

    return run


RUNS = {
    "nets": build_net, "solvers": build_solver, "states": restore("solverstate"), "weights": restore("caffemodel"),
}  # fmt: skip


def check_all(kind, count, originals, folder):
    """Run so many mutants, beside a solver whose memory is theirs too."""
    solver = get_solver(originals["solver"], folder=folder)
    damage = numbers_too if kind in ("nets", "solvers") else damaged_bytes

    def run(number):
        rng = generator(SEED, f"caffe-built-{kind}-{number}")
        RUNS[kind](damage(rng.choice(originals[kind]), rng, originals[kind]), folder, solver)

    check(kind, run, count, most_seconds=10.0, most_growth=1 << 20)


@pytest.mark.parametrize("kind", FAST)
@pytest.mark.quick_rows("states", "weights")
def test_mutants_run_or_raise_a_typed_error(kind, originals, folder):
    check_all(kind, FAST[kind], originals, folder)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAST)
def test_many_mutants_run_or_raise_a_typed_error(kind, originals, folder):
    check_all(kind, SLOW, originals, folder)
