"""What a user gets wrong: a typed error that names the place and both values, and a network that still trains."""

import threading

import numpy as np
import pytest

import nd
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
from optimize import Listener, MapSchedule, Sgd
from tests.cells import every_row
from tests.stand_ins import TOLERANCE, as_input

RNG = np.random.default_rng(50)
X, Y = RNG.normal(size=(5, 3)).astype(np.float32), np.eye(2, dtype=np.float32)[[0, 1, 1, 0, 1]]
TEXT = np.array([["a", "b", "c"]] * 5)
IMAGES = InputType.convolutional(6, 7, 2)


def network(*layers, input_type=None, **settings):
    given = layers or (DenseLayer(n_in=3, n_out=4, name="fc1"), OutputLayer(n_in=4, n_out=2, activation="softmax"))
    conf = NeuralNetConfiguration(**{"seed": 3, "updater": "adam", **settings}).list(*given, input_type=input_type)
    return MultiLayerNetwork(conf).init()


def state_of(net):
    return (
        nd.to_host(nd.copy(net.params())),
        nd.to_host(nd.copy(net.updater_state())),
        net.iteration_count,
        net.epoch_count,
        list(net.listeners),
    )


def assert_unharmed(net, before):
    """The network is as they were, and trains as its untouched copy does."""
    for found, expected in zip(state_of(net), before, strict=True):
        np.testing.assert_array_equal(found, expected)
    twin = net.clone()
    for trained in (net, twin):
        trained.fit(X, Y)
    np.testing.assert_array_equal(nd.to_host(net.params()), nd.to_host(twin.params()))
    assert (nd.to_host(net.params()) != before[0]).any()
    assert np.isfinite(net.score())


def with_value(array, value):
    changed = array.copy()
    changed[2, 1] = value
    return changed


SHAPES = r"layer 0 'fc1' \(DenseLayer\): expected input \[N, 3\], got "
LABELS = r"layer 1 \(OutputLayer\).*labels .*\[(5|N), 2\], got "
LABELS_MASK = r"mask must be \[5, 1\] or \[5, 2\], got "
ROWS = r"MultiLayerNetwork: expected features \[N, \.\.\.\] with N >= 1, got "

BAD_DATA = {
    # features, labels, error, message
    "features-too-wide": (np.zeros((5, 4)), Y, nd.ShapeError, SHAPES + r"\[5, 4\]\. Give 3 columns, or a layer with"),
    "features-are-images": (np.zeros((5, 1, 3, 1)), Y, nd.ShapeError, SHAPES + r"\[5, 1, 3, 1\].*InputType\.conv"),
    "features-of-rank-1": (np.zeros(3), np.zeros(3), nd.ShapeError, ROWS + r"\[3\]\. Give one row per example"),
    "no-examples": (np.zeros((0, 3)), np.zeros((0, 2)), nd.ShapeError, ROWS + r"\[0, 3\]"),
    "features-are-a-number": (np.float32(1.0), Y, nd.ShapeError, "features: expected an array with examples"),
    "features-are-text": (TEXT, Y, nd.DTypeError, "features: expected numbers, got elements of dtype <U1"),
    "features-are-objects": (TEXT.astype(object), Y, nd.DTypeError, "features: .* dtype object"),
    "features-are-complex": (X + 1j, Y, nd.DTypeError, "features: .* dtype complex64"),
    "features-are-lists-of-text": (TEXT.tolist(), Y, nd.DTypeError, "features: .* dtype <U1"),
    "features-are-ragged": ([[1.0, 2.0, 3.0], [1.0]], Y[:2], nd.ShapeError, "features: expected rows of equal length"),
    "labels-are-text": (X, TEXT[:, :2], nd.DTypeError, "labels: expected numbers, got elements of dtype <U1"),
    "labels-are-complex": (X, Y * 1j, nd.DTypeError, "labels: .* dtype complex64"),
    "fewer-labels": (X, Y[:4], nd.ShapeError, r"as many labels as features, got labels \[4, 2\] and features \[5, 3\]"),
    "labels-too-wide": (X, np.zeros((5, 3)), nd.ShapeError, LABELS + r"\[5, 3\]"),
    "labels-of-rank-1": (X, np.full(5, 0.5), nd.DataError, "fit: class numbers must be whole numbers from 0 to 1"),
    "labels-of-rank-3": (X, np.zeros((5, 2, 1)), nd.ShapeError, LABELS + r"\[5, 2, 1\]"),
    "features-alone": (X, None, nd.DataError, r"features need labels, got features alone\. Give both, \(features, l"),
    "data-set-without-labels": (DataSet(X), None, nd.DataError, "needs labels to be trained on or scored, got none"),
    "data-sets-without-labels": ([DataSet(X)], None, nd.DataError, "needs labels to be trained on or scored, got none"),
    "empty-list": ([], None, nd.DataError, "the iterator must have at least one minibatch, got none"),
    "empty-generator": ((_ for _ in ()), None, nd.DataError, "generator|at least one minibatch"),
    "rows-without-labels": (X.tolist(), None, nd.DataError, "features need labels"),
    "a-number": (7, None, nd.NdError, "fit: .*got .*(int|7)"),
    "labels-mask-too-wide": (DataSet(X, Y, None, np.ones((5, 3))), None, nd.ShapeError, LABELS_MASK + r"\[5, 3\]"),
    "features-mask-too-wide": (DataSet(X, Y, np.ones((5, 3))), None, nd.ShapeError, r"mask .*\[5, 1\], got \[5, 3\]"),
    "features-mask-of-rank-1": (DataSet(X, Y, np.ones(5)), None, nd.ShapeError, r"mask .*\[5, 1\], got \[5\]"),
    "features-nan": (with_value(X, np.nan), Y, nd.NumericError,
                     r"fit: .*score.* must be finite, got .*nan at iteration 1\..*as they were.*Check the data"),
    "labels-nan": (X, with_value(Y, np.nan), nd.NumericError, "must be finite, got .*nan at iteration 1"),
    "labels-infinite": (X, with_value(Y, np.inf), nd.NumericError, "must be finite, got .*inf at iteration 1"),
}  # fmt: skip


