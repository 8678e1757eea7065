"""pretrain and pretrain_layer: what is refused, what listeners see, what an error or an interrupt leaves behind."""

import re
import signal
import threading

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator
from nn import (
    RBM,
    AutoEncoder,
    ComputationGraph,
    DenseLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    VariationalAutoencoder,
)
from nn.networks.pretraining import learner_of
from optimize import (
    Adam,
    CheckpointListener,
    CollectScoresListener,
    ComposableIterationListener,
    EvaluativeListener,
    HtmlReportListener,
    Listener,
    NanListener,
    PerformanceListener,
    ProgressBarListener,
    ReduceLearningRateOnPlateau,
    ScoreIterationListener,
    StatisticsListener,
    TensorBoardListener,
    TimeIterationListener,
)
from optimize import listeners as all_listeners
from tests.cells import wide_values

X = np.random.default_rng(3).uniform(size=(12, 5)).astype(np.float32)
Y = np.eye(2, dtype=np.float32)[np.arange(12) % 2]
LAYERS = {
    "autoencoder": lambda: AutoEncoder(n_in=5, n_out=4, activation="tanh"),
    "rbm": lambda: RBM(n_in=5, n_out=4, k=2),
    "variational": lambda: VariationalAutoencoder(n_in=5, n_out=4, encoder_layer_sizes=6, decoder_layer_sizes=6),
}


LISTENERS = {
    "CheckpointListener": lambda folder: CheckpointListener(folder / "kept", save_every_n_iterations=2),
    "CollectScoresListener": lambda folder: CollectScoresListener(),
    "ComposableIterationListener": lambda folder: ComposableIterationListener(ScoreIterationListener(1)),
    "EvaluativeListener": lambda folder: EvaluativeListener(DataSet(X, Y), 1),
    "HtmlReportListener": lambda folder: HtmlReportListener(folder / "report.html"),
    "NanListener": lambda folder: NanListener(),
    "PerformanceListener": lambda folder: PerformanceListener(1, True),
    "ProgressBarListener": lambda folder: ProgressBarListener(),
    "ReduceLearningRateOnPlateau": lambda folder: ReduceLearningRateOnPlateau(patience=1),
    "ScoreIterationListener": lambda folder: ScoreIterationListener(1),
    "StatisticsListener": lambda folder: StatisticsListener(1),
    "TensorBoardListener": lambda folder: TensorBoardListener(folder / "board"),
    "TimeIterationListener": lambda folder: TimeIterationListener(6),
}


def chain(kind="autoencoder", **settings):
    layers = LAYERS[kind](), DenseLayer(n_out=3, activation="tanh"), OutputLayer(n_out=2, activation="softmax")
    conf = NeuralNetConfiguration(seed=4, updater=Adam(0.01), **settings).list(*layers)
    return MultiLayerNetwork(conf).init()


def graph():
    nodes = {
        "below": (DenseLayer(n_in=5, n_out=5, activation="sigmoid"), "in"),
        "codes": (LAYERS["autoencoder"](), "below"),
        "out": (OutputLayer(n_in=4, n_out=2, activation="softmax"), "codes"),
    }
    conf = NeuralNetConfiguration(seed=4, updater=Adam(0.01)).graph(inputs=["in"], nodes=nodes, outputs=["out"])
    return ComputationGraph(conf).init()


def host(array):
    return np.array(nd.to_host(array))


def batches(size=4):
    return ListDataSetIterator(DataSet(X, Y), size)


# ---- what is refused


@pytest.mark.parametrize(
    ("layer", "data", "error", "message"),
    [
        (0, X[:, :4], nd.ShapeError, r"\[N, 5\]|expected"),
        (7, X, nd.NdError, "pretrain_layer"),
        ("codez", X, nd.NdError, "pretrain_layer"),
        (0, np.where(X > 0.9, np.nan, X), nd.NumericError, "finite"),
        (0, "x", nd.DTypeError, "features"),
    ],
)
def test_what_is_refused_changes_nothing(layer, data, error, message):
    net = chain()
    before = host(net.params())
    with pytest.raises(error, match=message):
        net.pretrain_layer(layer, data)
    assert (host(net.params()) == before).all()
    net.pretrain_layer(0, X)  # and it goes on
    assert (host(net.params()) != before).any()


