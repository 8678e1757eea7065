"""What holds for every layer: each row of tests/cases/layers is one test, and a function here is one of its checks."""

import functools

import numpy as np
import pytest

import nd
from nn import MultiLayerConfiguration, MultiLayerNetwork, NeuralNetConfiguration
from nn.layers import LAYERS
from nn.layers.losses.output import OutputMixin
from nn.terms.input_type import ConvolutionalType
from tests.cases.layers import LAYER_CASES, TAIL, make_features, make_labels
from tests.cells import every_row, run_all, wide_rows
from tests.layers_at_work import backprop, backprop_delta, forward
from tests.stand_ins import TOLERANCE, as_input, make_backend

GRADIENT_ERROR = 1e-5  # largest relative error of a derivative, float64
STEP = 1e-5  # of central differences
KINK = 1e-2  # one-sided slopes that differ by more than this part lie on both sides of a kink
SMALL = 1e-3  # derivatives below count as this large
SAMPLES = 8  # elements of each array that are varied
CLOSE = {"rtol": 1e-10, "atol": 1e-12}  # of one backend's float64 gradients to another's
ORDERS = ("c", "f", "strided")  # how inputs lie in memory

ROWS = [pytest.param(case, id=f"{kind}-{case.variant}") for kind, rows in LAYER_CASES.items() for case in rows]
every_layer = pytest.mark.parametrize("case", wide_rows(ROWS, quick=1))
"""One row of every kind of layer, and all others among the slow tests."""
FIRST_ROWS = [
    pytest.param(case, id=f"{kind}-{case.variant}", marks=[pytest.mark.slow] * (number > 0))
    for kind, rows in LAYER_CASES.items()
    for number, case in enumerate(rows)
]
every_kind = pytest.mark.parametrize("case", FIRST_ROWS)
"""One row of every kind of layer, and all others among the slow tests."""
FAMILIES = (
    "batch_normalization", "bidirectional", "capsule", "center_loss_output", "convolution", "dense", "dropout",
    "embedding", "frozen", "global_pooling", "local_response_normalization", "lstm", "mask_zero", "prelu", "rnn_output",
    "self_attention", "simple_rnn", "subsampling", "upsampling2d", "variational_autoencoder", "yolo2_output",
)  # fmt: skip
some_kinds = pytest.mark.parametrize(
    "case",
    wide_rows(FIRST_ROWS, 0, unless=[f"{kind}-{LAYER_CASES[kind][0].variant}" for kind in FAMILIES]),
)
"""One row of a kind of every family, and all others among the slow tests: for what networks do with layers."""


def make_conf(case, dtype="float64", **settings):
    defaults = {"seed": 7, "dtype": dtype, "bias_init": 0.1, **settings}
    defaults = {**defaults, "validate_output_layer_config": False}  # every loss with every activation
    return NeuralNetConfiguration(**defaults).list(case.layer, *case.tail, input_type=case.input_type)


def make_network(case, dtype="float64", **settings):
    """A network with the row's layer first, and biases that are all different."""
    net = MultiLayerNetwork(make_conf(case, dtype, **settings)).init()
    noise = np.random.default_rng(3).normal(0.0, 0.1, (1, net.num_params()))
    net.set_params(nd.to_host(net.params()) + noise)
    return net


def make_batch(case, backend, net, order="c", dtype="float64"):
    labels = make_labels(case, net.output(make_features(case)).shape[1:])
    return as_input(backend, make_features(case), order, dtype), as_input(backend, labels, order, dtype)


def orders_of(backend):
    """The strict stand-in has no strides."""
    return ("c",) if backend.name == "strict" else ORDERS


def host_params(net, layer=0):
    return {name: nd.to_host(view) for name, view in net.get_layer(layer).params.items()}