@every_row("name", BAD_DATA)
def test_data_that_cannot_be_trained_on(name):
    features, labels, error, message = BAD_DATA[name]
    net = network()
    net.fit(X, Y)
    before = state_of(net)
    with pytest.raises(error, match=message):
        net.fit(features, labels)
    assert_unharmed(net, before)


@pytest.mark.parametrize(
    "name",
    ["features-too-wide", "features-are-images", "labels-too-wide", "labels-of-rank-3", "features-nan", "labels-nan"],
)
def test_bad_data_on_every_backend(name, backend, order):
    features, labels, error, message = BAD_DATA[name]
    net = network()
    net.fit(X, Y)
    before = state_of(net)
    with pytest.raises(error, match=message):
        net.fit(as_input(backend, features, order), as_input(backend, labels, order))
    assert_unharmed(net, before)


@pytest.mark.parametrize("name", ["features-too-wide", "features-are-images", "features-of-rank-1"])
def test_bad_features_of_outputs(name):
    features, _, error, message = BAD_DATA[name]
    net = network()
    before = state_of(net)
    for use in (net.output, net.predict, net.feed_forward, lambda x: net.evaluate([DataSet(x, np.zeros((len(x), 2)))])):
        with pytest.raises(error, match=message):
            use(features)
    assert_unharmed(net, before)


@pytest.mark.parametrize("features", [TEXT, TEXT.astype(object), X + 1j, TEXT.tolist(), None, [[None] * 3]])
def test_outputs_of_what_are_no_numbers(features):
    net = network()
    before = state_of(net)
    with pytest.raises(nd.DTypeError, match="numbers"):
        net.output(features)
    assert_unharmed(net, before)


def test_nan_late_in_an_epoch_keeps_what_was_learnt_before():
    net, twin = network(), network()
    batches = [DataSet(X, Y), DataSet(X * 2, Y), DataSet(with_value(X, np.nan), Y), DataSet(X, Y)]
    with pytest.raises(nd.NumericError, match=r"got .*nan at iteration 2"):
        net.fit(batches, epochs=2)
    for batch in batches[:2]:
        twin.fit(batch)
    before = state_of(twin)
    assert_unharmed(net, before)


def test_labels_that_were_set_for_other_features():
    net = network()
    before = state_of(net)
    net.set_input(X)
    with pytest.raises(nd.ConfigurationError, match="set_input and set_labels must come first"):
        net.compute_gradient_and_score()
    net.set_labels(Y[:3])
    with pytest.raises(nd.ShapeError, match=r"labels: expected \[5, \.\.\.\] for 5 examples, got \[3, 2\]\. One row"):
        net.compute_gradient_and_score()
    assert_unharmed(net, before)


