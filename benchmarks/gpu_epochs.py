"""Train LeNet on MNIST through `fit`, data loading included."""

from __future__ import annotations

import os
import pathlib
import time
from typing import Any

from networks import NETWORKS

import nd
from nd.dataset import EarlyTerminationDataSetIterator, MnistDataSetIterator
from nn import MultiLayerNetwork

BATCH, WARM_BATCHES = 64, 5


def epochs(backend: Any, count: int, notes: list[str]) -> dict[str, Any] | None:
    """Return seconds of so many epochs, all on the host's clock; None, and a note, where MNIST is missing."""
    folder = pathlib.Path(os.environ.get("ND_DATA_DIR", "")) / "mnist"
    if "ND_DATA_DIR" not in os.environ or not folder.is_dir():
        notes.append("Epochs of MNIST: left out, for ND_DATA_DIR names no folder with mnist/ in it.")
        return None
    with nd.use_backend(backend):
        iterator = MnistDataSetIterator(BATCH, train=True, seed=123)
        warm = MultiLayerNetwork(NETWORKS["lenet"].conf()).init()
        warm.fit(EarlyTerminationDataSetIterator(MnistDataSetIterator(BATCH, train=True, seed=1), WARM_BATCHES))
        net = MultiLayerNetwork(NETWORKS["lenet"].conf()).init()
        backend.synchronize()
        started = time.perf_counter()
        net.fit(iterator, epochs=count)
        backend.synchronize()
        seconds = time.perf_counter() - started
    return {"epochs": count, "batch": BATCH, "steps": net.iteration_count, "seconds": seconds, "score": net.score()}
