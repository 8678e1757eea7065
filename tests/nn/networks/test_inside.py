"""What programs do inside a network: layers, parameters, scores of examples, gradients of errors of their own."""

import numpy as np
import pytest

import nd
import nn.dl4j  # noqa: F401  whose names are asked for here
from nd.dataset import DataSet, ListDataSetIterator
from nn import (
    CenterLossOutputLayer,
    DenseLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
)
from optimize import Adam, Sgd

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(6, 4)), np.eye(3)[RNG.integers(0, 3, 6)]


def network(*layers, **settings):
    layers = layers or (DenseLayer(n_in=4, n_out=5, activation="tanh"), OutputLayer(n_in=5, n_out=3))
    return MultiLayerNetwork(NeuralNetConfiguration(seed=5, dtype="float64", **settings).list(*layers)).init()


def test_layers_by_number_name_and_size():
    net = network()
    assert (net.n_layers, net.layer_names, net.layer_size(0), net.layer_input_size(1)) == (
        2, ["layer0", "layer1"], 5, 5,
    )  # fmt: skip
    assert net.get_output_layer() is net.get_layer("layer1") is net.get_layer(1)
    with pytest.raises(nd.ConfigurationError, match=r"layer_size: layer must be 0\.\.1, got 2"):
        net.layer_size(2)


def test_parameters_are_set_one_by_one():
    net = network()
    net.set_param("0_b", np.full((1, 5), 2.0))
    net.get_layer(1).set_param("b", np.ones((1, 3)))
    assert net.get_param("0_b").tolist() == [[2.0] * 5]
    assert net.get_layer(1).get_param("b").tolist() == [[1.0] * 3]
    np.testing.assert_array_equal(net.get_layer(0).params()[0, 20:], [2.0] * 5)
    net.set_param_table({"0_b": np.zeros((1, 5))})
    assert not net.get_param("0_b").any()
    with pytest.raises(nd.ShapeError, match=r"set_param: 0_W must be \[4, 5\], got \[5, 4\]"):
        net.set_param("0_W", np.ones((5, 4)))
    with pytest.raises(nd.ChoiceError, match="unknown parameter '7_W'"):
        net.set_param("7_W", X)


