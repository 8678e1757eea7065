"""One layer back by itself, for programs that look inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import nd
from nd.java_names import Pair
from nd.typing import Array

from ..terms import late
from ..terms.params import ParamLayout
from .context import Context, Kept
from .losses.output import OutputMixin

if TYPE_CHECKING:
    from .runtime import LayerRuntime


def backpropagated(
    layer: LayerRuntime, x: object, epsilon: object, training: bool, mask: Array | None, labels: object
) -> Pair:
    """Return the gradient of a layer's parameters and dL/dx, see `LayerRuntime.backprop_gradient`."""
    who = f"{layer.label}: backprop_gradient"
    if epsilon is None and labels is None:
        raise nd.ArgumentError(
            f"{who}: epsilon must be an array of the activations' shape, got None. Give it, or the labels of a layer "
            "with a loss."
        )
    if labels is not None and not isinstance(layer, OutputMixin):
        raise nd.ConfigurationError(
            f"{who}: labels must be of a layer with a loss, got them for one without. Give epsilon."
        )
    features = nd.as_array(x, layer.dtype)
    ctx = Context(training, nd.fresh_buffers(layer.dtype), mask)
    state = layer.initial_state(features.shape[0]) if features.ndim else ()
    a, kept, _ = layer.propagate(features, state, layer.params, ctx)
    back, is_delta = _beginning(who, layer, a, kept, epsilon, labels)
    layout = ParamLayout([layer.conf.param_specs()])
    vector = nd.zeros(1, layout.length, dtype=layer.dtype)
    below = layer.backpropagate(back, kept, layout.views_of(0, vector), is_delta)
    table = {view.spec.name: view.of(vector) for view in layout.views}
    orders = {view.spec.name: view.spec.order for view in layout.views}
    return Pair(late("DefaultGradient")(vector, table, orders), below)


def _beginning(who: str, layer: Any, a: Array, kept: Kept, epsilon: object, labels: object) -> tuple[Array, bool]:
    """Return with what the way back begins, in memory of its own, and whether that is dL/dz."""
    of_activations: Any = None
    if epsilon is not None:
        of_activations = nd.copy(nd.as_array(epsilon, layer.dtype))
        if tuple(of_activations.shape) != tuple(a.shape):
            raise nd.ShapeError(f"{who}: epsilon must be {list(a.shape)}, got {list(of_activations.shape)}.")
    if labels is None:
        return of_activations, False
    _, delta = layer.loss_and_delta(nd.as_array(labels, layer.dtype), kept, kept.context.mask)
    return (delta if epsilon is None else layer.with_epsilon(delta, of_activations, kept)), True
