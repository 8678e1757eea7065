"""A network of Java 1.0.0-beta4: pooling, zero padding, upsampling, cropping and four kinds of convolution in one."""

import numpy as np
import pytest

import nd
from nd import serde
from nn import Cropping2D, MultiLayerNetwork, SubsamplingLayer, Upsampling2D, ZeroPaddingLayer
from tests.stand_ins import make_backend

CLOSE = 1e-6  # largest error of float32 probabilities


@pytest.fixture
def folder(reference):
    return reference / "regression" / "100b4"


def test_the_output_is_javas(folder, request):
    with nd.use_backend(make_backend(request.config.getoption("--backend") or "numpy")):
        network = MultiLayerNetwork.load(folder / "SyntheticCNN_100b4.bin")
        found = nd.to_host(network.output(serde.load(folder / "SyntheticCNN_Input_100b4.bin")))
    kinds = {type(layer) for layer in network.conf.layers}
    assert kinds >= {Cropping2D, SubsamplingLayer, Upsampling2D, ZeroPaddingLayer}
    np.testing.assert_allclose(found, serde.load(folder / "SyntheticCNN_Output_100b4.bin"), rtol=0.0, atol=CLOSE)
