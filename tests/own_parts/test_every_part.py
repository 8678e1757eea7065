"""A layer, an activation, a loss and an updater of one's own: short, and all that the library's parts are."""

import ast
import inspect
import pathlib
from typing import NamedTuple

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.activations import ACTIVATIONS, Activation
from nd.dataset import DataSet
from nd.losses import LOSSES, Loss
from nn import DenseLayer, InputType, MultiLayerConfiguration, MultiLayerNetwork, NeuralNetConfiguration, RnnOutputLayer
from nn.conf.parts import registered
from nn.step.propagation import Propagation
from optimize import Adam, NetworkUpdater, Segment, network_updater
from optimize.step import negative_gradient_step
from tests.layers_at_work import backprop, forward
from tests.nn.layers.test_every_layer import check_derivative
from tests.own_parts.activation import Bump
from tests.own_parts.layer import GainLayer, GainRuntime
from tests.own_parts.loss import PseudoHuber
from tests.own_parts.updater import SignOfMeans
from tests.stand_ins import TOLERANCE, as_input
from tests.step_plans import recorded, recorded_updates, split_small_minibatches, workers_of
from tests.updates import run_update

FOLDER = pathlib.Path(__file__).parent
FILES = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith(("__", "test_")))
MOST_LINES = 30
PUBLIC = {"dataclasses", "nd", "nd.activations", "nd.losses", "nn", "optimize"}
N, T = 8, 6
RNG = np.random.default_rng(12)
COUNTS = np.arange(T) < RNG.integers(2, T + 1, (N, 1))  # [N, T], what lies behind the end of a series does not
assert not COUNTS.all()
CLOSE = {"rtol": 1e-9, "atol": 1e-11}


class Own(NamedTuple):
    """A part of one's own in a network over series, and those of its methods that a step calls."""

    part: type
    hidden: object = DenseLayer(n_out=5, activation="tanh")
    last: object = RnnOutputLayer(n_out=2, loss="mse", activation="tanh")
    updater: object = Adam(0.02)
    methods: tuple = ()
    runs: type | None = None

    def conf(self, dtype="float64"):
        base = NeuralNetConfiguration(seed=4, dtype=dtype, updater=self.updater, l2=1e-3, bias_init=0.1)
        return base.list(self.hidden, self.last, input_type=InputType.recurrent(3))

    def network(self):
        return MultiLayerNetwork(self.conf()).init()


PARTS = {
    "layer": Own(
        GainLayer, hidden=GainLayer(n_out=5, activation="tanh", gain=1.5), methods=("forward", "backward"),
        runs=GainRuntime,
    ),
    "activation": Own(Bump, hidden=DenseLayer(n_out=5, activation=Bump(width=1.5)), methods=("value", "slope")),
    "loss": Own(
        PseudoHuber, last=RnnOutputLayer(n_out=2, loss=PseudoHuber(d=0.5), activation="tanh"),
        methods=("terms", "slope"),
    ),
    "updater": Own(SignOfMeans, updater=SignOfMeans(0.01, beta1=0.8), methods=("apply",)),
}  # fmt: skip
every_part = pytest.mark.parametrize("own", PARTS.values(), ids=PARTS)


def batch(seed=0, masked=True):
    rng = np.random.default_rng([3, seed])
    x, y = rng.normal(size=(N, 3, T)), np.tanh(rng.normal(size=(N, 2, T)))
    return DataSet(x, y, COUNTS.astype(float), COUNTS.astype(float)) if masked else DataSet(x, y)


def step(net, data, to=lambda array: array):
    """Return the score and the gradient."""
    net.set_input(to(data.features))
    net.set_labels(to(data.labels))
    net.set_masks(*(None if mask is None else to(mask) for mask in (data.features_mask, data.labels_mask)))
    net.compute_gradient_and_score()
    return net.score(), nd.to_host(nd.copy(net.flattened_gradients()))


def trained(own, batches=5):
    net = own.network()
    for seed in range(batches):
        net.fit_batch(batch(seed))
    return net


def everything(net):
    return tuple(np.array(nd.to_host(vector)) for vector in (net.params(), net.updater_state()))


def assert_same(found, expected):
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, other)


# ---- short, and by public names


