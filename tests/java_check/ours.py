"""Networks of ours for Java: saved after a step, with what they answer and learn in three steps more."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np

import nd
from nd.dataset import DataSet
from nn import MultiLayerNetwork

from .contents import trains_as_java
from .results import Result, java_error, read
from .rows import Row

STEPS = 3
TOLERANCES = {"output": 2e-5, "score": 5e-5, "scores": 5e-5, "params": 1e-4, "state": 1e-4}
"""Of single precision."""
UNTRAINED = "untrained.txt"
"""A file beside a network that this library does not train: why."""


def host(vector: Any) -> np.ndarray:
    return np.array(nd.to_host(nd.copy(vector)), np.float64)


def fit(net: MultiLayerNetwork, data: DataSet, steps: int) -> np.ndarray:
    """Train, an epoch every two steps; return the score of each step."""
    scores = []
    for step in range(steps):
        net.fit(data)
        scores.append(net.score())
        net.epoch_count += step % 2
    return np.array(scores)


def output(net: MultiLayerNetwork, data: DataSet) -> np.ndarray:
    return host(net.output(data.features, features_mask=data.features_mask, labels_mask=data.labels_mask))


def save(row: Row, folder: Path) -> None:
    """Write a row's network, its data, and what it answers and learns."""
    folder.mkdir(parents=True)
    net = MultiLayerNetwork(row.conf).init()
    data = DataSet(row.features, row.labels, row.features_mask, row.labels_mask)
    with contextlib.suppress(nd.NdError):  # which the steps below raise again
        net.fit(data)
    net.save(folder / "model.zip")
    arrays = {"x": row.features, "y": row.labels, "xm": row.features_mask, "ym": row.labels_mask}
    arrays["our_output"] = output(net, data)
    try:
        score, scores = net.score(data), fit(net, data, STEPS)
    except nd.NdError as error:
        (folder / UNTRAINED).write_text(f"{type(error).__name__}: {error}")
    else:
        if trains_as_java(row.conf):
            arrays["our_score"] = np.array(score)
        if trains_as_java(row.conf) and not row.draws:
            arrays |= {"our_scores": scores, "our_params": host(net.params()), "our_state": host(net.updater_state())}
    for name, array in arrays.items():
        if array is not None:
            np.save(folder / f"{name}.npy", np.asarray(array, np.float64))


def compare(row: Row, folder: Path) -> Result:
    """Return how far Java's answers in a folder are from ours."""
    result = Result(row.name, row.conf)
    error = java_error(folder)
    refused = (folder / UNTRAINED).read_text() if (folder / UNTRAINED).exists() else ""
    result.distances["opens"] = 0.0
    if error and not (refused and _has_run(folder)):  # what this library does not train, Java need not
        result.fails(*error)
    elif refused.startswith("NumericError") and not error and _is_finite(folder):
        result.fails("scores", f"{refused} In Java it is finite.")
    for quantity in TOLERANCES:
        ours, javas = read(folder, f"our_{quantity}"), read(folder, f"java_{quantity}")
        if ours is not None and not (error and javas is None):
            nothing = np.empty(0) if ours.size == 0 else None  # Java writes no empty arrays
            result.compare(quantity, ours, nothing if javas is None else javas)
    return result


def _has_run(folder: Path) -> bool:
    return read(folder, "java_output") is not None


def _is_finite(folder: Path) -> bool:
    """Tell whether Java went on with numbers; of no parameters it writes none."""
    arrays = [read(folder, f"java_{quantity}") for quantity in ("scores", "params")]
    return all(array is None or np.isfinite(array).all() for array in arrays)
