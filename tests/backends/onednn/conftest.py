import os

import pytest

from backends.cpu.numpy_backend import NumpyBackend
from backends.onednn.library import library
from backends.onednn.primitive import Primitive


@pytest.fixture(autouse=True)
def wanted(monkeypatch):
    """Backends that are made here use oneDNN."""
    if os.environ.get("ND_ONEDNN") == "0":
        monkeypatch.setenv("ND_ONEDNN", "1")


@pytest.fixture(autouse=True, scope="session")
def onednn():
    """The library; what tests of it would test is not there without."""
    if library() is None:
        pytest.skip("no libdnnl is found: pip install onednn-cpu-gomp")
    return library()


@pytest.fixture
def accelerated():
    """A NumpyBackend of one thread with oneDNN."""
    backend = NumpyBackend(1)
    assert backend.onednn is not None
    return backend


@pytest.fixture
def unaided():
    """A NumpyBackend of one thread without oneDNN."""
    backend = NumpyBackend(1)
    backend.onednn = None
    return backend


@pytest.fixture
def ran(monkeypatch, onednn):
    """Names of the primitives that are called from now on."""
    names, bound, sgemm = [], Primitive.bound, onednn.sgemm

    def noted(kernel, arrays):
        names.append(kernel.name)
        return bound(kernel, arrays)

    def multiplied(*arguments):
        names.append("sgemm")
        return sgemm(*arguments)

    monkeypatch.setattr(Primitive, "bound", noted)
    monkeypatch.setattr(onednn, "sgemm", multiplied)
    return names
