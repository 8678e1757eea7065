"""Initialisations with a scale, beside weights that Deeplearning4j 1.0.0-M2.1 drew from the same seed."""

import json

import numpy as np
import pytest

import nd
from nn import DenseLayer, MultiLayerConfiguration, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn import ScaledWeightInit as Scaled

JAVAS = {  # of new WeightInitXxx(2.5) and seed 9: the first three weights of a layer from 5 to 7
    "var_scaling_normal_fan_in": [-0.1161369, -0.848999, -0.6007159],
    "var_scaling_normal_fan_out": [-0.0981536, -0.7175351, -0.5076976],
    "var_scaling_normal_fan_avg": [-0.106018, -0.7750264, -0.5483761],
    "var_scaling_uniform_fan_in": [-1.1849277, -0.9088397, 0.9963458],
    "var_scaling_uniform_fan_out": [-1.0014467, -0.7681098, 0.8420656],
    "var_scaling_uniform_fan_avg": [-1.0816861, -0.8296535, 0.9095349],
}


def network(init, n_out=7):
    layers = DenseLayer(n_in=5, n_out=n_out, weight_init=init), OutputLayer(n_out=2, loss="mse", activation="identity")
    return MultiLayerNetwork(NeuralNetConfiguration(seed=9).list(*layers)).init()


@pytest.mark.parametrize("name", JAVAS)
def test_weights_are_javas(name):
    net = network(Scaled(name, 2.5))
    np.testing.assert_allclose(nd.to_host(net.params())[0, :3], JAVAS[name], rtol=0, atol=3e-5)


def test_identity_is_multiplied():
    np.testing.assert_array_equal(nd.to_host(network(Scaled("identity", 0.5), 5).get_param("0_W")), np.eye(5) / 2)


def test_the_scale_is_in_the_json():
    conf = network(Scaled("var_scaling_uniform_fan_in", 2.5)).conf
    found = json.loads(conf.to_json())["confs"][0]["layer"]["weightInitFn"]
    assert found == {"@class": "org.deeplearning4j.nn.weights.WeightInitVarScalingUniformFanIn", "scale": 2.5}
    assert MultiLayerConfiguration.from_json(conf.to_json()).layers == conf.layers
    plain = network("var_scaling_uniform_fan_in").conf
    assert json.loads(plain.to_json())["confs"][0]["layer"]["weightInitFn"]["scale"] is None


def test_what_takes_no_scale_is_refused():
    with pytest.raises(nd.ConfigurationError, match=r"name must be one of identity, .* got 'xavier'"):
        Scaled("xavier", 2.0)
    with pytest.raises(nd.ArgumentError, match=r"ScaledWeightInit: scale must be a number > 0, got 0\.0"):
        Scaled("identity", 0.0)
