"""What stood before a layer that was removed."""

import numpy as np
import pytest

import nd
from nn import (
    BatchNormalization,
    ConvolutionLayer,
    GlobalPoolingLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    TransferLearning,
)


def test_the_preprocessor_of_a_removed_layer_serves_the_one_in_its_place():
    """As in Java, where a batch normalisation of rows is put behind a convolution that way."""
    conf = NeuralNetConfiguration(seed=1).list(
        ConvolutionLayer(n_out=3, kernel_size=3), OutputLayer(n_out=2), input_type=InputType.convolutional(6, 6, 1)
    )
    removed = TransferLearning.Builder(MultiLayerNetwork(conf).init()).removeOutputLayer()
    net = removed.addLayer(BatchNormalization(n_out=48)).addLayer(OutputLayer(n_out=2)).build()
    assert net.conf.preprocessors == conf.preprocessors
    assert net.param_table()["1_gamma"].shape == (1, 48)
    net.fit(np.ones((2, 1, 6, 6)), np.eye(2))
    removed = TransferLearning.Builder(MultiLayerNetwork(conf).init()).removeOutputLayer()
    net = removed.addLayer(BatchNormalization()).addLayer(GlobalPoolingLayer()).addLayer(OutputLayer(n_out=2)).build()
    assert net.conf.preprocessors == {}  # what fits by itself needs none
    removed = TransferLearning.Builder(MultiLayerNetwork(conf).init()).removeOutputLayer()
    with pytest.raises(nd.ConfigurationError, match=r"n_in must be 3, .* got 47"):
        removed.addLayer(BatchNormalization(n_out=47)).addLayer(OutputLayer(n_out=2)).build()
