"""rnn_time_step: series in pieces give what the whole gives, from a stored state that can be seen and changed."""

import numpy as np
import pytest

import nd
import nn.dl4j  # noqa: F401  whose names are asked for here
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import MultiDataSet
from nn import (
    LSTM,
    ComputationGraph,
    ComputationGraphConfiguration,
    DenseLayer,
    DuplicateToTimeSeriesVertex,
    EmbeddingSequenceLayer,
    FrozenLayer,
    GravesBidirectionalLSTM,
    InputType,
    MaskZeroLayer,
    MergeVertex,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    SimpleRnn,
    StackVertex,
    UnstackVertex,
)
from optimize import Sgd
from tests.nn.step.test_carried_state import AddingUp
from tests.stand_ins import as_input
from tests.step_plans import split_small_minibatches

N, C, T, OUT = 3, 4, 7, 2
WHOLE = {"rtol": 0, "atol": 1e-6}
OUTPUT = RnnOutputLayer(n_out=OUT, loss="mcxent", activation="softmax")
STACKS = {
    "lstm": (LSTM(n_out=5, activation="tanh"),),
    "simple": (SimpleRnn(n_out=5, activation="tanh"),),
    "stack": (LSTM(n_out=5, activation="tanh"), DenseLayer(n_out=6, activation="relu"), SimpleRnn(n_out=3)),
    "adding up": (AddingUp(n_out=C),),
    "wrapped": (MaskZeroLayer(LSTM(n_out=5, activation="tanh")), FrozenLayer(SimpleRnn(n_out=5))),
}


def network(*layers, input_type=None, seed=3, dtype="float32", **series):
    base = NeuralNetConfiguration(seed=seed, dtype=dtype, updater=Sgd(0.1))
    return MultiLayerNetwork(
        base.list(*layers, OUTPUT, input_type=input_type or InputType.recurrent(C), **series)
    ).init()


def data(seed=0, examples=N, dtype=np.float32):
    return np.random.default_rng(seed).normal(size=(examples, C, T)).astype(dtype)


def labels(examples=N):
    return np.eye(OUT, dtype=np.float32)[np.random.default_rng(5).integers(0, OUT, (examples, T))].transpose(0, 2, 1)


@pytest.mark.parametrize("eager", [False, True], ids=["recorded", "eager"])
@pytest.mark.parametrize("stack", STACKS)
def test_step_by_step_is_the_whole(stack, eager):
    net, x = network(*STACKS[stack]), data()
    whole = nd.to_host(net.output(x))
    for _ in range(2):
        if eager:
            with nd.eager():
                steps = [nd.to_host(net.rnn_time_step(x[:, :, t])) for t in range(T)]
        else:
            steps = [nd.to_host(net.rnn_time_step(x[:, :, t])) for t in range(T)]
        assert [step.shape for step in steps] == [(N, OUT)] * T
        np.testing.assert_allclose(np.stack(steps, axis=2), whole, **WHOLE)
        net.rnn_clear_previous_state()
    assert (len(net.engine.outputs.workers[0].recordings) == 2) is not eager  # of the whole, and of a step


def test_pieces_of_any_length_follow_one_another():
    net, x = network(*STACKS["stack"]), data()
    pieces = [x[:, :, :1], x[:, :, 1:4], x[:, :, 4], x[:, :, 5:6], x[:, :, 6:]]
    found = [nd.to_host(net.rnn_time_step(piece)) for piece in pieces]
    assert [each.shape for each in found] == [(N, OUT, 1), (N, OUT, 3), (N, OUT), (N, OUT, 1), (N, OUT, 1)]
    found = [each.reshape(N, OUT, -1) for each in found]
    np.testing.assert_allclose(np.concatenate(found, axis=2), net.output(x), **WHOLE)


def test_replays_have_the_bits_of_eager_steps():
    recorded, plain, x = network(*STACKS["stack"]), network(*STACKS["stack"]), data()
    for t in range(T):
        found = nd.to_host(recorded.rnn_time_step(x[:, :, t]))
        with nd.eager():
            np.testing.assert_array_equal(found, plain.rnn_time_step(x[:, :, t]))
    assert len(recorded.engine.outputs.workers[0].recordings) == 1
    before = recorded.engine.stored
    recorded.rnn_time_step(x[:, :, 0])
    assert all(
        after is array for after, array in zip(recorded.engine.stored, before, strict=True)
    )  # read and written there


def test_a_step_that_fails_leaves_the_state(monkeypatch):
    """Where nothing is recorded: parts of one's own, eager mode."""
    net, x = network(*STACKS["stack"]), data()
    with nd.eager():
        net.rnn_time_step(x[:, :, 0])
        before = net.rnn_get_previous_states()
        monkeypatch.setattr(net.layers[2], "forward_from", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError, match="division"):
            net.rnn_time_step(x[:, :, 1])
    for name, state in net.rnn_get_previous_states().items():
        for key, array in state.items():
            np.testing.assert_array_equal(array, before[name][key])


