"""Truncated backprop: what is cut and what is not, Java's gradients and exact ones, in both kinds of networks."""

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator, MultiDataSet
from nn import (
    LSTM,
    ComputationGraph,
    DenseLayer,
    DuplicateToTimeSeriesVertex,
    EmbeddingSequenceLayer,
    GlobalPoolingLayer,
    GravesBidirectionalLSTM,
    GravesLSTM,
    InputType,
    LastTimeStepVertex,
    MergeVertex,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    SimpleRnn,
)
from optimize import CollectScoresListener, RmsProp, Sgd
from optimize.earlystopping import (
    DataSetLossCalculator,
    EarlyStoppingConfiguration,
    EarlyStoppingTrainer,
    MaxEpochsTerminationCondition,
)
from tests.nn.step.test_carried_state import SavesAt
from tests.stand_ins import as_input

N, C, T, OUT, LENGTH = 3, 4, 8, 2, 3
OUTPUT = RnnOutputLayer(n_out=OUT, loss="mse", activation="identity")
TRUNCATED = {"backprop_type": "truncated_bptt", "tbptt_fwd_length": LENGTH, "tbptt_back_length": LENGTH}
LAYERS = {
    "lstm": (LSTM(n_out=4, activation="tanh"),),
    "graves": (GravesLSTM(n_out=4, activation="tanh"),),
    "simple": (SimpleRnn(n_out=4, activation="tanh"),),
    "stack": (LSTM(n_out=4, activation="tanh"), DenseLayer(n_out=3, activation="tanh"), SimpleRnn(n_out=3)),
}


def base(**settings):
    return NeuralNetConfiguration(seed=3, dtype="float64", **{"updater": Sgd(0.1), **settings})


def network(*layers, input_type=None, **series):
    return MultiLayerNetwork(
        base().list(*layers, OUTPUT, input_type=input_type or InputType.recurrent(C), **series)
    ).init()


def batch(seed=0, times=T):
    rng = np.random.default_rng(seed)
    return DataSet(rng.normal(size=(N, C, times)), rng.normal(size=(N, OUT, times)))


# ---- gradients


def second_segment(net, data):
    """Return the second segment of a minibatch with the state that the first has left, as fit trains on it."""
    first, second, *_ = net._begin_series(data)
    net.engine.state = net.compute_gradient_and_score(net.engine.carrying(first, 0)).state
    net.engine.state = tuple(map(nd.copy, net.engine.state))
    return net.engine.carrying(second, 1)


def gradient_and_loss(net, step):
    result = net.compute_gradient_and_score(step)
    result.gradient()
    return nd.to_host(net.flattened_gradients())[0].copy(), float(result.loss)


def numeric(net, step, size=1e-5):
    """Return the derivative of a step's loss along a random direction."""
    params = nd.to_host(net.params()).copy()
    direction = np.random.default_rng(7).normal(size=params.shape)
    losses = []
    for sign in (1, -1):
        net.set_params(params + sign * size * direction)
        losses.append(float(net.compute_gradient_and_score(step).loss))
    net.set_params(params)
    return (losses[0] - losses[1]) / (2 * size), direction[0]


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("layers", LAYERS)
def test_exact_gradients_are_derivatives_with_the_state_as_a_constant(layers, masked):
    net, data = network(*LAYERS[layers], **TRUNCATED, tbptt_exact=True), batch()
    if masked:
        data = DataSet(data.features, data.labels, ends(T, 5, 4), ends(T, 5, 4))
    step = second_segment(net, data)
    gradient, _ = gradient_and_loss(net, step)
    derivative, direction = numeric(net, step)
    assert gradient @ direction == pytest.approx(derivative, rel=1e-6)
    assert step.truncation == (False, None)


def ends(*lengths):
    return (np.arange(T) < np.array(lengths)[:, None]).astype(float)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("back", [1, 2])
