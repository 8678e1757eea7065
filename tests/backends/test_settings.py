"""Switches of the environment."""

import os

import pytest

from backends.cupy_backend import CupyBackend
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
def test_tf32_is_cupys_switch_and_off_by_default(setting, seen, fake_cupy, monkeypatch):
    monkeypatch.setenv("CUPY_TF32", "restored afterwards")
    monkeypatch.delenv("CUPY_TF32")
    if setting is not None:
        monkeypatch.setenv("ND_TF32", setting)
    CupyBackend()
    assert os.environ.get("CUPY_TF32") == seen


def test_other_values_for_the_backends_switches_are_refused(fake_cupy, monkeypatch):
    for name in ("ND_CUDA_GRAPH", "ND_TF32"):
        with monkeypatch.context() as patch:
            patch.setenv(name, "2")
            with pytest.raises(BackendError, match=f"{name}: expected 0 or 1, got '2'"):
                CupyBackend()
