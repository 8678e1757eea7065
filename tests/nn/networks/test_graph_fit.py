"""Training of graphs: every kind of data gives the same steps; weights, validation, threads, rates, exchange files."""

import threading

import numpy as np
import pytest

import nd
import nn
from nd.dataset import (
    DataSet,
    ExistingMultiDataSetIterator,
    ListDataSetIterator,
    MultiDataSet,
    NumpyMultiDataSetIterator,
)
from nn import ComputationGraph, InputType, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.files.exchange import read_array_file, write_array_file
from optimize import Adam, CollectScoresListener, Listener, Sgd
from tests.nn.networks.test_graph import CLASSES, Y1, Y2, A, B, N, by_hand, chain, data, host, network

PARTS = (slice(0, 4), slice(4, 6))


def batches():
    return [MultiDataSet([A[rows], B[rows]], [Y1[rows], Y2[rows]]) for rows in PARTS]


def after(net, *given, **settings):
    net.fit(*given, **settings)
    return host(net.params())


# ---- data


def test_a_step_is_the_gradient_by_hand():
    net = network()
    expected, rate = by_hand(net), 0.1
    net.fit(data())
    for name, view in net.param_table().items():
        stepped = expected.params[name] - rate * expected.gradients[name] / N
        np.testing.assert_allclose(view, stepped, rtol=1e-12, atol=1e-14)
    assert (net.iteration_count, net.epoch_count) == (1, 0)
    assert net.score() == pytest.approx(sum(loss.sum() for loss in expected.losses) / N, rel=1e-12)


def test_iterators_and_lists_of_minibatches():
    expected = network()
    for _ in range(2):
        for batch in batches():
            expected.fit(batch)
    for given in (batches(), ExistingMultiDataSetIterator(batches()), NumpyMultiDataSetIterator([A, B], [Y1, Y2], 4)):
        net = network()
        np.testing.assert_array_equal(after(net, given, epochs=2), host(expected.params()))
        assert (net.iteration_count, net.epoch_count) == (4, 2)
    lists = after(network(), [A, B], [Y1, Y2], epochs=2, batch_size=4, shuffle=False)
    np.testing.assert_array_equal(lists, host(expected.params()))
    np.testing.assert_array_equal(after(network(), ExistingMultiDataSetIterator(batches()), 2), host(expected.params()))
    np.testing.assert_array_equal(
        after(network(), data(), epochs=2, batch_size=4, shuffle=False), host(expected.params())
    )


def test_one_input_and_one_output_take_what_a_chain_takes():
    conf = NeuralNetConfiguration(seed=5, dtype="float64", updater=Sgd(0.1))
    reference = MultiLayerNetwork(conf.list(OutputLayer(n_in=3, n_out=3), input_type=InputType.feed_forward(3))).init()
    expected = after(reference, A, Y1, epochs=2)
    given = ((A, Y1), (A, CLASSES), (DataSet(A, Y1),), (MultiDataSet([A], [Y1]),))
    for arguments in given:
        np.testing.assert_array_equal(after(chain(), *arguments, epochs=2), expected)
    for iterator in (ListDataSetIterator(DataSet(A, Y1), N), [DataSet(A, Y1)], [MultiDataSet([A], [Y1])]):
        np.testing.assert_array_equal(after(chain(), iterator, epochs=2), expected)


class Seen(Listener):
    """Keeps the first column of the first input of every minibatch."""

    def __init__(self):
        self.batches = []

    def iteration_done(self, model, iteration, epoch):
        self.batches.append([host(x)[:, 0].tolist() for x in model.get_inputs()])


def test_shuffled_inputs_stay_together_and_every_epoch_has_its_order():
    net, seen = network(), Seen()
    net.set_listeners(seen)
    net.fit(data(), epochs=2, batch_size=4)
    beside = dict(zip(A[:, 0].tolist(), B[:, 0].tolist(), strict=True))
    orders = []
    for number in (0, 2):
        first, second = (seen.batches[number][place] + seen.batches[number + 1][place] for place in (0, 1))
        assert [beside[x] for x in first] == second
        assert sorted(first) == sorted(beside)
        orders.append(first)
    assert orders[0] != orders[1] != A[:, 0].tolist()
    again = network()
    np.testing.assert_array_equal(after(again, data(), epochs=2, batch_size=4), host(net.params()))


# ---- weights and validation


def test_weights_of_examples_are_in_every_loss():
    net, weights = network(), np.array([1.0, 0, 2, 0.5, 3, 1])
    column = weights[:, None]
    expected = network()
    expected.fit(MultiDataSet([A, B], [Y1, Y2], None, [column, column]))
    np.testing.assert_array_equal(after(net, data(), sample_weight=weights), host(expected.params()))
    assert net.score() == expected.score()


