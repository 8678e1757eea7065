"""Model zips: what is kept, and training that goes on as if it had never stopped."""

import errno
import json
import os
import zipfile

import numpy as np
import pytest

import nd
from nd import serde
from nd.dataset import DataSet, ListDataSetIterator
from nn import (
    ConvolutionLayer,
    DenseLayer,
    InputType,
    LossLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from optimize import Adam, MapSchedule, Nesterovs, Sgd
from tests.cases.java_documents import without_newer_fields
from tests.stand_ins import as_input, make_backend

RNG = np.random.default_rng(40)
X = RNG.normal(size=(12, 36)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 12)]


def network(updater="adam", **settings):
    conf = NeuralNetConfiguration(**{"seed": 6, "l2": 1e-2, "l1": 1e-3, "updater": updater, **settings}).list(
        ConvolutionLayer(n_out=2, kernel_size=3, activation="relu"),
        SubsamplingLayer("max", kernel_size=(2, 2)),
        DenseLayer(n_out=5, activation="tanh", bias_updater=Sgd(0.05)),
        OutputLayer(n_out=3, activation="softmax"),
        input_type=InputType.convolutional_flat(6, 6, 1),
    )
    return MultiLayerNetwork(conf).init()


def batches(n=4):
    return ListDataSetIterator(DataSet(X, Y), batch=n)


def host(x):
    return nd.to_host(nd.copy(x))


def assert_same(found, expected):
    np.testing.assert_array_equal(host(found.params()), host(expected.params()))
    np.testing.assert_array_equal(host(found.updater_state()), host(expected.updater_state()))
    assert (found.iteration_count, found.epoch_count) == (expected.iteration_count, expected.epoch_count)


# ---- what is kept


def test_a_round_trip_keeps_everything(backend, dtype, tmp_path):
    net = network(dtype=dtype)
    net.fit(batches(), epochs=2)
    net.save(tmp_path / "net.zip")
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    assert_same(again, net)
    assert again.conf.layers == net.conf.layers
    assert again.dtype == dtype == nd.dtype_name(again.params())
    np.testing.assert_array_equal(host(again.output(X)), host(net.output(X)))
    assert (again.iteration_count, again.epoch_count) == (6, 2)


def test_the_entries_are_those_of_dl4j_and_one_for_the_input_type(tmp_path):
    net = network()
    net.fit(X, Y)
    net.save(str(tmp_path / "net.zip"))
    with zipfile.ZipFile(tmp_path / "net.zip") as archive:
        assert archive.namelist() == ["configuration.json", "coefficients.bin", "updaterState.bin", "ndwright.json"]
        assert json.loads(archive.read("ndwright.json"))["input_type"]["kind"] == "convolutional_flat"
        assert archive.testzip() is None
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_DEFLATED}
        document = json.loads(archive.read("configuration.json"))
        params, state = (serde.from_bytes(archive.read(f"{name}.bin")) for name in ("coefficients", "updaterState"))
    assert document["iterationCount"] == 1
    np.testing.assert_array_equal(params, host(net.params()))
    np.testing.assert_array_equal(state, host(net.updater_state()))
    assert params.shape == (1, net.num_params())


def test_the_same_network_gives_the_same_bytes_on_every_backend(tmp_path):
    for name in ("numpy", "numpy-readonly", "strict"):
        with nd.use_backend(make_backend(name)):
            net = network()
            net.set_params(np.linspace(-1.0, 1.0, net.num_params(), dtype=np.float32))
            nd.fill(net.updater_state(), 0.25)
            net.save(tmp_path / name)
            net.clone().save(tmp_path / f"{name}-clone")
    contents = {path.read_bytes() for path in tmp_path.iterdir()}
    assert len(list(tmp_path.iterdir())) == 6
    assert len(contents) == 1


def test_a_network_moves_between_backends_in_a_file(tmp_path):
    with nd.use_backend(make_backend("strict")):
        net = network()
        net.fit(X, Y)
        net.save(tmp_path / "net.zip")
        expected = nd.to_host(net.params())
    with nd.use_backend(make_backend("numpy")):
        again = MultiLayerNetwork.load(tmp_path / "net.zip")
        np.testing.assert_array_equal(again.params(), expected)
        again.fit(X, Y)


def test_loading_draws_nothing(tmp_path):
    network().save(tmp_path / "net.zip")
    nd.random.set_seed(1)
    state = nd.random.get_random().get_state()
    MultiLayerNetwork.load(tmp_path / "net.zip")
    assert nd.random.get_random().get_state() == state


def test_without_the_updater(tmp_path):
    net = network(Nesterovs(learning_rate=0.1), bias_updater=None)
    net.fit(X, Y)
    net.save(tmp_path / "bare.zip", save_updater=False)
    net.save(tmp_path / "full.zip")
    with zipfile.ZipFile(tmp_path / "bare.zip") as archive:
        assert archive.namelist() == ["configuration.json", "coefficients.bin", "ndwright.json"]
    for again in (
        MultiLayerNetwork.load(tmp_path / "bare.zip"), MultiLayerNetwork.load(tmp_path / "full.zip", load_updater=False)
    ):  # fmt: skip
        np.testing.assert_array_equal(host(again.params()), host(net.params()))
        assert again.updater_state().shape == net.updater_state().shape
        assert not host(again.updater_state()).any()
        assert again.iteration_count == 1
    assert host(net.updater_state()).any()


def test_an_updater_without_state_writes_none(tmp_path):
    net = network(Sgd(0.1))
    net.save(tmp_path / "net.zip")
    with zipfile.ZipFile(tmp_path / "net.zip") as archive:
        assert "updaterState.bin" not in archive.namelist()
    assert tuple(MultiLayerNetwork.load(tmp_path / "net.zip").updater_state().shape) == (1, 0)


