"""net.trace: rows that sum to the wall time, with node, phase and arrays; the numbers of fit; the network untouched."""

import sys
import threading

import numpy as np
import pytest

import nd
from nd.state import state as nd_state
from nn import LSTM, DenseLayer, GravesLSTM, MultiLayerNetwork, NeuralNetConfiguration, RnnOutputLayer
from tests.nn.trace.networks import EVERY, dense, graph, images, pooled, rows
from tests.step_plans import split_small_minibatches

PHASES = ["forward", "loss", "backward", "update"]


@pytest.fixture(params=EVERY)
def traced(request):
    make, data = EVERY[request.param]
    net = make()
    return net, data(), net.trace(data())


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", EVERY)
def test_rows_sum_to_the_wall_time(name, recorded):
    make, data = EVERY[name]
    trace = make().trace(data(), recorded=recorded)
    assert sum(row.seconds for row in trace.rows if row.thread == 0) == pytest.approx(trace.seconds, rel=1e-9)
    for row in trace.rows:
        if row.rows:
            assert sum(inner.seconds for inner in row.rows) == pytest.approx(row.seconds, rel=1e-9)
    assert all(row.seconds >= 0 for row in trace.rows)
    assert 0 < trace.rest < 1


def test_a_step_goes_through_its_phases_in_order(traced):
    _, _, trace = traced
    phases = list(dict.fromkeys(row.phase for row in trace.rows if row.phase != "step"))
    assert phases == PHASES


def test_ops_know_their_layer():
    trace = dense().trace(rows())
    forward = [(row.node, row.op) for row in trace.ops if row.phase == "forward"]
    assert forward == [("0", "gemm"), ("0", "add"), ("0", "tanh"), ("1", "gemm"), ("1", "softmax")]
    assert {row.node for row in trace.ops if row.phase == "loss"} == {"1"}
    assert list(dict.fromkeys(row.node for row in trace.ops if row.phase == "backward")) == ["1", "0"]


def test_two_layers_that_run_as_one_have_both_names():
    net = pooled()
    trace = net.trace(images())
    fused = [row for row in trace.ops if row.node == "0 + 1"]
    assert [row.op for row in fused if row.phase == "forward"] == ["conv2d_max_pool"]
    assert list(trace.nodes) == ["0", "1", "2"]  # which are shown one by one all the same
    assert trace.nodes["0"].activation.shape == (6, 4, 6, 6)
    assert trace.nodes["0"].epsilon.shape == (6, 4, 6, 6)


def test_vertices_of_a_graph_are_nodes():
    trace = graph().trace(rows())
    assert [row.op for row in trace.ops if row.node == "sum" and row.phase == "forward"] == ["add"]
    passing = [row for row in trace.rows if row.kind == "passing" and row.node == "sum"]
    assert [list(row.outputs) for row in passing] == [["input[0]", "input[1]"], ["epsilon"]]


def test_what_passes_between_nodes_is_what_comes_out_of_them(traced):
    net, data, trace = traced
    activations = net.feed_forward(data.features, train=False)
    if isinstance(activations, dict):
        np.testing.assert_array_equal(trace.nodes["sum"].activation.values, activations["sum"])
    else:
        np.testing.assert_array_equal(trace.nodes["0"].activation.values, activations[1])


def test_epsilons_and_gradients_are_those_of_numbers_that_differ_a_little():
    net, data = dense("float64", l2=0.0), rows()
    trace, (h, place) = net.trace(data), (1e-6, (2, 1))
    W = net.get_param("0_W")
    scores = []
    for sign in (1, -1):
        W[place] += sign * h
        scores.append(net.score(data))
        W[place] -= sign * h
    numeric = (scores[0] - scores[1]) / (2 * h) * 8
    assert trace.nodes["0"].gradients["W"].values[place] == pytest.approx(numeric, rel=1e-5)
    delta = trace.nodes["0"].epsilon.values * (1 - trace.nodes["0"].activation.values ** 2)
    np.testing.assert_allclose(data.features.T @ delta, trace.nodes["0"].gradients["W"].values, rtol=1e-9)


def test_every_op_has_arrays_to_print(traced):
    _, _, trace = traced
    for row in trace.ops:
        assert row.seen_outputs, row
        assert all(isinstance(array, np.ndarray) for array in (*row.inputs.values(), *row.outputs.values()))
        assert row.output is row.seen_outputs[0].values