def test_there_is_a_file_for_each():
    assert [path.stem for path in FILES] == sorted(PARTS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_part_takes_at_most_30_lines(path):
    """All of them, but for the docstring of the file."""
    text = path.read_text()
    docstring = ast.parse(text).body[0]
    assert isinstance(docstring, ast.Expr)
    lines = len(text.splitlines()) - docstring.end_lineno
    assert lines <= MOST_LINES, f"{path.name}: {lines} lines"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_is_written_in_public_names(path):
    nodes = [*ast.walk(ast.parse(path.read_text()))]
    names = [node.attr for node in nodes if isinstance(node, ast.Attribute)]
    names += [node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.alias))]
    assert [name for name in names if name.startswith("_")] == []
    modules = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    assert modules <= PUBLIC
    import nn

    assert all(alias.name in nn.__all__ for n in nodes if getattr(n, "module", "") == "nn" for alias in n.names)


# ---- registered and written


@every_part
def test_it_is_registered_and_written_with_its_fields(own):
    kind = next(name for name, each in PARTS.items() if each is own)
    assert registered(kind, own.part).java_class == f"tests.own_parts.{kind}.{own.part.__name__}"
    text = own.conf().to_json()
    again = MultiLayerConfiguration.from_json(text)
    assert own.part.__name__ in text
    assert again.layers == own.conf().layers
    assert again.to_json() == text


@every_part
def test_a_zip_has_it_and_training_goes_on_the_same(own, backend, tmp_path):
    net = trained(own)
    net.save(tmp_path / "net.zip")
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    assert again.conf.layers == net.conf.layers
    x = batch(9).features
    assert_same([nd.to_host(again.output(x))], [nd.to_host(net.output(x))])
    for each in (net, again):
        for seed in (5, 6):
            each.fit_batch(batch(seed))
    assert_same(everything(again), everything(net))


# ---- right


@every_part
@pytest.mark.parametrize("masked", [False, True], ids=["all count", "masked"])
@pytest.mark.quick_rows(every=2)
def test_gradients_are_derivatives_of_the_score(own, masked, backend):
    net, data = own.network(), batch(masked=masked)
    samples = 4 if backend.name != "strict" else 1
    step(net, data, lambda array: as_input(backend, array))

    def summed_loss():
        net.compute_gradient_and_score()
        return net.score() * N

    summed_loss()
    for key, gradient in {key: nd.copy(g) for key, g in net.gradient().gradient_for_variable().items()}.items():
        penalty = 0.0 if key.endswith("b") else 1e-3 * net.get_param(key) * N  # which the updater adds
        check_derivative(summed_loss, net.get_param(key), gradient + penalty, samples)


def test_the_layer_is_its_formula(backend):
    net = PARTS["layer"].network()
    p = {name: nd.to_host(view) for name, view in net.get_layer(0).params.items()}
    assert list(p) == ["W", "b", "g"]
    assert (p["g"] == 1.5).all()
    assert len(np.unique(p["W"])) == p["W"].size  # drawn
    x = RNG.normal(size=(N, 3))
    expected = p["g"] * np.tanh(x @ p["W"] + p["b"])
    found = net.get_layer(0).activate(as_input(backend, x))
    np.testing.assert_allclose(nd.to_host(found), expected, **TOLERANCE["float64"])
    z = net.get_layer(0).pre_output(as_input(backend, x))
    assert z.shape == (N, 5)


def test_the_updater_is_its_formula(backend):
    params, gradient, m = nd.zeros(1, 7, dtype="float64"), nd.zeros(1, 7, dtype="float64"), np.zeros(7)
    updater = NetworkUpdater([Segment(0, 7, SignOfMeans(0.1, beta1=0.5, beta2=0.75))], params, gradient)
    expected = np.zeros(7)
    for iteration in range(4):
        g = np.random.default_rng(iteration).normal(size=7)
        nd.assign(gradient, as_input(backend, g[None]))
        run_update(updater, None, iteration, 0, negative_gradient_step)
        expected -= 0.1 * np.sign(0.5 * m + 0.5 * g)
        m = 0.75 * m + 0.25 * g
        np.testing.assert_allclose(nd.to_host(params)[0], expected, **TOLERANCE["float64"])
    np.testing.assert_allclose(nd.to_host(updater.state)[0], m, **TOLERANCE["float64"])


@every_part
def test_it_learns(own):
    net, data = own.network(), batch()
    before = net.score(data)
    net.fit([data], epochs=60)
    assert net.score(data) < 0.7 * before


# ---- masked


