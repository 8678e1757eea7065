"""examples/own_training_loop.py: the loop below fit, written out."""

import importlib.util
import math
import pathlib

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, DigitsDataSetIterator

PATH = pathlib.Path(__file__).parent.parent / "examples" / "own_training_loop.py"


@pytest.fixture
def example():
    spec = importlib.util.spec_from_file_location("own_training_loop", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def on_host(net):
    return [nd.to_host(vector).copy() for vector in (net.params(), net.updater_state())]


def assert_same(one, other):
    for mine, theirs in zip(on_host(one), on_host(other), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_one_minibatch_a_step_is_what_fit_does_to_the_bit(example):
    loop, fit = example.network(1), example.network(1)
    minibatches = list(DigitsDataSetIterator(100, train=True))[:5]
    for data in minibatches:
        example.step(loop, [data], math.inf)
    fit.fit(minibatches)
    assert_same(loop, fit)
    assert loop.iteration_count == fit.iteration_count


def test_gradients_are_clipped_to_the_norm(example):
    loop, data = example.network(1), next(iter(DigitsDataSetIterator(64, train=True)))
    whole = loop.compute_gradient_and_score(loop.step_input(data))
    before = nd.to_host(whole.gradient()).copy() / 64
    clipped, limit = example.network(1), np.linalg.norm(before) / 2
    moments = []
    for net, clip in ((loop, math.inf), (clipped, limit)):
        example.step(net, [data], clip)
        moments.append(
            nd.to_host(net.updater_state())[0][: before.size]
        )  # (1 - beta1) times the gradient, and its penalty
    assert np.linalg.norm(moments[1]) < 0.7 * np.linalg.norm(moments[0])


def test_what_is_not_finite_changes_nothing(example):
    net = example.network(1)
    before = on_host(net)
    bad = DataSet(np.full((4, 784), np.nan), np.eye(10)[:4])
    with pytest.raises(nd.NumericError, match=r"the score must be finite, got nan at iteration 0"):
        example.step(net, [bad], math.inf)
    for mine, theirs in zip(on_host(net), before, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert net.iteration_count == 0


def test_the_program_runs_and_learns(example, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["own_training_loop.py", "--epochs", "2"])
    example.main()
    text = capsys.readouterr().out
    assert text.count("epoch ") == 2
    assert float(text.partition("Accuracy:")[2].split()[0]) > 0.85
