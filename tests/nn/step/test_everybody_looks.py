"""Twenty steps with every listener, hook, callback and eager mode on and off: the same bits, whatever computes them."""

import functools

import numpy as np
import pytest

import nd
import optimize
from backends.cpu.numpy_backend import NumpyBackend
from backends.onednn.library import library
from nd.dataset import MultiDataSet
from nn.trace import stepping
from tests.nn.layers.test_every_layer import ROWS, make_network
from tests.nn.step.test_looking_changes_nothing import NETWORKS, PREDICTED_ONLY, of_case
from tests.nn.step.test_memory_of_graphs import VERTEX_ROWS, around
from tests.step_plans import split_small_minibatches
from tests.ways_of_a_step import network_of
from tests.ways_of_looking import LISTENERS, OTHERS, assert_looking_changes_nothing

QUICK_NETWORKS, QUICK_LAYERS, QUICK_VERTICES = set(), {"lstm-noised"}, set()


@pytest.fixture(params=["numpy", pytest.param("onednn", marks=pytest.mark.slow)])
def machine(request, monkeypatch):
    """Two workers of NumPy, itself or with oneDNN; the backend that all tests are asked to run on, if there is one.

    Traces take a step once for its times.
    """
    monkeypatch.setattr(stepping, "TIMED", (1, 1))
    chosen = request.config.getoption("--backend")
    if chosen is None:
        split_small_minibatches(monkeypatch)
        monkeypatch.setenv("ND_ONEDNN", str(int(request.param == "onednn")))
        if request.param == "onednn" and library() is None:
            pytest.skip("no libdnnl is found: pip install onednn-cpu-gomp")
        chosen = NumpyBackend(threads=2)
        assert (chosen.onednn is not None) == (request.param == "onednn")
    with nd.use_backend(chosen):
        yield chosen


def rows(kinds, quick):
    """Return a row of every kind from the contract tests, all but some among the slow tests.

    `test_looking_changes_nothing` has all rows, with one that looks at a time.
    """
    there = [row for row in kinds if row.id not in PREDICTED_ONLY]
    first = {row.id.partition("-")[0]: row.id for row in reversed(there)}
    found = [
        pytest.param(*row.values, id=row.id, marks=[pytest.mark.slow] * (row.id not in quick))
        for row in there
        if row.id in quick or row.id in first.values()
    ]
    assert sum(not row.marks for row in found) == len(quick)
    return pytest.mark.parametrize("case", found)


def test_the_table_of_listeners_is_all_of_them():
    names = [name for name in optimize.listeners.__all__ if issubclass(getattr(optimize, name), optimize.Listener)]
    assert sorted([*LISTENERS, *OTHERS]) == sorted(names)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK_NETWORKS)) for name in NETWORKS]
)
def test_networks_whose_nodes_run_as_one_draw_meet_and_carry_a_state(name, machine, tmp_path):
    conf, batches, _ = NETWORKS[name]
    assert_looking_changes_nothing(lambda: network_of(conf("float32")), batches(), tmp_path, alone=name == "normalised")


@rows(ROWS, QUICK_LAYERS)
@pytest.mark.slow
def test_every_layer(case, machine, tmp_path):
    make = functools.partial(make_network, case, "float32", updater="adam", learning_rate=1e-3)
    assert_looking_changes_nothing(make, of_case(make, case), tmp_path)


@rows(VERTEX_ROWS, QUICK_VERTICES)
def test_every_vertex(case, machine, tmp_path):
    conf, arrays, masks = around(case)
    make = functools.partial(network_of, conf)
    out = make().output(*arrays, features_masks=masks)[0]
    data = MultiDataSet(arrays, [np.ones_like(out)], masks, [np.ones((len(out), 1))])
    assert_looking_changes_nothing(make, [data] * 2, tmp_path)
