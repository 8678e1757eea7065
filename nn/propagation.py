"""Forward and backward through a stack of layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import nd

from .layers.base import label_of
from .layers.pooled_convolution import paired
from .layers.runtime import LayerRuntime

if TYPE_CHECKING:
    from .conf.network import MultiLayerConfiguration
    from .params import ParamLayout
    from .preprocessors import InputPreProcessor
    from .step_input import StepInput

Array = Any
Watch = Callable[[list[Array]], None]


class _Stage(NamedTuple):
    """One layer, or several that run as one: the number of the first, and what stands before it."""

    first: int
    preprocessor: InputPreProcessor | None
    layer: Any


class Propagation:
    """The layers of a network at work: on its parameters, on a gradient vector, in memory of their own.

    Parameters
    ----------
    conf : MultiLayerConfiguration
    layout : ParamLayout
    params : array ``[1, n]``
    gradient : array ``[1, n]``
        Receives the gradients of the parameters.
    fused : bool
        Run layers as one where that is faster; then not every layer's activations are there.

    Attributes
    ----------
    workspace : Workspace
        The memory of the layers.
    layers : list of LayerRuntime
    scheduled : list of NumbersInForce
        Of the layers' noise, where it follows schedules.
    """

    def __init__(
        self, conf: MultiLayerConfiguration, layout: ParamLayout, params: Array, gradient: Array, fused: bool = False
    ) -> None:
        self._conf, dtype = conf, conf.base.dtype
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
        self._lowest = layout.lowest_layer
        self.scheduled = [numbers for layer in self.layers for numbers in layer.scheduled_numbers()]
        self._stages = self._paired() if fused else self._one_by_one()

    def _one_by_one(self) -> list[_Stage]:
        found = self._conf.preprocessors.get
        return [_Stage(index, found(index), layer) for index, layer in enumerate(self.layers)]

    def _paired(self) -> list[_Stage]:
        """Put a convolution and the pooling after it together."""
        stages: list[_Stage] = []
        for stage in self._one_by_one():
            before = stages[-1] if stages and stage.preprocessor is None else None
            both = None if before is None else paired(before.layer, stage.layer, stage.first < self._lowest)
            if before is not None and both is not None:
                stage = _Stage(before.first, before.preprocessor, both)
                stages.pop()
            stages.append(stage)
        return stages

    def at(self, iteration: int, epoch: int) -> Self:
        """Put the numbers of that iteration and epoch, 0-based, in force for the noise of the layers; return self."""
        for numbers in self.scheduled:
            numbers.at(iteration, epoch)
        return self

    def forward(
        self,
        x: Array,
        training: bool,
        stop: int | None = None,
        mask: Array | None = None,
        last_masked: bool = True,
        start: int = 0,
    ) -> tuple[list[Array], list[Any]]:
        """Run layers start .. stop - 1; return [x, activations of each] and their caches."""
        activations, caches, examples = [x], [], x.shape[0]
        for stage in self._stages[start:stop]:
            _, preprocessor, layer = stage
            if preprocessor is not None:
                x = preprocessor.pre_process(x, examples, layer.buffers)
                mask = None if mask is None else preprocessor.feed_forward_mask(mask, examples)
            if stage is self._stages[-1] and not last_masked:
                mask = None
            x, cache = _pair(layer, layer.forward(x, training, mask))
            mask = None if mask is None else layer.feed_forward_mask(mask)
            activations.append(x)
            caches.append(cache)
        return activations, caches

    def mask_behind(self, mask: Array, examples: int) -> Array | None:
        """Return the mask of the last layer's activations, from that of so many examples' features; None for none."""
        for _, preprocessor, layer in self._stages:
            if preprocessor is not None and mask is not None:
                mask = preprocessor.feed_forward_mask(mask, examples)
            mask = None if mask is None else layer.feed_forward_mask(mask)
        return mask

    def gradient_and_loss(self, step: StepInput, watch: Watch | None = None) -> Array:
        """Fill the gradient vector with sums over the examples of a minibatch; return the summed loss.

        `watch` is called with the activations after the forward pass.
        """
        last: Any = self.layers[-1]
        with self.workspace:
            activations, caches = self.forward(step.features, training=True, mask=step.features_mask)
            if watch is not None:
                watch(activations)
            loss, delta = last.loss_and_delta(step.labels, caches[-1], loss_mask(step, caches[-1]))
            self.backward(delta, caches, step.examples)
        return loss

    def output(self, step: StepInput, training: bool = False) -> Array:
        """Return the last layer's activations ``[N, ...]``, in memory that is used again.

        They are multiplied by the labels' mask where there is one, which then stands in for the last layer's own;
        layers of a loss of places alone take none, as in Java.
        """
        mask = step.labels_mask
        with self.workspace:
            out = self.forward(step.features, training, None, step.features_mask, mask is None)[0][-1]
            unmasked = mask is None or not self.layers[-1].masks_output
            return out if unmasked else nd.muli(out, _over(mask, out))

    def backward(
        self, delta: Array, caches: list[Any], examples: int, to_input: bool = False, external: bool = False
    ) -> Array | None:
        """Fill the gradient vector from the last layer's delta, of so many examples.

        Nothing is computed below the lowest parameters, unless `to_input` asks for dL/d(features), which is returned.
        `external` says that delta is dL/d(activations) of the last layer, whatever it is.
        """
        *before, (last, preprocessor, layer) = self._stages
        lowest = -1 if to_input else self._lowest
        begin = layer.backprop_gradient if external else layer.backprop_delta
        epsilon = begin(delta, caches[-1], last > lowest)
        layer_behind = layer
        for (first, next_preprocessor, layer), cache in zip(reversed(before), reversed(caches[:-1]), strict=True):
            if epsilon is None:
                self._ended(layer_behind, last)
                return None
            if preprocessor is not None:
                epsilon = preprocessor.backprop(epsilon, examples, layer_behind.buffers)
            epsilon = layer.backprop_gradient(epsilon, cache, first > lowest)
            preprocessor, layer_behind, last = next_preprocessor, layer, first
        if preprocessor is None or epsilon is None:
            return epsilon
        return preprocessor.backprop(epsilon, examples, layer_behind.buffers)

    def _ended(self, layer: Any, index: int) -> None:
        """Raise ConfigurationError where a layer gave no gradient that layers below need, and did not say so."""
        if index > self._lowest and not layer.ends_backprop:
            raise nd.ConfigurationError(
                f"{layer.label}: backprop_gradient must return dL/dx, as layer {self._lowest} below is trained, got "
                "None. Return it, or set ends_backprop = True on the runtime."
            )


def loss_mask(step: StepInput, cache: Any) -> Array | None:
    """Return the labels' mask; as in Java, where there is none, the mask that reached the last layer."""
    return cache.mask if step.labels_mask is None else step.labels_mask


def _over(mask: Array, out: Array) -> Array:
    """Return a labels' mask as it broadcasts to activations; raise ShapeError if it does not."""
    n, shape = out.shape[0], tuple(out.shape)
    found = tuple(mask.shape)
    if len(shape) == 3 and found == (n, shape[2]):
        mask = nd.reshape(mask, (n, 1, shape[2]))
    elif found == (n, 1):
        mask = nd.reshape(mask, (n, *(1 for _ in shape[1:])))
    fits = mask.ndim == len(shape) and mask.shape[0] == n
    if not fits or any(m not in (1, size) for m, size in zip(mask.shape, shape, strict=True)):
        raise nd.ShapeError(
            f"output: the labels' mask must be {[n, 1]} or fit the output {list(shape)}, got {list(found)}."
        )
    return mask


def _pair(layer: Any, made: Any) -> tuple[Array, Any]:
    """Return what forward has made; raise ConfigurationError unless it is activations and a cache."""
    if not isinstance(made, tuple) or len(made) != 2:
        raise nd.ConfigurationError(
            f"{layer.label}: forward must return (activations, cache), got {type(made).__name__}. Without a cache "
            "return (activations, None)."
        )
    return made