@every_part
def test_what_lies_behind_the_mask_changes_nothing(own, backend):
    def to(array):
        return as_input(backend, array)

    net, data = own.network(), batch()
    score, gradient = step(net, data, to)
    counts = COUNTS[:, None]
    x, y = (np.where(counts, array, 3.0 + array[::-1]) for array in (data.features, data.labels))
    changed = DataSet(x, y, data.features_mask, data.labels_mask)
    again = step(net, changed, to)
    assert again[0] == score
    np.testing.assert_array_equal(again[1], gradient)
    assert step(net, DataSet(x, y), to)[0] != step(net, DataSet(data.features, data.labels), to)[0]  # it would count
    nets = own.network(), own.network()
    for each, given in zip(nets, (data, changed), strict=True):
        each.fit_batch(given)
    assert_same(*(everything(each) for each in nets))


def test_the_layer_silences_what_the_mask_takes_out(backend):
    """Also where no loss is masked: what pools it, say, sees zeros, and no gradient goes back."""
    net, rows = PARTS["layer"].network(), RNG.normal(size=(N, 3))
    mask = COUNTS[:, -1:].astype(float)
    a = nd.to_host(net.get_layer(0).activate(as_input(backend, rows), True, as_input(backend, mask)))
    assert (a[mask[:, 0] == 0] == 0).all()
    assert (a[mask[:, 0] == 1] != 0).all()
    _, kept = forward(net.get_layer(0), as_input(backend, rows), True, as_input(backend, mask))
    epsilon = nd.to_host(backprop(net.get_layer(0), nd.ones(N, 5, dtype="float64"), kept))
    assert (epsilon[mask[:, 0] == 0] == 0).all()


@pytest.mark.parametrize(("base", "table"), [(Activation, ACTIVATIONS), (Loss, LOSSES)])
def test_the_librarys_parts_override_what_users_may(base, table):
    """And compute with what users compute with: functions of nd, not of a backend."""
    for part in table.values():
        inner = [name for name in vars(part) if name[0] == "_" and name[:2] != "__" and hasattr(base, name)]
        assert inner == [], part
        module = ast.parse(pathlib.Path(inspect.getfile(part)).read_text())
        assert "nd.state" not in {node.module for node in ast.walk(module) if isinstance(node, ast.ImportFrom)}, part


# ---- recorded, split, and neither


@every_part
def test_the_second_step_replays_the_first(own, monkeypatch):
    """Not a line of the part runs any more, nor of what calls it; and the numbers are those of the layers' own code."""
    calls = []
    for name in own.methods:
        owner, real = own.runs or own.part, getattr(own.runs or own.part, name)
        monkeypatch.setattr(owner, name, lambda *a, real=real, name=name, **k: calls.append(name) or real(*a, **k))
    with nd.use_backend(NumpyBackend(threads=1)):
        net = own.network()
        net.fit_batch(batch(0))
        assert set(calls) == set(own.methods)
        assert recorded(net.engine.gradients) == [1]
        assert recorded_updates(net.updater) == [1]
        calls.clear()
        monkeypatch.setattr(Propagation, "forward", lambda *_, **__: pytest.fail("computed layer by layer"))
        monkeypatch.setattr(network_updater, "update_chunk", lambda *_: pytest.fail("updated chunk by chunk"))
        for seed in range(1, 5):
            net.fit_batch(batch(seed))
        assert calls == []
        monkeypatch.undo()
        with nd.eager():
            expected = trained(own)
    assert_same(everything(net), everything(expected))


@every_part
def test_two_workers_share_a_step(own, monkeypatch):
    with nd.use_backend(NumpyBackend(threads=1)):
        expected = everything(trained(own))
    split_small_minibatches(monkeypatch)
    with nd.use_backend(NumpyBackend(threads=2)) as two:
        two.worker_elements = 4
        net = trained(own)
    shape = batch().features.shape
    workers = workers_of(net, shape)
    assert len(workers) == 2
    assert sum(part.stop - part.start for parts in workers for part in parts) == N
    assert recorded(net.engine.gradients) == [1, 1]
    assert recorded_updates(net.updater) == [1, 1]
    for mine, whole in zip(everything(net), expected, strict=True):
        np.testing.assert_allclose(mine, whole, **CLOSE)


@every_part
def test_eager_mode_gives_the_same_numbers(own, backend):
    expected = trained(own)
    with nd.eager():
        found = trained(own)
    tolerance = {"rtol": 0.0, "atol": 0.0} if backend.name != "cupy" else CLOSE  # whose graphs sum in another order
    for mine, other in zip(everything(found), everything(expected), strict=True):
        np.testing.assert_allclose(mine, other, **tolerance)
