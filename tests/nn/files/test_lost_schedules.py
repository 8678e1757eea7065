"""Files in which Java has lost a schedule: they predict, and are trained once they have a rate again."""

import io
import json
import re
import zipfile
from dataclasses import fields, replace

import numpy as np
import pytest

import nd
import nn
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import AdaGrad, ExponentialSchedule, Nesterovs, Sgd
from optimize.updaters import UPDATERS

X = np.random.default_rng(5).normal(size=(6, 3)).astype(np.float32)
Y = np.eye(2, dtype=np.float32)[[0, 1, 0, 1, 1, 0]]
LOST = {
    f"{kind.__name__}.{field.name}": (kind, field.name)
    for kind in dict.fromkeys(UPDATERS.values())
    for field in fields(kind)
    if field.name in ("learning_rate", "momentum")
}
"""Every number of an updater that may follow a schedule in Java."""


def trained(updater, *, graph=False):
    conf = NeuralNetConfiguration(seed=3, updater=updater)
    layers = DenseLayer(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=2, activation="softmax")
    network = MultiLayerNetwork(conf.list(*layers)).init()
    if graph:
        network = network.to_computation_graph()
    network.fit(X, Y, epochs=2)
    return network


def as_java_writes_it(network, name="learning_rate"):
    """A file of the network without the schedule of a number, which is NaN."""
    file, of_java = io.BytesIO(), io.BytesIO()
    network.save(file)
    key = {"learning_rate": "learningRate", "momentum": "momentum"}[name]
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(of_java, "w") as other:
        for entry in archive.namelist():
            content = archive.read(entry)
            if entry == "configuration.json":
                content = re.sub(rf'"{key}" : [^,\s}}]+'.encode(), f'"{key}" : "NaN"'.encode(), content)
            other.writestr(entry, content)
    of_java.seek(0)
    return of_java


def opened(file):
    with pytest.warns(nn.ModelFileWarning, match="lost schedules, without which .* layer 0.* is NaN") as warned:
        network = nn.load(file)
    assert len(warned) == 1
    return network


@pytest.mark.parametrize("lost", LOST)
def test_such_a_file_predicts_and_is_not_trained(lost):
    kind, name = LOST[lost]
    network = trained(kind())
    read = opened(as_java_writes_it(network, name))
    assert np.array_equal(nd.to_host(read.output(X)), nd.to_host(network.output(X)))
    before = np.array(nd.to_host(read.params()))
    for train in (lambda: read.fit(X, Y), lambda: read.fit_batch(X, Y)):
        with pytest.raises(nd.ConfigurationError, match=rf"{kind.__name__}: to train, {name} must be known, got NaN"):
            train()
    assert np.array_equal(nd.to_host(read.params()), before)
    assert read.iteration_count == network.iteration_count


@pytest.mark.parametrize("graph", [False, True])
def test_with_a_rate_training_goes_on_where_it_was(graph):
    network = trained(AdaGrad(0.05), graph=graph)
    read = quietly(as_java_writes_it(network))
    with pytest.raises(nd.ConfigurationError, match=r"net\.set_learning_rate\(0\.01\)"):
        read.fit(X, Y)
    read.set_learning_rate(0.05)
    for one in (read, network):
        one.fit(X, Y, epochs=3)
    assert np.array_equal(nd.to_host(read.params()), nd.to_host(network.params()))


def quietly(file):
    with pytest.warns(nn.ModelFileWarning, match="lost schedules"):
        return nn.load(file)


@pytest.mark.parametrize("ending", ["zip", "npz"])
def test_saved_again_it_is_as_java_wrote_it(tmp_path, ending):
    of_java = as_java_writes_it(trained(AdaGrad(0.05)))
    read, path = opened(of_java), tmp_path / f"again.{ending}"
    read.save(path)
    again = opened(path)
    assert again.conf == read.conf
    if ending == "zip":
        with zipfile.ZipFile(of_java) as one, zipfile.ZipFile(path) as other:
            texts = [archive.read("configuration.json") for archive in (one, other)]
        assert texts[0] == texts[1]
        (updater,) = {json.dumps(layer["layer"]["iupdater"]) for layer in json.loads(texts[1])["confs"]}
        assert json.loads(updater)["learningRate"] == "NaN"
        assert "learningRateSchedule" not in updater


def test_a_copy_is_not_trained_either():
    read = opened(as_java_writes_it(trained(AdaGrad(0.05))))
    with pytest.raises(nd.ConfigurationError, match="learning_rate must be known"):
        read.clone().fit(X, Y)


def test_a_schedule_that_is_there_is_read():
    schedule = ExponentialSchedule("iteration", 0.1, 0.9)
    file = io.BytesIO()
    trained(Nesterovs(schedule, momentum=0.5)).save(file)
    file.seek(0)
    assert nn.load(file).conf.layers[0].updater == Nesterovs(schedule, momentum=0.5)


def test_the_updater_of_biases_is_named():
    network = trained(Sgd(0.1))
    confs = [replace(node.conf, bias_updater=AdaGrad(0.1)) for node in network.conf.nodes]
    file = as_java_writes_it(MultiLayerNetwork(network.conf.with_confs(confs)).init())
    with pytest.warns(nn.ModelFileWarning, match="learning_rate of AdaGrad is NaN"):
        read = nn.load(file)
    read.set_learning_rate(0.1)  # of weights alone, as in Java
    with pytest.raises(nd.ConfigurationError, match="AdaGrad: to train, learning_rate must be known"):
        read.fit(X, Y)


@pytest.mark.parametrize("name", ["learning_rate", "momentum"])
def test_another_updater_by_transfer_learning_trains(name):
    file = as_java_writes_it(trained(Nesterovs(0.1, momentum=0.5)), name)
    tuned = nn.FineTuneConfiguration(updater=Sgd(0.1))
    network = nn.TransferLearning.Builder(quietly(file)).fine_tune_configuration(tuned).build()
    before = np.array(nd.to_host(network.params()))
    network.fit(X, Y)
    assert not np.array_equal(nd.to_host(network.params()), before)
