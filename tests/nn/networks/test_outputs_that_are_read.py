"""Layers with a loss whose activations other vertices read: their gradients are derivatives of all losses."""

import numpy as np
import pytest

import nd
from nn import (
    Cnn3DLossLayer,
    CnnLossLayer,
    ComputationGraph,
    DenseLayer,
    InputType,
    LossLayer,
    MergeVertex,
    NeuralNetConfiguration,
    OCNNOutputLayer,
    OutputLayer,
    RnnLossLayer,
    RnnOutputLayer,
    ScaleVertex,
    SubsetVertex,
)
from nn.layers.losses.center_loss import CenterLossOutputLayer
from tests.nn.step.test_random_graphs import CLOSE, difference, trained_entries

ROWS, SERIES = InputType.feed_forward(3), InputType.recurrent(3, 4)
IMAGES, VOLUMES = InputType.convolutional(2, 3, 3), InputType.convolutional3d(2, 2, 2, 3)
STEPS = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1.0]])
SOFTMAX, SQUARES = {"loss": "mcxent", "activation": "softmax"}, {"loss": "mse", "activation": "tanh"}
CASES = {
    "rows": (OutputLayer(n_out=3, **SOFTMAX), ROWS, (3,)),
    "rows without activation": (OutputLayer(n_out=2, loss="mse", activation="identity"), ROWS, (2,)),
    "no parameters": (LossLayer(**SQUARES), ROWS, (3,)),
    "centers": (CenterLossOutputLayer(n_out=3, lambda_=0.3, **SOFTMAX), ROWS, (3,)),
    "one class": (OCNNOutputLayer(hidden_size=3, activation="tanh", nu=0.5), ROWS, (1,)),
    "series": (RnnOutputLayer(n_out=3, **SOFTMAX), SERIES, (3, 4)),
    "series of squares": (RnnOutputLayer(n_out=3, **SQUARES), SERIES, (3, 4)),
    "series without parameters": (RnnLossLayer(**SOFTMAX), SERIES, (3, 4)),
    "images": (CnnLossLayer(**SOFTMAX), IMAGES, (3, 2, 3)),
    "volumes": (Cnn3DLossLayer(**SQUARES), VOLUMES, (3, 2, 2, 2)),
}
BEHIND = {2: OutputLayer, 3: RnnOutputLayer, 4: OutputLayer, 5: OutputLayer}


def network(layer, input_type, rank):
    """Return a graph whose first output is read twice, by a vertex and by the second output."""
    if rank == 3:
        first = RnnOutputLayer(n_out=3, **SQUARES)
    elif rank == 2:
        first = DenseLayer(n_out=3, activation="tanh")
    else:
        first = ScaleVertex(0.9)
    nodes = {
        "first": (first, "x"),
        "middle": (layer, "first"),
        "twice": (MergeVertex(), "middle", "middle"),
        "second": (BEHIND[rank](n_out=2, **SOFTMAX), "twice", "middle"),
    }
    settings = NeuralNetConfiguration(seed=5, dtype="float64", weight_init="xavier")
    outputs = ["middle", "second", "first"] if rank == 3 else ["middle", "second"]
    return ComputationGraph(settings.graph(inputs={"x": input_type}, nodes=nodes, outputs=outputs)).init()


def labels_of(net, x):
    rng = np.random.default_rng(8)
    for out in net.output(x):
        classes = rng.integers(0, out.shape[1], (out.shape[0], 1, *out.shape[2:]))
        yield (classes == np.arange(out.shape[1]).reshape(1, -1, *(1 for _ in out.shape[2:]))).astype(float)


def loss(net, x, y, masks):
    net.set_inputs(x)
    net.set_labels(*y)
    net.set_masks(*masks)
    return net.compute_gradient_and_score().score * len(x)


@pytest.mark.parametrize("masked", ["", "features", "labels"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.quick_rows(every=3)
def test_both_losses_are_in_the_gradient(name, masked):
    layer, input_type, shape = CASES[name]
    net, rng = network(layer, input_type, len(shape) + 1), np.random.default_rng(3)
    if name == "one class":
        net.set_param("middle_r", np.full((1, 1), 0.3))
    x = rng.normal(0.0, 0.7, (4, *input_type.shape))
    y, mask = list(labels_of(net, x)), STEPS if len(shape) == 2 else np.array([[1.0], [0], [1], [1]])
    masks = (None, None)
    if masked == "features" and len(shape) < 3:
        masks = ([mask], None)
    elif masked == "labels":
        masks = (None, [mask, *[None] * (len(y) - 1)])
    at, entries = nd.to_host(net.params()).copy(), trained_entries(net)
    gradient, (below,) = net.calculate_gradients(x, y, *masks)
    vector, below = nd.to_host(gradient.gradient()).copy()[0], nd.to_host(below).copy()

    def of_params(arrays):
        net.set_params(arrays[0])
        return loss(net, x, y, masks)

    for _ in range(3):
        direction = rng.normal(size=at.shape) * entries
        numeric = difference(of_params, [at], [direction])
        assert vector @ direction[0] == pytest.approx(numeric, rel=CLOSE["rtol"], abs=CLOSE["atol"])
    net.set_params(at)
    direction = rng.normal(size=x.shape)
    numeric = difference(lambda arrays: loss(net, arrays[0], y, masks), [x], [direction])
    assert (below * direction).sum() == pytest.approx(numeric, rel=CLOSE["rtol"], abs=CLOSE["atol"])


def test_errors_from_outside_meet_those_of_readers():
    """dL/d(activations) of an output that is read: its own, and that which comes back from the other output."""
    net, rng = network(*CASES["rows"][:2], 2), np.random.default_rng(3)
    x, errors = rng.normal(size=(4, 3)), [rng.normal(size=(4, 3)), rng.normal(size=(4, 2))]
    net.set_inputs(x)
    gradient, (below,) = net.backprop_gradient(*errors)
    vector, at = nd.to_host(gradient.gradient()).copy()[0], nd.to_host(net.params()).copy()

    def weighed(arrays):
        net.set_params(arrays[0])
        outs = net.output(arrays[1])
        return sum((error * nd.to_host(out)).sum() for error, out in zip(errors, outs, strict=True))

    directions = [rng.normal(size=at.shape), rng.normal(size=x.shape)]
    numeric = difference(weighed, [at, x], directions)
    assert vector @ directions[0][0] + (below * directions[1]).sum() == pytest.approx(numeric, rel=1e-6)


def test_masks_of_labels_are_of_one_output_alone():
    """Where an output is a view of another one, each is multiplied by its own mask, once."""
    settings = NeuralNetConfiguration(seed=5, dtype="float64")
    nodes = {"a": (OutputLayer(n_out=3), "x"), "b": (SubsetVertex(0, 1), "a"), "c": (LossLayer(loss="mse"), "b")}
    conf = settings.graph(inputs={"x": ROWS}, nodes=nodes, outputs=["a", "b", "c"])
    net, x = ComputationGraph(conf).init(), np.random.default_rng(3).normal(size=(4, 3))
    plain = net.output(x)
    masks = [np.full((4, 1), size) for size in (0.5, 0.25, 3.0)]
    for masked, out, mask in zip(net.output(x, labels_masks=masks), plain, masks, strict=True):
        np.testing.assert_allclose(masked, out * mask, rtol=1e-15)
    for masked, out, mask in zip(net.output(x, labels_masks=masks, train=True), plain, masks, strict=True):
        np.testing.assert_allclose(masked, out * mask, rtol=1e-15)
