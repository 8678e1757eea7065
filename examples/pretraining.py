"""Pretrain a stack of three layers on all training digits, then train it on labels of 200: beside one not pretrained.

The digits are those that come with the library. Layers that are pretrained learn from their input alone, so that they
use images that nobody has labelled. `--picture` draws what the units of the first layer look for.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import statistics
import struct
import time
import zlib

import numpy as np

import nd
from nd.dataset import DigitsDataSetIterator, NumpyDataSetIterator
from nn import RBM, AutoEncoder, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Adam, Sgd

SIZES = (784, 256, 128, 64)
BATCH, SIDE, COLUMNS = 32, 28, 16
TEST_BATCH = 359


def stack(kind: str, seed: int) -> MultiLayerNetwork:
    """Return three layers and a classifier; `pretrain=True` gives autoencoders the gradient that lowers their error."""
    sizes = itertools.pairwise(SIZES)
    if kind == "rbm":
        layers: list[RBM | AutoEncoder] = [RBM(n_in=n_in, n_out=n_out, updater=Sgd(0.05)) for n_in, n_out in sizes]
    else:
        layers = [AutoEncoder(n_in=n_in, n_out=n_out, activation="sigmoid") for n_in, n_out in sizes]
    output = OutputLayer(n_in=SIZES[-1], n_out=10, activation="softmax", loss="mcxent")
    conf = NeuralNetConfiguration(seed=seed, updater=Adam(0.002), weight_init="xavier", pretrain=True)
    return MultiLayerNetwork(conf.list(*layers, output)).init()


def accuracy(net: MultiLayerNetwork) -> float:
    return float(net.evaluate(DigitsDataSetIterator(TEST_BATCH, train=False)).accuracy())


def filters(W: np.ndarray) -> np.ndarray:
    """Return the weights ``[784, n]`` as one picture of grey values, uint8: a square for every unit."""
    columns = W.T.reshape(-1, SIDE, SIDE)
    low, high = columns.min((1, 2), keepdims=True), columns.max((1, 2), keepdims=True)
    grey = np.pad(255.0 * (columns - low) / np.maximum(high - low, 1e-12), ((0, 0), (1, 1), (1, 1)))
    rows = grey.reshape(-1, COLUMNS, SIDE + 2, SIDE + 2).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(rows.reshape(-1, COLUMNS * (SIDE + 2)).astype(np.uint8))


def write_png(path: pathlib.Path, grey: np.ndarray) -> None:
    """Write grey values ``[height, width]`` as a PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = grey.shape
    lines = b"".join(b"\0" + line.tobytes() for line in grey)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(lines)), chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=("autoencoder", "rbm"), default="autoencoder", help="default: autoencoder")
    parser.add_argument("--labels", type=int, default=200, help="digits with a label, default: 200")
    parser.add_argument("--pretrain-epochs", type=int, default=10, help="per layer, default: 10")
    parser.add_argument("--epochs", type=int, default=40, help="on the labelled digits, default: 40")
    parser.add_argument("--seeds", type=int, default=5, help="runs of both, default: 5")
    parser.add_argument("--backend", help="numpy, cupy or another, default: the best one")
    parser.add_argument("--picture", type=pathlib.Path, help="write the first layer's filters there, as a PNG")
    arguments = parser.parse_args()
    if arguments.backend:
        nd.set_backend(arguments.backend)

    started = time.perf_counter()
    everything = next(iter(DigitsDataSetIterator(100_000, train=True, seed=1)))
    x, labels = nd.to_host(everything.features), nd.to_host(everything.labels)
    found: dict[str, list[float]] = {"pretrained": [], "not pretrained": []}
    for seed, (name, accuracies) in itertools.product(range(1, arguments.seeds + 1), found.items()):
        net = stack(arguments.kind, seed)
        if name == "pretrained":
            net.pretrain(NumpyDataSetIterator(x, labels, BATCH), epochs=arguments.pretrain_epochs)
        if arguments.picture and name == "pretrained" and seed == 1:
            write_png(arguments.picture, filters(nd.to_host(net.get_param("0_W"))))
        train_on_labels(net, x[: arguments.labels], labels[: arguments.labels], arguments.epochs)
        accuracies.append(accuracy(net))
    for name, accuracies in found.items():
        shown = " ".join(f"{one:.3f}" for one in accuracies)
        print(f"{name}: accuracy {statistics.mean(accuracies):.4f} in the mean of {len(accuracies)} ({shown})")
    print(f"took {time.perf_counter() - started:.1f} s")


def train_on_labels(net: MultiLayerNetwork, x: np.ndarray, labels: np.ndarray, epochs: int) -> None:
    """Train all layers on labels alone, whatever the configuration says of pretraining."""
    iterator = NumpyDataSetIterator(x, labels, BATCH)
    for _ in range(epochs):
        for data in iterator:
            net.fit_batch(data)


if __name__ == "__main__":
    try:
        main()
    except nd.NdError as error:
        raise SystemExit(f"pretraining: {error}") from None