def check_derivative(f, array, gradient, samples):
    """Compare elements of `gradient` with central differences of f() over the same elements of `array`, in place."""
    expected = nd.to_host(gradient)
    positions = np.random.default_rng(5).permutation(expected.size)
    smooth = 0
    for position in positions:
        index = tuple(int(axis) for axis in np.unravel_index(position, expected.shape))
        kept, middle = float(array[index]), f()
        array[index] = kept + STEP
        above = f()
        array[index] = kept - STEP
        below = f()
        array[index] = kept
        right, left = (above - middle) / STEP, (middle - below) / STEP
        if abs(right - left) > KINK * max(abs(right), abs(left), SMALL):
            continue
        numeric, analytic = (right + left) / 2.0, expected[index]
        assert abs(numeric - analytic) <= GRADIENT_ERROR * max(abs(numeric), abs(analytic), SMALL), index
        smooth += 1
        if smooth == samples:
            return
    assert smooth >= min(samples, expected.size) // 2, f"{smooth} of {expected.size} elements lie away from kinks"


def test_every_layer_has_rows():
    assert sorted(LAYER_CASES) == sorted(LAYERS) == list(LAYERS)
    for kind, rows in LAYER_CASES.items():
        assert len(rows) >= 2
        assert len({case.variant for case in rows}) == len(rows)
        assert all(type(case.layer) is LAYERS[kind] for case in rows)


class Row:
    """A row on a backend, and one network for all checks that leave it as it is."""

    def __init__(self, case, backend):
        self.case, self.backend = case, backend
        self.net = make_network(case)
        self.layer, self.x = self.net.get_layer(0), make_features(case)

    @property
    def differentiates(self):
        """Where derivatives are compared with differences; the strict stand-in is slow, and is compared with NumPy."""
        return self.backend.name != "strict"

    def batch(self, order="c"):
        return make_batch(self.case, self.backend, self.net, order)

    def gradients(self, order="c"):
        """Return the score and the gradient of a minibatch, as numpy copies."""
        x, y = self.batch(order)
        before = nd.to_host(x).copy(), nd.to_host(y).copy()
        score = self.score(x, y)
        for array, kept in zip((x, y), before, strict=True):
            np.testing.assert_array_equal(nd.to_host(array), kept)
        return score, nd.to_host(nd.copy(self.net.flattened_gradients()))

    def score(self, x, y):
        """Compute the gradient; return the score."""
        self.net.set_input(x)
        self.net.set_labels(y)
        self.net.random.set_seed(99)  # the same dropout every time
        self.net.compute_gradient_and_score()
        return self.net.score()

    def epsilon(self, weights, need_epsilon=True):
        """Return dL/dx where `weights` are dL/da of the layer's activations, in training if it draws."""
        nd.random.set_seed(99)
        cache = forward(self.layer, nd.create(self.x), self.case.draws)[1]
        return backprop(self.layer, nd.create(weights), cache, self.gradient_views, need_epsilon)

    @property
    def gradient_views(self):
        return self.net.engine.propagation.grads[0]

    @functools.cached_property
    def fitted(self):
        """Another network of the row, which a check trains."""
        return make_network(self.case, updater="nesterovs", learning_rate=0.1)

    @functools.cached_property
    def weights(self):
        shape = forward(self.layer, nd.create(self.x), self.case.draws)[0].shape
        return np.random.default_rng(4).normal(0.0, 1.0, shape)


def inference_matches_the_oracle(row):
    for dtype in ("float64", "float32"):
        net = row.net if dtype == "float64" else make_network(row.case, dtype)
        x = row.x.astype(dtype)
        params = {name: value.astype("float64") for name, value in host_params(net).items()}
        expected = row.case.oracle(x.astype("float64"), params)
        for order in orders_of(row.backend):
            found = net.feed_forward_to_layer(0, as_input(row.backend, x, order))[1]
            assert nd.dtype_name(found) == dtype
            np.testing.assert_allclose(nd.to_host(found), expected, **TOLERANCE[dtype], err_msg=f"{dtype}, {order}")


def a_layer_alone_gives_a_new_array_and_leaves_its_input(row):
    """DL4J's ``getLayer(0).activate(x, training)``."""
    expected = nd.to_host(row.net.feed_forward_to_layer(0, as_input(row.backend, row.x))[1])
    given = as_input(row.backend, row.x)
    found = row.layer.activate(given, False)
    np.testing.assert_array_equal(nd.to_host(given), row.x)
    np.testing.assert_allclose(nd.to_host(found), expected, **TOLERANCE["float64"])
    again = row.layer.activate(given)
    nd.fill(found, 7.0)
    np.testing.assert_allclose(nd.to_host(again), expected, **TOLERANCE["float64"])
    np.testing.assert_array_equal(nd.to_host(given), row.x)


