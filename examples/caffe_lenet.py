"""Train BVLC Caffe's LeNet on handwritten digits by Caffe's own texts, and make a Deeplearning4j graph of it.

MNIST when it is found or can be downloaded, else the 1,797 digits that come with the library. The folder then has
what Caffe would have there: two databases, the texts of net and solver, snapshots.
"""

from __future__ import annotations

import argparse
import logging
import pathlib
import time

import numpy as np

import nd
from nd.dataset import DigitsDataSetIterator
from nd.dataset.fetch import mnist_available
from nn.caffe import (
    DatumDatabase,
    Solver,
    array_to_datum,
    datum_to_array,
    get_solver,
    write_database,
    write_mnist_databases,
)

DATA = """
layer {{ name: "mnist" type: "Data" top: "data" top: "label" include {{ phase: {phase} }}
  transform_param {{ scale: 0.00390625 }} data_param {{ source: "{source}" batch_size: {size} backend: LMDB }} }}"""
TRAINED = """
layer {{ name: "{name}" type: "{kind}" bottom: "{bottom}" top: "{name}" param {{ lr_mult: 1 }} param {{ lr_mult: 2 }}
  {settings} weight_filler {{ type: "xavier" }} bias_filler {{ type: "constant" }} }} }}"""
POOLING = """
layer {{ name: "{name}" type: "Pooling" bottom: "{bottom}" top: "{name}"
  pooling_param {{ pool: MAX kernel_size: 2 stride: 2 }} }}"""
OTHERS = """
layer { name: "accuracy" type: "Accuracy" bottom: "ip2" bottom: "label" top: "accuracy" include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip2" bottom: "label" top: "loss" }
"""
SOLVER = """# BVLC's lenet_solver.prototxt
net: "lenet_train_test.prototxt"
test_iter: {test_iter}
test_interval: 500
base_lr: 0.01
momentum: 0.9
weight_decay: 0.0005
lr_policy: "inv"
gamma: 0.0001
power: 0.75
display: 100
max_iter: {iterations}
snapshot: 5000
snapshot_prefix: "lenet"
random_seed: {seed}
"""
DEFAULT_ITERATIONS = {"mnist": 10_000, "digits": 600}
TEST_BATCH, TEST_BATCHES = {"mnist": 100, "digits": 359}, {"mnist": 100, "digits": 1}


def convolution(name: str, bottom: str, count: int) -> str:
    """Return the text of a convolution with windows of 5 by 5."""
    settings = f"convolution_param {{ num_output: {count} kernel_size: 5"
    return TRAINED.format(name=name, kind="Convolution", bottom=bottom, settings=settings)


def dense(name: str, bottom: str, count: int) -> str:
    """Return the text of an inner product."""
    settings = f"inner_product_param {{ num_output: {count}"
    return TRAINED.format(name=name, kind="InnerProduct", bottom=bottom, settings=settings)


def lenet(test_batch: int) -> str:
    """Return the text of the net, for both phases."""
    return "".join([
        'name: "LeNet"',
        DATA.format(phase="TRAIN", source="mnist_train_lmdb", size=64),
        DATA.format(phase="TEST", source="mnist_test_lmdb", size=test_batch),
        convolution("conv1", "data", 20),
        POOLING.format(name="pool1", bottom="conv1"),
        convolution("conv2", "pool1", 50),
        POOLING.format(name="pool2", bottom="conv2"),
        dense("ip1", "pool2", 500),
        '\nlayer { name: "relu1" type: "ReLU" bottom: "ip1" top: "ip1" }',
        dense("ip2", "ip1", 10),
        OTHERS,
    ])  # fmt: skip


def write_digits_databases(folder: pathlib.Path) -> None:
    """Write the bundled digits, as `write_mnist_databases` does with MNIST."""
    for name, train, count in (("mnist_train_lmdb", True, 1438), ("mnist_test_lmdb", False, 359)):
        digits = next(iter(DigitsDataSetIterator(count, train=train)))
        pixels = np.rint(nd.to_host(digits.features).reshape(count, 1, 28, 28) * 255).astype(np.uint8)
        labels = nd.to_host(digits.labels).argmax(axis=1)
        records = [(b"%08d" % i, array_to_datum(pixels[i], int(labels[i]))) for i in range(count)]
        write_database(folder / name, records)


def prepare(folder: pathlib.Path, dataset: str, iterations: int, seed: int) -> None:
    """Write databases, where they are not there yet, and the texts of net and solver."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "mnist_test_lmdb").exists():
        if dataset == "mnist":
            write_mnist_databases(folder)
        else:
            write_digits_databases(folder)
    (folder / "lenet_train_test.prototxt").write_text(lenet(TEST_BATCH[dataset]))
    solver = SOLVER.format(test_iter=TEST_BATCHES[dataset], iterations=iterations, seed=seed)
    (folder / "lenet_solver.prototxt").write_text(solver)


def save_graph(solver: Solver, folder: pathlib.Path, target: str) -> float:
    """Write the trained net as a Deeplearning4j zip; return the graph's accuracy on the digits to test with."""
    graph = solver.test_nets[0].to_computation_graph()
    records = [(datum_to_array(datum), datum.label) for _, datum in DatumDatabase(folder / "mnist_test_lmdb")]
    x = np.stack([nd.to_host(pixels) for pixels, _ in records]).astype(np.float32) * np.float32(0.00390625)
    (probabilities,) = graph.output(x)
    graph.save(target)
    return float(np.mean(nd.to_host(probabilities).argmax(axis=1) == [label for _, label in records]))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default="caffe_lenet", help="where everything is written, default: caffe_lenet")
    parser.add_argument("--dataset", choices=["auto", "mnist", "digits"], default="auto", help="default: auto")
    parser.add_argument("--backend", choices=["auto", "numpy", "cupy"], help="default: the environment's ND_BACKEND")
    parser.add_argument("--iterations", type=int, help="default: 10,000 on MNIST, 600 on the bundled digits")
    parser.add_argument("--resume", metavar="STATE", help="go on from this .solverstate")
    parser.add_argument("--seed", type=int, default=1, help="of weights, default: 1")
    parser.add_argument("--graph", metavar="FILE", help="write the trained net as a Deeplearning4j zip")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    if arguments.graph and not pathlib.Path(arguments.graph).absolute().parent.is_dir():
        raise SystemExit(f"--graph: the folder of {arguments.graph} must exist, got none")
    if arguments.backend:
        nd.set_backend(arguments.backend)
    logging.basicConfig(level=logging.INFO, format="%(message)s")  # what Caffe logs
    dataset = arguments.dataset
    if dataset == "auto":
        dataset = "mnist" if mnist_available() else "digits"
    print(f"backend: {nd.backend().name}, dataset: {dataset}")
    folder = pathlib.Path(arguments.folder)
    iterations = DEFAULT_ITERATIONS[dataset] if arguments.iterations is None else arguments.iterations
    prepare(folder, dataset, iterations, arguments.seed)
    solver = get_solver(folder / "lenet_solver.prototxt", folder=folder)
    print(solver.net.summary())
    started = time.perf_counter()
    solver.solve(arguments.resume)
    print(f"trained for {time.perf_counter() - started:.1f} s")
    print(f"accuracy on held-out images: {solver.test()['accuracy'][0]:.4f}")
    if arguments.graph:
        print(f"saved {arguments.graph}, accuracy of the graph: {save_graph(solver, folder, arguments.graph):.4f}")


if __name__ == "__main__":
    try:
        main()
    except nd.NdError as error:
        raise SystemExit(f"caffe_lenet: {error}") from None
