"""Pooling over all places: masks of every kind, equal maxima, blank norms, what is refused."""

import numpy as np
import pytest

import nd
from nn import GlobalPoolingLayer, InputType, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from tests.cells import every_row
from tests.layers_at_work import backprop, forward
from tests.stand_ins import TOLERANCE, as_input

KINDS = ("avg", "max", "pnorm", "sum")
RNG = np.random.default_rng(8)
N, C = 4, 3
SHAPES = {
    "series": ((6,), [(6,)]),
    "images": ((3, 4), [(3, 4), (3, 1), (1, 4), (1, 1)]),
    "volumes": ((2, 3, 2), [(2, 3, 2), (2, 1, 1), (1, 3, 2), (1, 1, 1)]),
}
MASKED = [pytest.param(places, mask, id=f"{kind}-{mask}") for kind, (places, masks) in SHAPES.items() for mask in masks]
STEP, SLOPE = 1e-6, 1e-6


def pooling(kind, **settings):
    """The layer at work."""
    conf = NeuralNetConfiguration(seed=1, dtype="float64").list(GlobalPoolingLayer(kind, **settings))
    return MultiLayerNetwork(conf).init().get_layer(0)


def places_that_count(x, mask):
    """The numbers of each example and channel whose place counts, as lists."""
    counts = np.broadcast_to(mask[:, :1], (len(x), 1, *x.shape[2:]))[:, 0] > 0
    return [[x[n, c][counts[n]] for c in range(x.shape[1])] for n in range(len(x))]


def by_hand(kind, p, values):
    if not len(values):
        return 0.0
    return {
        "avg": lambda: sum(values) / len(values),
        "max": lambda: max(values),
        "pnorm": lambda: sum(abs(v) ** p for v in values) ** (1.0 / p),
        "sum": lambda: sum(values),
    }[kind]()


def make_mask(shape):
    """At least one place counts in every example but the last."""
    mask = RNG.integers(0, 2, (N, *shape)).astype(np.float64)
    mask.reshape(N, -1)[:, 0] = 1.0
    mask[-1] = 0.0
    return mask


def as_given(mask, places):
    """Series' masks have no axis of channels."""
    return mask if len(places) == 1 else mask[:, None]


@every_row("kind", KINDS)
@every_row(("places", "of_mask"), MASKED)
def test_what_a_mask_leaves_out_does_not_count(kind, places, of_mask, backend, dtype):
    x, mask = RNG.normal(size=(N, C, *places)).astype(dtype), make_mask(of_mask).astype(dtype)
    conf = NeuralNetConfiguration(seed=1, dtype=dtype).list(GlobalPoolingLayer(kind, pnorm=3))
    layer = MultiLayerNetwork(conf).init().get_layer(0)
    found, _ = forward(layer, as_input(backend, x), True, as_input(backend, as_given(mask, places)))
    lists = places_that_count(x.astype("float64"), mask[:, None])
    expected = [[by_hand(kind, 3, values) for values in row] for row in lists]
    np.testing.assert_allclose(nd.to_host(found), expected, **TOLERANCE[dtype])
    assert layer.feed_forward_mask(mask) is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("places", "of_mask"), MASKED)
@pytest.mark.quick_rows(every=3)
def test_the_gradient_of_a_masked_pooling(kind, places, of_mask, backend):
    x, mask = RNG.normal(size=(N, C, *places)), make_mask(of_mask)
    layer, epsilon = pooling(kind, pnorm=3), RNG.normal(size=(N, C))
    given = as_input(backend, as_given(mask, places))

    def loss(array):
        return float((nd.to_host(forward(layer, nd.create(array), True, given)[0]) * epsilon).sum())

    cache = forward(layer, nd.create(x), True, given)[1]
    below = nd.to_host(backprop(layer, nd.create(epsilon), cache))
    counts = np.broadcast_to(mask[:, None], x.shape)
    assert not below[counts == 0].any()
    for _ in range(6):
        direction = RNG.normal(size=x.shape)
        slope = (loss(x + STEP * direction) - loss(x - STEP * direction)) / (2 * STEP)
        assert slope == pytest.approx((below * direction).sum(), rel=SLOPE, abs=SLOPE)


@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 2, 2)])
@pytest.mark.parametrize("masked", [False, True])
def test_the_first_of_equal_maxima_gets_the_gradient(shape, masked, backend, order):
    x = np.full((2, 3, *shape), -4.0)
    x[:, :, 0, ...] = -5.0
    mask = np.ones((2, *shape))
    mask[1, 1, ...] = 0.0
    first = {0: np.ravel_multi_index((1, *[0] * (len(shape) - 1)), shape)}
    first[1] = first[0] if not masked else 2 * int(np.prod(shape[1:])) if shape[0] > 2 else 0
    layer = pooling("max")
    given = as_input(backend, as_given(mask, shape), order) if masked else None
    found, cache = forward(layer, as_input(backend, x, order), True, given)
    expected = np.zeros((2, 3, int(np.prod(shape))))
    expected[0, :, first[0]] = 7.0
    expected[1, :, first[1]] = 7.0
    below = nd.to_host(backprop(layer, nd.create(np.full((2, 3), 7.0)), cache))
    np.testing.assert_array_equal(below.reshape(expected.shape), expected)
    assert set(nd.to_host(found).ravel()) <= {-4.0, -5.0}


