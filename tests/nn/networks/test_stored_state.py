"""The stored state of series in pieces: got, set, cleared, copied, and refused where it does not fit."""

import copy
import pickle

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import InputType, LastTimeStep, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer, SimpleRnn
from tests.nn.networks.test_rnn_time_step import OUT, STACKS, WHOLE, C, N, T, data, labels, network


def test_a_state_is_taken_to_another_network():
    net, other, x = network(*STACKS["stack"]), network(*STACKS["stack"]), data()
    net.rnn_time_step(x[:, :, :4])
    states = net.rnn_get_previous_states()
    assert {name: {key: array.shape for key, array in state.items()} for name, state in states.items()} == {
        "layer0": {"prevAct": (N, 5), "prevMem": (N, 5)}, "layer2": {"prevAct": (N, 3)},
    }  # fmt: skip
    other.rnn_time_step(x[:1, :, 0])
    other.rnn_set_previous_states(states)
    expected = nd.to_host(net.rnn_time_step(x[:, :, 4]))
    np.testing.assert_array_equal(other.rnn_time_step(x[:, :, 4]), expected)
    third = network(*STACKS["stack"])
    for layer in (2, "layer0"):
        third.rnn_set_previous_state(layer, states["layer0" if layer == "layer0" else "layer2"])
    np.testing.assert_array_equal(third.rnn_time_step(x[:, :, 4]), expected)


def test_layers_around_others_have_their_states():
    net, x = network(*STACKS["wrapped"]), data()
    net.rnn_time_step(x[:, :, 0])
    states = net.rnn_get_previous_states()
    assert [list(state) for state in states.values()] == [["prevAct", "prevMem"], ["prevAct"]]
    last = LastTimeStep(SimpleRnn(n_out=5)), OutputLayer(n_out=OUT)
    conf = NeuralNetConfiguration(seed=3).list(*last, input_type=InputType.recurrent(C))
    net = MultiLayerNetwork(conf).init()
    for piece, upto in ((x[:, :, 0], 1), (x[:, :, 1:4], 4), (x[:, :, 4:], T)):
        np.testing.assert_allclose(net.rnn_time_step(piece), net.output(x[:, :, :upto]), **WHOLE)


def test_an_empty_state_is_the_start():
    net, x = network(*STACKS["stack"]), data()
    assert net.rnn_get_previous_state(0) == {}
    first = nd.to_host(net.rnn_time_step(x[:, :, 0]))
    for layer in (0, 2):
        net.rnn_set_previous_state(layer, {})
    np.testing.assert_array_equal(net.rnn_time_step(x[:, :, 0]), first)
    one = network(*STACKS["lstm"])
    one.rnn_time_step(x[:, :, 0])
    one.rnn_set_previous_state(0, {})
    assert one.engine.stored is None


def test_what_reads_and_what_clears_it():
    for series, cleared in (({}, False), ({"backprop_type": "truncated_bptt", "tbptt_fwd_length": 3}, True)):
        net, x = network(*STACKS["lstm"], **series), data()
        net.rnn_time_step(x[:, :, :3])
        before = nd.to_host(net.rnn_get_previous_state(0)["prevMem"])
        net.output(x[:1])
        net.feed_forward(x)
        net.score(DataSet(x, labels()))
        net.evaluate(DataSet(x, labels()))
        np.testing.assert_array_equal(net.rnn_get_previous_state(0)["prevMem"], before)
        net.fit(x, labels())
        assert (net.rnn_get_previous_state(0) == {}) is cleared


def test_copies_have_it_and_clones_have_none(tmp_path):
    net, x = network(*STACKS["lstm"]), data()
    net.rnn_time_step(x[:, :, 0])
    copies = [copy.deepcopy(net), pickle.loads(pickle.dumps(net))]
    net.save(tmp_path / "net.zip")
    fresh = [net.clone(), MultiLayerNetwork.load(tmp_path / "net.zip"), net.to_computation_graph()]
    expected = nd.to_host(net.rnn_time_step(x[:, :, 1]))
    for each in copies:
        np.testing.assert_array_equal(each.rnn_time_step(x[:, :, 1]), expected)
    assert [each.rnn_get_previous_states() for each in fresh] == [{}, {}, {}]


def test_activations_from_the_stored_state_leave_it():
    net, x = network(*STACKS["stack"]), data()
    whole = list(map(nd.to_host, net.feed_forward(x)))
    net.rnn_time_step(x[:, :, :3])
    for _ in range(2):
        found = net.rnn_activate_using_stored_state(x[:, :, 3:], store_last_for_tbptt=True)
        assert len(found) == len(whole)
    for ours, expected in zip(found[1:], whole[1:], strict=True):
        ours = nd.to_host(ours)
        expected = expected[:, :, 3:] if expected.ndim == 3 else expected.reshape(T, N, -1)[3:].reshape(ours.shape)
        np.testing.assert_allclose(ours, expected, **WHOLE)
    goes_on = copy.deepcopy(net)
    np.testing.assert_allclose(goes_on.rnn_time_step(x[:, :, 3:]), whole[-1][:, :, 3:], **WHOLE)
    net.update_rnn_state_with_tbptt_state()
    np.testing.assert_allclose(net.rnn_time_step(x[:, :, 0]), goes_on.rnn_time_step(x[:, :, 0]), **WHOLE)


# ---- errors


@pytest.mark.parametrize(
    ("layer", "state", "error", "message"),
    [
        (0, {"h": np.zeros((N, 5))}, nd.ChoiceError, "unknown state 'h'.*prevAct"),
        (0, {"prevAct": np.zeros((N, 5))}, nd.ChoiceError, r"must have \['prevAct', 'prevMem'\], got none for"),
        (0, {"prevAct": np.zeros((N, 9)), "prevMem": np.zeros((N, 5))}, nd.ShapeError, r"prevAct must be \[N, 5\]"),
        (0, {"prevAct": np.zeros((N, 5)), "prevMem": np.zeros((2, 5))}, nd.ShapeError, r"prevMem must be \[N, 5\]"),
        (0, [np.zeros((N, 5))], nd.DTypeError, "state must be a dict of arrays"),
        (1, {}, nd.ConfigurationError, r"one that carries a state, \['layer0'\], got layer 1"),
        (7, {}, nd.ConfigurationError, "layer must be 0..1, got 7"),
        ("lstm", {}, nd.ConfigurationError, "layer must be 0..1, got 'lstm'"),
    ],
)  # fmt: skip
def test_states_that_do_not_fit(layer, state, error, message):
    net = network(*STACKS["lstm"])
    with pytest.raises(error, match=message):
        net.rnn_set_previous_state(layer, state)
    assert net.engine.stored is None


def test_states_of_other_examples_than_the_other_layers():
    net = network(*STACKS["stack"])
    net.rnn_time_step(data()[:, :, 0])
    before = net.rnn_get_previous_states()
    with pytest.raises(nd.ConfigurationError, match="got 'none'"):
        net.rnn_set_previous_states({"layer0": {key: array[:2] for key, array in before["layer0"].items()}, "none": {}})
    np.testing.assert_array_equal(net.rnn_get_previous_state(2)["prevAct"], before["layer2"]["prevAct"])
    net.rnn_set_previous_state(2, {"prevAct": np.zeros((2, 3))})
    with pytest.raises(nd.ShapeError, match=r"layer 2 \(SimpleRnn\): expected 2 examples, as the stored state"):
        net.rnn_time_step(data()[:, :, 0])
