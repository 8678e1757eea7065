"""Every layer with masks, in parts and from the record; and layers of a user's own."""

import contextlib
import functools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet
from nn import (
    DenseLayer,
    GlobalPoolingLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    register,
    unregister,
)
from nn.layers import BaseLayerConf, FeedForwardConf, LayerConf, LayerRuntime
from nn.layers.core.dense import DenseRuntime
from nn.terms.params import ParamSpec
from optimize import Sgd
from tests.cases.layers import LayerCase, make_features, make_labels
from tests.cells import every_row, run_all
from tests.layers_at_work import forward
from tests.nn.layers.test_every_layer import ROWS, check_derivative, make_network, some_kinds
from tests.step_plans import recorded, split_small_minibatches, workers_of

N = 8  # examples in a minibatch
COUNTED = np.array([1, 0, 1, 1, 0, 1, 1, 0])
ROWS_IN = InputType.feed_forward(4)
CLOSE = {"rtol": 1e-9, "atol": 1e-11}


class Unrecorded(NumpyBackend):
    """NumPy that runs every step as it is written."""

    def recorder(self):
        return None


@pytest.fixture
def eager_to_split(monkeypatch):
    """Every minibatch of two examples is worth splitting."""
    split_small_minibatches(monkeypatch)


def network(case, **settings):
    return make_network(case, updater="sgd", learning_rate=0.1, **settings)


def batch(case, net, seed=0, n=N):
    """Return features and labels; there are several rows of labels to an example where series become rows."""
    x = make_features(case, seed, n)
    shape = net.output(x).shape
    return x, make_labels(case, shape[1:], seed, shape[0])


def step(net, x, y, features_mask=None, labels_mask=None):
    """Return the score and the gradient."""
    net.set_masks(features_mask, labels_mask)
    net.set_input(x)
    net.set_labels(y)
    nd.random.set_seed(99)
    net.compute_gradient_and_score()
    return net.score(), nd.to_host(net.flattened_gradients()).copy()


def assert_close(found, expected, factor=1.0):
    np.testing.assert_allclose(found[0], expected[0] * factor, **CLOSE)
    np.testing.assert_allclose(found[1], expected[1] * factor, **CLOSE)


def other(values, case):
    """Return other values of the same kind for the examples that do not count."""
    again = make_features(case, 5, N)
    return np.where(COUNTED.reshape(-1, *(1 for _ in values.shape[1:])) > 0, values, again)


# ---- masks


def examples_that_do_not_count_change_nothing(case):
    net = network(case)
    x, y = batch(case, net)
    mask = COUNTED[:, None].astype(float)
    found = step(net, x, y, None, mask)
    if not case.couples:
        assert_close(step(net, other(x, case), y, None, mask), found)
    wrong = y.copy()
    wrong[COUNTED == 0] = np.roll(y, 1, axis=0)[COUNTED == 0]
    assert_close(step(net, x, wrong, None, mask), found)
    assert_those_that_count(case, net, x, y, found)


def assert_those_that_count(case, net, x, y, found, features_mask=None):
    """Compare with the step of the examples that count alone: sums over them, the score divided by all N.

    What draws draws other numbers then; what couples examples, or keeps means of them, sees another minibatch.
    """
    if not (case.draws or case.couples or case.looks_back):
        kept = step(net, x[COUNTED > 0], y[COUNTED > 0], features_mask)
        np.testing.assert_allclose(found[0] * N, kept[0] * COUNTED.sum(), **CLOSE)
        np.testing.assert_allclose(found[1], kept[1], **CLOSE)


def mask_of_examples(x):
    """Return the features' mask ``[N, 1]``, ``[N, T]`` or ``[N, 1, 1, ...]``."""
    if x.ndim == 3:
        return np.repeat(COUNTED[:, None], x.shape[2], 1).astype(float)
    return COUNTED.reshape(-1, *(1 for _ in x.shape[1:])).astype(float)


def hands_on(net, mask):
    """Tell whether the first layer's mask goes on to the next one."""
    return net.get_layer(0).feed_forward_mask(nd.create(mask)) is not None


def a_features_mask_takes_examples_out_of_score_and_gradient(case):
    """Behind what ends a mask the labels need one of their own."""
    net = network(case)
    x, y = batch(case, net)
    mask = mask_of_examples(x)
    assert hands_on(net, mask) != case.ends_masks, f"the row must say ends_masks={not case.ends_masks}"
    pooled = any(isinstance(layer, GlobalPoolingLayer) for layer in case.tail)
    labels_mask = COUNTED[:, None].astype(float) if case.ends_masks or pooled else None
    found = step(net, x, y, mask, labels_mask)
    if not case.couples:
        assert_close(step(net, other(x, case), y, mask, labels_mask), found)
    assert_those_that_count(case, net, x, y, found, mask[COUNTED > 0])


