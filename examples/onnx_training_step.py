"""Train a network by onnxruntime alone: the training step is an ONNX file, which this library writes once.

The program has two halves. `write` makes the file; it is the only one that imports ndwright. `train` needs the file,
NumPy and onnxruntime: it draws points on three spirals and learns them. What the file gives as "NAME/new" is the input
NAME of the next step. Needs: pip install onnx onnxruntime
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnxruntime

Arrays = Mapping[str, Any]
CLASSES = 3


def write(path: str, seed: int) -> None:
    """Write the step of a network of two hidden layers, with its first parameters in it."""
    from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer

    layers = (
        DenseLayer(n_in=2, n_out=48, activation="tanh"),
        DenseLayer(n_out=48, activation="relu"),
        OutputLayer(n_out=CLASSES, activation="softmax"),
    )
    conf = NeuralNetConfiguration(seed=seed, updater="adam", l2=1e-5).list(*layers)
    MultiLayerNetwork(conf).init().save(path, training_step=True)


def spirals(rng: np.random.Generator, count: int) -> tuple[Any, Any]:
    """Return points [N, 2] on three spirals, and one-hot which spiral each is on, [N, 3]."""
    labels, radius = rng.integers(0, CLASSES, count), rng.uniform(0.1, 1.0, count)
    angle = 4.0 * radius + labels * 2.0 * np.pi / CLASSES + rng.normal(0.0, 0.1, count)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    return points.astype(np.float32), np.eye(CLASSES, dtype=np.float32)[labels]


def train(path: str, steps: int, batch: int, seed: int) -> list[tuple[float, float]]:
    """Train by a step's file; return score and accuracy of each of the steps."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # else it warns that parameters are inputs, as they have to be
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    features, labels = (given.name for given in session.get_inputs())
    rng = np.random.default_rng(seed)
    state: Arrays = {}  # none at first: the file has the numbers to begin with
    history = []
    for _ in range(steps):
        x, y = spirals(rng, batch)
        computed = session.run(names, {features: x, labels: y, **state})
        results: dict[str, Any] = dict(zip(names, computed, strict=True))
        state = {name.removesuffix("/new"): array for name, array in results.items() if name.endswith("/new")}
        accuracy = float((results["layer2"].argmax(1) == y.argmax(1)).mean())
        history.append((float(results["score"]), accuracy))
    return history


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", default="spirals_step.onnx", help="default: spirals_step.onnx")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=42)
    arguments = parser.parse_args()
    write(arguments.file, arguments.seed)
    history = train(arguments.file, arguments.steps, arguments.batch, arguments.seed)
    for step in range(0, arguments.steps, max(arguments.steps // 10, 1)):
        score, accuracy = history[step]
        print(f"step {step:5d}  score {score:.4f}  accuracy {accuracy:.2f}")
    print(f"last score {history[-1][0]:.4f}, accuracy {history[-1][1]:.2f}")


if __name__ == "__main__":
    main()
