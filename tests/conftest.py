"""Fixtures that run a test on every backend, dtype and memory order.

Backends are NumPy with read-only inputs (nothing may write where it was not asked to) and array_api_strict on a device
that is not its default (nothing may copy to the host behind one's back).
With ``--backend=NAME`` every test runs on that backend, and a skip is a failure, but for want of what is absent
(tests/absent.py) or on systems that a ``skipif`` leaves out. What asks for CuPy runs
with ``--backend=cupy``: on a device, or without one on the host CUDA (tests/cuda_on_host, ``make cupy-check``).

NumPy computes itself here, without oneDNN: ``make onednn-check`` runs what concerns it with ``ND_ONEDNN=1``, and
tests/backends/onednn always does.

A test that asks for `backend`, `dtype` or `order` is one test: tests/cells.py runs it once for each combination.
"""

import contextlib
import gc
import importlib.util
import inspect
import logging
import os
import pathlib
import signal
import warnings

import pytest
from _pytest.doctest import DoctestModule

from tests.absent import Absent, NoBrowser
from tests.cells import AXES, EVERY, combinations, run_cells
from tests.cuda_on_host import arguments, tight
from tests.cuda_on_host.calls import on_host
from tests.generators import ModuleGenerators
from tests.stand_ins import make_backend
from tests.sweeps import names_that_run, rows_that_wait

os.environ.setdefault("ND_ONEDNN", "0")  # before a backend is made
ROOT = pathlib.Path(__file__).parent.parent
GENERATORS = ModuleGenerators()


def pytest_addoption(parser):
    parser.addoption(
        "--backend", default=None, help="run every test on this backend (numpy, cupy, array_api:torch, ...)"
    )
    parser.addoption("--without", action="append", default=[], help="no test that needs this fixture: reference, ...")
    parser.addoption("--needing", action="append", default=[], help="only tests that need one of these fixtures")


def pytest_make_parametrize_id(val, argname):
    """Bytes are no name: those of gzip hold the time of day, and every worker would have tests of its own."""
    return argname if isinstance(val, bytes | bytearray) else None


