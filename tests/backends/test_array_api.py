"""Backends on the arrays of other libraries: how they are named, what they need, and what they are refused for."""

import functools
import operator
import pickle
import types

import array_api_strict
import numpy as np
import pytest

import nd
from backends import get_backend, owner_of, selector_of
from backends.array_api import NEEDED, OPERATORS, ArrayApiBackend
from backends.base import DTYPES, Backend
from backends.cpu.numpy_backend import NumpyBackend
from backends.errors import BackendError, ChoiceError
from backends.needed import Needed
from backends.powers import Powers
from nd.arrays import standard
from nn import (
    BatchNormalization,
    ConvolutionLayer,
    DenseLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from optimize import Adam
from tests.cells import every_row
from tests.stand_ins import StrictBackend, make_backend

STRICT = "array_api:array_api_strict"
RNG = np.random.default_rng(3)
X, Y = RNG.random((6, 64), np.float32), np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 6)]


def network():
    layers = (
        ConvolutionLayer(n_out=3, kernel_size=3, activation="relu"),
        BatchNormalization(),
        SubsamplingLayer("max", kernel_size=3, stride=3),
        DenseLayer(n_out=5, activation="tanh", drop_out=0.8),
        OutputLayer(n_out=3, activation="softmax"),
    )
    conf = NeuralNetConfiguration(seed=7, updater=Adam(0.01), l2=1e-3).list(
        *layers, input_type=InputType.convolutional_flat(8, 8, 1)
    )
    return MultiLayerNetwork(conf).init()


def trained(backend):
    with nd.use_backend(backend):
        net = network()
        net.fit(X, Y, epochs=3)
        return nd.to_host(net.params())


def without(*names, **others):
    """Return a namespace like array_api_strict's that has no functions of these names."""
    there = {**vars(array_api_strict), "linalg": array_api_strict.linalg}
    kept = {name: value for name, value in there.items() if name not in names}
    return types.SimpleNamespace(**{**kept, "__name__": "reduced", **others})


# ---- names


def test_a_backend_has_one_instance_for_each_device(monkeypatch):
    first = get_backend(STRICT)
    assert get_backend(STRICT) is first
    monkeypatch.setenv("ND_DEVICE", "device1")
    other = get_backend(STRICT)
    assert other is not first
    assert "device1" in other.describe()["device"]
    assert np.all(other.to_host(other.full((2, 2), 3.0, "float32")) == 3.0)


def test_the_environment_names_a_library_a_class_and_a_device(monkeypatch):
    monkeypatch.setenv("ND_BACKEND", STRICT)
    assert get_backend().name == STRICT
    monkeypatch.setenv("ND_BACKEND", "tests.stand_ins:StrictBackend")
    assert type(get_backend()) is StrictBackend
    monkeypatch.setenv("ND_BACKEND", "numpy")
    monkeypatch.setenv("ND_DEVICE", "cuda:1")
    with pytest.raises(
        BackendError, match=r"ND_DEVICE: NumPy computes on the host, got 'cuda:1' beside ND_BACKEND=num"
    ):
        get_backend()
    assert get_backend("numpy").name == "numpy"  # in a program the host's is at hand whatever the environment says
    monkeypatch.setenv("ND_DEVICE", "cpu")
    monkeypatch.setenv("ND_BACKEND", "auto")
    assert get_backend().name == "numpy"


@pytest.mark.parametrize("select", [nd.use_backend, nd.set_backend, get_backend])
def test_wrong_names_say_what_is_wrong(select):
    for name, kind, said in (
        ("array_api:no_such_library", BackendError, "'no_such_library' must be installed"),
        ("array_api:math", BackendError, "'math' must be a namespace of the array API"),
        ("no_such_module:Class", BackendError, "the module 'no_such_module' must be importable"),
        ("tests.stand_ins:NoSuch", BackendError, "got nothing of that name"),
        ("tests.stand_ins:as_input", BackendError, "must be a class of backends.Backend.*got function"),
        ("tests.backends.test_array_api:Demanding", BackendError, "must be made without arguments, got .*size"),
        ("cuda:1", ChoiceError, "got the device 'cuda:1'. Set ND_DEVICE=cuda:1"),
    ):
        with pytest.raises(kind, match=said):
            select(name)