@pytest.mark.parametrize("penalty", [0.0, 0.1])
def test_scores_of_examples_have_the_score_as_their_mean(penalty):
    net = network(l2=penalty)
    scores = net.score_examples(DataSet(X, Y))
    assert scores.shape == (6, 1)
    assert scores.mean() == pytest.approx(net.score(DataSet(X, Y)), rel=1e-12)
    alone = [net.score(DataSet(X[n : n + 1], Y[n : n + 1])) for n in range(6)]
    np.testing.assert_allclose(scores[:, 0], alone, rtol=1e-12)
    bare = net.score_examples(DataSet(X, Y), add_regularization_terms=False)
    np.testing.assert_allclose(scores - bare, net.calc_regularization_score(), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("last", ["series", "centers"])
def test_scores_of_examples_of_other_losses(last):
    if last == "series":
        layers, x = (RnnOutputLayer(n_in=4, n_out=3),), RNG.normal(size=(6, 4, 5))
        y = np.moveaxis(np.eye(3)[RNG.integers(0, 3, (6, 5))], -1, 1)
    else:
        layers, x, y = (CenterLossOutputLayer(n_in=4, n_out=3, lambda_=0.5),), X, Y
    net = network(*layers)
    scores = net.score_examples(DataSet(x, y))
    alone = [net.score(DataSet(x[n : n + 1], y[n : n + 1])) for n in range(6)]
    np.testing.assert_allclose(scores[:, 0], alone, rtol=1e-12)


def test_gradients_of_features_are_numeric_derivatives():
    net = network()
    gradient, of_features = net.calculate_gradients(X, Y)
    kept = gradient.gradient().copy()
    net.set_input(X)
    net.set_labels(Y)
    net.compute_gradient_and_score()
    np.testing.assert_allclose(net.flattened_gradients(), kept, rtol=1e-12)
    for index in ((0, 0), (3, 2), (5, 3)):
        moved = [X.copy() for _ in range(2)]
        moved[0][index] += 1e-6
        moved[1][index] -= 1e-6
        numeric = 6 * (net.score(DataSet(moved[0], Y)) - net.score(DataSet(moved[1], Y))) / 2e-6
        assert of_features[index] == pytest.approx(numeric, rel=1e-6)


def test_errors_from_outside_train_as_the_loss_would():
    """dL/da of squared errors, handed in: the steps are those of a network whose last layer has that loss."""
    dense = DenseLayer(n_in=4, n_out=5, activation="tanh")
    inner = network(dense, DenseLayer(n_in=5, n_out=3, activation="identity"), updater=Adam(0.1), l2=0.01)
    whole = network(dense, OutputLayer(n_in=5, n_out=3, loss="l2", activation="identity"), updater=Adam(0.1), l2=0.01)
    for step in range(3):
        whole.fit(X, Y)
        out = inner.feed_forward(X, train=True)[-1]
        inner.set_input(X)
        gradient, below = inner.backprop_gradient(2.0 * (out - Y))
        inner.get_updater().update(inner, gradient, step, 0, 6)
        params = inner.params()
        params -= gradient.gradient()
        assert below.shape == X.shape
    np.testing.assert_allclose(inner.params(), whole.params(), rtol=1e-12)
    np.testing.assert_allclose(inner.get_updater().state_view_array, whole.updater_state(), rtol=1e-12)


def test_dropout_of_errors_from_outside_is_that_of_the_forward_pass():
    net = network(DenseLayer(n_in=4, n_out=3, activation="identity", drop_out=0.5), updater=Sgd(0.1))
    net.set_input(X)
    net.feed_forward(True)
    kept = net.random.copy()
    first = net.backprop_gradient(np.ones((6, 3)))[0].gradient().copy()
    np.testing.assert_array_equal(net.backprop_gradient(np.ones((6, 3)))[0].gradient(), first)
    assert net.random.get_state() == kept.get_state()
    with pytest.raises(nd.ShapeError, match=r"epsilon must be \[6, 3\], got \[3, 6\]"):
        net.backprop_gradient(np.ones((3, 6)))


def test_some_layers_and_the_minibatch_that_is_set():
    net = network()
    net.set_input(X)
    whole = net.feed_forward()
    np.testing.assert_allclose(net.activate_selected_layers(1, 1, whole[1]), whole[2], rtol=1e-12)
    np.testing.assert_allclose(net.activate_selected_layers(0, 1, X), whole[2], rtol=1e-12)
    with pytest.raises(nd.ConfigurationError, match="start must be at most stop, got 1, 0"):
        net.activate_selected_layers(1, 0, X)
    net.clear()
    with pytest.raises(nd.ConfigurationError, match="feed_forward: features must be given"):
        net.feed_forward()


def test_update_adds_a_gradient_as_it_is():
    net = network()
    before = net.params().copy()
    gradient, _ = net.calculate_gradients(X, Y)
    net.update(gradient)
    np.testing.assert_allclose(net.params(), before + gradient.gradient(), rtol=1e-12)


# ---- output


def test_output_takes_training_masks_and_iterators():
    net = network(DenseLayer(n_in=4, n_out=5, activation="tanh", drop_out=0.5), OutputLayer(n_in=5, n_out=3))
    plain = net.output(X)
    assert (net.output(X, True) != plain).any()
    np.testing.assert_array_equal(net.output(X, False), plain)
    mask = np.array([[1.0], [0.0], [1.0], [1.0], [0.0], [1.0]])
    np.testing.assert_array_equal(net.output(X, labels_mask=mask), plain * mask)
    every = RNG.integers(0, 2, (6, 3)).astype(float)
    np.testing.assert_array_equal(net.output(X, labels_mask=every), plain * every)
    # the labels' mask stands in for the features' in the last layer alone
    both = net.output(X, features_mask=mask, labels_mask=np.ones((6, 1)))
    hidden = np.tanh(X @ net.get_param("0_W") + net.get_param("0_b")) * mask
    expected = np.exp(hidden @ net.get_param("1_W") + net.get_param("1_b"))
    np.testing.assert_allclose(both, expected / expected.sum(1, keepdims=True), rtol=1e-9)
    batches = ListDataSetIterator(DataSet(X, Y), 4)
    np.testing.assert_array_equal(net.output(batches), np.concatenate([net.output(X[:4]), net.output(X[4:])]))
    with pytest.raises(nd.ArgumentError, match="output: train must be True or False"):
        net.output(X, mask)
    must = r"the labels' mask must be \[6, 1\] or fit the output \[6, 3\], got \[3, 1\]"
    with pytest.raises(nd.ShapeError, match=must):
        net.output(X, labels_mask=mask[:3])


def test_a_masked_series_of_outputs():
    net = MultiLayerNetwork(
        NeuralNetConfiguration(seed=5, dtype="float64").list(
            RnnOutputLayer(n_out=3), input_type=InputType.recurrent(4, 5)
        )
    ).init()
    x, mask = RNG.normal(size=(6, 4, 5)), RNG.integers(0, 2, (6, 5)).astype(float)
    np.testing.assert_allclose(net.output(x, labels_mask=mask), net.output(x) * mask[:, None], rtol=1e-12)


def test_names_of_classes_beside_data():
    net = network()
    data = DataSet(X, Y)
    assert "one" in net.evaluate(ListDataSetIterator(data, 4), ["one", "two", "three"]).stats()
    assert net.evaluate(data, ["one", "two", "three"], 2).top_n_accuracy() >= net.evaluate(data).accuracy()
    net.class_names = data.class_names = ["one", "two", "three"]
    assert net.predict(data) == [data.get_label_name(int(number)) for number in net.predict(X)]
    with pytest.raises(nd.ArgumentError, match="evaluate: labels must be a sequence of text"):
        net.evaluate(data, 5)


def test_penalties_by_kind():
    net = network(DenseLayer(n_in=4, n_out=5, l1=0.1), OutputLayer(n_in=5, n_out=3, l1=0.2, l2=0.3))
    first, second = (np.asarray(net.get_param(key)) for key in ("0_W", "1_W"))
    assert net.calc_l1() == pytest.approx(0.1 * abs(first).sum() + 0.2 * abs(second).sum(), rel=1e-12)
    assert net.calc_l2(True) == pytest.approx(0.15 * (second**2).sum(), rel=1e-12)
    assert net.calc_l1() + net.calc_l2() == pytest.approx(net.calc_regularization_score(), rel=1e-12)
    assert network().calc_l1() == 0.0


def test_one_layer_from_the_one_below():
    net = network(DenseLayer(n_in=4, n_out=5, activation="tanh", drop_out=0.5), OutputLayer(n_in=5, n_out=3))
    below = net.feed_forward(X)[1]
    np.testing.assert_allclose(net.activation_from_prev_layer(1, below), net.output(X), rtol=1e-12)
    np.testing.assert_allclose(net.activation_from_prev_layer(0, X), below, rtol=1e-12)
    assert abs(net.activation_from_prev_layer(0, X, True) - below).max() > 0.01  # dropout


def test_f1_counts_and_masks():
    net = network()
    evaluation = net.evaluate(ListDataSetIterator(DataSet(X, Y), 6))
    assert net.f1_score(X, Y) == net.f1_score(DataSet(X, Y)) == evaluation.f1()
    net.increment_epoch_count()
    assert (net.epoch_count, net.default_configuration.seed) == (1, 5)
    net.set_input(X)
    net.set_labels(Y)
    net.compute_gradient_and_score()
    unmasked = net.score()
    net.set_masks(None, np.eye(6)[:, :1])
    net.clear_masks()
    net.compute_gradient_and_score()
    assert net.score() == unmasked
    assert net.getGradientsViewArray() is net.flattened_gradients()


def test_what_needs_parameters_or_labels_says_so():
    conf = network().conf
    for name in ("calc_l1", "calc_l2", "calc_regularization_score"):
        with pytest.raises(nd.ConfigurationError, match=r"MultiLayerNetwork: init\(\) must come first"):
            getattr(MultiLayerNetwork(conf), name)()
    with pytest.raises(nd.DataError, match="f1_score: a data set needs labels, got none"):
        network().f1_score(DataSet(X))
    with pytest.raises(
        nd.DTypeError, match="f1_score: expected features with labels, a DataSet or an iterator of them, got 3"
    ):
        network().f1_score(3)


def test_f1_of_a_network_on_another_backend(backend):
    net = network()
    with nd.use_backend("numpy"):
        assert 0.0 <= net.f1_score(DataSet(X, Y)) <= 1.0
