"""Training steps as CUDA graphs: the numbers of eager steps in fewer launches."""

import weakref

import numpy as np
import pytest

import nd
from backends.cuda.cupy_backend import CupyBackend
from backends.cuda.draws import MOST_MOVES
from backends.errors import NotRecorded
from nd.dataset import DataSet
from nn import (
    ConvolutionLayer,
    DenseLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from nn.step.propagation import Propagation
from optimize import Adam, Listener, Nesterovs, StepSchedule

RNG = np.random.default_rng(11)


def conf(updater=None, **settings):
    return NeuralNetConfiguration(
        seed=5, l2=1e-3, l1=1e-4, updater=updater or Nesterovs(learning_rate=0.05), **settings
    ).list(
        ConvolutionLayer(n_out=4, kernel_size=3),
        SubsamplingLayer("max", kernel_size=2, stride=2),
        DenseLayer(n_out=6, activation="relu"),
        OutputLayer(n_out=3, loss="mcxent", activation="softmax"),
        input_type=InputType.convolutional_flat(8, 8, 1),
    )


def batch(n):
    return DataSet(RNG.random((n, 64), np.float32), np.eye(3, dtype=np.float32)[RNG.integers(0, 3, n)])


BATCHES = [batch(n) for n in (6, 6, 6, 6, 4, 6, 4, 4, 6)]


def made(configuration, listeners=()):
    net = MultiLayerNetwork(configuration).init()
    net.set_listeners(*listeners)
    return net


def trained(device, batches, configuration):
    """Return scores, parameters and predictions on the host."""
    scores = []
    with nd.use_backend(device):
        net = made(configuration)
        for data in batches:
            net.fit_batch(data)
            scores.append(net.score())
        outputs = [device.to_host(net.output(batches[0].features)) for _ in range(3)]
        return scores, device.to_host(net.params()), outputs


def launched(launches, device, batches, configuration, *listeners):
    """Return what each step launches: kernels, CuPy's own and products too, and graphs."""
    steps = []
    with nd.use_backend(device):
        net = made(configuration, listeners)
        for data in batches:
            launches.clear()
            net.fit_batch(data)
            steps.append(launches.all())
        device.synchronize()
    return steps


def counted(steps):
    """Return how many graphs each step launches."""
    return [step.count("graph") for step in steps]


@pytest.fixture
def eager(cupy, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setenv("ND_CUDA_GRAPH", "0")
        return CupyBackend()


@pytest.mark.parametrize(
    "updater", [Nesterovs(learning_rate=0.05), Adam(0.01), Nesterovs(StepSchedule("iteration", 0.1, 0.9, 2))], ids=str
)
def test_graphs_compute_what_eager_steps_compute(updater, device, eager):
    captured, alone = (trained(each, BATCHES, conf(updater)) for each in (device, eager))
    np.testing.assert_allclose(captured[0], alone[0], rtol=1e-6)
    np.testing.assert_allclose(captured[1], alone[1], rtol=1e-5, atol=1e-7)
    for got, expected in zip(captured[2], alone[2], strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-7)


def test_eager_steps_launch_no_graph(eager, launches):
    assert counted(launched(launches, eager, BATCHES, conf())) == [0] * len(BATCHES)


def test_two_runs_give_the_same_bits(device):
    first, second = (trained(device, BATCHES, conf()) for _ in range(2))
    assert first[0] == second[0]
    np.testing.assert_array_equal(first[1], second[1])


def test_from_the_second_step_of_a_shape_on_there_are_two_graphs_and_nothing_else(device, launches):
    """Features and labels are copied straight into the graph's input."""
    steps = launched(launches, device, BATCHES, conf())
    assert counted(steps) == [0, 2, 2, 2, 1, 2, 2, 2, 2]  # forward and backward; the update, whatever the shape
    assert [steps[at] for at in (1, 2, 3, 5, 6, 7, 8)] == [["graph", "graph"]] * 7


def test_weights_that_are_set_are_used(device):
    with nd.use_backend(device):
        net = MultiLayerNetwork(conf()).init()
        for data in BATCHES[:4]:
            net.fit_batch(data)
            net.output(data.features)
        fresh = RNG.normal(size=net.num_params()).astype("float32")
        net.set_params(fresh)
        found = device.to_host(net.output(BATCHES[0].features))
        twin = MultiLayerNetwork(conf()).init(fresh)
        np.testing.assert_allclose(found, device.to_host(twin.output(BATCHES[0].features)), rtol=1e-6)


class Watching(Listener):
    def __init__(self):
        self.shapes = []

    def on_forward_pass(self, model, activations):
        self.shapes.append(tuple(activations[1].shape))


def test_memory_that_a_graph_knows_stays_when_larger_minibatches_come(device):
    with nd.use_backend(device):
        net = MultiLayerNetwork(conf()).init()
        for data in BATCHES[:3]:
            net.fit_batch(data)
        (propagation,) = net.engine.gradients.workers[0]._propagations.values()
        arena = propagation._arena
        memory = [weakref.ref(chunk.memory) for chunks in arena._chunks.values() for chunk in chunks]
        size = arena.size
        assert memory
        net.fit_batch(batch(50))
        assert all(each() is not None for each in memory)
        assert arena.size > size


def test_a_listener_that_looks_inside_makes_steps_eager(device, launches):
    listener = Watching()
    steps = launched(launches, device, BATCHES[:4], conf(), listener)
    assert listener.shapes == [(6, 4, 6, 6)] * 4
    assert counted(steps) == [0, 1, 1, 1]  # the update alone


def test_dropout_is_drawn_anew_in_every_step_of_a_graph(device, eager):
    configuration, states = conf(drop_out=0.5), []
    runs = []
    for each in (device, eager):
        nd.random.set_seed(99)
        runs.append(trained(each, BATCHES, configuration))
        states.append(nd.random.get_random().get_state())
    captured, alone = runs
    np.testing.assert_allclose(captured[0], alone[0], rtol=1e-6)
    np.testing.assert_allclose(captured[1], alone[1], rtol=1e-5, atol=1e-7)
    assert states[0] == states[1]
    assert len(set(captured[0])) == len(captured[0])


def test_dropout_is_part_of_the_graph(device, launches):
    assert counted(launched(launches, device, BATCHES, conf(drop_out=0.5))) == [0, 2, 2, 2, 1, 2, 2, 2, 2]


def test_the_hosts_generator_may_be_used_and_set_between_two_steps(device, eager):
    found = []
    for each in (device, eager):
        with nd.use_backend(each):
            net, scores = MultiLayerNetwork(conf(drop_out=0.5)).init(), []
            for number, data in enumerate(BATCHES[:4] + BATCHES[:4]):
                if number == 5:
                    nd.rand(7)
                if number == 6:
                    nd.random.set_seed(4)
                net.fit_batch(data)
                scores.append(net.score())
            found.append(scores)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (3, 2, 4, 5)], ids=str)