def parameter_gradients_match_central_differences(row):
    if not row.differentiates:
        return
    x, y = row.batch()

    def summed_loss():
        return row.score(x, y) * x.shape[0]

    summed_loss()
    gradients = {key: nd.copy(g) for key, g in row.net.gradient().gradient_for_variable().items()}
    assert set(gradients) == set(row.net.param_table())
    specs = {view.key: view.spec for view in row.net.conf.layout().views}
    for key, view in row.net.param_table().items():
        if specs[key].running:
            continue  # no derivative, but how far it goes
        if not specs[key].trainable:
            assert not nd.to_host(gradients[key]).any()
            continue
        check_derivative(summed_loss, view, gradients[key], SAMPLES)


def epsilon_matches_central_differences(row):
    case, layer = row.case, row.layer
    epsilon = row.epsilon(row.weights)
    if case.vocabulary:
        assert epsilon is None
        return
    assert tuple(epsilon.shape) == row.x.shape
    if not row.differentiates:
        return
    x = nd.create(row.x)

    def weighted_activations():
        nd.random.set_seed(99)
        return float((nd.to_host(forward(layer, x, case.draws)[0]) * row.weights).sum())

    check_derivative(weighted_activations, x, nd.copy(epsilon), SAMPLES)


def epsilon_of_a_loss_matches_central_differences(row):
    if row.case.tail or not row.differentiates:
        return
    layer = row.layer
    assert isinstance(layer, OutputMixin)
    x, y = nd.create(row.x), row.batch()[1]

    def loss():
        nd.random.set_seed(99)
        return nd.item(layer.summed_loss(y, forward(layer, x, True)[1], None))

    check_derivative(loss, x, epsilon_of_loss(layer, x, y), SAMPLES)


def epsilon_of_loss(layer, x, y):
    nd.random.set_seed(99)
    cache = forward(layer, x, True)[1]
    return nd.copy(backprop_delta(layer, layer.loss_and_delta(y, cache, None)[1], cache))


def gradients_are_those_of_numpy(row):
    """On NumPy they were compared with differences."""
    if row.differentiates:
        return
    found = *row.gradients(), host_or_none(row.epsilon(row.weights))
    if not row.case.tail:
        found = *found, host_or_none(epsilon_of_loss(row.layer, nd.create(row.x), row.batch()[1]))
    params, weights = nd.to_host(row.net.params()), row.weights
    with nd.use_backend("numpy") as numpy_backend:
        twin = Row(row.case, numpy_backend)
        twin.net.set_params(params)
        expected = *twin.gradients(), host_or_none(twin.epsilon(weights))
        if not row.case.tail:
            expected = *expected, host_or_none(epsilon_of_loss(twin.layer, nd.create(twin.x), twin.batch()[1]))
    for mine, numpys in zip(found, expected, strict=True):
        assert (mine is None) == (numpys is None)
        if mine is not None:
            np.testing.assert_allclose(mine, numpys, **CLOSE)


def host_or_none(array):
    return None if array is None else nd.to_host(nd.copy(array))


def epsilon_is_not_computed_when_nobody_needs_it(row):
    ones = np.ones_like(row.weights)
    assert row.epsilon(ones, need_epsilon=False) is None
    without = {name: nd.to_host(nd.copy(view)) for name, view in row.gradient_views.items()}
    row.epsilon(ones)
    for name, view in row.gradient_views.items():
        np.testing.assert_array_equal(nd.to_host(view), without[name], err_msg=name)


def inferred_shapes_are_the_real_ones(row):
    activations = row.net.feed_forward(row.x)
    conf = row.net.conf
    multiple = getattr(conf.layers[0], "row_multiple", 1)  # what layers over series make N again
    for (_, out), a in zip(conf.layer_types(), activations[1:], strict=True):
        assert a.shape[0] == activations[0].shape[0] * (multiple if isinstance(out, ConvolutionalType) else 1)
        assert all(expected in (None, found) for found, expected in zip(a.shape[1:], out.shape, strict=True))
    assert {name: tuple(view.shape) for name, view in row.layer.params.items()} == conf.layers[0].param_shapes()


