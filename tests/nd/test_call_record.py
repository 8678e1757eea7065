"""Every call of a step is recorded with all that it needs: made again from the copies, it gives the same bits."""

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from tests.nn.layers.test_contracts import batch, network
from tests.nn.layers.test_every_layer import some_kinds

RNG = np.random.default_rng(5)
X = RNG.normal(size=(6, 4)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 6)]


def assert_same(found, expected):
    """Arrays in nested tuples and lists; numbers; what else there is has no bits."""
    if isinstance(expected, (tuple, list)):
        for mine, theirs in zip(found, expected, strict=True):
            assert_same(mine, theirs)
    elif isinstance(expected, (np.ndarray, int, float, str)):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.slow)])
@some_kinds
@pytest.mark.quick_rows(every=2)
def test_every_call_of_a_step_gives_its_outputs_again(case, dtype):
    with nd.use_backend(NumpyBackend(threads=1)):
        net = network(case, dtype=dtype)
        data = batch(case, net)
        with nd.eager(), nd.record_calls() as calls:
            net.fit(*data)
        before = nd.to_host(net.params()).copy(), nd.to_host(net.flattened_gradients()).copy()
        for call in calls:
            assert_same(call.replay(), call.outputs)
        np.testing.assert_array_equal(before, (net.params(), net.flattened_gradients()))
    assert {"dot", "sum"} & {call.primitive for call in calls}


def make():
    conf = NeuralNetConfiguration(seed=2, updater="adam").list(
        DenseLayer(n_in=4, n_out=5, activation="tanh"), OutputLayer(n_out=3)
    )
    return MultiLayerNetwork(conf).init()


def test_what_a_call_gives_is_what_later_ones_are_given():
    with nd.use_backend("numpy"):
        net = make()
        with nd.eager(), nd.record_calls() as calls:
            net.fit(X, Y)
        first, second = [call for call in calls if call.primitive == "gemm"][:2]
        np.testing.assert_array_equal(first.inputs[0], X)
        activated = next(call for call in calls if call.primitive == "tanh")
        np.testing.assert_array_equal(second.inputs[0], activated.outputs[0])


def test_inputs_are_those_before_the_call_also_where_it_writes_them():
    with nd.use_backend("numpy"):
        x = nd.create([1.0, 2.0, 3.0, 4.0])
        with nd.record_calls() as calls:
            nd.addi(x[1:], x[:-1])
        (call,) = calls
        np.testing.assert_array_equal(call.inputs[0], [2.0, 3.0, 4.0])
        np.testing.assert_array_equal(call.outputs[0], x[1:])
        assert np.shares_memory(call.inputs[0], call.inputs[1])  # as the arrays do
        for _ in range(2):
            np.testing.assert_array_equal(call.replay()[0], [3.0, 5.0, 7.0])
        assert repr(calls) == "[RecordedCall(add)]"


def test_ops_are_recorded_as_the_calls_that_they_are_and_hooks_hear_ops():
    heard = []
    with nd.use_backend("numpy"):
        nd.add_hook(heard.append)
        with nd.record_calls() as calls:
            nd.exec(nd.ops.Tanh(nd.create([0.5])))
        nd.remove_hook(heard.append)
        nd.tanh(nd.create([0.5]))
    assert [call.primitive for call in calls] == ["tanh"]
    assert [op.who for op in heard] == ["Tanh"]


def test_two_records_and_the_end_of_one():
    with nd.use_backend("numpy"):
        x = nd.create([0.5])
        with nd.record_calls() as outer:
            with nd.record_calls() as inner:
                nd.exp(x)
            nd.log(x)
        nd.sqrt(x)
    assert [call.primitive for call in inner] == ["exp"]
    assert [call.primitive for call in outer] == ["exp", "log"]


def test_recording_changes_nothing():
    with nd.use_backend("numpy"):
        plain, recorded = make(), make()
        with nd.eager():
            plain.fit(X, Y)
            with nd.record_calls():
                recorded.fit(X, Y)
        np.testing.assert_array_equal(recorded.params(), plain.params())


def test_replayed_steps_are_heard_as_copies_of_their_data():
    with nd.use_backend("numpy"):
        net = make()
        net.fit(X, Y)
        with nd.record_calls() as calls:
            net.fit(DataSet(X + 1, Y))
        assert "gemm" not in {call.primitive for call in calls}


def test_calls_on_every_backend(backend):
    net = make()
    with nd.eager(), nd.record_calls() as calls:
        net.fit(X, Y)
    assert len(calls) > 10
    for call in calls:
        replayed, outputs = call.replay()[0], call.outputs[0]
        if nd.is_array(outputs):
            same = np.testing.assert_allclose if ":" in backend.name else np.testing.assert_array_equal
            same(nd.to_host(replayed), nd.to_host(outputs))  # PyTorch's sums depend on where arrays lie
