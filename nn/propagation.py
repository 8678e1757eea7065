"""Forward and backward through a stack of layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import nd

from .layers.base import LayerRuntime, label_of

if TYPE_CHECKING:
    from .conf.network import MultiLayerConfiguration
    from .minibatch import Minibatch
    from .params import ParamLayout

Array = Any
Watch = Callable[[list[Array]], None]


class Propagation:
    """The layers of a network at work: on its parameters, on a gradient vector, in memory of their own.

    Parameters
    ----------
    conf : MultiLayerConfiguration
    layout : ParamLayout
    params : array ``[1, n]``
    gradient : array ``[1, n]``
        Receives the gradients of the parameters.

    Attributes
    ----------
    workspace : Workspace
        The memory of the layers.
    layers : list of LayerRuntime
    """

    def __init__(self, conf: MultiLayerConfiguration, layout: ParamLayout, params: Array, gradient: Array) -> None:
        dtype = conf.base.dtype
        self.gradient = gradient
        self.workspace = nd.Workspace(dtype)  # type: ignore[arg-type]
        self.layers: list[LayerRuntime] = [
            layer.runtime(
                layer,
                label_of(index, layer),
                layout.views_of(index, params),
                layout.views_of(index, gradient),
                self.workspace.scope(),
                dtype,  # type: ignore[arg-type]
            )
            for index, layer in enumerate(conf.layers)
        ]
        self._stages = [(conf.preprocessors.get(index), layer) for index, layer in enumerate(self.layers)]
        self._lowest = layout.lowest_layer

    def forward(
        self, x: Array, training: bool, stop: int | None = None, mask: Array | None = None
    ) -> tuple[list[Array], list[Any]]:
        """Run layers 0 .. stop - 1; return [x, activations of each] and their caches."""
        activations, caches = [x], []
        for preprocessor, layer in self._stages[:stop]:
            if preprocessor is not None:
                x = preprocessor.pre_process(x, layer.buffers)
            x, cache = layer.forward(x, training, mask)
            activations.append(x)
            caches.append(cache)
        return activations, caches

    def gradient_and_loss(self, batch: Minibatch, watch: Watch | None = None) -> Array:
        """Fill the gradient vector with sums over the examples of a minibatch; return the summed loss.

        `watch` is called with the activations after the forward pass.
        """
        last: Any = self.layers[-1]
        with self.workspace:
            activations, caches = self.forward(batch.features, training=True, mask=batch.features_mask)
            if watch is not None:
                watch(activations)
            loss = last.summed_loss(batch.labels, caches[-1], batch.loss_mask)
            self.backward(last.delta(batch.labels, caches[-1], batch.loss_mask), caches)
        return loss

    def backward(self, delta: Array, caches: list[Any]) -> None:
        """Fill the gradient vector from the last layer's delta; nothing is computed below the lowest parameters."""
        last, lowest = len(self.layers) - 1, self._lowest
        epsilon = self.layers[last].backprop_delta(delta, caches[last], last > lowest)  # type: ignore[attr-defined]
        for index in range(last - 1, lowest - 1, -1):
            preprocessor = self._stages[index + 1][0]
            if preprocessor is not None:
                epsilon = preprocessor.backprop(epsilon)
            epsilon = self.layers[index].backprop_gradient(epsilon, caches[index], index > lowest)