def test_on_every_backend(backend):
    """The state of a step is carried on, set and taken back from the host."""
    net, x = network(*STACKS["stack"]), data()
    first = network(*STACKS["stack"])
    first.set_params(net.params())
    whole = nd.to_host(net.output(x))
    for t in range(3):
        out = net.rnn_time_step(as_input(backend, x[:, :, t]))
        np.testing.assert_allclose(nd.to_host(out), whole[:, :, t], **WHOLE)
    first.rnn_set_previous_states(
        {
            name: {key: nd.to_host(one) for key, one in each.items()}
            for name, each in net.rnn_get_previous_states().items()
        }
    )
    np.testing.assert_allclose(nd.to_host(first.rnn_time_step(x[:, :, 3:])), whole[:, :, 3:], **WHOLE)


def test_what_was_returned_stays_as_it_is():
    net, x = network(*STACKS["lstm"]), data()
    for t in range(3):
        net.rnn_time_step(x[:, :, t])
    out, state = net.rnn_time_step(x[:, :, 3]), net.rnn_get_previous_state(0)
    before = [nd.to_host(nd.copy(each)) for each in (out, *state.values())]
    net.rnn_time_step(x[:, :, 4])
    for kept, array in zip((out, *state.values()), before, strict=True):
        np.testing.assert_array_equal(kept, array)


def test_series_with_the_channels_last():
    net = network(LSTM(n_out=5, activation="tanh"), input_type=InputType.recurrent(C, 9, "NWC"))
    x = data().transpose(0, 2, 1)
    whole = nd.to_host(network(LSTM(n_out=5, activation="tanh")).output(data()))
    np.testing.assert_allclose(net.rnn_time_step(x[:, 0]), whole[:, :, 0], **WHOLE)
    np.testing.assert_allclose(net.rnn_time_step(x[:, 1:]), whole[:, :, 1:].transpose(0, 2, 1), **WHOLE)


def test_parts_of_a_minibatch_go_on_with_their_rows(monkeypatch):
    split_small_minibatches(monkeypatch)
    x = data(examples=8)
    with nd.use_backend(NumpyBackend(threads=2)):
        net = network(*STACKS["lstm"])
        whole = nd.to_host(net.output(x))
        steps = [nd.to_host(net.rnn_time_step(x[:, :, t])) for t in range(T)]
        assert len(net.engine.outputs.workers) == 2
    np.testing.assert_allclose(np.stack(steps, axis=2), whole, **WHOLE)


def test_indices_are_steps_of_series():
    layers = EmbeddingSequenceLayer(n_in=9, n_out=4), SimpleRnn(n_in=4, n_out=5)
    conf = NeuralNetConfiguration(seed=3).list(*layers, RnnOutputLayer(n_in=5, n_out=OUT))
    net, x = MultiLayerNetwork(conf).init(), np.random.default_rng(1).integers(0, 9, (N, T))
    steps = [nd.to_host(net.rnn_time_step(x[:, t : t + 1])) for t in range(3)]
    assert [step.shape for step in steps] == [(N, OUT)] * 3
    rest = nd.to_host(net.rnn_time_step(x[:, 3:]))
    found = np.concatenate([*(step[:, :, None] for step in steps), rest], axis=2)
    np.testing.assert_allclose(found, net.output(x), **WHOLE)


def test_a_network_without_a_state_predicts():
    conf = NeuralNetConfiguration(seed=3).list(
        DenseLayer(n_out=3), OutputLayer(n_out=OUT), input_type=InputType.feed_forward(C)
    )
    net, x = MultiLayerNetwork(conf).init(), data()[:, :, 0]
    np.testing.assert_array_equal(net.rnn_time_step(x), net.output(x))
    assert (net.engine.stored, net.rnn_get_previous_states()) == (None, {})


# ---- graphs


def graph():
    """Two inputs, of which one is no series; two outputs, of which one is none."""
    nodes = {
        "l": (LSTM(n_out=5, activation="tanh"), "s"),
        "dup": (DuplicateToTimeSeriesVertex("s"), "d"),
        "m": (MergeVertex(), "l", "dup"),
        "r": (SimpleRnn(n_out=3), "m"),
        "o1": (OUTPUT, "r"),
        "o2": (OutputLayer(n_out=1, loss="mse", activation="identity"), "d"),
    }
    inputs = {"s": InputType.recurrent(C), "d": InputType.feed_forward(2)}
    return ComputationGraph(NeuralNetConfiguration(seed=3).graph(inputs, nodes, ["o1", "o2"])).init()


