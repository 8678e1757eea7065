"""What can be seen inside a MultiLayerNetwork: parameters, gradients, activations, scores."""

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, ListDataSetIterator
from nn import DenseLayer, LossLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import MapSchedule, Sgd, Solver
from tests.cases.layers import two_layers_by_hand
from tests.stand_ins import TOLERANCE, as_input

RNG = np.random.default_rng(8)
X = RNG.normal(size=(5, 3))
Y = np.eye(2)[[0, 1, 1, 0, 1]]


def conf_of(*layers, **settings):
    if not layers:
        layers = DenseLayer(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=2, activation="softmax")
    return NeuralNetConfiguration(**{"seed": 3, "dtype": "float64", "bias_init": 0.1, **settings}).list(*layers)


def network(*layers, **settings):
    return MultiLayerNetwork(conf_of(*layers, **settings)).init()


def host(x):
    return nd.to_host(nd.copy(x))


def by_hand(net, x=X, y=Y):
    return two_layers_by_hand(net.param_table(), x, y)


def compute(net, backend, x=X, y=Y):
    net.set_input(as_input(backend, x))
    net.set_labels(as_input(backend, y))
    net.compute_gradient_and_score()


# ---- parameters


def test_params_are_one_row_and_the_table_has_views_of_it(backend):
    net = network()
    assert tuple(net.params().shape) == (1, 3 * 4 + 4 + 4 * 2 + 2)
    assert net.num_params() == 26
    assert {key: tuple(view.shape) for key, view in net.param_table().items()} == {
        "0_W": (3, 4), "0_b": (1, 4), "1_W": (4, 2), "1_b": (1, 2),
    }  # fmt: skip
    nd.fill(net.params(), 0.5)
    assert all((host(view) == 0.5).all() for view in net.param_table().values())
    nd.fill(net.param_table()["1_W"], -2.0)
    assert (host(net.params())[0] == -2.0).sum() == 8
    assert (host(net.get_param("1_W")) == -2.0).all()
    assert (host(net.get_layer(1).params["W"]) == -2.0).all()


def test_changing_a_parameter_changes_the_output(backend):
    net = network()
    before = host(net.output(X))
    net.param_table()["1_b"][0, 0] = 10.0
    after = host(net.output(X))
    assert (after[:, 0] > before[:, 0]).all()
    np.testing.assert_allclose(after, by_hand(net)[1], **TOLERANCE["float64"])


@pytest.mark.parametrize("shape", [(1, 26), (26,)])
def test_set_params_copies_into_the_same_memory(shape, backend):
    net = network()
    vector, view, source = net.params(), net.param_table()["0_W"], as_input(backend, np.arange(26.0).reshape(shape))
    net.set_params(source)
    assert net.params() is vector
    np.testing.assert_array_equal(host(vector), [np.arange(26.0)])
    np.testing.assert_array_equal(host(view), np.arange(12.0).reshape(4, 3).T)
    nd.fill(vector, 0.0)
    np.testing.assert_array_equal(nd.to_host(source), np.arange(26.0).reshape(shape))


def test_set_params_takes_lists_and_another_dtype():
    net = network(dtype="float32")
    net.set_params([list(range(26))])
    net.set_params(np.arange(26.0))
    assert nd.dtype_name(net.params()) == "float32"
    np.testing.assert_array_equal(host(net.params()), [np.arange(26.0, dtype=np.float32)])


@pytest.mark.parametrize("shape", [(1, 25), (27,), (26, 1), (2, 13), ()])
def test_a_vector_of_another_network_is_refused(shape):
    net = network()
    kept = host(net.params())
    with pytest.raises(nd.ShapeError, match=rf"set_params: expected \[1, 26\], got \[{', '.join(map(str, shape))}\]"):
        net.set_params(np.zeros(shape))
    np.testing.assert_array_equal(host(net.params()), kept)
    with pytest.raises(nd.ShapeError, match=r"expected \[1, 26\]"):
        MultiLayerNetwork(conf_of()).init(np.zeros(shape))


