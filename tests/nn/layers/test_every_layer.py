"""What holds for every layer, on every row of tests/cases/layers.py."""

import numpy as np
import pytest

import nd
from nn import MultiLayerConfiguration, MultiLayerNetwork, NeuralNetConfiguration
from nn.conf.forms import LAYER_FORMS
from nn.conf.input_type import ConvolutionalType
from nn.layers import LAYERS
from nn.layers.output import OutputMixin
from tests.cases.layers import LAYER_CASES, TAIL, make_features, make_labels
from tests.stand_ins import TOLERANCE, as_input

GRADIENT_ERROR = 1e-5  # largest relative error of a derivative, float64
STEP = 1e-5  # of central differences
KINK = 1e-2  # one-sided slopes that differ by more than this part lie on both sides of a kink
SMALL = 1e-3  # derivatives below count as this large
SAMPLES = {"numpy": 8, "numpy-readonly": 4, "strict": 2}  # elements of each array that are varied
ORDERS = ("c", "f", "strided")  # how inputs lie in memory

ROWS = [pytest.param(case, id=f"{kind}-{case.variant}") for kind, rows in LAYER_CASES.items() for case in rows]
every_layer = pytest.mark.parametrize("case", ROWS)


def make_conf(case, dtype="float64", **settings):
    defaults = {"seed": 7, "dtype": dtype, "bias_init": 0.1, **settings}
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
    assert sorted(LAYER_CASES) == sorted(LAYERS) == sorted(LAYER_FORMS) == list(LAYERS)
    for kind, rows in LAYER_CASES.items():
        assert len(rows) >= 2
        assert len({case.variant for case in rows}) == len(rows)
        assert all(type(case.layer) is LAYERS[kind] for case in rows)


@every_layer
def test_inference_matches_the_oracle(case, backend, dtype):
    net = make_network(case, dtype)
    x = make_features(case).astype(dtype)
    params = {name: value.astype("float64") for name, value in host_params(net).items()}
    expected = case.oracle(x.astype("float64"), params)
    for order in orders_of(backend):
        found = net.feed_forward_to_layer(0, as_input(backend, x, order))[1]
        assert nd.dtype_name(found) == dtype
        np.testing.assert_allclose(nd.to_host(found), expected, **TOLERANCE[dtype])


@every_layer
def test_parameter_gradients_match_central_differences(case, backend):
    net = make_network(case)
    x, y = make_batch(case, backend, net)
    net.set_input(x)
    net.set_labels(y)

    def summed_loss():
        nd.random.set_seed(99)  # the same dropout every time
        net.compute_gradient_and_score()
        return net.score() * x.shape[0]

    summed_loss()
    gradients = {key: nd.copy(g) for key, g in net.gradient().gradient_for_variable().items()}
    assert set(gradients) == set(net.param_table())
    specs = {view.key: view.spec for view in net.conf.layout().views}
    for key, view in net.param_table().items():
        if specs[key].running:
            continue  # no derivative, but how far it goes
        if not specs[key].trainable:
            assert not nd.to_host(gradients[key]).any()
            continue
        check_derivative(summed_loss, view, gradients[key], SAMPLES.get(backend.name, 2))


@every_layer
def test_epsilon_matches_central_differences(case, backend):
    layer = make_network(case).get_layer(0)
    x = nd.create(make_features(case))
    training = case.draws
    weights = np.random.default_rng(4).normal(0.0, 1.0, layer.forward(x, training)[0].shape)
    nd.random.set_seed(99)
    cache = layer.forward(x, training)[1]
    epsilon = layer.backprop_gradient(nd.create(weights), cache)
    if case.vocabulary:
        assert epsilon is None
        return
    assert tuple(epsilon.shape) == tuple(x.shape)

    def weighted_activations():
        nd.random.set_seed(99)
        return float((nd.to_host(layer.forward(x, training)[0]) * weights).sum())

    check_derivative(weighted_activations, x, nd.copy(epsilon), SAMPLES.get(backend.name, 2))


@pytest.mark.parametrize("case", [row for row in ROWS if not row.values[0].tail])
def test_epsilon_of_a_loss_matches_central_differences(case, backend):
    net = make_network(case)
    layer = net.get_layer(0)
    assert isinstance(layer, OutputMixin)
    x, y = nd.create(make_features(case)), make_batch(case, backend, net)[1]

    def loss():
        nd.random.set_seed(99)
        return nd.item(layer.summed_loss(y, layer.forward(x, True)[1], None))

    nd.random.set_seed(99)
    cache = layer.forward(x, True)[1]
    epsilon = layer.backprop_delta(layer.loss_and_delta(y, cache, None)[1], cache, True)
    check_derivative(loss, x, nd.copy(epsilon), SAMPLES.get(backend.name, 2))


