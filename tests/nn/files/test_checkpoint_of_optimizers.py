"""Checkpoints of what an optimizer has learned, and of settings that Java's format has no place for."""

import json
import zipfile

import numpy as np
import pytest

import nd
from nn import MultiLayerNetwork
from optimize import (
    EpsTermination,
    Listener,
    Norm2Termination,
    OptimizerState,
    Sgd,
    TerminationCondition,
    ZeroDirection,
)
from tests.nn.files.test_checkpoint import BATCHES, X, Y, assert_goes_on, host, network, shuffling, train

ALGORITHMS = ("conjugate_gradient", "lbfgs", "line_gradient_descent")


SETTINGS = {}, {"drop_out": 1.0}, {"terminations": ()}
FEW = [("conjugate_gradient", 1), ("lbfgs", 0), ("line_gradient_descent", 2)]


@pytest.mark.parametrize(
    ("algorithm", "settings"),
    [
        pytest.param(algorithm, settings, marks=[pytest.mark.slow] * ((algorithm, number) not in FEW))
        for algorithm in ALGORITHMS
        for number, settings in enumerate(SETTINGS)
    ],
)
@pytest.mark.quick_rows("line_gradient_descent-settings8")
def test_line_searches_go_on_with_what_they_have_learned(algorithm, settings, tmp_path):
    def make():
        return network(Sgd(), optimization_algo=algorithm, iterations=3, lbfgs_memory=3, **settings)

    whole = make()
    files, scores, generator = train(whole, shuffling, tmp_path, epochs=2)
    assert len(files) == len(set(files)) > 20
    for path in files[::3]:
        assert_goes_on(path, whole, shuffling, scores, generator, epochs=2)
    learned = whole.get_optimizer().get_state()
    assert learned.numbers
    twin, again = whole.clone(), MultiLayerNetwork.load_checkpoint(files[-1])
    for network_ in (twin, again):
        found = network_.get_optimizer().get_state()
        assert found.numbers == learned.numbers
        for vector, expected in zip(found.vectors, learned.vectors, strict=True):
            np.testing.assert_array_equal(host(vector), host(expected))


def test_steps_that_a_condition_has_ended_are_not_taken_up_again(tmp_path):
    """The condition holds after the first of three steps; the checkpoint of it goes on with the next minibatch."""
    settings = {"optimization_algo": "line_gradient_descent", "iterations": 3, "terminations": EpsTermination(0.0, 2.1)}
    whole = network(Sgd(), **settings)
    files, scores, generator = train(whole, shuffling, tmp_path, epochs=2)
    assert whole.iteration_count == 2 * BATCHES
    for path in files[:4]:
        assert_goes_on(path, whole, shuffling, scores, generator, epochs=2)


def test_every_iteration_draws_its_own_dropout():
    """No two iterations on a minibatch begin with the same state of the generator."""
    net, states = network(Sgd(), optimization_algo="line_gradient_descent", iterations=3, terminations=()), []

    class Draws(Listener):
        def on_gradient_calculation(self, model):
            states.append(model.get_optimizer().drawn)

    net.set_listeners(Draws())
    net.fit(X, Y)
    assert len(set(states)) == len(states) == 3


def test_settings_that_java_has_not_are_in_the_model_too(tmp_path):
    terminations = (Norm2Termination(0.5), ZeroDirection())
    net = network(Sgd(), iterations=4, lbfgs_memory=9, terminations=terminations, optimization_algo="lbfgs")
    net.save(tmp_path / "net.zip")
    found, expected = MultiLayerNetwork.load(tmp_path / "net.zip").conf, net.conf
    assert (found.terminations, found.lbfgs_memory, found.iterations) == (terminations, 9, 4)
    assert (found.optimization_algo, found.layers) == (expected.optimization_algo, expected.layers)
    with zipfile.ZipFile(tmp_path / "net.zip") as archive:
        assert "ndwright.json" in archive.namelist()
        assert "Termination" not in archive.read("configuration.json").decode()
    network(Sgd()).save(tmp_path / "plain.zip")
    with zipfile.ZipFile(tmp_path / "plain.zip") as archive:
        assert "ndwright.json" not in archive.namelist()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"version": 2}, nd.FormatError, r"ndwright.json: must have version 1, got 2\. Is the library too old"),
        ({"terminations": [{"name": "never"}]}, nd.FormatError, "malformed terminations"),
        ({"terminations": 5}, nd.FormatError, "malformed terminations"),
        ({"iterations": "x"}, nd.FormatError, "iterations must be an integer in 1..2147483647, got 'x'"),
        ({"optimizer": ["0x1p1"]}, nd.FormatError, "LBFGS: its state must be 1 numbers and 2 vectors, got 1 and 0"),
        ({"optimizer": [2.0]}, nd.FormatError, "numbers must be hexadecimal"),
        ({"optimization_algo": 1, "progress": None}, nd.FormatError, "progress must be an object"),
    ],
)
def test_settings_that_are_damaged(change, error, message, tmp_path):
    net = network(Sgd(), iterations=4, optimization_algo="lbfgs")
    net.save_checkpoint(tmp_path / "net.zip")
    with zipfile.ZipFile(tmp_path / "net.zip") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["ndwright.json"] = json.dumps({**json.loads(entries["ndwright.json"]), **change}).encode()
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    with pytest.raises(error, match=message):
        MultiLayerNetwork.load_checkpoint(tmp_path / "bad.zip")


def test_a_condition_of_the_users_own_cannot_be_written(tmp_path):
    class Mine(TerminationCondition):
        pass

    with pytest.raises(nd.ConfigurationError, match=r"termination condition Mine must be .* Call nn\.register\(Mine\)"):
        network(Sgd(), terminations=Mine()).save(tmp_path / "net.zip")
    with pytest.raises(
        nd.ConfigurationError, match=r"terminations must be a TerminationCondition or .*, got \['eps'\]"
    ):
        network(Sgd(), terminations=["eps"])


@pytest.mark.parametrize(
    ("algorithm", "numbers", "message"),
    [
        ("line_gradient_descent", [float("nan"), 1.0], "LineGradientDescent: lengths of steps must be >= 0, got"),
        ("conjugate_gradient", [float("inf")], "ConjugateGradient: the curvature must be finite, got inf"),
        ("lbfgs", [0.0], "LBFGS: products of steps and changes must be positive, got"),
    ],
)
def test_numbers_that_no_optimizer_has_learned(algorithm, numbers, message):
    net = network(Sgd(), optimization_algo=algorithm)
    vectors = (net.params()[0],) * 2 if algorithm == "lbfgs" else ()
    with pytest.raises(nd.FormatError, match=message):
        net.get_optimizer().set_state(OptimizerState(tuple(numbers), vectors))


def test_a_step_function_that_is_none():
    with pytest.raises(nd.ChoiceError, match="NeuralNetConfiguration: unknown step_function 'x'"):
        network(Sgd(), step_function="x")