class Demanding(StrictBackend):
    """Cannot be made by its name."""

    def __init__(self, size):
        super().__init__()


def test_a_device_that_a_library_has_not():
    with pytest.raises(BackendError, match=r"the device must be one of the library's, got 'cuda:1' .*it has .*device1"):
        ArrayApiBackend("array_api_strict", "cuda:1")


def test_a_class_is_given_the_device(monkeypatch):
    monkeypatch.setenv("ND_DEVICE", "left")
    assert get_backend("tests.backends.test_array_api:OnSides").side == "left"
    with pytest.raises(BackendError, match=r"must be made without arguments.*ND_DEVICE is given to it as device"):
        get_backend("tests.stand_ins:StrictBackend")


class OnSides(StrictBackend):
    """Has devices of its own."""

    def __init__(self, device="right"):
        super().__init__()
        self.side = device


@pytest.mark.parametrize(
    ("backend", "selector"),
    [("numpy", "numpy"), (STRICT, STRICT), (StrictBackend(), "tests.stand_ins:StrictBackend")],
    ids=str,
)
def test_the_name_that_finds_a_backend_again(backend, selector):
    with nd.use_backend(backend) as chosen:
        assert selector_of(chosen) == selector
        assert type(get_backend(selector)) is type(chosen)


def test_who_owns_an_array():
    """Also of a backend that was made by its class, for a second device of a program; one is kept for each device."""
    own = ArrayApiBackend("array_api_strict", "device2")
    array = own.full((2,), 1.0, "float32")
    assert owner_of(array) is own
    assert getattr(owner_of(np.ones(2)), "name", "array_api:numpy") == "array_api:numpy"  # which others may have made
    again = ArrayApiBackend("array_api_strict", "device2")
    assert owner_of(array) is again


def test_functions_of_nd_are_among_the_operators():
    made = {name: getattr(value, "__name__", "") for name, value in vars(standard).items()}
    functions = {given for name, given in made.items() if given in (name, f"linalg.{name}")}
    assert "linalg.cross" in functions
    assert functions - {"Any", "Callable", "function"} <= {*OPERATORS, *NEEDED}


# ---- what is needed, and what is not


@pytest.mark.parametrize("name", sorted(NEEDED))
def test_without_a_function_that_is_needed(name):
    said = rf"reduced: the namespace must have '{name}' \(tier: needed\), of which the primitive '{NEEDED[name]}' is"
    with pytest.raises(BackendError, match=said):
        ArrayApiBackend(without(name))


A, B = np.array([[3.0, 1.5, -0.5], [1.0, -2.0, 0.25]], np.float32), np.array([[2, 0], [1, 1], [0, 2]], np.float32)


@functools.cache
def trained_by_numpy():
    return trained("numpy")


CALLS = {
    "linalg.cross": lambda f, a, b: f(a, a[::1, ...]), "linalg.diagonal": lambda f, a, b: f(a),
    "linalg.svd": lambda f, a, b: f(a, full_matrices=False)[1],
    "argmax": lambda f, a, b: f(a, axis=1), "argmin": lambda f, a, b: f(a, axis=1),
    "atan2": lambda f, a, b: f(a, a + 1.0), "cumulative_sum": lambda f, a, b: f(a, axis=1, dtype=a.dtype),
    "flip": lambda f, a, b: f(a, axis=-1),
    "maximum": lambda f, a, b: f(a, a * a), "minimum": lambda f, a, b: f(a, a * a),
    "meshgrid": lambda f, a, b: f(a[0, ...], b[:, 0])[1], "prod": lambda f, a, b: f(a, axis=0, dtype=a.dtype),
    "log1p": lambda f, a, b: f(a * a), "sqrt": lambda f, a, b: f(a * a),
    "tensordot": lambda f, a, b: f(a, b, axes=((1,), (0,))), "tile": lambda f, a, b: f(a, (2, 1)),
    "tril": lambda f, a, b: f(a, k=-1), "triu": lambda f, a, b: f(a, k=1),
    "mean": lambda f, a, b: f(a, axis=0, keepdims=True), "min": lambda f, a, b: f(a, axis=0),
}  # fmt: skip
"""Operator -> a call of it, of those that take something else than one array."""