@every_layer
def test_epsilon_is_not_computed_when_nobody_needs_it(case, backend):
    layer = make_network(case).get_layer(0)
    x = nd.create(make_features(case))
    nd.random.set_seed(99)
    a, cache = layer.forward(x, case.draws)
    assert layer.backprop_gradient(nd.ones(*a.shape, dtype="float64"), cache, need_epsilon=False) is None
    without = {name: nd.to_host(nd.copy(view)) for name, view in layer.gradient_views.items()}
    nd.random.set_seed(99)
    cache = layer.forward(x, case.draws)[1]
    layer.backprop_gradient(nd.ones(*a.shape, dtype="float64"), cache, need_epsilon=True)
    for name, view in layer.gradient_views.items():
        np.testing.assert_array_equal(nd.to_host(view), without[name])


@every_layer
def test_inferred_shapes_are_the_real_ones(case, backend):
    net = make_network(case)
    activations = net.feed_forward(make_features(case))
    multiple = getattr(net.conf.layers[0], "row_multiple", 1)  # what layers over series make N again
    for (_, out), a in zip(net.conf.layer_types(), activations[1:], strict=True):
        assert a.shape[0] == activations[0].shape[0] * (multiple if isinstance(out, ConvolutionalType) else 1)
        assert all(expected in (None, found) for found, expected in zip(a.shape[1:], out.shape, strict=True))
    shapes = net.conf.layers[0].param_shapes()
    assert {name: tuple(view.shape) for name, view in net.get_layer(0).params.items()} == shapes


@every_layer
def test_gradients_do_not_depend_on_memory_order_and_inputs_stay_as_they_are(case, backend):
    net = make_network(case)
    scores, gradients = [], []
    for order in orders_of(backend):
        x, y = make_batch(case, backend, net, order)
        before = nd.to_host(x).copy(), nd.to_host(y).copy()
        net.set_input(x)
        net.set_labels(y)
        nd.random.set_seed(99)
        net.compute_gradient_and_score()
        scores.append(net.score())
        gradients.append(nd.to_host(nd.copy(net.flattened_gradients())))
        np.testing.assert_array_equal(nd.to_host(x), before[0])
        np.testing.assert_array_equal(nd.to_host(y), before[1])
    np.testing.assert_allclose(scores, scores[0], **TOLERANCE["float64"])
    for gradient in gradients[1:]:
        np.testing.assert_allclose(gradient, gradients[0], **TOLERANCE["float64"])


@every_layer
def test_fit_changes_the_parameters_and_not_its_inputs(case, backend):
    net = make_network(case, updater="sgd", learning_rate=0.1)
    x, y = make_batch(case, backend, net, "f")
    before = nd.to_host(x).copy(), nd.to_host(y).copy()
    params = nd.to_host(nd.copy(net.params()))
    net.fit(x, y, epochs=2)
    net.output(x)
    np.testing.assert_array_equal(nd.to_host(x), before[0])
    np.testing.assert_array_equal(nd.to_host(y), before[1])
    assert not params.size or (nd.to_host(net.params()) != params).any()


@every_layer
def test_training_differs_from_inference_exactly_where_the_layer_draws(case, backend):
    net = make_network(case)
    x = make_features(case)
    inference, again = (nd.to_host(net.feed_forward_to_layer(0, x)[1]) for _ in range(2))
    np.testing.assert_array_equal(inference, again)
    nd.random.set_seed(11)
    state = nd.random.get_random().get_state()
    training = nd.to_host(net.feed_forward_to_layer(0, x, train=True)[1])
    assert (nd.random.get_random().get_state() != state) == case.draws
    assert (training != inference).any() == (case.draws or case.couples)


@every_layer
def test_json_round_trip(case):
    conf = make_conf(case, l2=1e-3, updater="adam")
    again = MultiLayerConfiguration.from_json(conf.to_json())
    assert again.layers == conf.layers
    assert again.preprocessors == conf.preprocessors
    assert (again.base.seed, again.base.dtype) == (conf.base.seed, conf.base.dtype)
    assert again.to_json() == conf.to_json()


@every_layer
def test_zip_round_trip(case, backend, tmp_path):
    net = make_network(case, updater="nesterovs")
    x, y = make_batch(case, backend, net)
    net.fit(x, y)
    net.save(tmp_path / "net.zip")
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    assert again.conf.layers == net.conf.layers
    for found, expected in ((again.output(x), net.output(x)), (again.updater_state(), net.updater_state())):
        np.testing.assert_array_equal(nd.to_host(found), nd.to_host(expected))


@every_layer
def test_batches_of_every_size_give_the_same_rows(case, backend):
    net = make_network(case)
    x = make_features(case, n=5)
    whole = nd.to_host(net.output(x))
    for start, stop in ((0, 2), (2, 5), (4, 5)):
        np.testing.assert_allclose(nd.to_host(net.output(x[start:stop])), whole[start:stop], **TOLERANCE["float64"])


def test_the_tail_is_an_output_layer():
    assert type(TAIL[-1]) is LAYERS["output"]
