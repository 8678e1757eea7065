"""Transfer learning as real Java has done it: new layers are drawn from the generator of the network made before."""

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import (
    DenseLayer,
    FineTuneConfiguration,
    MultiLayerNetwork,
    OutputLayer,
    TransferLearning,
)
from optimize import Adam
from tests.absent import Absent

NEW_OUTPUT = (
    DenseLayer(n_in=6, n_out=8, activation="elu"),
    OutputLayer(n_in=8, n_out=4, loss="mcxent", activation="softmax"),
)
CASES = {
    "n_out_replace_1": {"n_out_replace": {1: (9, "xavier")}},
    "n_in_replace": {"n_in_replace": {1: (7, "xavier")}},
    "new_output": {"feature_extractor": 0, "remove_layers_from_output": 1, "add_layers": NEW_OUTPUT},
    "remove_two": {
        "remove_layers_from_output": 2,
        "add_layers": (OutputLayer(n_in=7, n_out=4, loss="mcxent", activation="softmax"),),
    },
}


@pytest.mark.parametrize("bystander", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_new_weights_and_five_steps_are_javas(name, bystander, reference):
    folder = reference / "java-runs" / "transfer" / name
    if not folder.is_dir():
        raise Absent(f"there are no such runs of Java at {folder}")
    with np.load(folder / "arrays.npz") as arrays:
        java = dict(arrays)
    conf = MultiLayerNetwork.load(folder / "base.zip").conf
    net = MultiLayerNetwork(conf).init()
    if bystander:  # what is trained with a generator of its own moves no other
        MultiLayerNetwork(conf).init()
        nd.random.set_random(net.random)
    net.set_params(java["params_base"])
    fine = FineTuneConfiguration(seed=777, updater=Adam(0.01), l2=0.001)
    new = TransferLearning(net, fine_tune_configuration=fine, **CASES[name]).build()
    np.testing.assert_allclose(nd.to_host(new.params())[0], java["params0"], rtol=1e-5, atol=1e-6)
    data = DataSet(java["x"], java["y"])
    for _ in range(5):
        new.fit(data)
    np.testing.assert_allclose(nd.to_host(new.params())[0], java["params1"], rtol=1e-4, atol=1e-5)
