"""Models of Keras made by hand, as the reader of files makes them, and what a network computes of them."""

import numpy as np

import nd
from nn.keras.into.recognition import network_of
from nn.keras.model import InputSpec, KerasCall, KerasLayer, KerasModel, Weight


def layer(class_name, config=None, name=None, trainable=True, **weights):
    """A layer with weights by their names, in their order."""
    arrays = tuple(Weight(key, array.shape, lambda array=array: array) for key, array in weights.items())
    return KerasLayer(class_name, name or class_name.lower(), config or {}, arrays, trainable)


def call(made, *inputs, name=None, **arguments):
    """A use of a layer."""
    return KerasCall(name or made.name, made, inputs, arguments)


def sequential(shape, *layers, version=3, training=None, dtype="float64"):
    """A model of layers one behind the other, named apart."""
    calls, before = [], "input"
    for number, made in enumerate(layers):
        name = f"{made.name}_{number}"
        calls.append(KerasCall(name, made._replace(name=name), (before,), {}))
        before = name
    specs = {"input": InputSpec(tuple(shape), dtype)}
    return KerasModel("model.keras", version, specs, tuple(calls), (before,), True, training, dtype)


def functional(shapes, *calls, outputs=None, version=3, training=None, dtype="float64"):
    """A graph of calls; the last is its output unless others are named."""
    specs = {name: InputSpec(tuple(shape), dtype) for name, shape in shapes.items()}
    outputs = tuple(outputs or (calls[-1].name,))
    return KerasModel("model.keras", version, specs, calls, outputs, False, training, dtype)


def outputs_of(model, *xs):
    """The outputs of the network that a model becomes, as arrays of the host."""
    given = network_of(model).output(*xs)
    return [nd.to_host(one) for one in (given if isinstance(given, (list, tuple)) else [given])]


def check(model, xs, *expected, rtol=1e-12, atol=1e-12):
    """Compare the outputs with those expected, for all examples and for the first alone."""
    for stop in (None, 1):
        found = outputs_of(model, *(x[:stop] for x in xs))
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.shape == theirs[:stop].shape
            np.testing.assert_allclose(ours, theirs[:stop], rtol=rtol, atol=atol)