def test_graphs_go_step_by_step():
    net, x, d = graph(), data(), np.random.default_rng(4).normal(size=(N, 2)).astype(np.float32)
    whole, other = map(nd.to_host, net.output(x, d))
    for t in range(3):
        first, second = net.rnn_time_step(x[:, :, t], d)
        assert first.shape == (N, OUT)
        np.testing.assert_allclose(first, whole[:, :, t], **WHOLE)
        np.testing.assert_allclose(second, other, **WHOLE)
    np.testing.assert_allclose(net.rnn_time_step([x[:, :, 3:], d])[0], whole[:, :, 3:], **WHOLE)
    states = net.rnn_get_previous_states()
    assert {name: list(state) for name, state in states.items()} == {"l": ["prevAct", "prevMem"], "r": ["prevAct"]}
    np.testing.assert_array_equal(net.rnn_get_previous_state(0)["prevMem"], states["l"]["prevMem"])
    with pytest.raises(nd.ShapeError, match=r"expected features of 2 input\(s\), got 1"):
        net.rnn_time_step(x[:, :, 0])
    named = net.rnn_activate_using_stored_state([x, d])
    assert list(named) == ["s", "d", *net.topological_order()[2:]]


def test_vertices_that_stack_series_have_states_of_all_of_them():
    nodes = {
        "stack": (StackVertex(), "a", "b"), "l": (LSTM(n_out=5, activation="tanh"), "stack"),
        "first": (UnstackVertex(0, 2), "l"), "second": (UnstackVertex(1, 2), "l"),
        "m": (MergeVertex(), "first", "second"), "out": (OUTPUT, "m"),
    }  # fmt: skip
    inputs = {"a": InputType.recurrent(C), "b": InputType.recurrent(C)}
    series = {"backprop_type": "truncated_bptt", "tbptt_fwd_length": 3}
    net = ComputationGraph(NeuralNetConfiguration(seed=3).graph(inputs, nodes, "out", **series)).init()
    a, b = data(), data(1)
    (whole,) = map(nd.to_host, net.output(a, b))
    for t in range(T):
        np.testing.assert_allclose(net.rnn_time_step(a[:, :, t], b[:, :, t])[0], whole[:, :, t], **WHOLE)
    assert net.rnn_get_previous_state("l")["prevAct"].shape == (2 * N, 5)
    net.fit(MultiDataSet([a, b], [labels()]))
    assert net.iteration_count == 3


def test_activations_of_one_layer_begin_with_its_own_state():
    net, x = network(LSTM(n_out=5, activation="tanh"), SimpleRnn(n_out=3)), data()
    _, first, second, last = map(nd.to_host, net.feed_forward(x))
    np.testing.assert_array_equal(net.activation_from_prev_layer(1, first), second)
    np.testing.assert_array_equal(net.activate_selected_layers(1, 2, first), last)


def test_java_spells_it_so():
    net, x = network(*STACKS["lstm"]), data()
    out = nd.to_host(net.rnnTimeStep(x[:, :, 0]))
    state = net.rnnGetPreviousState(0)
    net.rnnClearPreviousState()
    np.testing.assert_array_equal(net.rnnTimeStep(x[:, :, 0]), out)
    net.rnnSetPreviousState(0, state)
    assert len(net.rnnActivateUsingStoredState(x, False, True)) == 3
    net.updateRnnStateWithTBPTTState()


# ---- errors


def test_other_examples_are_refused():
    net, x = network(*STACKS["lstm"]), data()
    net.rnn_time_step(x[:, :, 0])
    message = r"layer 0 \(LSTM\): expected 3 examples, as the stored state is of so many, got 2\. Call rnn_clear_prev"
    with pytest.raises(nd.ShapeError, match=message):
        net.rnn_time_step(x[:2, :, 1])
    net.rnn_time_step(x[:, :, 1])
    net.rnn_clear_previous_state()
    assert net.rnn_time_step(x[:2, :, 0]).shape == (2, OUT)


@pytest.mark.parametrize("shape", [(N, C + 1), (N, C + 1, T), (C,), (N, C, T, 1)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(nd.ShapeError, match=r"expected (input|features) \[N, "):
        network(*STACKS["lstm"]).rnn_time_step(np.zeros(shape, np.float32))


@pytest.mark.parametrize("given", [None, "text"])
def test_what_is_no_array_is_named(given):
    with pytest.raises(nd.DTypeError, match=r"rnn_time_step: x must be features \[N, \.\.\.\], numbers, got"):
        network(*STACKS["lstm"]).rnn_time_step(given)


def test_layers_that_read_ahead_are_named():
    net = network(GravesBidirectionalLSTM(n_out=5, activation="tanh"))
    for run in (net.rnn_time_step, net.rnn_activate_using_stored_state):
        with pytest.raises(nd.ConfigurationError, match=r"rnn_\w+: no layer may look .*layer 0 \(GravesBidirectional"):
            run(data())


def test_before_init():
    net = ComputationGraph(ComputationGraphConfiguration.of_chain(network(*STACKS["lstm"]).conf))
    for run in (lambda: net.rnn_time_step(data()), lambda: net.rnn_get_previous_state(0)):
        with pytest.raises(nd.ConfigurationError, match=r"init\(\) must come first"):
            run()
