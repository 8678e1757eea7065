"""Whole networks of poolings, upsamplings, borders and blocks: gradients, training, records, memory."""

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet
from nn import (
    ActivationLayer,
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    Cropping1D,
    Cropping2D,
    Cropping3D,
    DenseLayer,
    GlobalPoolingLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RepeatVector,
    RnnOutputLayer,
    SpaceToBatchLayer,
    SpaceToDepthLayer,
    Subsampling1DLayer,
    Subsampling3DLayer,
    SubsamplingLayer,
    Upsampling1D,
    Upsampling2D,
    Upsampling3D,
    ZeroPadding1DLayer,
    ZeroPadding3DLayer,
    ZeroPaddingLayer,
)
from optimize import Adam, Sgd
from tests.nn.step.test_memory_of_a_step import LARGE, largest_allocation
from tests.step_plans import recorded

STEPS, N = 4, 6
STEP, GRADIENT = 1e-6, 1e-6  # of central differences along random directions, and their largest relative error
OUT = OutputLayer(n_out=3, loss="mcxent", activation="softmax")


def conv(n_out, **settings):
    return ConvolutionLayer(n_out=n_out, kernel_size=2, activation="tanh", **settings)


NETWORKS = {
    "upsampling": (
        (conv(3), Upsampling2D(2), conv(4), GlobalPoolingLayer("avg"), OUT),
        InputType.convolutional(5, 4, 2),
    ),
    "borders": (
        (
            ZeroPaddingLayer((1, 0, 2, 1)),
            conv(3),
            Cropping2D((0, 1, 1, 0)),
            SubsamplingLayer("avg", kernel_size=2),
            OUT,
        ),
        InputType.convolutional(6, 5, 2),
    ),
    "pooled pairs": (
        (conv(3), ActivationLayer("identity"), SubsamplingLayer("max", kernel_size=2), GlobalPoolingLayer("avg"), OUT),
        InputType.convolutional(7, 7, 2),
    ),
    "blocks": (
        (conv(3, convolution_mode="same"), SpaceToDepthLayer(2), conv(4), GlobalPoolingLayer("max"), OUT),
        InputType.convolutional(6, 4, 2),
    ),
    "examples of blocks": (
        (SpaceToBatchLayer(2, 1), conv(3), Cropping1D((1, 0)), GlobalPoolingLayer("pnorm", pnorm=3), OUT),
        InputType.convolutional(4, 6, 2),
    ),
    "series": (
        (
            ZeroPadding1DLayer((1, 2)),
            Convolution1DLayer(n_out=4, kernel_size=2, activation="tanh"),
            Subsampling1DLayer("avg", kernel_size=3, stride=2),
            Upsampling1D(3),
            Cropping1D((2, 1)),
            GlobalPoolingLayer("sum"),
            OUT,
        ),
        InputType.recurrent(3, 8),
    ),
    "repeated rows": (
        (
            DenseLayer(n_out=8, activation="tanh"),
            RepeatVector(5),
            Convolution1DLayer(n_out=3, kernel_size=2, convolution_mode="causal", activation="tanh"),
            RnnOutputLayer(n_out=3, loss="mcxent", activation="softmax"),
        ),
        InputType.feed_forward(4),
    ),
    "volumes": (
        (
            ZeroPadding3DLayer((1, 0, 0, 1, 1, 1)),
            Convolution3D(n_out=3, kernel_size=2, activation="tanh"),
            Subsampling3DLayer("max", kernel_size=2, stride=1),
            Upsampling3D((1, 2, 1)),
            Cropping3D((0, 0, 1, 0, 0, 1)),
            Subsampling3DLayer("avg", kernel_size=2, stride=2, convolution_mode="same"),
            GlobalPoolingLayer("avg", collapse_dimensions=False),
            OUT,
        ),
        InputType.convolutional3d(4, 3, 4, 2),
    ),
}
MASKED = {"upsampling", "pooled pairs", "series", "volumes", "blocks"}
"""Where masks of the features end in a pooling over all places."""
EVERY_WAY = [(name, masked) for name in NETWORKS for masked in (False, True) if name in MASKED or not masked]


def configuration(name, dtype="float64", updater=None):
    layers, input_type = NETWORKS[name]
    base = NeuralNetConfiguration(seed=5, dtype=dtype, l2=1e-2, bias_init=0.1, updater=updater or Sgd(0.1))
    return base.list(*layers, input_type=input_type)


def batch(name, n=N, dtype="float64", mask=False):
    rng, shape = np.random.default_rng(7), NETWORKS[name][1].shape
    classes = np.eye(3)[rng.integers(0, 3, n)]
    labels = classes if name != "repeated rows" else np.repeat(classes[..., None], 5, axis=2)
    x = rng.normal(0.0, 0.8, (n, *shape)) + np.argmax(classes, 1).reshape(n, *[1] * len(shape)) - 1.0
    counts = None
    if mask:
        counts = rng.integers(0, 2, (n, *shape[1:]) if len(shape) == 2 else (n, 1, *shape[1:])).astype(dtype)
        counts[..., -1] = 1.0
    return DataSet(x.astype(dtype), labels.astype(dtype), counts)


def made(name, dtype="float64", updater=None):
    return MultiLayerNetwork(configuration(name, dtype, updater)).init()