def test_the_seed_gives_the_parameters_again():
    first, again, other = network(), network(), network(seed=4)
    np.testing.assert_array_equal(host(first.params()), host(again.params()))
    assert (host(first.param_table()["0_W"]) != host(other.param_table()["0_W"])).all()
    trained = network()
    trained.fit(X, Y, epochs=3)
    anew = MultiLayerNetwork(trained.conf).init()
    np.testing.assert_array_equal(host(first.params()), host(anew.params()))


def test_given_parameters_take_the_place_of_drawn_ones(backend):
    given = np.arange(26.0)[None]
    net = MultiLayerNetwork(conf_of()).init(given)
    np.testing.assert_array_equal(host(net.params()), given)
    nd.fill(net.params(), 0.0)
    assert given[0, 1] == 1.0


def test_an_unknown_parameter_lists_what_there_is():
    with pytest.raises(nd.ChoiceError, match=r"get_param: unknown parameter '2_W', expected one of 0_W, 0_b, 1_W, 1_b"):
        network().get_param("2_W")


# ---- gradients and score


def test_gradients_and_score_are_those_computed_by_hand(backend, order, dtype):
    net = network(dtype=dtype)
    net.set_input(as_input(backend, X, order))
    net.set_labels(as_input(backend, Y, order))
    net.compute_gradient_and_score()
    _, _, loss, gradients = by_hand(net)
    found = net.gradient().gradient_for_variable()
    assert list(found) == list(gradients)
    for key, expected in gradients.items():
        np.testing.assert_allclose(host(found[key]), expected, **TOLERANCE[dtype])
        np.testing.assert_array_equal(host(net.gradient().get_gradient_for(key)), host(found[key]))
    assert net.score() == pytest.approx(loss / 5, rel=TOLERANCE[dtype]["rtol"])
    assert isinstance(net.score(), float)
    flat = np.concatenate([gradients[key].ravel("F") for key in gradients])
    np.testing.assert_allclose(host(net.flattened_gradients()), [flat], **TOLERANCE[dtype])
    assert net.gradient().gradient() is net.flattened_gradients()


def test_gradients_are_live_views(backend):
    net = network()
    table, vector = net.gradient().gradient_for_variable(), net.flattened_gradients()
    compute(net, backend)
    first = host(vector)
    compute(net, backend, X[::-1] * 2.0)
    assert (host(vector) != first).any()
    np.testing.assert_array_equal(host(table["1_b"]), [host(vector)[0, 24:]])
    table.clear()
    assert len(net.gradient().gradient_for_variable()) == 4


def test_computing_the_gradient_changes_neither_parameters_nor_counters(backend):
    net = network()
    before = host(net.params())
    compute(net, backend)
    compute(net, backend)
    np.testing.assert_array_equal(host(net.params()), before)
    assert (net.iteration_count, net.epoch_count, net.batch_size) == (0, 0, 5)


def test_the_score_has_the_penalties(backend):
    net = network(
        DenseLayer(n_in=3, n_out=4, activation="tanh", l1=0.01, l2=0.1, l2_bias=0.3),
        OutputLayer(n_in=4, n_out=2, activation="softmax", l1_bias=0.2),
    )
    compute(net, backend)
    p = {key: host(view) for key, view in net.param_table().items()}
    penalty = 0.01 * np.abs(p["0_W"]).sum() + 0.05 * (p["0_W"] ** 2).sum() + 0.15 * (p["0_b"] ** 2).sum()
    penalty += 0.2 * np.abs(p["1_b"]).sum()
    loss = by_hand(net)[2]
    assert net.score() == pytest.approx(loss / 5 + penalty, rel=TOLERANCE["float64"]["rtol"])
    np.testing.assert_allclose(host(net.gradient().gradient_for_variable()["0_W"]), by_hand(net)[3]["0_W"], rtol=1e-12)