def test_factors_of_dropout_are_the_generic_ones(device, shape):
    for p in (0.5, 0.3, 1.0):
        nd.random.set_seed(8)
        with nd.use_backend(device):
            found = nd.to_host(nd.random.get_random().dropout_factors(device.empty_activation(shape, "float32"), p))
            again = nd.to_host(nd.random.get_random().dropout_factors(nd.zeros(*shape), p))
        nd.random.set_seed(8)
        op = nd.ops.DropOutInverted
        with nd.use_backend("numpy"):
            expected, following = (nd.execRandom(op(nd.ones(*shape), p=p)) for _ in "12")
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(again, following)


def test_factors_of_dropout_are_one_launch(device, launches):
    with nd.use_backend(device):
        out = device.empty_activation((3, 2, 4, 5), "float32")
        launches.clear()
        nd.random.get_random().dropout_factors(out, 0.5)
    assert launches.all() == ["dropout_factors"]


def every_draw(n):
    rng = nd.random.get_random()
    parts = [rng.uniform(n), rng.gaussian(n, "float32", 1.0, 2.0), rng.truncated_normal(n), rng.bernoulli(n, p=0.3)]
    return nd.concat([*parts, rng.binomial(n, trials=3)])


@pytest.mark.parametrize("n", [1, 6, 7])
def test_every_kind_of_draw_is_repeated_with_fresh_numbers(device, n):
    nd.random.set_seed(21)
    with nd.use_backend("numpy"):
        expected = [np.array(every_draw(n)) for _ in range(4)]
    state = nd.random.get_random().get_state()
    nd.random.set_seed(21)
    with nd.use_backend(device):
        program = nd.record(lambda: every_draw(n))
        found = [nd.to_host(program.result)]
        for _ in range(3):
            program.replay()
            found.append(nd.to_host(program.result))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert nd.random.get_random().get_state() == state


