"""Backends on the arrays of other libraries: how they are named, what they need, and what they are refused for."""

import pickle
import types

import array_api_strict
import numpy as np
import pytest

import nd
from backends import get_backend, selector_of
from backends.array_api import NEEDED, OPERATORS, ArrayApiBackend
from backends.base import Backend
from backends.cpu.numpy_backend import NumpyBackend
from backends.errors import BackendError, ChoiceError
from backends.needed import Needed
from backends.powers import Powers
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


# ---- what is needed, and what is not


@pytest.mark.parametrize("name", sorted(NEEDED))
def test_without_a_function_that_is_needed(name):
    said = rf"reduced: the namespace must have '{name}' \(tier: needed\), of which the primitive '{NEEDED[name]}' is"
    with pytest.raises(BackendError, match=said):
        ArrayApiBackend(without(name))


@pytest.mark.parametrize("name", [name.partition(".")[0] for name in OPERATORS])
def test_without_an_operator_everything_runs(name):
    reduced = ArrayApiBackend(without(name))
    missing = "linalg.svd" if name == "linalg" else name
    assert reduced.describe()["on the host"] == f"{missing}: the namespace has none"
    np.testing.assert_allclose(trained(reduced), trained("numpy"), rtol=2e-4, atol=2e-6)
    with nd.use_backend(reduced):
        x = nd.create([[3.0, 1.0], [1.0, -2.0]])
        u, s, v = nd.svd(x)
        np.testing.assert_allclose(nd.to_host(nd.gemm(nd.multiply(u, s), v)), nd.to_host(x), atol=1e-5)
        assert nd.to_host(nd.argmax(x, 1)).tolist() == [0, 0]
        np.testing.assert_allclose(nd.to_host(reduced.cos(x)), np.cos(nd.to_host(x)), atol=1e-6)
        assert nd.to_host(nd.sign(x)).tolist() == [[1, 1], [1, -1]]


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
        dtypes = {name: getattr(np, name) for name in nd.checks.DTYPES} if hasattr(nd.checks, "DTYPES") else {}
        dtypes = dtypes or {name: np.dtype(name).type for name in ("float32", "float64", "int32", "int64", "uint8")}
        dtypes |= {"uint32": np.uint32, "uint64": np.uint64, "bool": np.bool_}
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
def test_every_operator_has_a_body_that_will_do(name):
    names = [name, *(back for back in (f"{name}_backward", f"{name}_back") if hasattr(Backend, back))]  # which need it
    if name.endswith(("_backward", "_back")):
        names.append(name.removesuffix("ward").removesuffix("_back"))
    reduced = type("Reduced", (NumpyBackend,), {each: getattr(Backend, each) for each in names})()
    with nd.eager():
        np.testing.assert_allclose(trained(reduced), trained("numpy"), rtol=2e-4, atol=2e-6)