def test_a_network_without_parameters(backend, tmp_path):
    conf = NeuralNetConfiguration(seed=1).list(LossLayer(loss="mse", activation="tanh"))
    MultiLayerNetwork(conf).init().save(tmp_path / "net.zip")
    with zipfile.ZipFile(tmp_path / "net.zip") as archive:
        assert sorted(archive.namelist()) == ["coefficients.bin", "configuration.json", "noParams.marker"]
        assert archive.read("coefficients.bin") == archive.read("noParams.marker") == b""
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    np.testing.assert_allclose(host(again.output(X)), np.tanh(X), rtol=1e-6)


def test_other_entries_are_left_alone(tmp_path):
    net = network()
    net.save(tmp_path / "net.zip")
    with zipfile.ZipFile(tmp_path / "net.zip", "a") as archive:
        archive.writestr("normalizer.bin", b"something")
        archive.writestr("objects/mine", b"\xac\xed\x00\x05")
    assert_same(MultiLayerNetwork.load(tmp_path / "net.zip"), net)


@pytest.mark.parametrize("model", ["LenetMnist", "MLPMoon"])
def test_a_model_of_java_is_written_as_java_wrote_it(model, reference, tmp_path):
    path = reference / model / "Model_RANDOM_INIT_UNTRAINED.zip"
    MultiLayerNetwork.load(path).save(tmp_path / "again.zip")
    with zipfile.ZipFile(path) as theirs, zipfile.ZipFile(tmp_path / "again.zip") as ours:
        assert ours.namelist() == theirs.namelist()
        documents = [json.loads(each.read("configuration.json")) for each in (ours, theirs)]
        assert without_newer_fields(documents[0]) == without_newer_fields(documents[1])
        for name in ("coefficients.bin", "updaterState.bin"):
            np.testing.assert_array_equal(serde.from_bytes(ours.read(name)), serde.from_bytes(theirs.read(name)))


# ---- going on

SCHEDULES = {
    "iterations": lambda: MapSchedule("iteration", {0: 0.05, 4: 0.02, 7: 0.1}),
    "epochs": lambda: MapSchedule("epoch", {0: 0.05, 2: 0.01}),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("updater", [Adam, Nesterovs])
@pytest.mark.parametrize("stop", [1, 2])
@pytest.mark.numpy_first
def test_training_goes_on_as_if_it_had_not_stopped(updater, schedule, stop, backend, tmp_path):
    """Bit for bit: three epochs of three minibatches, with a file in between."""
    whole, part = network(updater(SCHEDULES[schedule]())), network(updater(SCHEDULES[schedule]()))
    whole.fit(batches(), epochs=3)
    part.fit(batches(), epochs=stop)
    part.save(tmp_path / "net.zip")
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    again.fit(batches(), epochs=3 - stop)
    assert_same(again, whole)
    assert again.score() == whole.score()
    assert (again.iteration_count, again.epoch_count) == (9, 3)


def test_training_goes_on_within_an_epoch(tmp_path):
    whole, part = network(Adam(SCHEDULES["iterations"]())), network(Adam(SCHEDULES["iterations"]()))
    for batch in batches():
        whole.fit(batch)
    minibatches = list(batches())
    part.fit(minibatches[0])
    part.save(tmp_path / "net.zip")
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    for batch in minibatches[1:]:
        again.fit(batch)
    assert_same(again, whole)


def test_without_the_updaters_state_training_goes_another_way(tmp_path):
    net = network(Adam(0.05))
    net.fit(batches())
    net.save(tmp_path / "net.zip", save_updater=False)
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    net.fit(X, Y)
    again.fit(X, Y)
    assert (host(again.params()) != host(net.params())).any()


# ---- files that cannot be written


class DiskFullError(OSError):
    pass


@pytest.mark.parametrize("old", [None, b"the file before"])
@pytest.mark.parametrize("step", ["writestr", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(old, step, tmp_path, monkeypatch):
    path = tmp_path / "net.zip"
    if old is not None:
        path.write_bytes(old)
    net, written = network(), zipfile.ZipFile.writestr

    def fail(*arguments, **keywords):
        if step == "writestr" and arguments[1].filename == "configuration.json":
            return written(*arguments, **keywords)
        raise DiskFullError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile if step == "writestr" else os, step, fail)
    with pytest.raises(
        OSError, match=r"save: the file must be written whole, got No space left.*the one before is untouched.*net\.zip"
    ):
        net.save(path)
    monkeypatch.undo()
    assert [entry.name for entry in tmp_path.iterdir()] == ([] if old is None else ["net.zip"])
    assert old is None or path.read_bytes() == old
    net.save(path)
    assert_same(MultiLayerNetwork.load(path), net)


def test_folders_that_cannot_hold_a_file(tmp_path):
    net = network()
    with pytest.raises(FileNotFoundError, match="nowhere"):
        net.save(tmp_path / "nowhere" / "net.zip")
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(NotADirectoryError, match="file"):
        net.save(tmp_path / "file" / "net.zip")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        net.save(tmp_path / "folder")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]
    assert (tmp_path / "file").read_bytes() == b"x"


def test_a_network_trained_on_awkward_memory_is_saved_alike(order, tmp_path):
    """The order of the inputs changes neither the parameters' layout nor, but for rounding, their values."""
    with nd.use_backend(make_backend("numpy")) as backend:
        net, plain = network(dtype="float64"), network(dtype="float64")
        net.fit(as_input(backend, X, order), as_input(backend, Y, order))
        plain.fit(X, Y)
        net.save(tmp_path / "net.zip")
        found = MultiLayerNetwork.load(tmp_path / "net.zip").params()
    np.testing.assert_allclose(found, plain.params(), rtol=1e-9, atol=1e-12)