def test_every_kind_of_draw_is_part_of_the_graph(device, launches):
    with nd.use_backend(device):
        program = nd.record(lambda: every_draw(6))
        for _ in range(2):
            launches.clear()
            program.replay()
            assert launches.all() == ["graph"]
        nd.to_host(program.result)


def test_a_graph_may_go_while_it_is_still_to_run(device):
    """And its memory with it."""
    with nd.use_backend(device):
        x = nd.ones(3, 3)
        program = nd.record(lambda: x * 2 + 1)
        for _ in range(2):
            nd.assign(x, x + 1)
            program.replay()
        result = program.result
        del program
        np.testing.assert_array_equal(nd.to_host(result), np.full((3, 3), 7, "f"))


class Drawing:
    """A computation that draws what a graph cannot repeat."""

    def __init__(self, draw):
        self.draw = draw

    def __call__(self):
        self.draw()
        return nd.zeros(3)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: nd.backend().random_raw(1, 2, 3),
        lambda: nd.backend().random_uniform(*nd.random.get_random().get_state(), 3, "float32"),
        lambda: nd.random.Random(5).dropout_factors(nd.backend().empty_activation((2, 3), "float32"), 0.5),
        lambda: nd.random.get_random().dropout_factors(nd.zeros(2, 3), 0.5),
        lambda: [nd.random.get_random().dropout_factors(nd.zeros(3, 1), 0.5) for _ in range(MOST_MOVES + 1)],
        lambda: (
            nd.random.get_random().dropout_factors(nd.zeros(3, 1), 0.5),
            nd.random.get_random().set_state((3, 4)),
        ),
    ],
    ids=["bits", "without a move", "another generator", "another order", "too many", "set in between"],
)
def test_other_draws_are_refused_and_leave_the_generator_alone(device, draw):
    state = nd.random.get_random().get_state()
    with nd.use_backend(device), pytest.raises(NotRecorded, match="a graph"):
        nd.record(Drawing(draw))
    assert nd.random.get_random().get_state() == state


def test_ctrl_c_while_a_graph_is_captured_leaves_none(device, monkeypatch):
    with nd.use_backend(device):
        net, twin = (MultiLayerNetwork(conf()).init() for _ in "12")
        for each in (net, twin):
            each.fit_batch(BATCHES[0])
        original = Propagation.backward
        monkeypatch.setattr(Propagation, "backward", raising_interrupt)
        with pytest.raises(KeyboardInterrupt, match="while it captures"):
            net.fit_batch(BATCHES[1])
        monkeypatch.setattr(Propagation, "backward", original)
        for data in BATCHES[1:5]:
            net.fit_batch(data)
            twin.fit_batch(data)
        np.testing.assert_array_equal(device.to_host(net.params()), device.to_host(twin.params()))


def raising_interrupt(*arguments, **memory):
    raise KeyboardInterrupt("while it captures")


def test_where_the_driver_captures_nothing_steps_run_eagerly_and_say_so(device, cupy, eager, monkeypatch, says):
    class OfAnotherDriver(cupy.cuda.Stream):
        def begin_capture(self, mode=None):
            raise RuntimeError("operation not supported")

    monkeypatch.setattr(cupy.cuda, "Stream", OfAnotherDriver)
    found, expected = (trained(each, BATCHES, conf()) for each in (device, eager))
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-6)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-5, atol=1e-7)
    assert says() == ["cupy: steps are not captured as CUDA graphs, because of RuntimeError: operation not supported"]


def test_one_line_says_that_steps_are_captured(device, says):
    trained(device, BATCHES, conf())
    assert says() == ["cupy: repeated steps run as CUDA graphs; ND_CUDA_GRAPH=0 runs them eagerly"]


def test_one_line_says_that_they_are_not(cupy, monkeypatch, says):
    monkeypatch.setenv("ND_CUDA_GRAPH", "0")
    trained(CupyBackend(), BATCHES, conf())
    assert says() == ["cupy: steps run eagerly, because ND_CUDA_GRAPH=0"]
