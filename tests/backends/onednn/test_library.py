"""Which libdnnl is used: ND_ONEDNN, files that are none, other versions."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from backends.cpu.accelerated import describe_onednn
from backends.cpu.numpy_backend import NumpyBackend
from backends.errors import BackendError
from backends.onednn import library as module
from backends.onednn.library import OPENMP, Library, library
from backends.onednn.shared_object import check_whole
from tests.backends.onednn.networks import data, network, step, without
from tests.stand_ins import DIAGNOSIS

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="files of ELF")
STUB = """
typedef struct { int major, minor, patch; const char *hash; unsigned cpu_runtime, gpu_runtime; } dnnl_version_t;
static dnnl_version_t version = { %d, 7, 1, "none", %d, 0 };
const dnnl_version_t *dnnl_version(void) { return &version; }
"""
STEP = """
from backends.cpu.numpy_backend import NumpyBackend
from tests.backends.onednn.networks import data, network, step
backend = NumpyBackend(1)
print(step(network("vgg", backend), data("vgg", 8))[0], backend.onednn is not None)
"""


def anew():
    """Look for the library as if it had not been looked for."""
    return library.__wrapped__()


def run(setting, *arguments):
    environment = os.environ | {"ND_ONEDNN": str(setting), "ND_BACKEND": "numpy"}
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture
def stub(tmp_path):
    """Compiles a libdnnl that says its version and threading, and has no other function."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler is here to make another libdnnl with")

    def compiled(major, threading):
        source, target = tmp_path / "stub.c", tmp_path / f"libdnnl-{major}-{threading}.so"
        source.write_text(STUB % (major, threading))
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(target), str(source)], check=True)
        return target

    return compiled


def test_a_path_to_the_library_that_is_found_anyway(monkeypatch, onednn):
    monkeypatch.setenv("ND_ONEDNN", onednn.path)
    again = anew()
    assert (again.path, again.version) == (onednn.path, onednn.version)


@pytest.mark.parametrize("setting", ["", "1", " 1 "])
def test_whatever_is_there(setting, monkeypatch, onednn):
    monkeypatch.setenv("ND_ONEDNN", setting)
    assert anew().version == onednn.version


def test_none(monkeypatch, onednn):
    """Backends that are made from then on do without."""
    before = NumpyBackend(1)
    assert before.onednn is not None
    monkeypatch.setenv("ND_ONEDNN", "0")
    assert NumpyBackend(1).onednn is None
    assert before.onednn is not None


@pytest.mark.parametrize("setting", [0, 1])
def test_a_backend_and_its_recordings_go_by_what_was_set_when_it_was_made(monkeypatch, setting):
    monkeypatch.setenv("ND_ONEDNN", str(setting))
    made = NumpyBackend(1)
    recorder = made.recorder()
    monkeypatch.setenv("ND_ONEDNN", str(1 - setting))
    assert (made.onednn is not None) == bool(setting)
    assert recorder.onednn is made.onednn
    assert ("not used" in made.describe()["onednn"]) == (not setting)


def check_refused(monkeypatch, path, reason):
    monkeypatch.setenv("ND_ONEDNN", str(path))
    with pytest.raises(BackendError, match=rf"^ND_ONEDNN: .*libdnnl 3\.x.*{reason}"):
        anew()


def test_paths_of_nothing_and_of_something_else(monkeypatch, tmp_path):
    check_refused(monkeypatch, tmp_path / "nothing.so", "cannot open shared object file")
    check_refused(monkeypatch, tmp_path, "expected a file, got a folder")
    text = tmp_path / "text.so"
    text.write_text("no library\n")
    check_refused(monkeypatch, text, "expected a shared object, got 11 bytes that begin")
    text.write_text("")
    check_refused(monkeypatch, text, "expected a shared object, got 0 bytes")


@linux
def test_a_library_of_another_machine(stub, monkeypatch):
    """The compiler's own file, but for the two bytes that say the machine."""
    path = stub(3, OPENMP)
    content = bytearray(path.read_bytes())
    content[18:20] = (8).to_bytes(2, sys.byteorder)  # MIPS
    path.write_bytes(content)
    check_refused(monkeypatch, path, "damaged: expected one for .*, got 8")


@linux
def test_a_truncated_library_is_never_loaded(stub, monkeypatch, tmp_path):
    """At every length: the system would map it, and end the process when a page is read that is not there."""
    whole = stub(3, OPENMP)
    content, cut = whole.read_bytes(), tmp_path / "cut.so"
    loaded = []
    monkeypatch.setattr(module.ctypes, "CDLL", loaded.append)
    for length in [*range(200), *range(200, len(content), 97), len(content) - 1]:
        cut.write_bytes(content[:length])
        with pytest.raises(BackendError, match=r"is damaged: expected .*, got .*pip install --force-reinstall"):
            Library(str(cut))
    assert loaded == []
    check_whole(str(whole))


