"""MaskLayer: Java's numbers and files, and masks that do not fit."""

import json
from pathlib import Path

import numpy as np
import pytest

import nd
import nn
from nn import InputType, LossLayer, MaskLayer, MultiLayerNetwork, NeuralNetConfiguration


@pytest.fixture(scope="module")
def java():
    """An LSTM, a MaskLayer and an RnnOutputLayer in Deeplearning4j 1.0.0-M1.1, in double precision."""
    with np.load(Path(__file__).parents[2] / "cases" / "java_yolo.npz") as found:
        return {name.removeprefix("mask/"): value for name, value in found.items() if name.startswith("mask/")}


def test_javas_numbers_and_file(java, tmp_path, backend):
    (tmp_path / "java.zip").write_bytes(java["model"].tobytes())
    net, every = MultiLayerNetwork.load(tmp_path / "java.zip"), np.ones((3, 5))
    assert isinstance(net.conf.layers[1], MaskLayer)
    found = net.output(java["x"], features_mask=java["m"], labels_mask=every)
    np.testing.assert_allclose(nd.to_host(found), java["out"], rtol=1e-12)
    net.set_masks(java["m"], every)
    net.set_input(java["x"])
    net.set_labels(java["y"])
    net.compute_gradient_and_score()
    np.testing.assert_allclose(net.score(), json.loads(java["numbers"].tobytes())["score"], rtol=1e-12)
    gradient = nd.to_host(net.gradient().gradient()).ravel()
    np.testing.assert_allclose(gradient, java["gradient"].ravel(), rtol=1e-10, atol=1e-14)
    net.save(tmp_path / "ours.zip")
    assert nn.load(tmp_path / "ours.zip").conf.layers == net.conf.layers


@pytest.mark.parametrize(
    ("shape", "mask"),
    [((2, 3), (2, 1)), ((2, 3, 4), (2, 4)), ((2, 3, 4, 5), (2, 1, 4, 5)), ((2, 3, 4, 5), (2, 1, 4, 1)),
     ((2, 3, 4, 5), (2, 1, 1, 5))],
)  # fmt: skip
def test_activations_and_epsilons_are_multiplied(shape, mask, backend):
    layer = MaskLayer().runtime(MaskLayer(), "layer 0", "float64")
    rng = np.random.default_rng(1)
    x, m = rng.normal(size=shape), rng.uniform(size=mask)
    expected = x * (m[:, None, :] if len(shape) == 3 else m)
    np.testing.assert_allclose(nd.to_host(layer.activate(nd.create(x), mask=nd.create(m))), expected)
    np.testing.assert_array_equal(nd.to_host(layer.activate(nd.create(x))), x)


def test_a_mask_that_does_not_fit():
    conf = NeuralNetConfiguration(seed=1).list(MaskLayer(), LossLayer(loss="mse"), input_type=InputType.feed_forward(3))
    layer = MultiLayerNetwork(conf).init().get_layer(0)
    x = nd.zeros(2, 3, 4)
    with pytest.raises(nd.ShapeError, match=r"layer 0 \(MaskLayer\): mask must be \[N, T\] for input \[2, 3, 4\], got"):
        layer.activate(x, mask=nd.ones(2, 3))
