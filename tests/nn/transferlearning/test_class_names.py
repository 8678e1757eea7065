"""Names of the classes: they stay with the output layer that they belong to."""

import numpy as np
import pytest

from nd.dataset import DataSet
from nn import (
    DenseLayer,
    FineTuneConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    TransferLearning,
    TransferLearningHelper,
)

RNG = np.random.default_rng(8)
X = RNG.random((6, 4), dtype=np.float32)
NAMES = ("owl", "cat", "dog")  # in an order that labels alone would not give
Y = np.array(["cat", "owl", "dog", "dog", "owl", "cat"])


def network():
    conf = NeuralNetConfiguration(seed=2).list(
        DenseLayer(n_in=4, n_out=5, activation="tanh"), OutputLayer(n_out=3, loss="mcxent")
    )
    net = MultiLayerNetwork(conf).init()
    net.class_names = NAMES
    return net


@pytest.mark.parametrize(
    ("edit", "names"),
    [
        ({"feature_extractor": 0}, NAMES),
        ({"fine_tune_configuration": FineTuneConfiguration(l2=0.1)}, NAMES),
        ({"n_out_replace": {0: 7}}, NAMES),
        ({"n_out_replace": {1: 3}}, None),
        ({"n_out_replace": {1: 2}}, None),
        ({"remove_layers_from_output": 1, "add_layers": [OutputLayer(n_out=3, loss="mcxent")]}, None),
        ({"add_layers": []}, NAMES),
    ],
)
def test_names_stay_with_the_output_layer(edit, names):
    assert TransferLearning(network(), **edit).build().class_names == names


def test_fine_tuning_goes_on_with_the_outputs_of_before():
    net = network()
    tuned = TransferLearning(net, fine_tune_configuration=FineTuneConfiguration(seed=2)).build()
    tuned.fit(X, Y)
    net.fit(X, np.eye(3, dtype=np.float32)[[NAMES.index(name) for name in Y]])
    np.testing.assert_array_equal(np.asarray(tuned.params()), np.asarray(net.params()))


def test_names_of_the_part_that_is_trained_are_those_of_the_network():
    net = network()
    helper = TransferLearningHelper(net, frozen_till=0)
    assert helper.unfrozen_mln().class_names == NAMES
    net.class_names = None
    helper = TransferLearningHelper(net, frozen_till=0)
    helper.unfrozen_mln().class_names = NAMES
    helper.fit_featurized(helper.featurize(DataSet(X, np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1, 2]])))
    assert net.class_names == NAMES
