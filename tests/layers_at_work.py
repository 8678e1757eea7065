"""One layer of a network at work, called as the network calls it."""

import nd
from nn.layers.runtime import Context


def forward(layer, x, training=False, mask=None, buffer=None):
    """Return the activations and what the way back needs, in new memory unless there are buffers."""
    ctx = Context(training, buffer or nd.fresh_buffers(layer.dtype), mask)
    state = layer.initial_state(x.shape[0]) if hasattr(x, "shape") else ()
    return layer.propagate(x, state, layer.params, ctx)[:2]


def backprop(layer, epsilon, kept, grads=None, need_epsilon=True):
    """Write the gradients, into `grads` where they are given; return dL/dx."""
    kept.context.needs_epsilon = need_epsilon
    return layer.backpropagate(epsilon, kept, memory_of_gradients(layer) if grads is None else grads)


def backprop_delta(layer, delta, kept, grads=None, need_epsilon=True):
    """Do so from what `loss_and_delta` returned."""
    kept.context.needs_epsilon = need_epsilon
    return layer.backpropagate(delta, kept, memory_of_gradients(layer) if grads is None else grads, is_delta=True)


def memory_of_gradients(layer):
    """Return name -> array for each gradient, in the memory order that a network has."""
    zeros = {spec.name: nd.zeros(spec.length, dtype=layer.dtype) for spec in layer.conf.param_specs()}
    return {spec.name: nd.reshape_view(zeros[spec.name], spec.shape, spec.order) for spec in layer.conf.param_specs()}