@pytest.mark.parametrize("name", [name for name in OPERATORS if name != "take"])
@pytest.mark.quick_rows(every=4)
def test_without_an_operator_everything_runs(name):
    whole, _, part = name.rpartition(".")
    reduced = ArrayApiBackend(without(whole or part))
    assert name in reduced.describe()["on the host"]
    np.testing.assert_allclose(trained(reduced), trained_by_numpy(), rtol=2e-4, atol=2e-6)
    call = CALLS.get(name, lambda f, a, b: f(a))
    expected = call(operator.attrgetter(name)(np), A, B)
    with nd.use_backend(reduced):
        found = nd.to_host(call(standard.function(name), nd.create(A), nd.create(B)))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert found.shape == np.shape(expected)


def test_without_take_rows_are_pulled():
    with nd.use_backend(ArrayApiBackend(without("take"))):
        rows = nd.pull_rows(nd.create(A), nd.create([1, 0], dtype="int64"))
        assert nd.to_host(rows).tolist() == A[[1, 0]].tolist()


def test_a_device_without_float64_draws_the_same_weights_and_trains():
    with nd.use_backend(ArrayApiBackend("array_api_strict", "no_float64")) as backend:
        net = network()
        np.testing.assert_array_equal(backend.to_host(net.params()), start())
    np.testing.assert_allclose(trained(backend), trained("numpy"), rtol=2e-4, atol=2e-6)


def start():
    with nd.use_backend("numpy"):
        return network().params()


def test_a_namespace_may_lack_types():
    reduced = ArrayApiBackend(without("uint64", "uint32"))
    np.testing.assert_allclose(trained(reduced), trained("numpy"), rtol=2e-4, atol=2e-6)
    with pytest.raises(nd.DTypeError, match=r"expected one of float32, .*uint8, bool, got 'uint64'"):
        reduced.dtype("uint64")


class Unchanging:
    """Arrays that cannot be written, as JAX's, or whose views are copies, as dask's."""

    def __init__(self, views_are_copies):
        self._views_are_copies = views_are_copies

    def namespace(self):
        def asarray(data, dtype=None, device=None, copy=None):
            array = np.array(data, dtype=dtype)
            array.flags.writeable = self._views_are_copies
            return array

        def reshape(x, shape, copy=None):
            return np.reshape(x, shape, copy=self._views_are_copies or None)

        names = ("arange", "concat", "empty", "exp", "log", "matmul", "max", "permute_dims", "sum", "where", "astype")
        kept = {name: getattr(np, name) for name in names}
        dtypes = {name: np.dtype(name).type for name in DTYPES}
        return types.SimpleNamespace(__name__="unchanging", asarray=asarray, reshape=reshape, **kept, **dtypes)


@pytest.mark.parametrize(
    ("views_are_copies", "said"), [(False, "read-only"), (True, "a write into a view did not reach the array")]
)
def test_a_library_without_writes_in_place_is_refused_with_that_reason(views_are_copies, said):
    with pytest.raises(BackendError, match=rf"unchanging: arrays must be written in place, .*{said}.*JAX's and dask's"):
        ArrayApiBackend(Unchanging(views_are_copies).namespace())


# ---- networks


def test_a_network_says_where_it_lies_and_a_copy_lies_there_too():
    with nd.use_backend("numpy"):
        fresh = MultiLayerNetwork(network().conf)
        with pytest.raises(nd.ConfigurationError, match=r"init\(\) must come first"):
            fresh.backend
        with nd.use_backend(STRICT):
            net = network()
        assert net.backend.name == net.clone().backend.name == STRICT
        with pytest.raises(AttributeError, match="backend"):
            net.backend = "numpy"


def test_a_pickle_comes_back_on_its_backend_or_on_that_of_the_block():
    with nd.use_backend(STRICT):
        net = network()
    written = pickle.dumps(net)
    net = pickle.loads(written)
    assert net.backend.name == STRICT
    with nd.use_backend("numpy"):
        assert pickle.loads(written).backend.name == "numpy"
    with nd.use_backend(make_backend("strict")):
        own = network()
    assert type(pickle.loads(pickle.dumps(own)).backend) is StrictBackend