def test_outputs_follow_from_inputs():
    trace = dense().trace(rows())
    gemm, add, tanh = trace.ops[[row.op for row in trace.ops].index("gemm") :][:3]
    np.testing.assert_allclose(gemm.inputs["a"] @ gemm.inputs["b"], gemm.output, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(add.inputs["x1"] + add.inputs["x2"], add.output)
    np.testing.assert_allclose(np.tanh(tanh.inputs["x"]), tanh.output, rtol=1e-6)
    np.testing.assert_array_equal(tanh.inputs["x"], add.output)  # also where both lie in the same memory


def test_a_gradient_that_is_written_is_an_output():
    trace = dense().trace(rows())
    back = next(row for row in trace.ops if row.op == "affine_gradients")
    assert list(back.outputs) == ["W_gradient", "b_gradient"]
    np.testing.assert_allclose(back.inputs["x"].T @ back.inputs["delta"], back.outputs["W_gradient"], rtol=1e-5)


@pytest.mark.parametrize("layer", [LSTM, GravesLSTM])
@pytest.mark.quick_rows(every=2)
def test_memory_whose_contents_mean_nothing_is_not_shown(layer):
    conf = NeuralNetConfiguration(seed=7).list(layer(n_in=3, n_out=4), RnnOutputLayer(n_out=2, activation="softmax"))
    series = np.random.default_rng(0).normal(size=(8, 3, 5)).astype(np.float32)
    data = series, np.eye(2, dtype=np.float32)[np.zeros((8, 5), int)].transpose(0, 2, 1)
    first, second = (MultiLayerNetwork(conf).init().trace(*data) for _ in range(2))
    assert first.compare(second) is None
    names = {seen.name for row in first.ops for seen in (*row.seen_inputs, *row.seen_outputs)}
    assert not [name for name in names if "._" in name]


@pytest.mark.parametrize("algo", ["line_gradient_descent", "conjugate_gradient", "lbfgs"])
def test_a_line_search_has_the_gradient_of_where_it_ends(algo):
    net, data = dense("float64", optimization_algo=algo, updater="sgd"), rows()
    trace, (h, place) = net.trace(data), (1e-6, (2, 1))
    net.fit_batch(data)
    assert trace.about["score"] == repr(net.score())
    W = net.get_param("0_W")
    np.testing.assert_array_equal(trace.nodes["0"].updated["W"].values, W)
    scores = []
    for sign in (1, -1):
        W[place] += sign * h
        scores.append(net.score(data))
        W[place] -= sign * h
    numeric = (scores[0] - scores[1]) / (2 * h)
    assert trace.nodes["0"].gradients["W"].values[place] == pytest.approx(numeric, rel=1e-5)


def test_columns_of_a_convolution_are_shown():
    trace, x = pooled().trace(images()), images().features
    columns = next(row.inputs["columns"] for row in trace.ops if row.op == "conv2d_max_pool")
    assert columns.shape == (1, 2, 3, 3, 6, 6)
    np.testing.assert_array_equal(columns[0, :, 1, 2], x[0, :, 1:7, 2:8])


def test_an_update_is_one_row_that_unfolds():
    net, data = dense(), rows()
    for _ in range(3):
        net.fit_batch(data)
    trace = net.trace(data)
    (update,) = [row for row in trace.rows if row.kind == "update"]
    assert update.op == "Adam"
    chunks = [row for row in update.rows if row.kind == "chunk"]
    rate = 0.01 * np.sqrt(1 - 0.999**4) / (1 - 0.9**4)  # of the fourth iteration
    assert update.values["corrected rate"] == pytest.approx(rate, rel=1e-6)
    assert update.values["L2Regularization"] == pytest.approx(0.001)
    assert next(row.op for row in chunks[0].rows if row.kind == "op") in ("divide", "add")
    net.fit_batch(data)
    state = nd.to_host(net.updater_state())[0]
    m = np.concatenate([chunk.outputs["M"] for chunk in chunks])
    v = np.concatenate([chunk.outputs["V"] for chunk in chunks])
    np.testing.assert_array_equal(np.concatenate([m, v]), state)
    updates = np.concatenate([chunk.outputs["update"] for chunk in chunks])
    np.testing.assert_allclose(updates, rate * m / (np.sqrt(v) + 1e-8), rtol=1e-4)


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.quick_rows(3)
def test_the_step_is_the_one_that_fit_takes(name, recorded):
    make, data = EVERY[name]
    net = make()
    for number in range(3):
        trace = net.trace(data(seed=number), recorded=recorded)
        net.fit_batch(data(seed=number))
        after = {f"{node}_{key}": seen for node, of in trace.nodes.items() for key, seen in of.updated.items()}
        for key, array in net.param_table().items():
            np.testing.assert_array_equal(after[key].values, nd.to_host(array))
        assert float(trace.about["score"]) == net.score()


def test_the_network_stays_as_it_is(traced):
    net, data, _ = traced
    net.fit_batch(data)
    state = [np.copy(nd.to_host(vector)) for vector in (net.params(), net.updater_state(), net.flattened_gradients())]
    drawn, counts, score = net.random.get_state(), (net.iteration_count, net.epoch_count), net.score()
    net.trace(data)
    for vector, before in zip((net.params(), net.updater_state(), net.flattened_gradients()), state, strict=True):
        np.testing.assert_array_equal(nd.to_host(vector), before)
    assert (net.random.get_state(), (net.iteration_count, net.epoch_count), net.score()) == (drawn, counts, score)
    assert nd_state.hears == ()  # nobody listens any more


def calls_in(run):
    """Return how many Python functions a call calls."""
    count = [0]

    def hear(frame, event, argument):
        count[0] += event == "call"

    sys.setprofile(hear)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count[0]


@pytest.mark.parametrize("name", EVERY)
def test_a_step_that_is_not_traced_makes_the_same_calls_after_a_trace(name):
    make, data = EVERY[name]
    net, batch = make(), data()
    for _ in range(3):
        net.fit_batch(batch)
    before = calls_in(lambda: net.fit_batch(batch))
    net.trace(batch)
    assert calls_in(lambda: net.fit_batch(batch)) == before
    with nd.eager():
        net.fit_batch(batch)
        eager = calls_in(lambda: net.fit_batch(batch))
        net.trace(batch)
        assert calls_in(lambda: net.fit_batch(batch)) == eager


def test_other_threads_are_not_heard():
    net, stop, ran = dense(), threading.Event(), threading.Event()

    def compute():
        while not stop.is_set():
            nd.exp(nd.ones(3))
            ran.set()

    other = threading.Thread(target=compute)
    other.start()
    try:
        ran.wait(10)
        trace = net.trace(rows())
    finally:
        stop.set()
        other.join()
    assert "exp" not in {row.op for row in trace.ops}
    assert {row.thread for row in trace.rows} == {0}


def test_parts_of_a_minibatch_are_told_apart(monkeypatch):
    split_small_minibatches(monkeypatch)
    net = dense()
    trace = net.trace(rows())
    assert {row.part for row in trace.ops if row.phase == "forward"} == {1, 2, 3, 4}
    assert trace.nodes["0"].activation.shape == (8, 5)  # of all examples
    other = net.trace(rows(), recorded=True)
    assert sum(row.seconds for row in other.rows if row.thread == 0) == pytest.approx(other.seconds)


def test_recorded_times_the_calls_that_fit_replays():
    net, data = dense(), rows()
    net.fit_batch(data)
    trace = net.trace(data, recorded=True)
    (worker,) = net.engine.gradients.workers
    calls = [call for recording in worker.recordings.recorded() for call in recording.of_backend.calls]
    heard = [row for row in trace.ops if row.phase in ("forward", "loss", "backward")]
    assert 0 < len(calls) - len(heard) <= 2  # the check of the gradient is nobody's
    assert {row.node for row in heard} == {"0", "1"}
    assert all(row.output is not None for row in heard if row.op != "bound")


def test_beyond_the_budget_a_sample_stays():
    trace = dense().trace(rows(), budget=400)
    kept = [seen.is_kept for row in trace.ops for seen in row.seen_outputs]
    assert any(kept)
    assert not all(kept)
    lost = next(row for row in trace.ops if row.seen_outputs and not row.seen_outputs[0].is_kept)
    with pytest.raises(nd.DataError, match="bytes were beyond the budget of the trace, got a sample only"):
        lost.output
    assert lost.seen_outputs[0].content.high >= lost.seen_outputs[0].content.low
    assert "not kept" in repr(lost.seen_outputs[0])


def test_a_table_is_printed(traced):
    net, _, trace = traced
    text = str(trace)
    assert text.splitlines()[0].split()[:3] == ["phase", "layer", "op"]
    assert "(Python)" in text
    assert "(passing on)" in text
    assert "Adam, " in text
    assert f"{100 * trace.rest:.1f} % of it between the ops" in text
    assert repr(trace).startswith(f"Trace({type(net).__name__}, ")


def test_memory_of_layers():
    memory = dense().trace(rows()).memory()
    assert memory == {
        "0": {"activation": 8 * 5 * 4, "epsilon": 8 * 5 * 4, "parameters": 35 * 4, "gradients": 35 * 4},
        "1": {"activation": 8 * 3 * 4, "epsilon": 0, "parameters": 18 * 4, "gradients": 18 * 4},
    }


def test_features_and_labels_by_themselves():
    data = rows()
    trace = dense().trace(data.features, data.labels)
    assert trace.about["examples"] == "8"


def test_what_does_not_fit_is_said():
    with pytest.raises(nd.DTypeError, match="trace: data must be a DataSet or"):
        dense().trace(5)
    with pytest.raises(nd.ShapeError, match="6"):
        dense().trace(np.zeros((2, 5)), np.zeros((2, 3)))
    with pytest.raises(nd.ConfigurationError, match="init"):
        MultiLayerNetwork(dense().conf).trace(rows())
    conf = NeuralNetConfiguration(seed=1).list(DenseLayer(n_in=6, n_out=3))
    with pytest.raises(nd.ConfigurationError, match="the last layer must have a loss"):
        MultiLayerNetwork(conf).init().trace(rows())


def test_recorded_needs_recordings():
    with nd.use_backend("numpy"), nd.eager(), pytest.raises(nd.ConfigurationError, match="recorded=True needs a step"):
        dense().trace(rows(), recorded=True)