def test_an_unknown_layer_of_a_graph_is_refused_with_what_there_is():
    with pytest.raises(nd.ChoiceError, match=r"'code'.*Did you mean 'codes'"):
        graph().pretrain_layer("code", X)


def test_a_network_without_such_layers_is_left_alone():
    layers = DenseLayer(n_in=5, n_out=4), OutputLayer(n_out=2)
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(*layers)).init()
    before = host(net.params())
    assert net.pretrain(batches()) == {}
    assert len(net.pretrain_layer(0, X)) == 0
    assert (host(net.params()) == before).all()
    assert net.iteration_count == 0


# ---- listeners


@pytest.mark.parametrize("kind", wide_values(LAYERS, 1))
@pytest.mark.parametrize("name", LISTENERS)
@pytest.mark.quick_rows(every=4)
def test_every_listener_can_be_there(name, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    net = chain(kind)
    net.set_listeners(LISTENERS[name](tmp_path))
    net.pretrain(batches(), 2)
    assert learner_of(net, 0).iteration_count == 6
    assert np.isfinite(host(net.params())).all()
    net.fit(batches())
    assert net.iteration_count == 3


def test_every_listener_of_the_library_is_one_of_these():
    assert {name for name in all_listeners.__all__ if issubclass(getattr(all_listeners, name), Listener)} == set(
        LISTENERS
    )


class Seen(Listener):
    """Notes every iteration, and whose it is."""

    def __init__(self):
        self.iterations = []

    def iteration_done(self, model, iteration, epoch):
        self.iterations.append((type(model).__name__, iteration, epoch))


def test_listeners_are_told_of_a_network_of_the_layer_alone():
    net, seen = chain(), Seen()
    net.set_listeners(seen)
    net.pretrain(batches(6), 2)
    assert [number for _, number, _ in seen.iterations] == [0, 1, 2, 3]
    assert {name for name, _, _ in seen.iterations} == {"LayerLearner"}


# ---- interrupts, threads


class Interrupting(Listener):
    """Ctrl-C in the middle."""

    def __init__(self, at):
        self.at = at

    def iteration_done(self, model, iteration, epoch):
        if iteration == self.at:
            signal.raise_signal(signal.SIGINT)


def test_an_interrupt_leaves_whole_steps():
    net, straight = chain(), chain()
    net.set_listeners(Interrupting(1))
    with pytest.raises(KeyboardInterrupt, match=r"^$|at iteration"):
        net.pretrain_layer(0, batches(4))
    for start in (0, 4):
        straight.pretrain_layer(0, X[start : start + 4])
    assert (host(net.params()) == host(straight.params())).all()
    for learner in (learner_of(net, 0), learner_of(straight, 0)):
        assert learner.iteration_count == 2
    states = [host(learner_of(each, 0).updater_state()) for each in (net, straight)]
    assert (states[0] == states[1]).all()


REFUSED = "one call at a time may train a network, got a second one while another runs"


def test_of_threads_that_pretrain_each_call_runs_whole_or_is_refused():
    net, alone, refused = chain("variational"), chain("variational"), []
    together = threading.Barrier(2)

    def work():
        for _ in range(10):
            together.wait(60)
            try:
                net.pretrain_layer(0, X, epochs=2)
            except nd.ConfigurationError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(message.startswith(f"pretrain_layer: {REFUSED}") for message in refused)
    assert learner_of(net, 0).iteration_count == 2 * (20 - len(refused)) >= 20
    for _ in range(20 - len(refused)):
        alone.pretrain_layer(0, X, epochs=2)
    np.testing.assert_array_equal(host(net.params()), host(alone.params()))


def test_threads_have_one_network_of_a_layer():
    """Also where the call of each is the first."""
    for _ in range(20):
        net, together, seen = chain("variational"), threading.Barrier(4), []

        def ask(net=net, together=together, seen=seen):
            together.wait(60)
            seen.append(learner_of(net, 0))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({id(learner) for learner in seen}) == 1


@pytest.mark.parametrize("runs", ["pretrain_layer", "fit"])
@pytest.mark.parametrize("second", ["pretrain_layer", "fit", "fit_batch"])
def test_while_one_call_trains_no_other_does(runs, second):
    net, alone = chain("variational"), chain("variational")
    calls = {
        "pretrain_layer": lambda net: net.pretrain_layer(0, X),
        "fit": lambda net: net.fit(X, Y),
        "fit_batch": lambda net: net.fit_batch(X, Y),
    }

    class Again(Listener):
        heard = 0

        def iteration_done(self, model, iteration, epoch):
            self.heard += 1
            with pytest.raises(nd.ConfigurationError, match=f"{second}: {REFUSED}"):
                calls[second](net)

    listener = Again()
    net.set_listeners(listener)
    for each in (net, alone):
        calls[runs](each)
    assert listener.heard == 1
    np.testing.assert_array_equal(host(net.params()), host(alone.params()))
    net.set_listeners()
    calls[second](net)


# ---- layers of a graph


def test_a_layer_of_a_graph_learns_from_what_comes_into_it():
    """The update is that of the layer alone, trained on the activations below it."""
    net, alone = graph(), chain()
    below = host(net.feed_forward(X)["below"])
    views = {name: host(array) for name, array in net.param_table().items() if name.startswith("codes")}
    for name, array in views.items():
        alone.set_param(name.replace("codes", "0"), array)
    for each in (net, alone):
        each.random.set_seed(5)
    net.pretrain_layer("codes", X)
    alone.pretrain_layer(0, below)
    for name in views:
        ours, theirs = host(net.get_param(name)), host(alone.get_param(name.replace("codes", "0")))
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7)


