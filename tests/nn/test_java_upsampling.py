"""A network with an upsampling that Java 1.0.0-alpha ran and saved: its output and its gradient, number by number."""

import io
import zipfile

import numpy as np
import pytest

import nd
from nd import serde
from nn import ConvolutionLayer, InputType, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer, Upsampling2D
from tests.stand_ins import make_backend

OUTPUT, GRADIENT = 1e-5, 1e-5  # largest errors, absolute, of float32


@pytest.fixture
def folder(reference):
    return reference / "regression" / "100a" / "upsampling"


@pytest.fixture
def network(folder, request):
    """The configuration in net.bin, whose file is of a form before 1.0, by hand, with the parameters that are there."""
    with zipfile.ZipFile(folder / "net.bin") as archive:
        params = serde.read_array(io.BytesIO(archive.read("coefficients.bin")))
    conf = NeuralNetConfiguration(seed=12345, activation="tanh", convolution_mode="same").list(
        ConvolutionLayer(n_out=5, kernel_size=2),
        Upsampling2D(2),
        ConvolutionLayer(n_out=3, kernel_size=2),
        OutputLayer(n_out=10, loss="mse", activation="tanh"),
        input_type=InputType.convolutional(28, 28, 1),
    )
    with nd.use_backend(make_backend(request.config.getoption("--backend") or "numpy")):
        yield MultiLayerNetwork(conf).init(params)


def test_the_output_is_javas(network, folder):
    found = nd.to_host(network.output(serde.load(folder / "in.bin")))
    np.testing.assert_allclose(found, serde.load(folder / "out.bin"), rtol=0.0, atol=OUTPUT)


def test_the_gradient_is_javas_before_it_is_divided_by_the_minibatch(network, folder):
    network.set_input(serde.load(folder / "in.bin"))
    network.set_labels(serde.load(folder / "labels.bin"))
    network.compute_gradient_and_score()
    expected = serde.load(folder / "gradient.bin")
    assert np.abs(expected).max() > 100 * GRADIENT
    np.testing.assert_allclose(nd.to_host(network.flattened_gradients()), expected, rtol=0.0, atol=GRADIENT)
