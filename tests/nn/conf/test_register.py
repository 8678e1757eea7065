"""Parts of every kind of a user's own: written, saved, loaded in another process, trained on."""

import os
import pathlib
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import MultiLayerConfiguration, MultiLayerNetwork, register, unregister
from nn.conf.parts import KINDS, kind_of
from optimize import CheckpointListener, Sgd
from optimize.earlystopping import (
    DataSetLossCalculator,
    EarlyStoppingConfiguration,
    EarlyStoppingTrainer,
    LocalFileModelSaver,
    MaxEpochsTerminationCondition,
)
from tests.cases import own_parts
from tests.sweeps import share

ROOT = pathlib.Path(__file__).parent.parent.parent.parent
RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(6, 4)), RNG.normal(size=(6, 2))

TRAIN_ON = """
import sys
import numpy as np
import tests.cases.own_parts
from nn import MultiLayerNetwork
folder = sys.argv[1]
data = np.load(folder + "/data.npz")
net = MultiLayerNetwork.load_checkpoint(folder + "/own.zip")
net.fit(data["x"], data["y"], epochs=3)
np.save(folder + "/params.npy", net.params())
"""


def test_there_is_one_of_every_kind():
    assert {kind_of(part).name for part in own_parts.PARTS} == {kind.name for kind in KINDS}


def test_every_part_is_read_as_it_was_written():
    conf = own_parts.configuration()
    again = MultiLayerConfiguration.from_json(conf.to_json())
    assert again.layers == conf.layers
    assert again.preprocessors == conf.preprocessors
    written = conf.to_json()
    for part in own_parts.OF_CHAINS:
        name = f"tests.cases.own_parts.{part.__name__}"
        assert (f'"{name}"' in written) is (part is not own_parts.Enough), name


@pytest.mark.parametrize("algorithm", ["stochastic_gradient_descent", "lbfgs"])
@pytest.mark.quick_rows(1)
def test_a_fresh_process_that_registers_them_trains_on_bit_for_bit(algorithm, tmp_path, monkeypatch):
    conf = own_parts.configuration(iterations=2, terminations=own_parts.Enough(1e-12))
    if algorithm == "lbfgs":
        layers = tuple(replace(layer, updater=Sgd()) for layer in conf.layers)
        conf = replace(conf, base=replace(conf.base, optimization_algo=algorithm), layers=layers)
    nd.set_backend("numpy")
    net = MultiLayerNetwork(conf).init()
    net.fit(X, Y, epochs=2)
    net.save_checkpoint(tmp_path / "own.zip")
    assert MultiLayerNetwork.load(tmp_path / "own.zip").conf.base.terminations == (own_parts.Enough(1e-12),)
    np.savez(tmp_path / "data.npz", x=X, y=Y)
    monkeypatch.setenv("ND_BACKEND", "numpy")
    subprocess.run([sys.executable, "-c", TRAIN_ON, str(tmp_path)], check=True, cwd=ROOT, timeout=120)
    net.fit(X, Y, epochs=3)
    np.testing.assert_array_equal(np.load(tmp_path / "params.npy"), net.params())


TRAIN_ALL_ON = """
import pathlib, sys
import numpy as np
import tests.cases.own_parts
from nn import MultiLayerNetwork
folder = pathlib.Path(sys.argv[1])
data = np.load(folder / "data.npz")
for path in sorted(folder.glob("*.zip")):
    net = MultiLayerNetwork.load_checkpoint(path)
    net.fit(data["x"], data["y"])
    np.save(path.with_suffix(".npy"), net.params())
"""