def test_a_pickle_names_a_backend_that_is_not_there(monkeypatch):
    with nd.use_backend(STRICT):
        written = pickle.dumps(network())
    written = written.replace(STRICT.encode(), b"array_api:array_api_absent")
    with pytest.raises(
        BackendError, match=r"the network was on the backend 'array_api:array_api_absent', .*in a block"
    ):
        pickle.loads(written)
    with nd.use_backend("numpy"):
        assert pickle.loads(written).num_params() == network().num_params()


def test_a_file_comes_onto_the_current_backend(tmp_path):
    with nd.use_backend(STRICT):
        net = network()
        net.save(tmp_path / "model.zip")
    with nd.use_backend("numpy"):
        assert MultiLayerNetwork.load(tmp_path / "model.zip").backend.name == "numpy"


# ---- operators of our own backends


def operators_of(kind):
    """Return the operators for which a backend has something better than their bodies."""
    own = {name for base in kind.__mro__ if base not in Backend.__mro__ for name in vars(base)}
    tiers = {*vars(Needed), *vars(Powers)}
    return sorted(name for name in own & set(dir(Backend)) - tiers if not name.startswith("_"))


@every_row("name", operators_of(NumpyBackend))
@pytest.mark.slow
def test_every_operator_has_a_body_that_will_do(name):
    names = [name, *(back for back in (f"{name}_backward", f"{name}_back") if hasattr(Backend, back))]  # which need it
    if name.endswith(("_backward", "_back")):
        names.append(name.removesuffix("ward").removesuffix("_back"))
    reduced = type("Reduced", (NumpyBackend,), {each: getattr(Backend, each) for each in names})()
    with nd.eager():
        np.testing.assert_allclose(trained(reduced), trained_by_numpy(), rtol=2e-4, atol=2e-6)


class Doubling(NumpyBackend):
    """Does one product its own way."""

    def matmul(self, a, b, out=None):
        return np.multiply(super().matmul(a, b, out), 2.0, out)


def test_what_a_class_from_numpys_does_its_own_way_is_what_networks_do():
    own = Doubling()
    with nd.use_backend(own):
        net = network()
        outputs = [nd.to_host(net.output(X)) for _ in range(3)]  # the last ones are replayed
        with nd.eager():
            np.testing.assert_array_equal(nd.to_host(net.output(X)), outputs[0])
    np.testing.assert_array_equal(outputs[2], outputs[0])
    with nd.use_backend("numpy"):
        plain = network()
        assert not np.allclose(nd.to_host(plain.output(X)), outputs[0])


# ---- the guard


def test_a_scalar_of_numpys_is_a_number_and_teaches_the_guard_nothing():
    host = np.ones((2, 2), np.float32)
    for backend in ("numpy", STRICT, make_backend("strict")):
        with nd.use_backend(backend):
            for number in (np.float32(2.0), np.float64(2.0), np.array(2.0, np.float32)):
                assert nd.to_host(nd.maximum(nd.ones(2, 2), number)).tolist() == [[2.0, 2.0], [2.0, 2.0]]
                assert nd.to_host(nd.multiply(nd.ones(2, 2), y=number)).tolist() == [[2.0, 2.0], [2.0, 2.0]]
                nd.assign(nd.ones(2, 2), number)
            if not nd.is_array(host):
                for call, given in ((nd.exp, host), (nd.exp, [host]), (nd.sum, (host, host)), (nd.absolute, host)):
                    with pytest.raises(BackendError, match=r"got an array of 'numpy'"):
                        call(given)


def test_generators_of_arrays_are_looked_into():
    foreign = make_backend("strict").full((2, 2), 1.0, "float32")
    with nd.use_backend("numpy"), pytest.raises(BackendError, match=r"concat: .* 'array_api_strict"):
        nd.concat(one for one in (nd.ones(2, 2), foreign))


def test_an_array_of_another_device_is_named_by_it():
    there = ArrayApiBackend("array_api_strict", "device1").full((2,), 1.0, "float32")
    with nd.use_backend(STRICT), pytest.raises(BackendError, match=r"'array_api_strict\..*on the device .*device1"):
        nd.add(nd.ones(2), there)
