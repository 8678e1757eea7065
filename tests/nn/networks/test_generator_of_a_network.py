"""A network's own generator: neither other networks nor other threads change what it draws."""

import threading

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator
from nd.random import Random
from nn import (
    DenseLayer,
    Dropout,
    DropoutLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    TransferLearning,
    TransferLearningHelper,
    WeightNoise,
)
from nn.terms.distributions import NormalDistribution
from optimize import Listener

RNG = np.random.default_rng(8)
X = RNG.normal(size=(12, 5)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 12)]
DATA = DataSet(X, Y)


def network(seed=7, **settings):
    conf = NeuralNetConfiguration(seed=seed, updater="adam", **settings).list(
        DenseLayer(
            n_in=5, n_out=8, activation="rrelu", drop_out=0.5, weight_noise=WeightNoise(NormalDistribution(0, 0.1))
        ),
        OutputLayer(n_in=8, n_out=3, activation="softmax", drop_out=Dropout(0.8)),
    )
    return MultiLayerNetwork(conf).init()


def batches():
    return ListDataSetIterator(DATA, batch=5)


def bits(net):
    return nd.to_host(net.params()).tobytes()


def trained(seed=7, **settings):
    net = network(seed, **settings)
    net.fit(batches(), epochs=4)
    return net


