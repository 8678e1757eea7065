"""The recurrent networks that are timed, their series, and their matrix products alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import nd
from nd.dataset import DataSet
from nn import LSTM, Bidirectional, MultiLayerConfiguration, NeuralNetConfiguration, RnnOutputLayer, SimpleRnn
from optimize import Adam

Call = Callable[[], object]


class SeriesCase(NamedTuple):
    """A network of recurrent layers with a softmax at every step."""

    layer: type[LSTM] | type[SimpleRnn]
    sizes: tuple[int, ...]
    length: int
    """Steps of its series."""
    batch: int
    """Series of a minibatch."""

    both: bool = False
    """Whether every layer goes through the series from both ends."""

    def conf(self) -> MultiLayerConfiguration:
        """Return its configuration."""
        *hidden, n_out = self.sizes
        wide = [self.sizes[0], *(2 * n if self.both else n for n in hidden[1:])]
        layers: list[Any] = [
            self.layer(n_in=n_in, n_out=n, activation="tanh") for n_in, n in zip(wide[:-1], hidden[1:], strict=True)
        ]
        if self.both:
            layers = [Bidirectional(layer) for layer in layers]
        out = RnnOutputLayer(n_in=wide[-1], n_out=n_out, activation="softmax", loss="mcxent")
        return NeuralNetConfiguration(seed=123, weight_init="xavier", updater=Adam(1e-3)).list(*layers, out)

    def minibatch(self, batch: int) -> DataSet:
        """Return noise, and a class for every step."""
        rng = np.random.default_rng(0)
        labels = np.eye(self.sizes[-1], dtype=np.float32)[rng.integers(0, self.sizes[-1], (self.length, batch))]
        features = rng.standard_normal((self.length, self.sizes[0], batch), np.float32)
        return DataSet(features.transpose(2, 1, 0), labels.transpose(1, 2, 0))


SERIES_BATCHES = (1, 16, 32, 128, 256)
SERIES = {
    "bilstm-32-64-5": SeriesCase(LSTM, (32, 64, 5), 100, 16, both=True),
    "lstm-32-64-5": SeriesCase(LSTM, (32, 64, 5), 100, 16),
    "lstm-77-200-200-77": SeriesCase(LSTM, (77, 200, 200, 77), 50, 32),
    "simple-rnn-32-64-5": SeriesCase(SimpleRnn, (32, 64, 5), 100, 16),
    "simple-rnn-77-200-200-77": SeriesCase(SimpleRnn, (77, 200, 200, 77), 50, 32),
}
"""Name -> network, sorted."""


def products_alone(net: Any, data: DataSet) -> Call:
    """Return the matrix products of a training step and nothing else, divided among workers as the step is."""

    plan = net.engine.gradients.plans.of(net.step_input(data))
    tasks = []
    for parts in plan.workers:
        examples = sum(part.stop - part.start for part in parts)
        layers = [_products(conf, examples, data.features.shape[2]) for conf in net.conf.layers]
        calls = layers[0].own + [call for layer in layers[1:] for call in layer.own + layer.below]
        tasks.append(partial(_run, calls))  # nobody needs the errors below the first layer
    return lambda: nd.run_tasks(tasks, plan.light)


def _run(calls: list[Call]) -> None:
    for call in calls:
        call()


class _Products(NamedTuple):
    """Of a layer: all but those for the errors below it, and these."""

    own: list[Call]
    below: list[Call]


def _products(conf: Any, n: int, length: int) -> _Products:
    """Return a layer's products, with a matrix for each gate, as the layer has them."""
    gates, rows, (n_in, n_out) = 4 if isinstance(conf, LSTM) else 1, length * n, (conf.n_in, conf.n_out)
    x, W, z = _noise(rows, n_in), _noise(gates, n_in, n_out), _noise(gates, rows, n_out)
    gradient, below = _noise(n_in, n_out), _noise(rows, n_in)
    own: list[Call] = [partial(np.matmul, x, W, z)]
    own += [partial(nd.gemm, x, dz, gradient, transpose_a=True) for dz in z]
    if isinstance(conf, (LSTM, SimpleRnn)):
        RW, h = _noise(gates, n_out, n_out), _noise(length, n, n_out)
        step, steps, gradient = _noise(gates, n, n_out), z.reshape(gates, length, n, n_out), _noise(n_out, n_out)
        own += [partial(np.matmul, h[t], RW, step) for t in range(length)]
        own += [partial(np.matmul, steps[:, t], RW, step) for t in range(1, length)]
        own += [partial(nd.gemm, h.reshape(rows, n_out), dz, gradient, transpose_a=True) for dz in z]
    return _Products(own, [partial(nd.gemm, dz, w, below, transpose_b=True) for dz, w in zip(z, W, strict=True)])


def _noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, np.float32)
