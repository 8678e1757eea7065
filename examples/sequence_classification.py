"""Tell six kinds of control charts apart: series of different lengths, read by an LSTM in both directions.

The series are drawn as those of the UCI collection "Synthetic Control Chart Time Series" (Alcock and Manolopoulos
1999): noise around a level, with a cycle, a trend up or down, or a shift up or down. They are 30 to 60 steps long;
shorter ones are padded, and masks say which steps count.
"""

from __future__ import annotations

import argparse
import pathlib
import time

import numpy as np

import nd
from nd.dataset import DataSet, ListDataSetIterator, NormalizerStandardize
from nn import (
    LSTM,
    Bidirectional,
    GlobalPoolingLayer,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from optimize import Adam, ScoreIterationListener

KINDS = ("normal", "cyclic", "increasing", "decreasing", "shift up", "shift down")
SHORTEST, LONGEST = 30, 60
LEVEL, SPREAD = 30.0, 2.0


def control_chart(kind: str, length: int, random: np.random.Generator) -> np.ndarray:
    """Return a series [T] of that kind."""
    t = np.arange(length)
    series = LEVEL + random.uniform(-3.0, 3.0, length) * SPREAD
    if kind == "cyclic":
        series += random.uniform(10.0, 15.0) * np.sin(2.0 * np.pi * t / random.uniform(10.0, 15.0))
    elif kind in ("increasing", "decreasing"):
        series += (1 if kind == "increasing" else -1) * random.uniform(0.2, 0.5) * t
    elif kind.startswith("shift"):
        begins = t >= random.uniform(length / 3.0, 2.0 * length / 3.0)
        series += (1 if kind == "shift up" else -1) * random.uniform(7.5, 20.0) * begins
    return series


def charts(count: int, random: np.random.Generator) -> DataSet:
    """Return so many series [N, 1, T], classes [N, 6] and masks [N, T]."""
    x, y = np.zeros((count, 1, LONGEST), np.float32), np.zeros((count, len(KINDS)), np.float32)
    mask = np.zeros((count, LONGEST), np.float32)
    for n in range(count):
        kind, length = n % len(KINDS), int(random.integers(SHORTEST, LONGEST + 1))
        x[n, 0, :length] = control_chart(KINDS[kind], length, random)
        y[n, kind] = mask[n, :length] = 1.0
    return DataSet(x, y, mask)


def classifier(seed: int) -> MultiLayerConfiguration:
    """Return the configuration: an LSTM in both directions, the mean over the steps that count, a softmax."""
    return NeuralNetConfiguration(seed=seed, updater=Adam(0.01)).list(
        Bidirectional(LSTM(n_out=16, activation="tanh")),
        GlobalPoolingLayer("avg"),
        OutputLayer(n_out=len(KINDS), activation="softmax"),
        input_type=InputType.recurrent(1),
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["auto", "numpy", "cupy"], help="default: the environment's ND_BACKEND")
    parser.add_argument("--epochs", type=int, default=20, help="default: 20")
    parser.add_argument("--batch", type=int, default=30, help="series per training step, default: 30")
    parser.add_argument("--seed", type=int, default=123, help="of series, weights and order, default: 123")
    parser.add_argument("--save", metavar="FILE", help="write the trained network as a Deeplearning4j zip")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    if arguments.save and not pathlib.Path(arguments.save).absolute().parent.is_dir():
        raise SystemExit(f"--save: the folder of {arguments.save} must exist, got none")
    if arguments.backend:
        nd.set_backend(arguments.backend)
    random = np.random.default_rng(arguments.seed)
    learned, held_out = charts(600, random), charts(300, random)
    normalizer = NormalizerStandardize()
    normalizer.fit(learned)  # over the steps that count
    normalizer.transform(learned)
    normalizer.transform(held_out)
    train = ListDataSetIterator(learned, arguments.batch)
    net = MultiLayerNetwork(classifier(arguments.seed)).init()
    print(f"backend: {nd.backend().name}")
    print(net.summary())
    net.set_listeners(ScoreIterationListener(100))
    started = time.perf_counter()
    net.fit(train, epochs=arguments.epochs)
    print(f"trained for {time.perf_counter() - started:.1f} s")
    evaluation = net.evaluate(held_out, KINDS)
    print(evaluation.stats())
    print(f"accuracy on {evaluation.num_row_counter:,} held-out series: {evaluation.accuracy():.4f}")
    if arguments.save:
        net.save(arguments.save)
        print(f"saved {arguments.save}")


if __name__ == "__main__":
    try:
        main()
    except nd.NdError as error:
        raise SystemExit(f"sequence_classification: {error}") from None
