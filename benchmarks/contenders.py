"""Who trains and predicts: this library and PyTorch, each with the same weights and the same minibatch."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from networks import Network, make, of_images

import nd
from nd.dataset import DataSet
from nn import ComputationGraph

OURS, OURS_ALONE = "ndwright", "ndwright-numpy"
PEERS = ("torch", "torch-channels-last", "torch-compile")
WHO = (OURS, OURS_ALONE, *PEERS)
"""This library as it is installed, without oneDNN, and PyTorch in its two memory formats and compiled."""
ENVIRONMENTS = {OURS: {}, **dict.fromkeys((OURS_ALONE, *PEERS), {"ND_ONEDNN": "0"})}
LOSS_TOLERANCE, PREDICTION_TOLERANCE = 1e-5, 2e-5
GRADIENT_TOLERANCE = 0.02
"""Of a gradient's length. In float32 a unit whose input is 0 but for rounding falls on either side of a ReLU: one of the
residual network's changes all gradients below it by 0.005. The tests compare in float64, where that does not happen."""
RUNNING = ("_mean", "_log10stdev")
"""How names of running statistics end: they have no gradient."""


class Numbers(NamedTuple):
    """What a network computes of its minibatch before it is trained."""

    loss: float
    """Without penalties on weights."""
    predictions: np.ndarray
    gradients: dict[str, np.ndarray]
    """By our names and in our order: the mean over the examples."""


class Contender(Protocol):
    """Somebody who trains and predicts."""

    def train(self) -> object:
        """Take a training step."""

    def predict(self) -> object:
        """Predict a minibatch."""

    def numbers(self) -> Numbers:
        """Return what it computes; to be asked before the first step."""


class Ours:
    """This library.

    Parameters
    ----------
    name : str
        Of the network.
    batch : int
    """

    def __init__(self, name: str, batch: int) -> None:
        self.net, host = make(name, batch)
        self.data = DataSet(*(nd.assign(nd.activation_like(x), x) for x in map(nd.create, (host.features, host.labels))))

    def train(self) -> object:
        return self.net.fit_batch(self.data)

    def predict(self) -> object:
        return self.net.output(self.data.features)

    def numbers(self) -> Numbers:
        found = self.net.output(self.data.features)
        predictions = nd.to_host(found[0] if isinstance(found, list) else found).copy()
        loss = loss_of(self.net, self.data, training=True)
        return Numbers(loss, predictions, gradients_of(self.net, self.data))


class Theirs:
    """PyTorch.

    Parameters
    ----------
    name : str
        Of the network.
    batch : int
    who : {"torch", "torch-channels-last", "torch-compile"}
    """

    def __init__(self, name: str, batch: int, who: str) -> None:
        import torch
        from torch_models import tensors, translate
        from torch_updaters import optimizer_of

        torch.set_num_threads(nd.backend().workers)
        self.net, self.data = make(name, batch)
        self.translation, self.minibatch = translate(self.net), tensors(self.net, self.data)
        if who == "torch-channels-last":
            self._put_channels_last()
        self.optimizer, self.model = optimizer_of(self.net, self.translation.model), self.translation.model
        self.run: Any = torch.compile(self.model, dynamic=False) if who == "torch-compile" else self.model

    def _put_channels_last(self) -> None:
        import torch

        formats = {4: torch.channels_last, 5: torch.channels_last_3d}
        chosen = formats[self.minibatch.inputs.ndim]
        self.translation.model.to(memory_format=chosen)
        self.minibatch = self.minibatch._replace(inputs=self.minibatch.inputs.to(memory_format=chosen))

    def train(self) -> object:
        self.model.train()
        self.optimizer.zero_grad()
        self.minibatch.loss(self.run(self.minibatch.inputs)).backward()
        self.optimizer.step()
        return None

    def predict(self) -> Any:
        import torch
        from torch_models import classifies

        self.model.eval()
        with torch.inference_mode():
            outputs = self.run(self.minibatch.inputs)
            return torch.softmax(outputs, 1) if classifies(self.net) else outputs

    def numbers(self) -> Numbers:
        from torch_models import predictions

        predicted = predictions(self.net, self.predict(), self.data).copy()
        self.model.train()
        self.optimizer.zero_grad()
        loss = self.minibatch.loss(self.model(self.minibatch.inputs))
        loss.backward()
        return Numbers(loss.item(), predicted, self.translation.gradients())


def contender(who: str, name: str, batch: int) -> Contender:
    """Return one of `WHO` with a network and a minibatch."""
    return Theirs(name, batch, who) if who in PEERS else Ours(name, batch)


def plays(who: str, name: str) -> bool:
    """Tell whether a contender has anything to do with a network: there are formats of images and volumes only."""
    return who != "torch-channels-last" or of_images(name)


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
    far = float(abs(ours.predictions - theirs.predictions).max())
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