def gradients_do_not_depend_on_memory_order_and_inputs_stay_as_they_are(row):
    found = [row.gradients(order) for order in orders_of(row.backend)]
    for score, gradient in found[1:]:
        np.testing.assert_allclose(score, found[0][0], **TOLERANCE["float64"])
        np.testing.assert_allclose(gradient, found[0][1], **TOLERANCE["float64"])


def training_differs_from_inference_exactly_where_the_layer_draws(row):
    inference, again = (nd.to_host(row.net.feed_forward_to_layer(0, row.x)[1]) for _ in range(2))
    np.testing.assert_array_equal(inference, again)
    row.net.random.set_seed(11)
    state = row.net.random.get_state()
    training = nd.to_host(row.net.feed_forward_to_layer(0, row.x, train=True)[1])
    assert (row.net.random.get_state() != state) == row.case.draws
    assert (training != inference).any() == (row.case.draws or row.case.couples)


def batches_of_every_size_give_the_same_rows(row):
    x = make_features(row.case, n=5)
    whole = nd.to_host(row.net.output(x))
    for start, stop in ((0, 2), (2, 5), (4, 5)):
        np.testing.assert_allclose(nd.to_host(row.net.output(x[start:stop])), whole[start:stop], **TOLERANCE["float64"])


def fit_changes_the_parameters_and_not_its_inputs(row):
    x, y = row.batch("f")
    before = nd.to_host(x).copy(), nd.to_host(y).copy()
    params = nd.to_host(nd.copy(row.fitted.params()))
    row.fitted.fit(x, y, epochs=2)
    np.testing.assert_array_equal(nd.to_host(x), before[0])
    np.testing.assert_array_equal(nd.to_host(y), before[1])
    assert not params.size or (nd.to_host(row.fitted.params()) != params).any()


CHECKS = (
    inference_matches_the_oracle,
    a_layer_alone_gives_a_new_array_and_leaves_its_input,
    parameter_gradients_match_central_differences,
    epsilon_matches_central_differences,
    epsilon_of_a_loss_matches_central_differences,
    gradients_are_those_of_numpy,
    epsilon_is_not_computed_when_nobody_needs_it,
    inferred_shapes_are_the_real_ones,
    gradients_do_not_depend_on_memory_order_and_inputs_stay_as_they_are,
    training_differs_from_inference_exactly_where_the_layer_draws,
    batches_of_every_size_give_the_same_rows,
    fit_changes_the_parameters_and_not_its_inputs,
)


@every_layer
@pytest.mark.numpy_first
def test_a_row_keeps_every_contract(case, backend):
    check_row(case, backend)


@some_kinds
@pytest.mark.quick_rows(every=3)
def test_a_row_keeps_every_contract_on_the_strict_backend(case):
    with nd.use_backend(make_backend("strict")) as backend:
        check_row(case, backend)


def check_row(case, backend):
    row = Row(case, backend)
    run_all("checks", {check.__name__: functools.partial(check, row) for check in CHECKS})


@some_kinds
@pytest.mark.quick_rows(every=3)
def test_a_zip_keeps_a_network_that_was_trained(case, backend, tmp_path):
    row = Row(case, backend)
    net, (x, y) = row.fitted, row.batch()
    net.fit(x, y, epochs=2)
    output = nd.to_host(net.output(x))
    net.save(tmp_path / "net.zip")
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    assert again.conf.layers == net.conf.layers
    np.testing.assert_array_equal(nd.to_host(again.output(x)), output)
    np.testing.assert_array_equal(nd.to_host(again.updater_state()), nd.to_host(net.updater_state()))


@every_row("case", ROWS)
def test_json_round_trip(case):
    conf = make_conf(case, l2=1e-3, updater="adam")
    again = MultiLayerConfiguration.from_json(conf.to_json())
    assert again.layers == conf.layers
    assert again.preprocessors == conf.preprocessors
    assert (again.base.seed, again.base.dtype) == (conf.base.seed, conf.base.dtype)
    assert again.to_json() == conf.to_json()


def test_the_tail_is_an_output_layer():
    assert type(TAIL[-1]) is LAYERS["output"]