def in_threads(*tasks):
    found, begin = [None] * len(tasks), threading.Barrier(len(tasks))

    def run(at):
        begin.wait()
        found[at] = tasks[at]()

    threads = [threading.Thread(target=run, args=(at,)) for at in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.mark.parametrize("made", ["here", "in the thread"])
def test_training_in_threads_repeats_the_bits_of_one_thread(made):
    alone = [bits(trained(seed)) for seed in range(1, 7)]
    nets = [network(seed) for seed in range(1, 7)]

    def train(at):
        net = nets[at] if made == "here" else network(at + 1)
        net.fit(batches(), epochs=4)
        return bits(net)

    assert in_threads(*((lambda at=at: train(at)) for at in range(6))) == alone
    assert len(set(alone)) == 6


def test_line_searches_in_threads_too():
    settings = {"optimization_algo": "lbfgs", "iterations": 3}

    def train(seed):
        conf = NeuralNetConfiguration(seed=seed, updater="sgd", **settings).list(
            DenseLayer(n_in=5, n_out=6, drop_out=0.6), OutputLayer(n_in=6, n_out=3, activation="softmax")
        )
        net = MultiLayerNetwork(conf).init()
        net.fit(batches(), epochs=2)
        return bits(net)

    alone = [train(seed) for seed in (1, 2, 3)]
    assert in_threads(*((lambda seed=seed: train(seed)) for seed in (1, 2, 3))) == alone


class _Meanwhile(Listener):
    """Does something while the network trains."""

    def __init__(self, task):
        self.task = task

    def iteration_done(self, model, iteration, epoch):
        self.task()

    def on_forward_pass(self, model, activations):
        self.task()


@pytest.mark.parametrize(
    "task",
    [
        lambda: network(99),
        lambda: trained(99),
        lambda: network(99).clone(),
        lambda: network(99).feed_forward(X, train=True),
        lambda: network(99).score(DATA, training=True),
        lambda: network(99).fit_batch(DATA),
    ],
)
@pytest.mark.parametrize("where", ["between", "while it trains"])
@pytest.mark.quick_rows(4)
def test_another_network_changes_nothing(task, where):
    alone, net = trained(), network()
    if where == "between":
        task()
        net.fit(batches(), epochs=2)
        task()
        net.fit(batches(), epochs=2)
    else:
        net.set_listeners(_Meanwhile(task))
        net.fit(batches(), epochs=4)
    assert bits(net) == bits(alone)
    assert net.random.get_state() == alone.random.get_state()


def test_init_makes_the_generator_that_the_thread_draws_from():
    net = network(7)
    assert nd.random.get_random() is net.random
    other = network(7)
    assert nd.random.get_random() is other.random is not net.random
    nd.random.set_seed(3)
    assert other.random.get_state() == Random(3).get_state() != net.random.get_state()
    np.testing.assert_array_equal(nd.to_host(nd.rand(4)), nd.to_host(Random(3).uniform(4)))


def test_seeding_after_init_decides_about_dropout_as_in_java():
    first, second = network(7), None
    nd.random.set_seed(11)
    first.fit(DATA)
    second = network(7)
    nd.random.set_seed(11)
    second.fit(DATA)
    assert bits(first) == bits(second)
    third = network(7)
    third.fit(DATA)
    assert bits(third) != bits(first)


@pytest.mark.parametrize("order", ["seed, load", "load, seed"])
def test_a_loaded_network_can_be_seeded_before_and_after(order, tmp_path):
    trained().save(tmp_path / "model.zip")

    def run():
        if order == "seed, load":
            nd.random.set_seed(21)
        net = MultiLayerNetwork.load(tmp_path / "model.zip")
        if order == "load, seed":
            nd.random.set_seed(21)
        network(1).fit(DATA)
        net.fit(DATA)
        return bits(net)

    assert run() == run()


def test_a_clone_has_a_copy_and_is_not_the_threads():
    net = trained()
    twin = net.clone()
    assert nd.random.get_random() is net.random
    assert twin.random is not net.random
    net.fit(DATA)
    twin.fit(DATA)
    assert bits(twin) == bits(net)


@pytest.mark.parametrize(
    "draw",
    [
        lambda net: net.fit(DATA),
        lambda net: net.fit_batch(DATA),
        lambda net: net.feed_forward(X, train=True),
        lambda net: net.score(DATA, training=True),
    ],
)
def test_draws_are_the_networks_own_and_end_with_the_call(draw):
    net, other = network(1), network(2)
    before, theirs = net.random.get_state(), other.random.get_state()
    draw(net)
    assert net.random.get_state() != before
    assert other.random.get_state() == theirs
    assert nd.random.get_random() is other.random


@pytest.mark.parametrize("call", ["fit", "fit_batch", "compute", "feed_forward", "score"])
def test_what_raises_gives_the_generator_back(call):
    class _Broken(Exception):
        pass

    class _Breaks(Listener):
        def on_forward_pass(self, model, activations):
            raise _Broken("after the draws")

    net = trained()
    state = net.random.get_state()
    bad = DataSet(X, np.full_like(Y, np.nan))
    calls = {
        "fit": lambda: net.fit(bad),
        "fit_batch": lambda: net.fit_batch(bad),
        "compute": net.compute_gradient_and_score,
        "feed_forward": lambda: net.feed_forward(X[:, :3], train=True),
        "score": lambda: net.score(DataSet(X, Y[:, :2]), training=True),
    }
    if call == "compute":
        net.set_listeners(_Breaks())
        net.set_input(X)
        net.set_labels(Y)
    with pytest.raises(
        (nd.NumericError, nd.ShapeError, _Broken), match=r"finite|expected|labels must be|after the draws"
    ):
        calls[call]()
    assert net.random.get_state() == state


def test_a_refused_step_repeats_its_draws():
    bad = DataSet(X, np.full_like(Y, np.nan))
    alone = trained()
    alone.fit(DATA)
    net = trained()
    with pytest.raises(nd.NumericError, match="fit: the score must be finite"):
        net.fit(bad)
    net.fit(DATA)
    assert bits(net) == bits(alone)


def test_the_part_that_a_helper_trains_draws_from_the_networks_generator():
    net = TransferLearning(trained(), feature_extractor=0).build()
    helper = TransferLearningHelper(net)
    state = net.random.get_state()
    helper.fit_featurized(helper.featurize(DATA))
    assert net.random.get_state() != state
    assert helper.unfrozen_mln().random is net.random


def test_a_checkpoint_keeps_the_networks_generator(tmp_path):
    whole = trained()
    whole.fit(batches(), epochs=2)
    net = trained()
    network(5)  # whose generator is the thread's now
    net.save_checkpoint(tmp_path / "checkpoint.zip")
    resumed = MultiLayerNetwork.load_checkpoint(tmp_path / "checkpoint.zip")
    network(6).fit(DATA)
    resumed.fit(batches(), epochs=2)
    assert bits(resumed) == bits(whole)


def test_every_thread_has_a_generator_and_seeds_it_alone():
    def draw(seed):
        unlike = nd.to_host(nd.rand(3)).tolist()
        nd.random.set_seed(seed)
        return unlike, nd.to_host(nd.rand(3)).tolist()

    nd.random.set_seed(1)
    (first, fives), (second, sixes) = in_threads(lambda: draw(5), lambda: draw(6))
    assert first != second  # though they begin within a millisecond
    assert fives == nd.to_host(Random(5).uniform(3)).tolist()
    assert sixes == nd.to_host(Random(6).uniform(3)).tolist()
    assert nd.to_host(nd.rand(3)).tolist() == nd.to_host(Random(1).uniform(3)).tolist()


def test_dropout_layers_alone_draw_it_too():
    conf = NeuralNetConfiguration(seed=3).list(DropoutLayer(0.5), OutputLayer(n_in=5, n_out=2))
    net = MultiLayerNetwork(conf).init()
    network(9)
    mask = np.array([0.0, 2.0])[(nd.to_host(net.random.copy().uniform(60)) < 0.5).astype(int)].reshape(12, 5)
    np.testing.assert_allclose(nd.to_host(net.feed_forward(X, train=True)[1]), X * mask, rtol=1e-6)