@pytest.mark.parametrize(("name", "masked"), EVERY_WAY)
@pytest.mark.numpy_first
def test_the_gradient_is_that_of_the_whole_objective(name, masked, backend):
    """With what the penalties add to it: along directions through all parameters at once."""
    net, data, rng = made(name), batch(name, mask=masked), np.random.default_rng(3)
    net.set_input(data.features)
    net.set_labels(data.labels)
    net.set_masks(data.features_mask)
    net.compute_gradient_and_score()
    params = nd.to_host(nd.copy(net.params()))
    gradient = nd.to_host(nd.copy(net.flattened_gradients())) / N
    for view in net.conf.layout().views:
        if not view.spec.bias:
            gradient[0, view.start : view.stop] += 1e-2 * params[0, view.start : view.stop]

    def objective(at):
        net.set_params(at)
        return net.score(data)

    for _ in range(3):
        direction = rng.normal(size=params.shape)
        slope = (objective(params + STEP * direction) - objective(params - STEP * direction)) / (2 * STEP)
        assert slope == pytest.approx((gradient * direction).sum(), rel=GRADIENT, abs=GRADIENT)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.quick_rows(every=3)
def test_it_learns(name):
    """Three classes whose means differ; the objective before is about ln 3."""
    net, data = made(name, "float32", Adam(0.03)), batch(name, 24, "float32")
    before = net.score(data)
    net.fit(data, epochs=60)
    assert net.score(data) < 0.5 * before
    assert net.evaluate(data).accuracy() > 0.9


@pytest.mark.parametrize(("name", "masked"), EVERY_WAY)
def test_steps_from_the_record_are_the_steps_themselves(name, masked, monkeypatch):
    batches = [batch(name, dtype="float32", mask=masked) for _ in range(STEPS)]
    for number, data in enumerate(batches):
        data.features[...] += 0.1 * number
    with nd.use_backend(NumpyBackend(threads=1)):
        replayed = made(name, "float32")
        replayed.fit(batches)
        assert recorded(replayed.engine.gradients) == [1]
        monkeypatch.setattr(NumpyBackend, "recorder", lambda self: None)
        plain = made(name, "float32")
        plain.fit(batches)
        assert recorded(plain.engine.gradients) == [0]
        np.testing.assert_array_equal(replayed.params(), plain.params())


@pytest.mark.parametrize("name", NETWORKS)
def test_a_minibatch_in_parts_gives_what_the_whole_gives(name):
    """Where a layer makes examples of places nothing is split."""
    net, data = made(name), batch(name, 8)
    whole = net.feed_forward(data.features)[-1]
    parts = np.concatenate([net.output(data.features[start : start + 3]) for start in (0, 3, 6)])
    np.testing.assert_allclose(parts, whole, rtol=1e-12, atol=1e-13)
    assert all(layer.may_split(True) for layer in net.layers) == (name != "examples of blocks")


LARGE_INPUTS = {  # CnnToRnnPreProcessor, which stands behind examples of blocks, copies on the way back
    "upsampling": InputType.convolutional(24, 24, 2),
    "borders": InputType.convolutional(32, 32, 2),
    "pooled pairs": InputType.convolutional(32, 32, 2),
    "blocks": InputType.convolutional(32, 32, 2),
    "series": InputType.recurrent(3, 400),
    "volumes": InputType.convolutional3d(8, 12, 12, 2),
}


@pytest.mark.parametrize(("name", "masked"), [way for way in EVERY_WAY if way[0] in LARGE_INPUTS])
def test_a_step_after_the_third_allocates_nothing_large(name, masked, monkeypatch):
    monkeypatch.setitem(NETWORKS, name, (NETWORKS[name][0], LARGE_INPUTS[name]))
    data = batch(name, 32, "float32", mask=masked)
    assert data.features.nbytes > LARGE
    with nd.use_backend(NumpyBackend(threads=1)):
        net = made(name, "float32")
        for _ in range(3):
            net.fit_batch(data)
        assert largest_allocation(lambda: net.fit_batch(data)) < LARGE


# ---- examples that are made of blocks


def test_what_ends_in_examples_of_blocks_has_as_many_rows_and_takes_no_labels():
    conf = NeuralNetConfiguration(seed=5, dtype="float64").list(
        SpaceToBatchLayer((2, 3)), GlobalPoolingLayer("avg"), OUT, input_type=InputType.convolutional(4, 6, 2)
    )
    net = MultiLayerNetwork(conf).init()
    x = np.random.default_rng(1).normal(size=(5, 2, 4, 6))
    found = net.output(x)
    assert found.shape == (30, 3)
    means = [x[:, :, down::2, right::3].mean(axis=(2, 3)) for down in (0, 1) for right in (0, 1, 2)]
    z = np.concatenate(means) @ net.get_param("2_W") + net.get_param("2_b")
    np.testing.assert_allclose(found, np.exp(z) / np.exp(z).sum(1, keepdims=True), rtol=1e-12)
    with pytest.raises(nd.ShapeError, match=r"layer 2 .*\[30, 3\].*\[5, 3\]"):
        net.fit(x, np.eye(3)[[0, 1, 2, 0, 1]])
    with pytest.raises(nd.ShapeError, match=r"as many labels as features, got labels \[30, 3\]"):
        net.fit(x, np.eye(3)[np.arange(30) % 3])


def test_a_layer_over_series_makes_steps_of_the_places_of_blocks():
    conf = NeuralNetConfiguration(seed=5, dtype="float64").list(
        SpaceToBatchLayer(2), Cropping1D(0), input_type=InputType.convolutional(4, 6, 2)
    )
    x = np.random.default_rng(1).normal(size=(5, 2, 4, 6))
    found = MultiLayerNetwork(conf).init().output(x)
    assert found.shape == (5, 2 * 2 * 3, 4)
    for step, (down, right) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1)]):
        np.testing.assert_array_equal(found[:, :, step], x[:, :, down::2, right::2].reshape(5, -1))