def test_after_a_checkpoint_between_two_calls_both_parts_of_the_next_draw_as_ever(tmp_path):
    """Pretraining draws first; fine-tuning goes on from there, with dropout, as in the network itself."""
    net = chain("rbm", pretrain=True, drop_out=0.6)
    net.fit(X, Y)
    net.save_checkpoint(tmp_path / "net.zip")
    again = MultiLayerNetwork.load_checkpoint(tmp_path / "net.zip")
    for each in (net, again):
        each.random.set_seed(8)
        each.fit(X, Y)
    np.testing.assert_array_equal(host(again.params()), host(net.params()))
    assert again.random.get_state() == net.random.get_state()


@pytest.mark.parametrize(("make", "layer", "label"), [
    (chain, 0, "layer 0 (AutoEncoder)"), (graph, "codes", "layer 'codes' (AutoEncoder)"),
])  # fmt: skip
def test_messages_call_the_layer_as_its_network_does(make, layer, label):
    net = make()
    number = [node.name for node in net.conf.nodes].index(str(layer))
    assert learner_of(net, number).conf.nodes[0].label == net.conf.nodes[number].label == label
    if make is chain:
        with pytest.raises(nd.ShapeError, match=re.escape(f"{label}: expected input [N, 5], got [12, 3]")):
            net.pretrain_layer(layer, X[:, :3])


def test_after_an_error_in_a_second_layer_the_next_call_begins_with_the_first():
    class Breaks(Listener):
        heard = 0

        def iteration_done(self, model, iteration, epoch):
            self.heard += 1
            if self.heard == 3:
                raise RuntimeError("on purpose")

    layers = AutoEncoder(n_in=5, n_out=4), AutoEncoder(n_in=4, n_out=3), OutputLayer(n_in=3, n_out=2)
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=4, updater=Adam(0.01), pretrain=True).list(*layers)).init()
    net.set_listeners(Breaks())
    with pytest.raises(RuntimeError, match="on purpose"):
        net.pretrain(X, epochs=2)
    net.set_listeners()
    assert list(net.pretrain(X, epochs=2)) == ["layer0", "layer1"]


@pytest.mark.parametrize("nothing", [(), []], ids=["tuple", "list"])
def test_nothing_is_refused_as_output_refuses_it(nothing):
    net = chain()
    for call in (net.output, net.pretrain):
        with pytest.raises(nd.ShapeError, match=r"expected features \[N, \.\.\.\] with N >= 1, got \[0\]"):
            call(nothing)
