"""fit: what it takes, what it counts, whom it tells, and that a network learns."""

import threading

import numpy as np
import pytest

import nd
from nd.dataset import AsyncDataSetIterator, DataSet, ListDataSetIterator
from nn import (
    ConvolutionLayer,
    DenseLayer,
    DropoutLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from optimize import Adam, CollectScoresListener, Listener, MapSchedule, Nesterovs, Sgd
from tests.cases.layers import two_layers_by_hand
from tests.stand_ins import TOLERANCE, as_input, make_backend

STRICT_TOLERANCE = {"rtol": 1e-5, "atol": 1e-6}  # float32 after a few iterations on another backend
RNG = np.random.default_rng(21)
X = RNG.normal(size=(10, 3)).astype(np.float32)
Y = np.eye(2, dtype=np.float32)[RNG.integers(0, 2, 10)]


def network(**settings):
    conf = NeuralNetConfiguration(**{"seed": 3, "updater": Sgd(0.1), **settings}).list(
        DenseLayer(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=2, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


def host(x):
    return nd.to_host(nd.copy(x))


class Recorder(Listener):
    """Writes down every call."""

    def __init__(self):
        self.calls = []

    def on_epoch_start(self, model):
        self.calls.append(f"start {model.epoch_count}")

    def on_epoch_end(self, model):
        self.calls.append(f"end {model.epoch_count}")

    def on_forward_pass(self, model, activations):
        self.calls.append(f"forward {len(activations)}")

    def on_gradient_calculation(self, model):
        self.calls.append("gradient")

    def on_backward_pass(self, model):
        self.calls.append("backward")

    def iteration_done(self, model, iteration, epoch):
        self.calls.append(f"done {iteration} {epoch}")

    def close(self):
        self.calls.append("close")


# ---- what fit takes


@pytest.mark.parametrize("form", ["arrays", "lists", "data set", "list of data sets", "iterator", "async", "generator"])
def test_every_form_of_data_gives_the_same_step(form, backend):
    expected = network()
    expected.set_input(as_input(backend, X))
    expected.set_labels(as_input(backend, Y))
    expected.compute_gradient_and_score()
    data = DataSet(as_input(backend, X), as_input(backend, Y))
    forms = {
        "arrays": (data.features, data.labels),
        "lists": (X.tolist(), Y.tolist()),
        "data set": (data,),
        "list of data sets": ([data],),
        "iterator": (ListDataSetIterator(data, batch=10),),
        "async": (AsyncDataSetIterator(ListDataSetIterator(data)),),
        "generator": ((batch for batch in [data]),),
    }
    net = network()
    net.fit(*forms[form])
    assert net.score() == expected.score()
    step = 0.1 * host(expected.flattened_gradients()) / 10
    np.testing.assert_allclose(host(net.params()), host(expected.params()) - step, **TOLERANCE["float32"])
    if form == "async":
        forms["async"][0].close()


def test_a_step_of_gradient_descent_by_hand(backend):
    """W -= rate * (gradient / N + l2 * W), and biases without the penalty."""
    net = network(l2=0.3, dtype="float64")
    before = {key: host(view) for key, view in net.param_table().items()}
    net.set_input(as_input(backend, X))
    net.set_labels(as_input(backend, Y))
    net.compute_gradient_and_score()
    gradients = {key: host(view) for key, view in net.gradient().gradient_for_variable().items()}
    net.fit(as_input(backend, X), as_input(backend, Y))
    for key, view in net.param_table().items():
        l2 = 0.3 if key.endswith("W") else 0.0
        expected = before[key] - 0.1 * (gradients[key] / 10 + l2 * before[key])
        np.testing.assert_allclose(host(view), expected, **TOLERANCE["float64"])
    update = host(net.gradient().gradient_for_variable()["0_W"])  # after fit the gradient holds the update
    np.testing.assert_allclose(before["0_W"] - host(net.param_table()["0_W"]), update, rtol=1e-9, atol=1e-15)


# ---- what fit counts


def test_counters_of_an_iterator_and_of_single_minibatches():
    net = network()
    net.fit(ListDataSetIterator(DataSet(X, Y), batch=4), epochs=2)
    assert (net.iteration_count, net.epoch_count) == (6, 2)
    net.fit(X, Y, epochs=3)
    net.fit(DataSet(X, Y))
    assert (net.iteration_count, net.epoch_count) == (10, 2)
    net.fit([DataSet(X, Y)], epochs=2)
    assert (net.iteration_count, net.epoch_count) == (12, 4)
    net.fit_batch(DataSet(X, Y))
    assert (net.iteration_count, net.epoch_count) == (13, 4)


def test_zero_epochs_do_nothing():
    net = network()
    before = host(net.params())
    net.fit(X, Y, epochs=0)
    net.fit([DataSet(X, Y)], epochs=0)
    np.testing.assert_array_equal(host(net.params()), before)
    assert (net.iteration_count, net.epoch_count) == (0, 0)


def test_iterations_are_steps_on_the_same_minibatch():
    several, single = network(iterations=3), network()
    several.fit([DataSet(X, Y)], epochs=2)
    for _ in range(6):
        single.fit(X, Y)
    assert (several.iteration_count, several.epoch_count) == (6, 2)
    np.testing.assert_array_equal(host(several.params()), host(single.params()))


@pytest.mark.parametrize("sizes", [(7, 3), (3, 7), (1, 9), (9, 1), (4, 4, 2)])
def test_minibatches_of_unequal_size(sizes, backend):
    """Each is divided by its own size; memory of a larger one before does not matter."""
    net, twin = network(dtype="float64"), network(dtype="float64")
    batches, start = [], 0
    for n in sizes:
        batches.append(DataSet(as_input(backend, X[start : start + n]), as_input(backend, Y[start : start + n])))
        start += n
    p = {key: host(view) for key, view in net.param_table().items()}
    net.fit(batches)
    for batch in batches:
        x, y = nd.to_host(batch.features), nd.to_host(batch.labels)
        gradients = two_layers_by_hand(twin.param_table(), x, y)[3]
        p = {key: p[key] - 0.1 * gradients[key] / len(x) for key in p}
        for key, view in twin.param_table().items():
            nd.assign(view, nd.create(p[key]))
    for key, view in net.param_table().items():
        np.testing.assert_allclose(host(view), p[key], rtol=1e-10, atol=1e-12)
    assert net.batch_size == sizes[-1]


def test_the_score_is_that_before_the_update():
    net, scores = network(), CollectScoresListener()
    data = DataSet(X, Y)
    expected = []
    net.set_listeners(scores)
    for _ in range(3):
        expected.append(network().score(data) if not expected else net.clone().score(data))
        net.fit(data)
    assert scores.scores == expected
    assert scores.iterations == [0, 1, 2]
    assert net.score() == expected[-1] > net.score(data)


def test_schedules_follow_iterations_and_epochs():
    for kind, last in (("iteration", 3), ("epoch", 1)):
        still = MapSchedule(kind, {0: 0.1, last: 0.0})
        net = network(updater=Sgd(still))
        net.fit(ListDataSetIterator(DataSet(X, Y), batch=4), epochs=1)  # 3 iterations
        trained = host(net.params())
        net.fit(ListDataSetIterator(DataSet(X, Y), batch=4), epochs=1)
        np.testing.assert_array_equal(host(net.params()), trained)
        assert (trained != host(network().params())).any()


# ---- whom fit tells


def test_listeners_hear_of_everything_in_order():
    net, recorder = network(), Recorder()
    net.set_listeners(recorder)
    net.fit(ListDataSetIterator(DataSet(X, Y), batch=5), epochs=2)
    step = ["forward 3", "backward", "gradient"]
    epochs = [[f"start {e}", *step, f"done {2 * e} {e}", *step, f"done {2 * e + 1} {e}", f"end {e}"] for e in (0, 1)]
    assert recorder.calls == [*epochs[0], *epochs[1], "close"]
    recorder.calls.clear()
    net.fit(X, Y)
    assert recorder.calls == [*step, "done 4 2", "close"]


def test_set_and_add_listeners():
    net, first, second = network(), Recorder(), Recorder()
    net.set_listeners(first)
    net.add_listeners(second)
    net.fit(X, Y)
    assert first.calls == second.calls != []
    net.set_listeners()
    first.calls.clear()
    net.fit(X, Y)
    assert first.calls == []
    assert net.listeners == []


class Asking(Listener):
    """Asks the network for other things while it trains."""

    def on_backward_pass(self, model):
        model.output(X * 9.0)
        model.feed_forward(X * 8.0)

    def iteration_done(self, model, iteration, epoch):
        model.output(X * 7.0)


def test_a_listener_may_ask_for_outputs():
    net, quiet = network(iterations=3), network(iterations=3)
    net.set_listeners(Asking())
    net.fit(X, Y)
    quiet.fit(X, Y)
    np.testing.assert_array_equal(host(net.params()), host(quiet.params()))


def test_a_listener_may_ask_for_outputs_between_forward_and_backward():
    class Early(Listener):
        def on_forward_pass(self, model, activations):
            model.output(X * 9.0)

    net, quiet = network(), network()
    net.set_listeners(Early())
    net.fit(X, Y)
    quiet.fit(X, Y)
    np.testing.assert_array_equal(host(net.params()), host(quiet.params()))


def test_no_thread_is_left():
    before = threading.active_count()
    network().fit(ListDataSetIterator(DataSet(X, Y), batch=2), epochs=2)
    assert threading.active_count() == before


# ---- backends


def cnn(updater, drop_out=None):
    conf = NeuralNetConfiguration(seed=5, l2=1e-3, updater=updater).list(
        ConvolutionLayer(n_out=3, kernel_size=3, activation="relu"),
        SubsamplingLayer("max", kernel_size=(2, 2)),
        DenseLayer(n_out=6, activation="tanh", drop_out=drop_out),
        DropoutLayer(drop_out),
        OutputLayer(n_out=2, activation="softmax"),
        input_type=InputType.convolutional_flat(6, 6, 1),
    )
    return MultiLayerNetwork(conf).init()


@pytest.mark.parametrize("drop_out", [None, 0.6])
@pytest.mark.parametrize("updater", [Nesterovs(learning_rate=0.1), Adam(0.01), Sgd(0.1)])
@pytest.mark.quick_rows(2)
def test_backends_train_to_the_same_numbers(updater, drop_out):
    x, y = RNG.normal(size=(8, 36)).astype(np.float32), np.eye(2, dtype=np.float32)[RNG.integers(0, 2, 8)]
    found = []
    for name in ("numpy", "strict"):
        with nd.use_backend(make_backend(name)):
            net, scores = cnn(updater, drop_out), CollectScoresListener()
            net.set_listeners(scores)
            net.fit(ListDataSetIterator(DataSet(x, y), batch=4), epochs=3)
            found.append((scores.scores, host(net.params()), host(net.output(x))))
    for ours, expected in zip(found[1], found[0], strict=True):
        np.testing.assert_allclose(ours, expected, **STRICT_TOLERANCE)
    assert len(found[0][0]) == 6


@pytest.mark.parametrize(("home", "away"), [("numpy", "strict"), ("strict", "numpy")])
def test_a_network_stays_on_its_backend(home, away):
    home, away = make_backend(home), make_backend(away)
    with nd.use_backend(home):
        net, expected = network(), network()
        expected.fit(X, Y, epochs=2)
    with nd.use_backend(away):
        net.fit(X, Y, epochs=2)
        arrays = [net.params(), net.output(X), net.predict(X), *net.feed_forward(X), net.clone().params()]
        net.score(DataSet(X, Y))
        net.evaluate([DataSet(X, Y)])
        assert nd.backend() is away
        assert all(home.is_array(a) for a in arrays)
    np.testing.assert_array_equal(home.to_host(net.params()), home.to_host(expected.params()))


@pytest.mark.parametrize("current", ["numpy", "strict"])
def test_host_data_of_another_library_come_over(current):
    x, y = (make_backend("strict").asarray(array.tolist(), "float32") for array in (X, Y))
    with nd.use_backend(make_backend("numpy")):
        net, twin = network(), network()
    with nd.use_backend(make_backend(current)):
        net.fit(x, y)
        twin.fit(X, Y)
        np.testing.assert_array_equal(net.output(x), twin.output(X))
        net.set_params(make_backend("strict").asarray(net.params().tolist(), "float32"))
        assert nd.backend().name == current
    np.testing.assert_array_equal(net.params(), twin.params())


# ---- learning


def learn_xor(updater, epochs):
    """Return the scores before and after, and the outputs."""
    x, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32), np.array([[0], [1], [1], [0]], np.float32)
    conf = NeuralNetConfiguration(seed=12, updater=updater).list(
        DenseLayer(n_in=2, n_out=8, activation="tanh"), OutputLayer(n_in=8, n_out=1, loss="xent", activation="sigmoid")
    )
    net = MultiLayerNetwork(conf).init()
    start = net.score(DataSet(x, y))
    net.fit(x, y, epochs=epochs)
    return start, net.score(), nd.to_host(net.output(x))[:, 0]


@pytest.mark.numpy_first
def test_xor_is_learnt(backend):
    start, end, out = learn_xor(Adam(0.1), 120)
    assert start > 0.6
    assert end < 0.05
    assert list(out > 0.5) == [False, True, True, False]


@pytest.mark.parametrize("updater", [Nesterovs(learning_rate=0.1), Sgd(1.0)])
def test_xor_is_learnt_by_other_updaters(updater):
    assert learn_xor(updater, 300)[1] < 0.05


def test_a_line_is_fitted_exactly():
    x = np.linspace(-1.0, 1.0, 20)[:, None]
    conf = NeuralNetConfiguration(seed=1, dtype="float64", updater=Sgd(0.2)).list(
        OutputLayer(n_in=1, n_out=1, loss="mse", activation="identity")
    )
    net = MultiLayerNetwork(conf).init()
    net.fit(x, 3.0 * x - 0.5, epochs=300)
    np.testing.assert_allclose(host(net.params()), [[3.0, -0.5]], rtol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of the square
def test_a_large_but_finite_gradient_is_taken(backend):
    """1e20 is a float32, though its square is none."""
    conf = NeuralNetConfiguration(seed=1, updater=Sgd(1e-20)).list(
        OutputLayer(n_in=1, n_out=1, loss="mse", activation="identity", weight_init="zero")
    )
    net = MultiLayerNetwork(conf).init()
    net.fit(np.full((2, 1), 1e20, np.float32), np.ones((2, 1)))
    assert host(net.get_param("0_W"))[0, 0] == pytest.approx(2.0, rel=1e-6)  # 1e-20 * 2 * 1e20


def test_epochs_may_stand_in_the_place_of_labels_as_in_java():
    net, by_name = network(), network()
    net.fit(ListDataSetIterator([DataSet(X, Y)]), 2)
    by_name.fit(ListDataSetIterator([DataSet(X, Y)]), epochs=2)
    assert (net.epoch_count, net.iteration_count) == (2, 2)
    np.testing.assert_array_equal(net.params(), by_name.params())
    with pytest.raises(nd.DTypeError, match=r"fit: an iterator brings its labels, got 2\.5 beside it"):
        network().fit(ListDataSetIterator([DataSet(X, Y)]), 2.5)


@pytest.mark.parametrize("known", [True, False])
def test_a_progress_bar_on_a_terminal_knows_the_total_or_does_without(known, monkeypatch, capsys):
    batches = [DataSet(X, Y)] * 3
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    net = network()
    net.fit(batches if known else (batch for batch in batches))
    shown = capsys.readouterr().err
    assert ("3/3" if known else "3batch") in shown
    assert net.iteration_count == 3
