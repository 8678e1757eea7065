"""PyTorch as a contender. Importing this imports PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from contenders import CHECKED_STEPS, Numbers
from networks import NETWORKS, STREAMED, make
from torch_layers import Series
from torch_models import classifies, predictions, tensors, translate
from torch_updaters import optimizer_of

import nd

FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}
"""Axes of an array -> its format with the channels last."""


class Theirs:
    """PyTorch.

    Parameters
    ----------
    name : str
        Of the network.
    batch : int
    who : {"torch", "torch-channels-last", "torch-compile"}
    dtype : {"float32", "float64"}
    """

    def __init__(self, name: str, batch: int, who: str, dtype: str = "float32") -> None:
        torch.set_num_threads(nd.backend().workers)
        self.net, self.data = make(name, batch, dtype)
        self.translation, self.minibatch = translate(self.net), tensors(self.net, self.data)
        self.model = self.translation.model
        if who == "torch-channels-last":
            chosen = FORMATS[self.minibatch.inputs.ndim]
            self.model.to(memory_format=chosen)
            self.minibatch = self.minibatch._replace(inputs=self.minibatch.inputs.to(memory_format=chosen))
        self.optimizer = optimizer_of(self.net, self.model)
        self.run: Any = torch.compile(self.model, dynamic=False) if who == "torch-compile" else self.model
        self.streams, self.softmax = STREAMED in NETWORKS[name].modes, classifies(self.net)

    def train(self) -> object:
        self._put_into(training=True)
        self.optimizer.zero_grad()
        self.loss().backward()
        return self.optimizer.step()

    def loss(self) -> torch.Tensor:
        """Return the loss of the minibatch."""
        return self.minibatch.loss(self.run(self.minibatch.inputs))

    def predict(self) -> torch.Tensor:
        return self._predict(self.minibatch.inputs)

    def stream(self) -> torch.Tensor:
        self._go_on(True)
        return self._predict(self.minibatch.inputs[:1])

    def _predict(self, inputs: torch.Tensor) -> torch.Tensor:
        self._put_into(training=False)
        with torch.inference_mode():
            outputs = self.run(inputs)
            return torch.softmax(outputs, 1) if self.softmax else outputs

    def _put_into(self, training: bool) -> None:
        if self.model.training != training:
            self.model.train(training)

    def _go_on(self, goes_on: bool) -> None:
        """Let recurrent layers go on from the state of the call before, or begin anew."""
        for each in self.model.modules():
            if isinstance(each, Series):
                each.go_on(goes_on)

    def numbers(self) -> Numbers:
        predicted = predictions(self.net, self.predict(), self.data).copy()
        self._put_into(training=True)
        self.optimizer.zero_grad()
        loss = self.loss()
        loss.backward()
        steps: list[np.ndarray] = []
        if self.streams:
            steps = [self.stream().numpy().copy() for _ in range(CHECKED_STEPS)]
            self._go_on(False)
        return Numbers(loss.item(), predicted, self.translation.gradients(), steps)
