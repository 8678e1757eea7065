"""A backend of one's own: NumPy's arrays, and a count of what matrix products cost.

``ND_BACKEND=own_backend:Counting python train.py`` selects it for any program, if this file is where Python looks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import nd
from backends import Backend
from nd.dataset import IrisDataSetIterator
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer


class Counting(Backend):
    """Every primitive as `Backend` has it; products are counted."""

    name, multiplications = "counting", 0

    def __init__(self) -> None:
        super().__init__(np)

    def matmul(self, a: Any, b: Any, out: Any = None) -> Any:
        self.multiplications += a.shape[0] * a.shape[1] * b.shape[1]
        return super().matmul(a, b, out)


if __name__ == "__main__":
    layers = DenseLayer(n_in=4, n_out=8, activation="tanh"), OutputLayer(n_out=3, activation="softmax")
    with nd.use_backend("own_backend:Counting") as backend:
        net = MultiLayerNetwork(NeuralNetConfiguration(seed=1, updater="adam", learning_rate=0.05).list(*layers)).init()
        net.fit(IrisDataSetIterator(50), epochs=30)
        accuracy = net.evaluate(IrisDataSetIterator(150)).accuracy()
        print(f"{net.backend.name}: accuracy {accuracy:.3f}, {backend.multiplications:,} multiplications")
