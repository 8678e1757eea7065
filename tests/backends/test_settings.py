"""Switches of the environment."""

import os
import subprocess
import sys

import pytest

from backends.cuda.cupy_backend import LEAST_TF32, CupyBackend, use_tf32
from backends.cuda.graphs import say_once
from backends.errors import BackendError
from backends.settings import switch


@pytest.mark.parametrize("default", [True, False])
@pytest.mark.parametrize(("setting", "expected"), [(None, None), ("", None), ("1", True), (" 0 ", False)])
def test_zero_one_or_the_default(setting, expected, default, monkeypatch):
    monkeypatch.delenv("ND_TEST_SWITCH", raising=False)
    if setting is not None:
        monkeypatch.setenv("ND_TEST_SWITCH", setting)
    assert switch("ND_TEST_SWITCH", default) is (default if expected is None else expected)


def test_anything_else_is_refused(monkeypatch):
    monkeypatch.setenv("ND_TEST_SWITCH", "yes")
    with pytest.raises(BackendError, match=r"ND_TEST_SWITCH: expected 0 or 1, got 'yes'\. Unset it for the default, 1"):
        switch("ND_TEST_SWITCH", True)


@pytest.mark.parametrize(("setting", "seen"), [(None, None), ("0", None), ("1", "1")])
def test_tf32_is_cupys_switch_and_off_by_default(setting, seen, cupy, monkeypatch):
    monkeypatch.setenv("CUPY_TF32", "restored afterwards")
    monkeypatch.delenv("CUPY_TF32")
    if setting is not None:
        monkeypatch.setenv("ND_TF32", setting)
    known = int(cupy.cuda.Device().compute_capability) >= LEAST_TF32
    CupyBackend()
    assert os.environ.get("CUPY_TF32") == (seen if known else None)


def test_a_device_without_tf32_is_told_and_computes(cupy, caplog):
    say_once.cache_clear()
    with caplog.at_level("INFO", logger="nd"):
        use_tf32("75")
    assert caplog.messages == [
        "cupy: ND_TF32=1 changes nothing: the device has compute capability 75, TF32 came with 80"
    ]


@pytest.mark.parametrize(("setting", "says_so"), [("", False), ("0", False), ("1", True)])
def test_cupy_heeds_it_at_its_first_product(setting, says_so, launches):
    """By the type that it computes in."""
    program = (
        "from backends.cuda.cupy_backend import CupyBackend; from cupy._core import _routines_linalg as linalg; "
        "CupyBackend(); print(linalg.compute_type_to_str(linalg.get_compute_type('f')))"
    )
    environment = {name: value for name, value in os.environ.items() if name != "CUPY_TF32"} | {
        "ND_TF32": setting,
        "HOST_CUDA_CAPABILITY": "80",
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert ("COMPUTE_TYPE_TF32" in done.stdout + done.stderr) is says_so


def test_other_values_for_the_backends_switches_are_refused(cupy, monkeypatch):
    for name in ("ND_CUDA_GRAPH", "ND_TF32"):
        with monkeypatch.context() as patch:
            patch.setenv(name, "2")
            with pytest.raises(BackendError, match=f"{name}: expected 0 or 1, got '2'"):
                CupyBackend()