@linux
@pytest.mark.parametrize("lost", ["tail", "size of headers"])
def test_a_library_of_full_length_that_was_damaged(stub, monkeypatch, lost):
    """As a copy leaves it that was cut short in a file of the final length; or with a wrong byte."""
    path = stub(3, OPENMP)
    content = bytearray(path.read_bytes())
    if lost == "tail":
        content[len(content) // 2 :] = bytes(len(content) - len(content) // 2)
        check = "expected the names of its sections, got other bytes"
    else:
        content[54] = 0
        check = "expected headers of 40 bytes or more, got less"
    path.write_bytes(content)
    check_refused(monkeypatch, path, f"damaged: {check}")


@linux
def test_whole_libraries_are_no_damaged_ones():
    for path in {
        line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if ".so" in line
    }:
        check_whole(path)


@linux
@pytest.mark.slow
def test_the_diagnosis_of_a_truncated_library(onednn, tmp_path, monkeypatch):
    """As an interrupted copy leaves it: with the name that is found, not named by a setting."""
    cut = tmp_path / module.FILE
    size = os.path.getsize(onednn.path) if os.path.exists(onednn.path) else pytest.skip("the system finds the library")
    with open(onednn.path, "rb") as whole, open(cut, "wb") as file:
        file.write(whole.read(1 << 16))
        file.truncate(size // 2)
    done = run(cut, *DIAGNOSIS)
    assert done.returncode == 0, done.stderr
    told = f"libdnnl.so.3 is damaged: expected {size:,} bytes, got {size // 2:,}. Reinstall it: pip install --force-re"
    assert told in done.stdout
    monkeypatch.delenv("ND_ONEDNN", raising=False)
    monkeypatch.setattr(module, "candidates", lambda: [str(cut)])
    monkeypatch.setattr(module, "refused", [])
    assert anew() is None
    assert told in module.refused[0]
    monkeypatch.setattr(module, "library", lambda: None)
    assert told in describe_onednn(True)


@linux
def test_a_name_is_looked_for_where_the_system_does(tmp_path, monkeypatch):
    (tmp_path / "libnothing.so.9").write_text("no library\n")
    check_whole("libnothing.so.9")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    with pytest.raises(BackendError, match=r"libnothing\.so\.9 is damaged: expected a shared object, got 11 bytes"):
        check_whole("libnothing.so.9")


def test_a_library_of_something_else(monkeypatch):
    import _ctypes

    check_refused(monkeypatch, _ctypes.__file__, "dnnl_version")


@pytest.mark.parametrize(("major", "threading"), [(2, OPENMP), (4, OPENMP), (3, 4), (3, 512)])
def test_another_version_or_threading(major, threading, stub, monkeypatch):
    """Of TBB and SYCL nobody can ask for one thread."""
    check_refused(
        monkeypatch, stub(major, threading), f"got {major}.7.1 with threading {threading} .*Install onednn-cpu-gomp"
    )


def test_what_is_no_good_is_left_out_where_nobody_named_it(stub, monkeypatch):
    monkeypatch.delenv("ND_ONEDNN", raising=False)
    bad = str(stub(2, OPENMP))
    good = [path for path in module.candidates() if pathlib.Path(path).exists()]
    monkeypatch.setattr(module, "candidates", lambda: [bad, *good])
    assert (anew().path if good else anew()) == (good[0] if good else None)
    monkeypatch.setattr(module, "candidates", lambda: [bad, "/nowhere/libdnnl.so.3"])
    assert anew() is None


def test_a_wrong_path_ends_the_first_use(monkeypatch, tmp_path):
    monkeypatch.setenv("ND_ONEDNN", str(tmp_path / "nothing.so"))
    monkeypatch.setattr(module, "library", anew)
    with pytest.raises(BackendError, match=r"^ND_ONEDNN: expected the path of a libdnnl 3\.x, got .*set it to 0"):
        NumpyBackend(1).to_image_order(np.ones((2, 3, 4, 4), np.float32), None)


@pytest.mark.slow
def test_a_path_in_a_process_of_its_own(onednn):
    done = run(onednn.path, "-c", STEP)
    assert done.returncode == 0, done.stderr
    score, active = done.stdout.split()
    assert active == "True"
    assert float(score) == pytest.approx(step(network("vgg", without()), data("vgg", 8))[0], rel=1e-5)


def test_functions_that_fail_say_which(onednn):
    with pytest.raises(BackendError, match=r"^oneDNN: dnnl_engine_create must succeed, got status \d+\. ND_ONEDNN=0"):
        onednn.made("dnnl_engine_create", 77, 0)


def test_where_none_is_found_the_backend_is_numpys(monkeypatch):
    monkeypatch.setattr(module, "library", lambda: None)
    backend = NumpyBackend(1)
    assert backend.onednn is None
    assert not backend.accelerates(np.ones((2, 2), np.float32))


def test_the_diagnosis(tmp_path):
    assert re.search(r"onednn .*not used: ND_ONEDNN=0", run("0", *DIAGNOSIS).stdout)
    done = run(tmp_path / "nothing.so", *DIAGNOSIS)
    assert "ND_ONEDNN: expected the path of a libdnnl 3.x" in done.stdout
    assert "or set it to 0" in done.stdout
    assert "Traceback" not in done.stderr


def test_there_is_one_library_in_a_process(onednn):
    assert library() is onednn
    assert isinstance(onednn, Library)
