import shutil
import sys

import pytest

from tests.fake_cupy import make_cupy, make_namespace
from tests.stand_ins import make_backend

CUPY_ON_CPU = "cupy on the cpu"
BACKENDS = ("numpy-readonly", "strict", CUPY_ON_CPU)  # the first is NumPy's, and sees to it that inputs are only read


def pytest_generate_tests(metafunc):
    if "any_backend" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--backend")
        metafunc.parametrize("any_backend", [chosen] if chosen else BACKENDS, indirect=True)


@pytest.fixture
def any_backend(request):
    """As `backend`, with CupyBackend on the stand-in for CuPy too; not made the current one."""
    return request.getfixturevalue("device") if request.param == CUPY_ON_CPU else make_backend(request.param)


@pytest.fixture(scope="session")
def kernel_folder(tmp_path_factory):
    """Where g++ puts the kernels, compiled once per session."""
    if shutil.which("g++") is None:
        pytest.skip("the kernels cannot run on the CPU: g++ is not installed")
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture
def fake_cupy(kernel_folder, monkeypatch):
    """`import cupy` gives the stand-in for the length of the test."""
    cupy = make_cupy(kernel_folder)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "array_api_compat.cupy", make_namespace(cupy))
    return cupy


@pytest.fixture
def device(fake_cupy):
    """A CupyBackend on the stand-in."""
    from backends.cupy_backend import CupyBackend

    return CupyBackend()