@pytest.mark.parametrize("epochs", [-1, 1.5, "3", None])
def test_epochs_must_be_a_count(epochs):
    net = network()
    before = state_of(net)
    for data in ((X, Y), ([DataSet(X, Y)],)):
        with pytest.raises(nd.ConfigurationError, match=f"fit: epochs must be .*got .?{epochs}"):
            net.fit(*data, epochs=epochs)
    assert_unharmed(net, before)


# ---- networks that are not ready

BEFORE_INIT = {
    "fit_batch": lambda net: net.fit_batch(DataSet(X, Y)),
    "output": lambda net: net.output(X),
    "predict": lambda net: net.predict(X),
    "feed_forward": lambda net: net.feed_forward(X),
    "evaluate": lambda net: net.evaluate([DataSet(X, Y)]),
    "params": lambda net: net.params(),
    "set_params": lambda net: net.set_params(np.zeros((1, 26))),
    "param_table": lambda net: net.param_table(),
    "get_param": lambda net: net.get_param("0_W"),
    "gradient": lambda net: net.gradient(),
    "flattened_gradients": lambda net: net.flattened_gradients(),
    "updater_state": lambda net: net.updater_state(),
    "set_updater_state": lambda net: net.set_updater_state(np.zeros((1, 52))),
    "get_layer": lambda net: net.get_layer(0),
    "set_input": lambda net: net.set_input(X),
    "set_labels": lambda net: net.set_labels(Y),
    "set_masks": lambda net: net.set_masks(None, None),
    "compute_gradient_and_score": lambda net: net.compute_gradient_and_score(),
    "score": lambda net: net.score(),
    "score-of-data": lambda net: net.score(DataSet(X, Y)),
    "clone": lambda net: net.clone(),
    "save": lambda net: net.save("never-written.zip"),
}