def test_a_scheduled_penalty_follows_the_counters(backend):
    net = network(l2=MapSchedule("iteration", {0: 0.1, 1: 0.7}))
    scores = []
    for _ in range(2):
        compute(net, backend)
        scores.append(net.score())
        net.iteration_count += 1
    squares = sum((host(net.param_table()[key]) ** 2).sum() for key in ("0_W", "1_W"))
    assert scores[1] - scores[0] == pytest.approx(0.5 * 0.6 * squares, rel=1e-9)


def test_without_mini_batch_nothing_is_divided(backend):
    net = network(mini_batch=False, updater=Sgd(0.01))
    before, (_, _, loss, gradients) = host(net.param_table()["1_W"]), by_hand(net)
    net.fit(as_input(backend, X), as_input(backend, Y))
    assert net.score() == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(host(net.param_table()["1_W"]), before - 0.01 * gradients["1_W"], **TOLERANCE["float64"])


def test_the_score_before_anything_is_nan():
    assert np.isnan(network().score())


def test_the_score_of_a_data_set(backend):
    net = network(l2=0.1)
    compute(net, backend)
    expected, gradient = net.score(), host(net.flattened_gradients())
    net.set_labels(as_input(backend, Y[::-1].copy()))
    data = DataSet(as_input(backend, X), as_input(backend, Y))
    assert net.score(data) == net.score() == expected
    np.testing.assert_array_equal(host(net.flattened_gradients()), gradient)
    assert net.iteration_count == 0


def test_the_score_of_a_data_set_uses_dropout_only_in_training():
    net = network(DenseLayer(n_in=3, n_out=40, drop_out=0.5), OutputLayer(n_in=40, n_out=2, activation="softmax"))
    data = DataSet(X, Y)
    assert net.score(data) == net.score(data) == net.clone().score(data)
    assert net.score(data, training=True) != net.score(data)


# ---- activations


def test_feed_forward_returns_the_input_and_every_activation(backend, order):
    net = network()
    found = net.feed_forward(as_input(backend, X, order))
    h, out, _, _ = by_hand(net)
    assert len(found) == 3
    for array, expected in zip(found, (X, h, out), strict=True):
        np.testing.assert_allclose(host(array), expected, **TOLERANCE["float64"])
    part = net.feed_forward_to_layer(0, as_input(backend, X, order))
    assert len(part) == 2
    np.testing.assert_array_equal(host(part[1]), host(found[1]))
    output = host(net.output(as_input(backend, X, order)))
    tolerance = TOLERANCE["float64"] if nd.backend().keeps_addresses else {"rtol": 0}  # a graph's products differ
    np.testing.assert_allclose(output, host(found[2]), **tolerance)


def test_what_is_returned_is_not_overwritten_later(backend):
    net = network()
    first, listed = net.output(X), net.feed_forward(X)
    kept, listed_kept = host(first), [host(a) for a in listed]
    net.output(X * 3.0)
    net.feed_forward(X * 4.0)
    net.fit(X * 2.0, Y, epochs=2)
    np.testing.assert_array_equal(host(first), kept)
    for a, expected in zip(listed, listed_kept, strict=True):
        np.testing.assert_array_equal(host(a), expected)


def test_writing_into_what_is_returned_changes_nothing():
    net = network()
    x = X.copy(order="F")
    expected = host(net.output(x))
    for a in net.feed_forward(x):
        a[...] = 0.0
    net.output(x)[...] = 0.0
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(host(net.output(x)), expected)


@pytest.mark.parametrize("layer", [-1, 2, 7])
def test_there_is_no_such_layer(layer):
    with pytest.raises(nd.ConfigurationError, match=rf"feed_forward_to_layer: layer must be 0\.\.1, got {layer}"):
        network().feed_forward_to_layer(layer, X)


