"""Who trains and predicts: this library and PyTorch, each with the same weights and the same minibatch."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from networks import NETWORKS, STREAMED, TRAINING, Network, make, of_images
from series_networks import products_alone

import nd
from nd.dataset import DataSet
from nn import ComputationGraph

OURS, OURS_ALONE, PRODUCTS = "ndwright", "ndwright-numpy", "products-alone"
PEERS = ("torch", "torch-channels-last", "torch-compile")
WHO = (OURS, OURS_ALONE, *PEERS, PRODUCTS)
"""This library as it is installed, without oneDNN, PyTorch in its two memory formats and compiled, and the matrix
products of a step of a recurrent network in NumPy, without anything else, on as many workers as the step has."""
ENVIRONMENTS = {who: {"ND_BACKEND": "numpy", **({} if who == OURS else {"ND_ONEDNN": "0"})} for who in WHO}
LOSS_TOLERANCE, PREDICTION_TOLERANCE = 1e-5, 2e-5
GRADIENT_TOLERANCE = 0.02
"""Of a gradient's length. In float32 an input of 0 but for rounding falls on either side of a ReLU: one in the residual
network changes all gradients below it by 0.005. The tests compare in float64, where that does not happen."""
CHECKED_STEPS = 3
RUNNING = ("_mean", "_log10stdev")
"""How names of running statistics end: they have no gradient."""


class Numbers(NamedTuple):
    """What a network computes of its minibatch before it is trained."""

    loss: float
    """Without penalties on weights."""
    predictions: np.ndarray
    gradients: dict[str, np.ndarray]
    """By our names and in our order: the mean over the examples."""
    first_steps: list[np.ndarray]
    """Predictions for the first step of the series, each call going on from the state of the one before."""


class Contender(Protocol):
    """Somebody who trains and predicts."""

    def train(self) -> object:
        """Take a training step."""

    def predict(self) -> object:
        """Predict a minibatch."""

    def stream(self) -> Any:
        """Predict one step of the series, going on from the state of the call before."""

    def numbers(self) -> Numbers | None:
        """Return what it computes; to be asked before the first step."""


class Ours:
    """This library, which has its minibatch in the memory order that it prefers: it gains up to a tenth.

    Parameters
    ----------
    name : str
        Of the network.
    batch : int
    dtype : {"float32", "float64"}
    """

    def __init__(self, name: str, batch: int, dtype: str = "float32") -> None:
        net, host = make(name, batch, dtype)
        self.net: Any = net
        arrays = map(nd.create, (host.features, host.labels))
        self.data = DataSet(*(nd.assign(nd.activation_like(x), x) for x in arrays))
        self.streams = STREAMED in NETWORKS[name].modes
        self.step = np.ascontiguousarray(host.features[:, :, 0]) if self.streams else None

    def train(self) -> object:
        return self.net.fit_batch(self.data)

    def predict(self) -> Any:
        return self.net.output(self.data.features)

    def stream(self) -> Any:
        return self.net.rnn_time_step(self.step)

    def numbers(self) -> Numbers:
        found = self.predict()
        predictions = nd.to_host(found[0] if isinstance(found, list) else found).copy()
        loss = loss_of(self.net, self.data, training=True)
        gradients = gradients_of(self.net, self.data)
        steps = [nd.to_host(self.stream()).copy() for _ in range(CHECKED_STEPS if self.streams else 0)]
        self.net.rnn_clear_previous_state()
        return Numbers(loss, predictions, gradients, steps)


class Products:
    """The matrix products of a recurrent network's training step.

    Parameters
    ----------
    name : str
        Of the network.
    batch : int
    """

    def __init__(self, name: str, batch: int) -> None:
        self.train = products_alone(*make(name, batch))

    def numbers(self) -> None:
        return None


def contender(who: str, name: str, batch: int) -> Contender:
    """Return one of `WHO` with a network and a minibatch."""
    if who in PEERS:
        from torch_contender import Theirs

        return Theirs(name, batch, who)
    return Products(name, batch) if who == PRODUCTS else Ours(name, batch)  # type: ignore[return-value]


def plays(who: str, name: str, mode: str) -> bool:
    """Tell whether a contender has anything to do with a network in a mode."""
    if who == PRODUCTS:
        return mode == TRAINING and STREAMED in NETWORKS[name].modes
    if who == "torch-channels-last":
        return of_images(name)  # PyTorch has such formats of images and volumes
    return True


def loss_of(net: Network, data: DataSet, training: bool = False) -> float:
    """Return our loss without the penalty on the weights, which PyTorch's does not contain."""
    weights = [nd.to_host(view) for key, view in net.param_table().items() if key.endswith("_W")]
    return net.score(data, training) - (net.conf.base.l2 or 0.0) / 2 * sum(float((W**2).sum()) for W in weights)


def gradients_of(net: Network, data: DataSet) -> dict[str, np.ndarray]:
    """Return our gradients of a minibatch, the mean over its examples."""
    (net.set_inputs if isinstance(net, ComputationGraph) else net.set_input)(data.features)
    net.set_labels(data.labels)
    net.compute_gradient_and_score()
    found = net.gradient().gradient_for_variable()
    return {key: nd.to_host(of) / len(data.features) for key, of in found.items() if not key.endswith(RUNNING)}


def check_loss(ours: float, theirs: float, name: str, tolerance: float = LOSS_TOLERANCE) -> None:
    """Raise SystemExit if the losses differ."""
    if not abs(theirs / ours - 1) <= tolerance:
        raise SystemExit(f"{name} computes loss {theirs} on the same weights, we {ours}: nothing to compare")


def check_numbers(ours: Numbers, theirs: Numbers, name: str) -> None:
    """Raise SystemExit if somebody computes another loss, other predictions or other gradients than we do."""
    check_loss(ours.loss, theirs.loss, name)
    pairs = zip([ours.predictions, *ours.first_steps], [theirs.predictions, *theirs.first_steps], strict=True)
    far = max(float(abs(our - their).max()) for our, their in pairs)
    if not far <= PREDICTION_TOLERANCE:
        raise SystemExit(f"{name} predicts otherwise by up to {far} on the same weights: nothing to compare")
    check_gradients(ours.gradients, theirs.gradients, name)


def check_gradients(
    ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray], name: str, tolerance: float = GRADIENT_TOLERANCE
) -> None:
    """Raise SystemExit if the gradient of a parameter is not ours, by so much of its length."""
    if set(ours) != set(theirs):
        raise SystemExit(f"{name} has gradients of {sorted(theirs)}, we of {sorted(ours)}: nothing to compare")
    for key, gradient in ours.items():
        far = float(np.linalg.norm(gradient - theirs[key]) / np.linalg.norm(gradient))
        if not far <= tolerance:
            raise SystemExit(f"{name} has another gradient of {key}, by {far} of its length: nothing to compare")
