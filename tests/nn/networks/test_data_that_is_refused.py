"""Data that a network cannot take: an error says which call, and whether it was the data to validate on."""

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, DataSetIterator, ExistingDataSetIterator, ListDataSetIterator
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Listener

RNG = np.random.default_rng(43)
X = RNG.normal(size=(6, 4)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 6)]
BAD = X.copy()
BAD[3, 2] = np.nan


@pytest.fixture
def net():
    conf = NeuralNetConfiguration(seed=2).list(DenseLayer(n_in=4, n_out=5), OutputLayer(n_out=3))
    return MultiLayerNetwork(conf).init()


WRONG_VALIDATION = {
    "columns": ((X[:, :2], Y), nd.ShapeError, r"layer 0 \(DenseLayer\): expected input \[N, 4\], got \[6, 2\]\."),
    "labels": ((X, Y[:, :2]), nd.ShapeError, r"layer 1 \(OutputLayer\): loss LossMCXENT: labels must be \[N, 3\], got"),
    "no labels": (DataSet(X), nd.DataError, r"must have labels, got none\. Give \(features, labels\)\."),
    "nothing": ((X[:0], Y[:0]), nd.DataError, "must have at least one example, got none"),
    "a list": (([[1.0, 2.0]], [[1.0, 0.0, 0.0]]), nd.ShapeError, r"layer 0 .* expected input \[N, 4\], got \[1, 2\]"),
}


@pytest.mark.parametrize("batch_size", [None, 4])
@pytest.mark.parametrize(("data", "error", "message"), WRONG_VALIDATION.values(), ids=WRONG_VALIDATION)
def test_validation_data_that_do_not_fit_are_refused_before_training(net, data, error, message, batch_size):
    if batch_size is None and message.startswith("must have at least"):
        error, message = nd.ShapeError, "MultiLayerNetwork: expected features"
    with pytest.raises(error, match=f"^fit: validation_data:? {message}"):
        net.fit(X, Y, batch_size=batch_size, validation_data=data)
    assert net.iteration_count == 0


def test_what_an_iterator_of_validation_data_brings_is_named_too(net):
    with pytest.raises(nd.ShapeError, match=r"^fit: validation_data: layer 0 \(DenseLayer\): expected input"):
        net.fit(X, Y, validation_data=ExistingDataSetIterator([DataSet(X[:, :2], Y)]))


def test_features_that_are_not_finite_are_said_not_a_divergence(net):
    with pytest.raises(
        nd.DataError,
        match=r"^evaluate: features must be finite, got NaN in row 3, column 2",
    ):
        net.evaluate(BAD, Y)
    with pytest.raises(nd.DataError, match=r"^fit: validation_data: features must be finite, got NaN in"):
        net.fit(X, Y, validation_data=(BAD, Y))
    net.set_params(net.params() * np.float32("nan"))
    with pytest.raises(nd.NumericError, match="The network diverged"):
        net.evaluate(X, Y)


@pytest.mark.parametrize("x", [None, "a"])
def test_outputs_are_of_features(net, x):
    message = r"^output: x must be features \[N, \.\.\.\], numbers, got .*\. Give an array, a table or a DataSet\."
    with pytest.raises(nd.DTypeError, match=message):
        net.output(x)
    with pytest.raises(nd.ShapeError, match=r"^output: expected rows of equal length, got a ragged list"):
        net.output([[1.0], [2.0, 3.0]])


def test_messages_say_which_call_was_given_no_labels(net):
    with pytest.raises(nd.DataError, match=r"^fit_batch: a data set needs labels, got none\. Give DataSet\(x, y\)"):
        net.fit_batch(DataSet(X))
    with pytest.raises(nd.DataError, match=r"^score: a data set needs labels, got none\. Give DataSet\(x, y\)"):
        net.score(DataSet(X))
    with pytest.raises(
        nd.DTypeError, match=r"^fit_batch: data must be a DataSet or \(features, labels\), got 3\. Wrap"
    ):
        net.fit_batch(3)


def test_predictions_of_a_data_set_need_names(net):
    data = DataSet(X, Y)
    data.class_names = ["c", "b", "a"]  # in an order of its own, perhaps
    message = (
        r"^predict: of a DataSet the names .* must be known, got none\. Set network.class_names = .* or call predict"
    )
    with pytest.raises(nd.ConfigurationError, match=message):
        net.predict(data)
    net.class_names = ["a", "b", "c"]
    assert net.predict(data) == ["abc"[number] for number in net.predict(data.features)]


def test_labels_beside_an_iterator(net):
    message = r"^fit: an iterator brings its labels, got an array of shape \[6, 3\] beside it\. Leave them out, or give"
    with pytest.raises(nd.DTypeError, match=message):
        net.fit(ListDataSetIterator([DataSet(X, Y)], 6), Y)


class Counting(DataSetIterator):
    """Its state is a number."""

    def __init__(self):
        self.at = 0

    def has_next(self):
        return self.at < 3

    def next(self, num=None):
        self.at += 1
        return DataSet(X, Y)

    def reset(self):
        self.at = 0

    def batch(self):
        return 6

    def state(self):
        return self.at


class Saving(Listener):
    def __init__(self, path):
        self.path = path

    def iteration_done(self, model, iteration, epoch):
        if model.iteration_count == 2:
            model.save_checkpoint(self.path)


def test_a_state_that_is_no_dict_is_refused_when_a_checkpoint_is_written(net, tmp_path):
    net.fit(Counting())  # nobody asks for it
    other = net.clone()
    other.set_listeners(Saving(tmp_path / "checkpoint.zip"))
    other.iteration_count = 0
    message = r"^save_checkpoint: Counting\.state must return a dict, got \d\. Return \{'position': \.\.\.\}, say"
    with pytest.raises(nd.DataError, match=message):
        other.fit(Counting(), epochs=2)
    assert not list(tmp_path.iterdir())