def what_a_layer_silences_sends_no_gradient_back(case):
    """Also where the labels count everywhere: the activations are zeros, whatever the example is."""
    net = network(case)
    x, y = batch(case, net)
    mask = mask_of_examples(x)
    activations = nd.to_host(forward(net.get_layer(0), x, case.draws, mask)[0])
    silenced = len(activations) == N and not activations[COUNTED == 0].any()
    assert silenced == case.silences, f"the row must say silences={silenced}"
    if silenced and case.tail:
        labels_mask = np.ones((N, 1))
        assert_close(step(net, other(x, case), y, mask, labels_mask), step(net, x, y, mask, labels_mask))


MASK_CHECKS = (
    examples_that_do_not_count_change_nothing,
    a_features_mask_takes_examples_out_of_score_and_gradient,
    what_a_layer_silences_sends_no_gradient_back,
)


@some_kinds
@pytest.mark.quick_rows(every=2)
def test_masked_examples(case):
    run_all("checks", {check.__name__: functools.partial(check, case) for check in MASK_CHECKS})


def looks_at_one_place(case):
    """Tell whether an activation depends on one place of the input, so that none beside a masked one sees it."""
    layer = case.layer.innermost
    from_place_to_place = hasattr(layer, "weight_init_recurrent") and not case.silences
    apart = not (case.mixes_places or case.ends_masks or from_place_to_place)
    return len(case.input_type.shape) > 1 and apart and set(getattr(layer, "kernel_size", (1,))) == {1}