def test_a_shorter_way_back_is_that_of_the_last_steps(layer, back):
    """Of the layer with a state the gradient is that of the last steps alone; the output learns from all."""
    series = {**TRUNCATED, "tbptt_back_length": back, "tbptt_exact": True}
    net, data = network(*LAYERS[layer], **series), batch()
    step = second_segment(net, data)
    assert step.truncation == (False, back)
    gradient, _ = gradient_and_loss(net, step)
    exact = network(*LAYERS[layer], **TRUNCATED, tbptt_exact=True)
    whole, _ = gradient_and_loss(exact, second_segment(exact, data))
    shorter = {**TRUNCATED, "tbptt_fwd_length": 2 * LENGTH - back, "tbptt_back_length": back, "tbptt_exact": True}
    last = network(*LAYERS[layer], **shorter)  # whose second segment begins where the way back ends
    ending = DataSet(data.features[:, :, : 2 * LENGTH], data.labels[:, :, : 2 * LENGTH])
    of_last, _ = gradient_and_loss(last, second_segment(last, ending))
    start_of_output = net.conf.layout().length - net.layers[-1].num_params()
    np.testing.assert_allclose(gradient[:start_of_output], of_last[:start_of_output], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(gradient[start_of_output:], whole[start_of_output:])


def test_by_default_a_segment_is_gone_back_through_anew():
    """SimpleRnn by hand: errors of the outputs that the carried state gives, taken back from a zero state, as Java."""
    net, data = network(*LAYERS["simple"], **TRUNCATED), batch()
    step = second_segment(net, data)
    assert step.truncation == (True, None)
    gradient, _ = gradient_and_loss(net, step)
    W, RW, b, Wo, bo = (nd.to_host(nd.copy(net.get_param(key))) for key in ("0_W", "0_RW", "0_b", "1_W", "1_b"))
    x, y = (each[:, :, LENGTH : 2 * LENGTH] for each in (data.features, data.labels))

    def run(h):
        states = []
        for t in range(LENGTH):
            h = np.tanh(x[:, :, t] @ W + h @ RW + b)
            states.append(h)
        return states

    carried, anew = run(nd.to_host(step.state[0])), run(np.zeros((N, 4)))
    errors = [2 / OUT * (carried[t] @ Wo + bo - y[:, :, t]) for t in range(LENGTH)]
    dW, dRW, db, later = np.zeros_like(W), np.zeros_like(RW), np.zeros_like(b), 0.0
    for t in reversed(range(LENGTH)):
        dz = (errors[t] @ Wo.T + later) * (1 - anew[t] ** 2)
        before = anew[t - 1] if t else np.zeros((N, 4))
        dW, dRW, db, later = dW + x[:, :, t].T @ dz, dRW + before.T @ dz, db + dz.sum(0), dz @ RW.T
    expected = {"0_W": dW, "0_RW": dRW, "0_b": db}
    expected["1_W"] = sum(h.T @ error for h, error in zip(carried, errors, strict=True))
    for key, ours in net.gradient().gradient_for_variable().items():
        if key in expected:
            np.testing.assert_allclose(ours, expected[key], rtol=1e-10, atol=1e-13)
    assert len(gradient) == net.num_params()


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("layers", LAYERS)
def test_one_segment_is_ordinary_backprop_to_the_bit(layers, exact):
    whole = network(*LAYERS[layers])
    nets = [
        network(
            *LAYERS[layers], **{**TRUNCATED, "tbptt_fwd_length": length, "tbptt_back_length": 20}, tbptt_exact=exact
        )
        for length in (T, T + 5)
    ]
    for net in (whole, *nets):
        for seed in range(3):
            net.fit(batch(seed))
    for net in nets:
        np.testing.assert_array_equal(net.params(), whole.params())
        assert len(net.engine.gradients.workers[0].recordings) == 1


def test_a_longer_way_back_than_the_segment_is_as_long_as_the_segment():
    """Java takes such lengths without a word: with tBPTTForwardLength alone the other one stays 20."""
    nets = [network(*LAYERS["lstm"], **{**TRUNCATED, "tbptt_back_length": back}, tbptt_exact=True) for back in (3, 20)]
    for net in nets:
        net.fit(batch())
    np.testing.assert_array_equal(nets[0].params(), nets[1].params())


# ---- what is cut


@pytest.mark.parametrize("exact", [False, True])
def test_a_graph_trains_as_the_layers_do(exact):
    data = batch()
    data = DataSet(data.features, data.labels, ends(T, 5, 4), ends(T, 5, 2))
    series = {**TRUNCATED, "tbptt_back_length": 2, "tbptt_exact": exact}
    chain = MultiLayerNetwork(
        base(updater=RmsProp(0.05)).list(*LAYERS["stack"], OUTPUT, input_type=InputType.recurrent(C), **series)
    ).init()
    graph, scores = chain.to_computation_graph(), []
    for net in (chain, graph):
        listener = CollectScoresListener()
        net.set_listeners(listener)
        net.fit(ListDataSetIterator([data, batch(1)]), epochs=2)
        scores.append(listener.scores)
    assert (len(scores[0]), chain.iteration_count, graph.iteration_count) == (12, 12, 12)
    assert scores[0] == scores[1]
    np.testing.assert_array_equal(chain.params(), graph.params())


def test_rows_beside_series_come_into_every_segment():
    """An input of rows, repeated by the graph over time, trains as if the series had it in every step."""
    nodes = {"l": (SimpleRnn(n_out=4), "m"), "out": (OUTPUT, "l")}
    joined = {"dup": (DuplicateToTimeSeriesVertex("s"), "d"), "m": (MergeVertex(), "s", "dup"), **nodes}
    inputs = {"s": InputType.recurrent(C), "d": InputType.feed_forward(2)}
    graph = ComputationGraph(base().graph(inputs, joined, "out", **TRUNCATED)).init()
    chain = network(SimpleRnn(n_out=4), input_type=InputType.recurrent(C + 2), **TRUNCATED)
    chain.set_params(graph.params())
    data, rows = batch(), np.random.default_rng(2).normal(size=(N, 2))
    repeated = np.concatenate([data.features, np.repeat(rows[:, :, None], T, axis=2)], axis=1)
    masks = [ends(T, 5, 4), np.ones((N, 1))]  # of rows too, where Java fails
    graph.fit(MultiDataSet([data.features, rows], [data.labels], masks, [ends(T, 5, 4)]))
    chain.fit(DataSet(repeated, data.labels, ends(T, 5, 4), ends(T, 5, 4)))
    assert graph.iteration_count == chain.iteration_count == 3
    np.testing.assert_allclose(graph.params(), chain.params(), rtol=1e-12)


def two_outputs(**series):
    nodes = {
        "l": (SimpleRnn(n_out=4), "s"),
        "last": (LastTimeStepVertex("s"), "l"),
        "o1": (OutputLayer(n_out=1, loss="mse", activation="identity"), "last"),
        "o2": (OUTPUT, "l"),
    }
    return ComputationGraph(
        base().graph({"s": InputType.recurrent(C)}, nodes, ["o1", "o2"], **series, validate_tbptt_config=False)
    ).init()


def test_labels_that_are_no_series_are_those_of_every_segment():
    net, data, rows = two_outputs(**TRUNCATED), batch(times=4), np.random.default_rng(2).normal(size=(N, 1))
    scores = CollectScoresListener()
    net.set_listeners(scores)
    net.fit(MultiDataSet([data.features], [rows, data.labels]))
    first = two_outputs()
    parts = MultiDataSet([data.features[:, :, :3]], [rows, data.labels[:, :, :3]])
    assert scores.scores[0] == pytest.approx(first.score(parts), rel=1e-12)
    assert len(scores.scores) == net.iteration_count == 2


def test_a_graph_without_series_trains_once():
    nodes = {"d": (DenseLayer(n_out=3), "in"), "out": (OutputLayer(n_out=1, loss="mse", activation="identity"), "d")}
    net = ComputationGraph(base().graph({"in": InputType.feed_forward(2)}, nodes, "out", **TRUNCATED)).init()
    net.fit(np.ones((N, 2)), np.ones((N, 1)))
    assert net.iteration_count == 1


@pytest.mark.parametrize("shape", [(N, 1), (N, T), (N, OUT, T)])
def test_masks_of_labels_in_any_form(shape):
    """Weights of an example, of a time step and of a single output: ones and zeros in their places."""
    data, given = batch(), (np.random.default_rng(6).random(shape) > 0.3).astype(float)
    full = np.broadcast_to(given[:, None, :] if len(shape) == 2 else given, (N, OUT, T))
    nets = [network(*LAYERS["simple"], **TRUNCATED) for _ in range(2)]
    for net, mask in zip(nets, (given, full), strict=True):
        net.fit(DataSet(data.features, data.labels, None, mask.copy()))
    np.testing.assert_allclose(nets[0].params(), nets[1].params(), rtol=1e-12)
    assert nets[0].iteration_count == 3


def test_weights_of_examples_go_into_every_segment():
    data, weights = batch(), np.array([1.0, 0.0, 2.0])
    nets = [network(*LAYERS["simple"], **TRUNCATED) for _ in range(2)]
    nets[0].fit(data.features, data.labels, sample_weight=weights)
    nets[1].fit(DataSet(data.features, data.labels, None, np.repeat(weights[:, None], T, axis=1)))
    np.testing.assert_allclose(nets[0].params(), nets[1].params(), rtol=1e-12)


def test_rows_of_indices_are_series():
    """In Java such features are no series, and nothing is trained."""
    layers = EmbeddingSequenceLayer(n_in=9, n_out=4), SimpleRnn(n_in=4, n_out=5), RnnOutputLayer(n_in=5, n_out=OUT)
    net, x = (
        MultiLayerNetwork(base().list(*layers, **TRUNCATED)).init(),
        np.random.default_rng(1).integers(0, 9, (N, T)),
    )
    y = np.eye(OUT)[np.random.default_rng(2).integers(0, OUT, (N, T))].transpose(0, 2, 1)
    net.fit(x, y)
    assert net.iteration_count == 3


@pytest.mark.parametrize("exact", [False, True])
def test_on_every_backend(backend, exact):
    series = {**TRUNCATED, "tbptt_back_length": 2, "tbptt_exact": exact}
    net, data = network(*LAYERS["stack"], **series), batch()
    params = nd.to_host(net.params()).copy()
    with nd.use_backend("numpy"):
        expected = network(*LAYERS["stack"], **series)
        expected.set_params(params)
        expected.fit(data.features, data.labels)
    net.fit(as_input(backend, data.features), as_input(backend, data.labels))
    np.testing.assert_allclose(nd.to_host(net.params()), expected.params(), rtol=1e-9)


# ---- around it


def test_all_that_looks_at_series_looks_at_them_in_one_piece():
    truncated, plain, data = network(*LAYERS["stack"], **TRUNCATED), network(*LAYERS["stack"]), batch()
    data = DataSet(data.features, data.labels, ends(T, 5, 4), ends(T, 5, 4))
    for look in (
        lambda net: net.output(data.features, features_mask=data.features_mask),
        lambda net: net.feed_forward(data.features)[-1],
        lambda net: np.array(net.score(data)),
        lambda net: np.array(net.evaluate_regression(data).average_mean_squared_error()),
    ):
        np.testing.assert_array_equal(look(truncated), look(plain))


@pytest.mark.parametrize("exact", [False, True])
def test_a_search_goes_along_the_same_way_recorded_and_eager(exact):
    search = base(updater="sgd", optimization_algo="lbfgs")
    conf = search.list(*LAYERS["lstm"], OUTPUT, input_type=InputType.recurrent(C), **TRUNCATED, tbptt_exact=exact)
    recorded, plain = (MultiLayerNetwork(conf).init() for _ in range(2))
    recorded.fit(ListDataSetIterator([batch()]), epochs=3)
    with nd.eager():
        plain.fit(ListDataSetIterator([batch()]), epochs=3)
    np.testing.assert_allclose(recorded.params(), plain.params(), rtol=1e-10)
    assert (recorded.iteration_count, recorded.engine.state) == (9, ())


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("saved_at", range(6))
def test_a_checkpoint_in_the_middle_of_a_series_goes_on_to_the_bit(saved_at, exact, tmp_path):
    series = {**TRUNCATED, "tbptt_back_length": 2, "tbptt_exact": exact}
    conf = base(updater=RmsProp(0.05)).list(*LAYERS["stack"], OUTPUT, input_type=InputType.recurrent(C), **series)
    path = tmp_path / "middle.zip"
    for net in (MultiLayerNetwork(conf).init(), MultiLayerNetwork(conf).init().to_computation_graph()):
        net.set_listeners(SavesAt(saved_at, path))
        net.fit(ListDataSetIterator([batch(), batch(1)]), epochs=1)
        again = type(net).load_checkpoint(path)
        again.fit(ListDataSetIterator([batch(), batch(1)]), epochs=1)
        assert again.iteration_count == net.iteration_count == 6
        np.testing.assert_array_equal(again.params(), net.params())
        np.testing.assert_array_equal(again.updater_state(), net.updater_state())


def test_early_stopping_goes_through_segments():
    net, data = network(*LAYERS["simple"], **TRUNCATED), ListDataSetIterator([batch(), batch(1)])
    conf = EarlyStoppingConfiguration(
        score_calculator=DataSetLossCalculator(ListDataSetIterator([batch(2)])),
        epoch_termination_conditions=[MaxEpochsTerminationCondition(2)],
    )
    result = EarlyStoppingTrainer(conf, net, data).fit()
    assert (result.total_epochs, net.iteration_count) == (2, 2 * 2 * 3)
    assert result.best_model_score == pytest.approx(result.best_model.score(batch(2)), rel=1e-12)


# ---- errors


def test_lengths_that_differ_are_refused():
    """Java trains on nothing, and goes on."""
    data, graph = batch(), two_outputs(**TRUNCATED)
    with pytest.raises(
        nd.ShapeError, match=r"MultiLayerNetwork: truncated backprop needs .* \[3, 4, 8\] and \[3, 2, 7\]"
    ):
        network(*LAYERS["lstm"], **TRUNCATED).fit(data.features, data.labels[:, :, :7])
    with pytest.raises(nd.ShapeError, match=r"ComputationGraph: truncated backprop needs .* \[3, 1\], \[3, 2, 7\]"):
        graph.fit(MultiDataSet([data.features], [np.zeros((N, 1)), data.labels[:, :, :7]]))
    assert graph.iteration_count == 0


def test_segments_are_none_for_what_sums_up_series():
    pooled = SimpleRnn(n_out=4), GlobalPoolingLayer(), OutputLayer(n_out=OUT)
    with pytest.raises(nd.ConfigurationError, match=r"layer 1 \(GlobalPoolingLayer\): must get whole series"):
        base().list(*pooled, input_type=InputType.recurrent(C), **TRUNCATED)
    assert base().list(*pooled, input_type=InputType.recurrent(C), **TRUNCATED, validate_tbptt_config=False).layers
    conf = MultiLayerConfiguration.from_json(base().list(*pooled, input_type=InputType.recurrent(C)).to_json())
    truncated = conf.to_json().replace('"backpropType" : "Standard"', '"backpropType" : "TruncatedBPTT"')
    assert MultiLayerConfiguration.from_json(truncated).backprop_type == "truncated_bptt"
    nodes = {"last": (LastTimeStepVertex("s"), "s"), "out": (OutputLayer(n_out=OUT), "last")}
    with pytest.raises(nd.ConfigurationError, match=r"vertex 'last' \(LastTimeStepVertex\): must get whole series"):
        base().graph({"s": InputType.recurrent(C)}, nodes, "out", **TRUNCATED)
    java = (
        NeuralNetConfiguration.Builder().graphBuilder().addInputs("s").addVertex("last", LastTimeStepVertex("s"), "s")
        .addLayer("out", OutputLayer(n_out=OUT), "last").setOutputs("out").setInputTypes(InputType.recurrent(C))
        .backpropType("TruncatedBPTT")
    )  # fmt: skip
    with pytest.raises(nd.ConfigurationError, match="must get whole series"):
        java.build()
    assert java.validateTbpttConfig(False).build().outputs == ("out",)


def test_layers_that_read_ahead_are_named():
    message, layer = r"no layer may look at later .*GravesBidir", GravesBidirectionalLSTM(n_out=4)
    with pytest.raises(nd.ConfigurationError, match=message):
        network(layer, **TRUNCATED)
    text = network(layer).conf.to_json().replace('"Standard"', '"TruncatedBPTT"')  # which is not refused in files
    net = MultiLayerNetwork(MultiLayerConfiguration.from_json(text)).init()
    for run in (net, net.to_computation_graph()):
        with pytest.raises(nd.ConfigurationError, match=message):
            run.fit(batch())
        assert run.iteration_count == 0
        assert run.output(batch().features) is not None