def pytest_configure():
    """A program started in a shell's background ignores Ctrl-C, and so would those that it starts."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # The programs that tests start import this tree, not what another one has installed.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    # From 3.12 on Python warns of forks beside threads, which is what some of those programs try.
    forks = "ignore:This process:DeprecationWarning"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), forks]))


def pytest_sessionstart(session):
    """Without the backend that is asked for there is nothing to run; what its import warns of is no test's matter.

    The one that is used otherwise is made now, by the environment as it is: a test's own settings are not for others.
    """
    import nd
    from backends.errors import NdError

    chosen = session.config.getoption("--backend")
    if chosen == "cupy" and on_host():
        with contextlib.suppress(ImportError):  # of CuPy, of which the backend says it better
            arguments.install()
            tight.install_if_asked_for()
    try:
        if chosen:
            backend = make_backend(chosen)
            backend.random_uniform(1, 2, 1, "float64")  # kernels of both types are compiled now, not within a test
        else:
            nd.backend()
    except NdError as error:
        pytest.exit(f"--backend={chosen}: {error}", returncode=1)


def _absent(config):
    """Return the fixtures for whatever is not there, or is another run's."""
    chosen = config.getoption("--backend")
    there = {
        "torch": chosen == "array_api:torch",
        "opencv": importlib.util.find_spec("cv2") is not None,
        "keras": importlib.util.find_spec("keras") is not None and importlib.util.find_spec("jax") is not None,
        "java_class_path": "DL4J_CLASS_PATH" in os.environ,  # which tests/java_check sets
        "cupy": chosen == "cupy",
        "launches": chosen != "cupy" or on_host(),
    }
    return {fixture for fixture, is_there in there.items() if not is_there}


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """Nobody looks for doctests in files of tests: there are none, and to look takes seconds in every process."""
    is_of_tests = file_path.name.startswith("test_")
    return [collector for collector in (yield) if not (is_of_tests and isinstance(collector, DoctestModule))]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leave out what is asked to be (files that are not part of the repository are not everywhere) and needs CuPy.

    What is marked as wide is slow where no backend is asked for: that one it runs on nowhere else. So is a row that is
    none of the quick ones. Of a slow test with many rows a share runs, where one is asked for.
    """
    for item in rows_that_wait(items, whole=not any("::" in str(name) for name in config.args)):
        item.add_marker(pytest.mark.wide)
    if config.getoption("--backend") is None:
        for item in items:
            if item.get_closest_marker("wide"):
                item.add_marker(pytest.mark.slow)
    without, needing = set(config.getoption("--without")) | _absent(config), set(config.getoption("--needing"))
    running = names_that_run(items)
    kept, left = [], []
    for item in items:
        needs = set(getattr(item, "fixturenames", ()))
        wanted = not needs & without and (not needing or needs & needing)
        (kept if wanted and item.nodeid in running else left).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept


def pytest_collection_finish(session):
    GENERATORS.remember({item.module for item in session.items if hasattr(item, "module")})
    gc.collect()
    gc.freeze()  # the tests themselves are a million objects, which every collection would look at


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run the test for every combination of what it leaves open."""
    values = pyfuncitem.funcargs
    axes = [axis for axis in AXES if values.get(axis) is EVERY]
    if not axes:
        return None
    arguments = {name: values[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    first = AXES["backend"][0] if pyfuncitem.get_closest_marker("numpy_first") else None
    cells = combinations(axes, pyfuncitem.config.getoption("--backend") or first)
    run_cells(pyfuncitem.obj, arguments, cells, lambda: _start_afresh(pyfuncitem.module))
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Where everything has to be there, a skipped test is a failed one.

    A backend that is asked for has to be; files that are no part of the repository only where the data are, too.
    """
    report = yield
    required = os.environ.get("CI") and os.environ.get("ND_DATA_DIR")
    required = required and not isinstance(call.excinfo and call.excinfo.value, NoBrowser)
    if item.config.getoption("--backend"):
        excused = isinstance(call.excinfo and call.excinfo.value, Absent) or item.get_closest_marker("skipif")
        required = required or not excused
    if report.skipped and required:
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped where nothing may be: {report.longrepr}"
    return report


@pytest.fixture(autouse=True, scope="module")
def backend_of_all_tests():
    """The backend that tests share uses oneDNN after each module as before: what a test does without is its own."""
    from backends import get_backend
    from backends.onednn.library import library
    from backends.settings import wants_onednn

    yield
    shared = get_backend("numpy")
    if wants_onednn() and shared.onednn is None and library() is not None:
        pytest.fail("a test of this module took oneDNN from the backend of all tests")


@pytest.fixture
def backend():
    """The current backend for the test."""
    return EVERY


@pytest.fixture
def dtype():
    return EVERY


@pytest.fixture
def order():
    """How inputs lie in memory."""
    return EVERY


@pytest.fixture(autouse=True)
def _numpy_settings(request):
    """No test leaves NumPy other settings, but where a Ctrl-C comes just as NumPy puts its own back."""
    import numpy as np

    module, settings, size = getattr(request, "module", None), np.geterr(), np.getbufsize()
    yield
    changed = (np.geterr(), np.getbufsize()) != (settings, size)
    np.seterr(**settings)
    np.setbufsize(size)
    assert not changed or "KeyboardInterrupt" in pathlib.Path(module.__file__).read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _log_is_heard():
    """No test silences the log for those that come after it."""
    before = logging.root.manager.disable
    yield
    after = logging.root.manager.disable
    logging.disable(before)
    assert after == before


@pytest.fixture(autouse=True)
def _seeded(request):
    _start_afresh(getattr(request, "module", None))


def _start_afresh(module):
    """Every test, and every combination inside of one, starts from the same generators and the default dtype."""
    import nd

    if module is not None:
        GENERATORS.restore(module)
    nd.random.set_seed(12345)
    nd.set_default_dtype("float32")


@pytest.fixture(scope="session")
def reference():
    """The folder of files that Java wrote: dl4j/ in ND_REFERENCE_DIR, or in ../shared/reference."""
    folder = pathlib.Path(os.environ.get("ND_REFERENCE_DIR") or ROOT.parent / "shared" / "reference") / "dl4j"
    if not folder.is_dir():
        raise Absent(f"the reference files of Java are not at {folder}; set ND_REFERENCE_DIR")
    return folder


@pytest.fixture(scope="session")
def caffe_reference():
    """The folder of files that Caffe wrote: caffe/ in ND_REFERENCE_DIR, or in ../shared/reference."""
    folder = pathlib.Path(os.environ.get("ND_REFERENCE_DIR") or ROOT.parent / "shared" / "reference") / "caffe"
    if not folder.is_dir():
        raise Absent(f"the reference files of Caffe are not at {folder}; set ND_REFERENCE_DIR")
    return folder


@pytest.fixture(scope="session")
def keras_reference():
    """The folder of models of Keras with what they compute: keras/ in ND_REFERENCE_DIR, or in ../shared/reference."""
    folder = pathlib.Path(os.environ.get("ND_REFERENCE_DIR") or ROOT.parent / "shared" / "reference") / "keras"
    if not folder.is_dir():
        raise Absent(f"the reference files of Keras are not at {folder}; set ND_REFERENCE_DIR")
    return folder


@pytest.fixture(scope="session")
def onnx_reference():
    """The folder of ONNX models with what they compute: onnx/ in ND_REFERENCE_DIR, or in ../shared/reference."""
    folder = pathlib.Path(os.environ.get("ND_REFERENCE_DIR") or ROOT.parent / "shared" / "reference") / "onnx"
    if not folder.is_dir():
        raise Absent(f"the reference files of ONNX are not at {folder}; set ND_REFERENCE_DIR")
    return folder


@pytest.fixture(scope="session")
def mnist_folder():
    """Sets ND_DATA_DIR to a folder that has MNIST in it."""
    for folder in (os.environ.get("ND_DATA_DIR"), ROOT.parent / "shared" / "data"):
        if folder and (pathlib.Path(folder) / "mnist").is_dir():
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("ND_DATA_DIR", str(folder))
                yield pathlib.Path(folder)
            return
    raise Absent("MNIST is neither in ND_DATA_DIR nor in ../shared/data")


@pytest.fixture
def opencv():
    """OpenCV, and nothing in its log: a test that asks for it runs where it is installed, by ``make test-extras``."""
    import cv2

    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    return cv2


@pytest.fixture
def keras(monkeypatch):
    """Keras on JAX, quiet: a test that asks for it runs where both are installed, by ``make test-extras``."""
    os.environ["KERAS_BACKEND"] = "jax"  # which Keras reads when it is imported
    with warnings.catch_warnings(action="ignore"):
        import keras

    monkeypatch.setattr(logging.getLogger("absl"), "disabled", True)  # saving the older form is said every time
    assert keras.backend.backend() == "jax"
    return keras


@pytest.fixture
def cupy():
    """CuPy itself, on a device or on the host CUDA: a test that asks for it runs with --backend=cupy only."""
    import cupy

    return cupy


@pytest.fixture
def device(cupy):
    """A CupyBackend of the test's own."""
    from backends.cuda.cupy_backend import CupyBackend

    return CupyBackend()


@pytest.fixture
def launches(cupy):
    """What is launched from now on; only the host CUDA (tests/cuda_on_host) can tell."""
    from tests.cuda_on_host.calls import Launches

    return Launches()