@pytest.mark.slow
def test_random_networks_with_own_parts_go_on_in_a_fresh_process(tmp_path, monkeypatch):
    count = int(os.environ.get("CONFIGURATIONS", share(2000))) // 10
    nd.set_backend("numpy")
    np.savez(tmp_path / "data.npz", x=X, y=Y)
    expected = {}
    for seed in range(count):
        net = MultiLayerNetwork(own_parts.drawn(seed)).init()
        net.fit(X, Y)
        net.save_checkpoint(tmp_path / f"{seed}.zip")
        again = MultiLayerNetwork.load(tmp_path / f"{seed}.zip")
        assert again.conf.layers == net.conf.layers
        assert again.conf.preprocessors == net.conf.preprocessors
        net.fit(X, Y)
        expected[seed] = np.array(net.params())
    monkeypatch.setenv("ND_BACKEND", "numpy")
    subprocess.run([sys.executable, "-c", TRAIN_ALL_ON, str(tmp_path)], check=True, cwd=ROOT, timeout=600)
    for seed, params in expected.items():
        np.testing.assert_array_equal(np.load(tmp_path / f"{seed}.npy"), params, err_msg=f"seed {seed}")
    print(f"{count} networks with own parts")


def test_one_that_is_not_registered_is_refused_before_anything_is_written(tmp_path):
    for part in own_parts.OF_CHAINS:
        unregister(part)
        try:
            conf = own_parts.configuration(terminations=own_parts.Enough())
            net = MultiLayerNetwork(conf).init()
            name = part.__name__
            message = rf"{name} must be .* registered .* Call nn\.register\({name}\)"
            with pytest.raises(nd.ConfigurationError, match=message):
                net.save(tmp_path / "own.zip")
            assert list(tmp_path.iterdir()) == []
        finally:
            register(part)


def test_a_file_with_one_that_is_not_registered_says_so():
    conf = own_parts.configuration()
    text = conf.to_json()
    for part in own_parts.OF_CHAINS:
        if part is own_parts.Enough:
            continue
        unregister(part)
        try:
            expected = rf"unknown class '.*{part.__name__}'.* known with nn\.register|2 things .*unknown class 'Wavy'"
            with pytest.raises((nd.ChoiceError, nd.ConfigurationError), match=f"(?s){expected}"):
                MultiLayerConfiguration.from_json(text)
        finally:
            register(part)


def with_checkpoints(net, folder):
    net.set_listeners(CheckpointListener(folder, save_every_n_epochs=1))
    net.fit([DataSet(X, Y)], epochs=1)


def with_early_stopping(net, folder):
    stopping = EarlyStoppingConfiguration(
        score_calculator=DataSetLossCalculator(DataSet(X, Y)),
        epoch_termination_conditions=MaxEpochsTerminationCondition(1),
        model_saver=LocalFileModelSaver(folder),
    )
    EarlyStoppingTrainer(stopping, net, DataSet(X, Y)).fit()


@pytest.mark.parametrize("train", [with_checkpoints, with_early_stopping])
def test_what_no_file_can_hold_is_refused_before_the_first_step(train, tmp_path):
    unregister(own_parts.Wavy)
    try:
        net = MultiLayerNetwork(own_parts.configuration()).init()
        with pytest.raises(nd.ConfigurationError, match=r"Wavy must be .*Call nn\.register\(Wavy\)"):
            train(net, tmp_path)
        assert net.iteration_count == 0
    finally:
        register(own_parts.Wavy)


@dataclass(frozen=True)
class NotAPart:
    n: int = 1


class PlainSchedule(own_parts.Schedule):
    def __init__(self):
        self.rate = 0.1


@pytest.mark.parametrize(
    ("part", "java_class", "message"),
    [
        (NotAPart, None, "register: expected a class from one of Activation, LayerConstraint"),
        (3, None, "register: expected a class from one of Activation, .*got 3"),
        (Sgd, None, "register: Sgd is the library's own"),
        (own_parts.Updater, None, "register: Updater is the library's own"),
        (PlainSchedule, None, "register: PlainSchedule must be a dataclass itself"),
        (own_parts.Wavy, "com.example.ActivationReLU", "'ActivationReLU' is the library's own"),
        (own_parts.Wavy, "", "java_class must be the name of a class"),
        (own_parts.Wavy, 3, "java_class must be the name of a class"),
    ],
    ids=["no part", "number", "own", "base", "plain", "taken", "empty", "no name"],
)
def test_what_cannot_be_registered(part, java_class, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        register(part, java_class)