def test_a_norm_of_zero_has_no_gradient(backend):
    """Where Java divides 0 by 0."""
    layer, x = pooling("pnorm"), np.array([[[0.0, 0.0], [3.0, -4.0]]])
    found, cache = forward(layer, as_input(backend, x), True)
    np.testing.assert_allclose(nd.to_host(found), [[0.0, 5.0]], rtol=1e-14)
    below = nd.to_host(backprop(layer, nd.ones(1, 2, dtype="float64"), cache))
    np.testing.assert_allclose(below, [[[0.0, 0.0], [0.6, -0.8]]], rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_axes_may_stay(kind, backend):
    x, epsilon = RNG.normal(size=(2, 3, 4, 5)), RNG.normal(size=(2, 3))
    gone, stays = pooling(kind), pooling(kind, collapse_dimensions=False)
    (a, one), (b, other) = (forward(layer, as_input(backend, x), True) for layer in (gone, stays))
    assert (tuple(a.shape), tuple(b.shape)) == ((2, 3), (2, 3, 1, 1))
    np.testing.assert_array_equal(nd.to_host(a), nd.to_host(b)[:, :, 0, 0])
    below = nd.to_host(backprop(gone, nd.create(epsilon), one))
    again = nd.to_host(backprop(stays, nd.create(epsilon[:, :, None, None]), other))
    np.testing.assert_array_equal(below, again)


def test_behind_the_layer_there_is_no_mask():
    """So the loss counts every row, also one that nothing of counts in."""
    conf = NeuralNetConfiguration(seed=2, dtype="float64").list(
        GlobalPoolingLayer("sum"),
        OutputLayer(n_out=2, loss="mse", activation="identity"),
        input_type=InputType.recurrent(2),
    )
    net = MultiLayerNetwork(conf).init()
    x, y, mask = RNG.normal(size=(3, 2, 4)), RNG.normal(size=(3, 2)), np.array([[1, 1, 0, 0], [1, 0, 0, 1], [0] * 4])
    net.set_input(x)
    net.set_labels(y)
    net.set_masks(mask)
    net.compute_gradient_and_score()
    W, b = (nd.to_host(net.param_table()[f"1_{name}"]) for name in "Wb")
    out = (x * mask[:, None]).sum(2) @ W + b
    assert net.score() == pytest.approx(((y - out) ** 2).sum() / 2 / 3, rel=1e-12)


# ---- what is refused


def test_settings_that_cannot_be():
    with pytest.raises(nd.ChoiceError, match="unknown pooling type 'min', expected one of avg, max, pnorm, sum"):
        GlobalPoolingLayer("min")
    with pytest.raises(nd.ConfigurationError, match="pnorm must be an integer >= 1, got 0"):
        GlobalPoolingLayer("pnorm", pnorm=0)
    for wrong in ((3,), (2, 4), 3, (1, 3)):
        with pytest.raises(nd.ConfigurationError, match=r"pooling_dimensions must be \(2,\), \(2, 3\) or \(2, 3, 4\)"):
            GlobalPoolingLayer(pooling_dimensions=wrong)


def test_inputs_that_cannot_be(backend):
    base = NeuralNetConfiguration(seed=1)
    with pytest.raises(nd.ConfigurationError, match=r"layer 0 .*expected time series, images or volumes, got feed_for"):
        base.list(GlobalPoolingLayer(), input_type=InputType.feed_forward(3))
    with pytest.raises(nd.ConfigurationError, match=r"layer 0 .*must be all axes behind .*2x2x3.*got \(2,\)"):
        base.list(GlobalPoolingLayer(pooling_dimensions=(2,)), input_type=InputType.convolutional(2, 2, 3))
    with pytest.raises(nd.ShapeError, match=r"layer 0 .*expected input .* with 3 axes, got \[2, 3, 4, 4\]"):
        forward(pooling("max", pooling_dimensions=(2,)), nd.zeros(2, 3, 4, 4, dtype="float64"), False)
    with pytest.raises(nd.ShapeError, match=r"expected input .*, got \[2, 3\]. Rows need no pooling"):
        forward(pooling("max"), nd.zeros(2, 3, dtype="float64"), False)
    with pytest.raises(nd.DTypeError, match="expected an array, got list"):
        forward(pooling("max"), [[[1.0]]], False)
    with pytest.raises(nd.ShapeError, match=r"mask: expected \[2, 5\], got \[2, 4\]"):
        forward(pooling("avg"), nd.zeros(2, 3, 5, dtype="float64"), False, nd.ones(2, 4, dtype="float64"))
    with pytest.raises(nd.ShapeError, match=r"mask: expected \[2, 1, 5, 4\], or 1 in .* got \[2, 1, 5, 3\]"):
        forward(pooling("avg"), nd.zeros(2, 3, 5, 4, dtype="float64"), False, nd.ones(2, 1, 5, 3, dtype="float64"))


def test_rows_follow_where_no_input_type_says_so():
    conf = NeuralNetConfiguration(seed=1).list(
        GlobalPoolingLayer(), OutputLayer(n_in=3, n_out=2, loss="mse", activation="identity")
    )
    assert conf.layers[0].following("layer 0", ("images", 7))[1] == ("rows", 7)
    assert GlobalPoolingLayer(collapse_dimensions=False).following("layer 0", ("series", 7))[1] == ("series", 7)
    assert conf.layers[0].following("layer 0", None)[1] is None
