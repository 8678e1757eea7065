"""Which backend is chosen, and what is said when one cannot be."""

import os
import subprocess
import sys
import threading

import pytest

import backends
import nd
from backends import get_backend
from backends.cpu.numpy_backend import NumpyBackend
from backends.errors import BackendError, ChoiceError
from nd.state import state
from tests.stand_ins import DIAGNOSIS, StrictBackend

NO_DEVICE = {"CUDA_VISIBLE_DEVICES": "-1", "HOST_CUDA_DEVICES": "0"}
"""What a program is told that is to find none, on a machine with a device or on the host CUDA."""


@pytest.fixture
def without_cupy(monkeypatch):
    """As on a machine where CuPy is not installed and no backend was made yet."""
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr(backends, "_instances", {})


@pytest.fixture
def selected():
    """Restores what `set_backend` changes for good."""
    before = type(state).backend
    yield
    type(state).backend = before


def run(*arguments, **environment):
    """Run Python in a process of its own."""
    clean = {name: value for name, value in os.environ.items() if name != "ND_BACKEND"}
    return subprocess.run(
        [sys.executable, *arguments],
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_environment_chooses(monkeypatch, without_cupy):
    monkeypatch.setenv("ND_BACKEND", "numpy")
    assert get_backend().name == "numpy"
    assert get_backend() is get_backend("numpy")


@pytest.mark.parametrize(("value", "hint"), [("cuppy", "Did you mean 'cupy'?"), ("NumPy", "Did you mean 'numpy'?")])
def test_an_unknown_name_in_the_environment_names_the_nearest(monkeypatch, value, hint):
    monkeypatch.setenv("ND_BACKEND", value)
    with pytest.raises(
        ChoiceError,
        match=r"ND_BACKEND: unknown backend .* expected one of array_api:torch, auto, cupy, module:Class, numpy",
    ) as caught:
        get_backend()
    assert hint in str(caught.value)


def test_an_unknown_name_in_the_code():
    expected = r"backend: unknown backend 'torch', expected one of array_api:torch, auto, cupy, module:Class, numpy"
    with pytest.raises(ChoiceError, match=expected):
        get_backend("torch")
    with pytest.raises(ChoiceError, match=expected):
        nd.set_backend("torch")
    with pytest.raises(ChoiceError, match=expected), nd.use_backend("torch"):
        pytest.fail("the block must not be entered")


def test_cupy_that_is_missing_is_an_error_when_it_is_asked_for(monkeypatch, without_cupy):
    monkeypatch.setenv("ND_BACKEND", "cupy")
    with pytest.raises(BackendError, match=r'CuPy must be installed.*pip install "cupy-cuda13x\[ctk\]>=14"'):
        get_backend()


def test_auto_falls_back_to_numpy_and_says_why(monkeypatch, without_cupy, caplog):
    monkeypatch.delenv("ND_BACKEND", raising=False)
    with caplog.at_level("INFO", logger="nd"):
        assert get_backend().name == "numpy"
    assert [(record.levelname, record.name) for record in caplog.records] == [("INFO", "nd")]
    assert caplog.records[0].message.startswith("backend: numpy, because cupy: CuPy must be installed")


def test_importing_takes_neither_cupy_nor_a_backend():
    done = run("-c", "import sys, backends.cuda.cupy_backend, nd; print('cupy' in sys.modules, backends._instances)")
    assert (done.stdout, done.stderr) == ("False {}\n", "")


def test_the_first_use_selects_once():
    program = (
        "import logging; logging.basicConfig(level='INFO'); import nd; nd.zeros(2); nd.zeros(2); nd.backend(); "
        "print(nd.backend().name)"
    )
    done = run("-c", program, ND_BACKEND="auto", **NO_DEVICE)
    assert done.stdout == "numpy\n"
    assert done.stderr.count("backend: numpy, because") == 1


@pytest.mark.parametrize(
    ("setting", "last_line"),
    [
        ("numpy", "ND_BACKEND=numpy: numpy is chosen, because it is asked for and usable."),
        ("auto", "ND_BACKEND=auto: numpy is chosen, because cupy is not usable (see above)."),
        ("", "ND_BACKEND is not set, which means auto: numpy is chosen, because cupy is not usable (see above)."),
        (
            "cupy",
            "ND_BACKEND=cupy: no backend is chosen, because cupy is not usable (see above). Use ND_BACKEND=auto.",
        ),
        (
            "numpi",
            "ND_BACKEND=numpi: no backend is chosen. ND_BACKEND: unknown backend 'numpi', expected one of "
            "array_api:torch, auto, cupy, module:Class, numpy. Did you mean 'numpy'?",
        ),
    ],
)
def test_the_diagnosis(setting, last_line):
    done = run(*DIAGNOSIS, ND_BACKEND=setting, **NO_DEVICE)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("ndwright ")
    assert "backend numpy: usable" in lines
    assert any(line.split()[:1] == ["blas"] for line in lines)
    cupy = lines.index("backend cupy: not usable")
    assert lines[cupy + 1].startswith("  cupy: ")
    assert lines[-1] == last_line


def test_the_diagnosis_of_a_usable_device(cupy, monkeypatch):
    """Without the backends that this process has made already."""
    import importlib

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    monkeypatch.setattr(backends, "_instances", {})
    monkeypatch.delenv("ND_BACKEND", raising=False)
    lines = list(importlib.import_module("nd.__main__").diagnose())
    assert "backend cupy: usable" in lines
    assert f"  device        0: {name}, compute capability {cupy.cuda.Device(0).compute_capability}" in lines
    assert lines[-1].startswith("ND_BACKEND is not set, which means auto: cupy is chosen, because everything that it")


def test_use_backend_holds_for_its_block(selected):
    outer, inner = NumpyBackend(), StrictBackend()
    nd.set_backend(outer)
    with nd.use_backend(inner) as chosen:
        assert chosen is inner
        assert nd.backend() is inner
        with nd.use_backend(outer):
            assert nd.backend() is outer
        assert nd.backend() is inner
    assert nd.backend() is outer


def test_use_backend_ends_with_an_error_too(selected):
    outer = nd.set_backend(NumpyBackend())
    with pytest.raises(RuntimeError, match="inside"), nd.use_backend(StrictBackend()):
        raise RuntimeError("inside")
    assert nd.backend() is outer


def test_use_backend_holds_for_its_thread_and_set_backend_for_all(selected):
    everywhere, here = NumpyBackend(), StrictBackend()
    seen = []

    def look():
        seen.append(nd.backend())

    nd.set_backend(everywhere)
    with nd.use_backend(here):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        look()
    assert seen == [everywhere, here]


def test_a_thread_may_select_for_all(selected):
    chosen = NumpyBackend()
    thread = threading.Thread(target=nd.set_backend, args=(chosen,))
    thread.start()
    thread.join()
    assert nd.backend() is chosen


def test_arrays_of_two_backends_do_not_mix():
    strict = StrictBackend()
    foreign = strict.full((2, 2), 1.0, "float32")
    with nd.use_backend("numpy"):
        own = nd.ones(2, 2)
        for arguments in ((own, foreign), (foreign, own), (own, own, foreign)):
            with pytest.raises(
                BackendError, match=r"gemm: the backend is 'numpy', got an array of 'array_api_strict.*nd\.use_"
            ):
                nd.gemm(*arguments)
    with (
        nd.use_backend(strict),
        pytest.raises(BackendError, match="gemm: the backend is 'strict', got an array of 'numpy'"),
    ):
        nd.gemm(own, foreign)