@every_row("case", [row for row in ROWS if looks_at_one_place(row.values[0])])
def test_places_that_do_not_count_change_nothing(case):
    """Behind windows, places that count see what lies beside them, as in DL4J."""
    if case.tail:
        case = case._replace(tail=(GlobalPoolingLayer("avg"), OutputLayer(n_out=3, activation="softmax")))
    net, x = network(case), make_features(case, n=N)
    mask = np.ones((N, 1, *x.shape[2:]))
    mask[COUNTED == 0, ..., x.shape[-1] // 2] = 0
    changed = np.where(mask > 0, x, make_features(case, 5, N))
    given = mask[:, 0] if x.ndim == 3 else mask
    shape = net.output(x).shape
    y = make_labels(case, shape[1:], 0, shape[0])
    found = step(net, x, y, given)
    assert_close(step(net, changed, y, given), found)
    if not type(case.layer).__name__.startswith("Cropping"):
        assert step(net, changed, y)[0] != step(net, x, y)[0]  # they would count


@pytest.mark.parametrize("kind", ["max", "avg", "sum", "pnorm"])
@pytest.mark.parametrize(
    "shape", [InputType.recurrent(2, 5), InputType.convolutional(4, 5, 2)], ids=["series", "images"]
)
def test_pooling_sees_only_the_places_that_count(kind, shape):
    out = OutputLayer(n_out=3, activation="softmax")
    case = LayerCase(kind, GlobalPoolingLayer(kind), shape, oracle=None, tail=(out,))
    net, x = network(case), make_features(case, n=N)
    mask = np.ones((N, 1, *x.shape[2:]))
    mask[COUNTED == 0, ..., -2:] = 0
    changed = np.where(mask > 0, x, 10.0 + make_features(case, 5, N))
    given = mask[:, 0] if x.ndim == 3 else mask
    y = make_labels(case, (3,), n=N)
    assert_close(step(net, changed, y, given), step(net, x, y, given))


# ---- parts of a minibatch


@some_kinds
@pytest.mark.quick_rows(every=2)
def test_parts_give_what_the_whole_gives(case, eager_to_split):
    with nd.use_backend(Unrecorded(threads=1)) as whole_backend:
        whole_backend.plan_work = lambda examples, work: nd.WorkPlan(((slice(0, examples),),), False, True)
        net = network(case)
        params = net.params().copy()
        x, y = batch(case, net)
        expected, output = step(net, x, y), net.output(x)
    with nd.use_backend(NumpyBackend(threads=2)):
        net = network(case)
        net.set_params(params)
        for _ in range(2):  # recorded, and from the record
            assert_close(step(net, x, y), expected)
            np.testing.assert_allclose(net.output(x), output, **CLOSE)
        workers = workers_of(net, x.shape)
        may_split = all(layer.may_split(True) and not layer.has_noise for layer in net.layers)
        assert (sum(map(len, workers)) > 1) == may_split, workers
        meet = any(layer.has_to_meet(True) for layer in net.layers)
        assert not (may_split and (case.draws or (case.couples and not meet)))


# ---- recording


@some_kinds
@pytest.mark.quick_rows(every=2)
def test_steps_from_the_record_are_the_steps_themselves(case):
    found = []
    for backend in (NumpyBackend(threads=1), Unrecorded(threads=1)):
        with nd.use_backend(backend):
            net = network(case)
            batches = [DataSet(*batch(case, net, seed)) for seed in range(3)]
            nd.random.set_seed(3)
            net.fit(batches)
            outputs = [net.output(data.features) for data in batches]
            replayed = sum(recorded(net.engine.gradients)) > 0
            found.append((net.params().copy(), *outputs))
        assert replayed == (may_be_recorded(case) and type(backend) is NumpyBackend)
    for mine, plain in zip(*found, strict=True):
        np.testing.assert_array_equal(mine, plain)


def may_be_recorded(case):
    """What decides on values (sparse labels are looked at) or keeps a state of its own is not; what draws is."""
    return not (case.labels == "indices" or case.looks_back)


# ---- layers of a user's own, one of each family


class ShiftedRuntime(LayerRuntime):
    """x + shift."""

    def forward(self, x, params, ctx):
        return nd.add(x, self.conf.shift), None

    def backward(self, epsilon, cache, params, grads, ctx):
        return epsilon if ctx.needs_epsilon else None


@dataclass(frozen=True, kw_only=True)
class Shifted(LayerConf):
    shift: float = 0.5
    runtime: ClassVar = ShiftedRuntime


class ScaledRuntime(LayerRuntime):
    """The activation of x * s."""

    def forward(self, x, params, ctx):
        z = nd.multiply(x, params["s"])
        a = self.activating.value(z, nd.zeros(*z.shape, dtype=self.dtype), ctx.training)
        return a, (x, z, a)

    def backward(self, epsilon, cache, params, grads, ctx):
        x, z, a = cache
        delta = self.activating.backprop(z, a, epsilon)
        nd.assign(grads["s"], nd.sum(nd.multiply(delta, x), 0, True))
        return nd.multiply(delta, params["s"]) if ctx.needs_epsilon else None


@dataclass(frozen=True, kw_only=True)
class Scaled(BaseLayerConf):
    size: int = 5
    runtime: ClassVar = ScaledRuntime

    def param_specs(self):
        return (ParamSpec("s", (1, self.size), fan_in=self.size, fan_out=self.size),)


@dataclass(frozen=True, kw_only=True)
class WithoutBias(FeedForwardConf):
    """A dense layer without bias."""

    has_bias: bool = False
    runtime: ClassVar = DenseRuntime

    def param_specs(self):
        return self.matrix_specs(has_bias=False)


@dataclass(frozen=True, kw_only=True)
class MyDense(DenseLayer):
    note: str = "mine"


@dataclass(frozen=True, kw_only=True)
class MyOutput(OutputLayer):
    note: str = "mine"


LAST = OutputLayer(n_out=3, activation="softmax")
OWN = {
    "LayerConf": (Shifted(shift=0.25), LAST),
    "BaseLayerConf": (Scaled(activation="tanh"), LAST),
    "FeedForwardConf": (WithoutBias(n_out=4, activation="tanh"), LAST),
    "DenseLayer": (MyDense(n_out=4, activation="tanh", note="first"), LAST),
    "OutputLayer": (MyOutput(n_out=3, activation="softmax", note="last"),),
}


@pytest.fixture
def registered():
    with contextlib.ExitStack() as stack:
        for layer_class in (Shifted, Scaled, WithoutBias, MyDense, MyOutput):
            register(layer_class)
            stack.callback(unregister, layer_class)
        yield


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("family", OWN)
@pytest.mark.quick_rows(2)
def test_a_layer_of_ones_own_has_the_gradients_of_its_formula_learns_and_is_saved(family, backend, tmp_path):
    conf = NeuralNetConfiguration(seed=7, dtype="float64", updater=Sgd(0.2), bias_init=0.1)
    net = MultiLayerNetwork(conf.list(DenseLayer(n_out=5, activation="tanh"), *OWN[family], input_type=ROWS_IN)).init()
    rng = np.random.default_rng(6)
    y = np.eye(3)[np.arange(N) % 3]
    x = rng.normal(size=(N, 4)) + 2.0 * y @ rng.normal(size=(3, 4))
    net.set_input(nd.create(x))
    net.set_labels(nd.create(y))

    def summed_loss():
        net.compute_gradient_and_score()
        return net.score() * N

    summed_loss()
    gradients = {key: nd.copy(g) for key, g in net.gradient().gradient_for_variable().items()}
    for key, view in net.param_table().items():
        check_derivative(summed_loss, view, gradients[key], 3)
    before = net.score()
    net.fit([DataSet(x, y)], epochs=30)
    assert net.score() < 0.5 * before
    net.save(tmp_path / "net.zip")
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    assert again.conf.layers == net.conf.layers
    np.testing.assert_array_equal(nd.to_host(again.output(x)), nd.to_host(net.output(x)))