def test_weights_of_classes_of_several_outputs_go_by_their_names():
    weights = {0: 1.0, 1: 3.0, 2: 0.5}
    column = np.array([[weights[number]] for number in CLASSES])
    expected = after(chain(), DataSet(A, Y1, None, column))
    np.testing.assert_array_equal(after(chain(), A, Y1, class_weight=weights), expected)
    np.testing.assert_array_equal(after(chain(), [DataSet(A, Y1)], class_weight=weights), expected)
    with pytest.raises(nd.ConfigurationError, match="class_weight of 2 outputs must be a dict for each that has any"):
        network().fit(data(), class_weight=weights)


def test_validation_after_every_epoch():
    given = {"minibatch": data(), "iterator": ExistingMultiDataSetIterator(batches()), "list": batches()}
    for validation in given.values():
        net = network()
        history = net.fit(batches(), epochs=2, validation_data=validation)
        assert len(history.validation_score) == 2
        assert history.validation_score[-1] == pytest.approx(net.score(data()), rel=1e-12)
        assert history.validation_accuracy[-1] == net.evaluate(data()).accuracy()
    history = chain().fit(A, Y1, epochs=3, batch_size=4, validation_data=(A, CLASSES))
    assert len(history.validation_score) == len(history.score) == 3


# ---- threads


def test_one_thread_trains_and_others_predict_between_its_steps():
    net, expected, answers, errors = network(), network(), [], []
    between = [host(expected.output(A, B)[0])]
    for _ in range(20):
        expected.fit(data())
        between.append(host(expected.output(A, B)[0]))

    def predict():
        try:
            answers.extend(host(net.output(A, B)[0]) for _ in range(40))
        except Exception as error:  # it is another thread's
            errors.append(error)

    threads = [threading.Thread(target=predict) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        net.fit(data())
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(answers) == 80
    assert all(any((answer == one).all() for one in between) for answer in answers)
    np.testing.assert_array_equal(host(net.params()), host(expected.params()))


# ---- learning rates, listeners


def test_learning_rates_by_name():
    net = network(updater=Adam(0.01))
    net.set_learning_rate("kind", 0.5)
    assert (net.get_learning_rate("kind"), net.get_learning_rate("hidden")) == (0.5, 0.01)
    net.set_learning_rate(0.25)
    assert {net.get_learning_rate(name) for name in net.layer_names} == {0.25}
    with pytest.raises(nd.ConfigurationError, match=r"layer must be one of .*'both'"):
        net.set_learning_rate("both", 0.1)


def test_a_layer_of_rate_zero_stays():
    net = network()
    before = host(net.get_param("hidden_W"))
    net.set_learning_rate("hidden", 0.0)
    scores = CollectScoresListener()
    net.set_listeners(scores)
    net.fit(batches(), epochs=3)
    np.testing.assert_array_equal(host(net.get_param("hidden_W")), before)
    assert len(scores.scores) == net.iteration_count == 6


class Activations(Listener):
    """Keeps the names of activations, and asks the network for its outputs meanwhile."""

    def on_forward_pass(self, model, activations):
        self.names = list(activations)
        self.kind = host(activations["kind"])
        model.output(-A, B)
        np.testing.assert_array_equal(host(activations["kind"]), self.kind)


def test_listeners_get_activations_by_name():
    net, listener, expected = network(), Activations(), network()
    net.set_listeners(listener)
    net.fit(data())
    assert listener.names == net.topological_order()
    expected.fit(data())
    np.testing.assert_allclose(host(net.params()), host(expected.params()), rtol=1e-12)


# ---- files of other libraries


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_arrays_by_name_in_files_of_other_libraries(ending, tmp_path):
    net, path = network(updater="adam"), tmp_path / f"graph.{ending}"
    net.fit(data())
    write_array_file(net, path)
    loaded = read_array_file(path)
    assert isinstance(loaded, ComputationGraph)
    assert loaded.conf.vertices == net.conf.vertices
    net.fit(data())
    np.testing.assert_array_equal(after(loaded, data()), host(net.params()))
    np.testing.assert_array_equal(host(loaded.updater_state()), host(net.updater_state()))
    if ending == "npz":
        with np.load(path) as arrays:
            assert {"hidden_W", "kind_b", "size_W"} <= set(arrays.files)


def test_a_zip_is_opened_as_what_it_is(tmp_path):
    net, path = network(updater="adam"), tmp_path / "graph.zip"
    net.fit(data())
    net.save(path)
    for load in (ComputationGraph.load, nn.load):
        np.testing.assert_array_equal(host(load(path).params()), host(net.params()))
    with pytest.raises(nd.NdError, match="ComputationGraph"):
        MultiLayerNetwork.load(path)