def test_output_between_input_and_gradient_does_not_disturb(backend):
    """The minibatch that was set is the one that is trained on, whatever is asked in between."""
    net = network()
    compute(net, backend)
    expected = host(net.flattened_gradients())
    net.set_input(as_input(backend, X))
    net.set_labels(as_input(backend, Y))
    net.output(X * 5.0)
    net.compute_gradient_and_score()
    np.testing.assert_array_equal(host(net.flattened_gradients()), expected)


def test_pre_output_of_a_layer(backend):
    net = network()
    z = net.get_layer(0).pre_output(as_input(backend, X), training=False)
    table = {key: host(view) for key, view in net.param_table().items()}
    np.testing.assert_allclose(host(z), X @ table["0_W"] + table["0_b"], **TOLERANCE["float64"])


def test_predict_is_the_index_of_the_largest(backend):
    net = network(LossLayer(activation="identity"))
    x = np.array([[0.1, 0.7, 0.2], [3.0, -1.0, 2.0], [0.0, 0.0, 1.0], [5.0, 5.0, 1.0]])
    found = net.predict(as_input(backend, x))
    assert tuple(found.shape) == (4,)
    assert [int(i) for i in nd.to_host(found)] == [1, 0, 2, 0]


def test_evaluate_counts_every_minibatch(backend):
    net = network(LossLayer(activation="identity"))
    x, y = np.eye(3)[[0, 1, 2, 0, 1]], np.eye(3)[[0, 1, 2, 1, 2]]
    data = DataSet(as_input(backend, x), as_input(backend, y))
    assert net.evaluate(ListDataSetIterator(data, batch=2)).accuracy() == pytest.approx(3 / 5)


# ---- one step, and copies


def test_a_solver_takes_the_step_that_fit_takes(backend):
    fitted, solved = network(updater="adam"), network(updater="adam")
    fitted.fit(X, Y)
    solved.set_input(as_input(backend, X))
    solved.set_labels(as_input(backend, Y))
    Solver(solved.conf, model=solved, listeners=[]).optimize()
    np.testing.assert_array_equal(host(solved.params()), host(fitted.params()))
    assert (solved.score(), solved.iteration_count) == (fitted.score(), fitted.iteration_count)


def test_a_clone_goes_its_own_way(backend):
    net = network(updater="adam")
    net.fit(ListDataSetIterator(DataSet(X, Y), batch=2), epochs=2)
    twin = net.clone()
    assert (twin.iteration_count, twin.epoch_count) == (6, 2)
    for a, b in ((net.params(), twin.params()), (net.updater_state(), twin.updater_state())):
        np.testing.assert_array_equal(host(a), host(b))
    before = host(net.params()), host(net.updater_state())
    twin.fit(X, Y)
    np.testing.assert_array_equal(host(net.params()), before[0])
    np.testing.assert_array_equal(host(net.updater_state()), before[1])
    net.fit(X, Y)
    np.testing.assert_array_equal(host(net.params()), host(twin.params()))


def test_float64_throughout():
    net = network(updater="adam")
    net.fit(X.astype(np.float32), Y.astype(np.int32))
    arrays = [net.params(), net.flattened_gradients(), net.updater_state(), *net.feed_forward(X.astype(np.float32))]
    assert {nd.dtype_name(a) for a in arrays} == {"float64"}


def test_a_second_init_keeps_the_parameters(tmp_path):
    """As Java's, which returns at once."""
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(DenseLayer(n_in=2, n_out=2), OutputLayer(n_out=2)))
    net.fit(np.eye(2), np.eye(2), epochs=3)  # which initialises
    before = np.array(nd.to_host(net.params()))
    assert net.init() is net
    np.testing.assert_array_equal(nd.to_host(net.params()), before)
    net.save(tmp_path / "model.zip")
    loaded = MultiLayerNetwork.load(tmp_path / "model.zip").init()
    np.testing.assert_array_equal(nd.to_host(loaded.params()), before)
    np.testing.assert_array_equal(nd.to_host(loaded.init(before + 1.0).params()), before + 1.0)
    assert loaded.iteration_count == 3