@pytest.mark.parametrize("name", BEFORE_INIT)
def test_init_must_come_first(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    net = MultiLayerNetwork(network().conf)
    with pytest.raises(nd.ConfigurationError, match=r"MultiLayerNetwork: init\(\) must come first\. Call "):
        BEFORE_INIT[name](net)
    assert list(tmp_path.iterdir()) == []
    assert_unharmed(net.init(), state_of(net))


@pytest.mark.parametrize("use", ["fit", "score", "compute_gradient_and_score"])
def test_the_last_layer_must_have_a_loss(use):
    net = network(DenseLayer(n_in=3, n_out=2))
    uses = {
        "fit": lambda: net.fit(X, Y),
        "score": lambda: net.score(DataSet(X, Y)),
        "compute_gradient_and_score": net.compute_gradient_and_score,
    }
    with pytest.raises(nd.ConfigurationError, match=r"layer 0 \(DenseLayer\): the last layer must have a loss.*Output"):
        uses[use]()
    assert tuple(net.output(X).shape) == (5, 2)


# ---- configurations

BAD_CONFIGURATIONS = {
    "activation": (lambda: DenseLayer(activation="relo"), nd.ChoiceError, r"unknown activation 'relo'.*mean 'relu'"),
    "loss": (lambda: OutputLayer(loss="mcxnt"), nd.ChoiceError, r"unknown loss 'mcxnt'.*Did you mean 'mcxent'"),
    "updater": (lambda: network(updater="nesterov"), nd.ChoiceError, r"unknown updater 'nesterov'.*mean 'nesterovs'"),
    "layer-updater": (lambda: DenseLayer(updater="sdg"), nd.ChoiceError, r"unknown updater 'sdg'.*Did you mean 'sgd'"),
    "no-updater": (lambda: network(updater=5), nd.ConfigurationError, r"updater must be text or an Updater, got 5"),
    "rate": (lambda: Sgd("0.1"), nd.ConfigurationError, r"Sgd: learning_rate must be a number >= 0 .* got '0\.1'"),
    "weight-init": (lambda: DenseLayer(weight_init="xavier_"), nd.ChoiceError, r"'xavier_'.*Did you mean 'xavier'"),
    "optimizer": (lambda: network(optimization_algo="sgd"), nd.ChoiceError, r"unknown optimization_algo 'sgd'"),
    "dtype": (lambda: network(dtype="float16"), nd.ChoiceError, r"unknown dtype 'float16', expected one of float32, "),
    "iterations": (lambda: network(iterations=0), nd.ConfigurationError, "must be an integer in 1..2147483647, got 0"),
    "seed": (lambda: network(seed="abc"), nd.ConfigurationError, "seed .*'abc'"),
    "penalty": (lambda: network(l2="x"), nd.ConfigurationError, "l2 must be a number >= 0 or a Schedule .* got 'x'"),
    "schedule": (lambda: MapSchedule("epoch", {1: 0.1}), nd.ConfigurationError, r"must contain key 0, got keys \[1\]"),
    "schedule-type": (lambda: MapSchedule("epochs", {0: 0.1}), nd.ChoiceError, "'epochs'.*Did you mean 'epoch'"),
    "n_in": (lambda: network(DenseLayer(n_in=4, n_out=2), input_type=InputType.feed_forward(3)), nd.ConfigurationError,
             r"layer 0 \(DenseLayer\): n_in must be 3, .*got 4\. Leave n_in out"),
    "n_out-0": (lambda: DenseLayer(n_out=0), nd.ArgumentError, "DenseLayer: n_out must be an integer >= 1 .* got 0"),
    "n_out-text": (lambda: DenseLayer(n_out="3"), nd.ArgumentError, "n_out must be an integer >= 1 or None, got '3'"),
    "kernel": (lambda: ConvolutionLayer(kernel_size=(1, 2, 3)), nd.ShapeError, "kernel_size must be one or two"),
    "pooling": (lambda: SubsamplingLayer("maximum"), nd.ChoiceError, r"unknown pooling type 'maximum'"),
    "pnorm": (lambda: SubsamplingLayer("pnorm"), nd.ConfigurationError, "pooling 'pnorm' needs pnorm >= 1, got 0"),
    "mode": (lambda: ConvolutionLayer(convolution_mode="some"), nd.ChoiceError, "'some'.*Did you mean 'same'"),
    **{
        f"{what}-{value}": (lambda what=what, value=value: ConvolutionLayer(**{what: value}), nd.ArgumentError,
                            rf"ConvolutionLayer: {what} must be an integer >= {least} or a sequence .* got ")
        for what, least, values in (
            ("kernel_size", 1, ((0, 3), 1.5, "33", None, True)),
            ("stride", 1, (0, -1, (1.0, 1))),
            ("padding", 0, (-1, (0, -2))),
            ("dilation", 1, (0,)),
        )
        for value in values
    },
}  # fmt: skip


@every_row("name", BAD_CONFIGURATIONS)
def test_configurations_that_cannot_work(name):
    make, error, message = BAD_CONFIGURATIONS[name]
    with pytest.raises(error, match=message):
        make()


BAD_GEOMETRY = {
    "convolution-too-large": (
        ConvolutionLayer(n_in=2, n_out=1, kernel_size=(3, 9), name="c1"),
        r"layer 0 'c1' \(ConvolutionLayer\): .* got kernel 9 \(dilation 1, so 9\) over width 7 \+ 2 \* 0",
    ),
    "dilation-too-large": (
        ConvolutionLayer(n_in=2, n_out=1, kernel_size=3, dilation=(3, 1)),
        r"layer 0 \(ConvolutionLayer\): .* got kernel 3 \(dilation 3, so 7\) over height 6 \+ 2 \* 0.*mode='same'",
    ),
    "pooling-too-large": (
        SubsamplingLayer("max", kernel_size=(10, 2), padding=1),
        r"layer 0 \(SubsamplingLayer\): .* kernel 10 .* over height 6 \+ 2 \* 1",
    ),
    "convolution-not-exact": (
        ConvolutionLayer(n_in=2, n_out=1, kernel_size=3, stride=2, convolution_mode="strict"),
        r"layer 0 \(ConvolutionLayer\): .*'strict'.* height \(6 - 3 \+ 2 \* 0\) / 2 \+ 1 = 2\.50\. Change size",
    ),
    "pooling-not-exact": (
        SubsamplingLayer("avg", kernel_size=2, stride=2, convolution_mode="strict"),
        r"layer 0 \(SubsamplingLayer\): .*'strict'.* width \(7 - 2 \+ 2 \* 0\) / 2 \+ 1 = 3\.50",
    ),
}


@pytest.mark.parametrize("name", BAD_GEOMETRY)
def test_windows_that_do_not_fit(name, backend):
    layer, message = BAD_GEOMETRY[name]
    with pytest.raises(nd.ShapeError, match=message):
        network(layer, OutputLayer(n_out=2), input_type=IMAGES)
    net = network(layer)
    with pytest.raises(nd.ShapeError, match=message):
        net.output(np.zeros((1, *IMAGES.shape)))


@pytest.mark.parametrize("layer", [ConvolutionLayer(n_in=2, n_out=1, kernel_size=2), SubsamplingLayer()])
def test_layers_over_images_need_images(layer, backend):
    net = network(layer)
    with pytest.raises(nd.ShapeError, match=r"layer 0 \(\w+\): .* input \[N, (2|C), H, W\], got \[5, 84\].*_flat"):
        net.output(np.zeros((5, 84)))
    if isinstance(layer, ConvolutionLayer):
        with pytest.raises(nd.ShapeError, match=r"expected input \[N, 2, H, W\], got \[5, 3, 4, 4\]"):
            net.output(np.zeros((5, 3, 4, 4)))


# ---- being interrupted


class Interrupting(Listener):
    """Raises at one iteration, from one hook."""

    def __init__(self, hook, at=3):
        self.closed = 0
        setattr(self, hook, lambda model, *_: self._perhaps(model, at + (hook == "iteration_done")))

    def _perhaps(self, model, at):
        if model.iteration_count == at:
            raise KeyboardInterrupt("at iteration 3")

    def close(self):
        self.closed += 1


@pytest.mark.parametrize("hook", ["on_forward_pass", "on_backward_pass", "on_gradient_calculation", "iteration_done"])
def test_interrupting_leaves_a_network_that_trains(hook, backend):
    data = ListDataSetIterator(DataSet(as_input(backend, X), as_input(backend, Y)), batch=2)
    net, twin, first, second = network(), network(), Interrupting(hook), Interrupting("on_epoch_end", at=-1)
    net.set_listeners(first, second)
    threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt, match="at iteration 3"):
        net.fit(data, epochs=5)
    assert threading.active_count() == threads
    assert (first.closed, second.closed) == (1, 1)
    assert net.listeners == [first, second]
    taken = 4 if hook == "iteration_done" else 3
    assert net.iteration_count == taken
    for batch in [b for _ in range(2) for b in DataSet(as_input(backend, X), as_input(backend, Y)).batch_by(2)][:taken]:
        twin.fit(batch)
    tolerance = TOLERANCE["float32"] if nd.backend().keeps_addresses else {"rtol": 0}  # a graph's products differ
    np.testing.assert_allclose(nd.to_host(net.params()), nd.to_host(twin.params()), **tolerance)
    net.set_listeners()
    done = []
    other = threading.Thread(target=lambda: done.append(net.output(X)), daemon=True)
    other.start()
    other.join(timeout=5.0)
    assert len(done) == 1  # nothing is left locked
    data.reset()
    net.fit(data)
    assert net.iteration_count == taken + 3


def test_an_error_of_the_iterator_comes_out_and_leaves_no_thread():
    def broken():
        yield DataSet(X, Y)
        raise LookupError("the file is gone")

    net, threads = network(), threading.active_count()
    with pytest.raises(LookupError, match="the file is gone"):
        net.fit(broken())
    assert threading.active_count() == threads
    assert net.iteration_count == 1
    assert_unharmed(net, state_of(net))


def test_a_loss_that_refuses_its_labels_leaves_the_network_alone():
    net = network(LossLayer(loss="sparse_mcxent", activation="softmax"))
    with pytest.raises(nd.DataError, match=r"labels must be integers in 0 \.\. 2, got values in 0\.0 \.\. 7\.0"):
        net.fit(X, np.array([[0], [1], [7], [2], [0]]))
    assert net.iteration_count == 0
    net.fit(X, np.array([[0], [1], [1], [2], [0]]))
    assert net.iteration_count == 1


def test_an_infinite_gradient_behind_a_finite_score_does_not_reach_the_parameters():
    net = network(OutputLayer(n_in=1, n_out=1, loss="mse", activation="identity", weight_init="zero"))
    before = nd.to_host(nd.copy(net.params()))
    with pytest.raises(nd.NumericError, match=r"gradient must be finite, got .*at iteration 0"):
        net.fit(np.array([[3e38], [3e38]]), np.ones((2, 1)))
    np.testing.assert_array_equal(nd.to_host(net.params()), before)
    net.fit(np.ones((2, 1)), np.ones((2, 1)))
    assert net.iteration_count == 1
