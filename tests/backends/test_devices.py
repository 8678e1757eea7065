"""ND_DEVICE for CuPy: what CUDA is told, and what is put back; CuPy itself is not needed."""

import os
import sys
import types

import pytest

from backends.cuda.devices import VISIBLE, Chosen, check_chosen, only_device
from backends.errors import BackendError


def test_cuda_sees_one_device_while_it_begins(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    del sys.modules["cupy"]
    monkeypatch.setattr(Chosen, "number", 0)
    for before, seen in ((None, "1"), ("3,5", "5"), ("GPU-a, GPU-b", "GPU-b")):
        Chosen.number = 0
        monkeypatch.delenv(VISIBLE, raising=False)
        if before is not None:
            monkeypatch.setenv(VISIBLE, before)
        with only_device("cuda:1"):
            assert os.environ[VISIBLE] == seen
        assert os.environ.get(VISIBLE) == before
        assert Chosen.number == 1
        with only_device("cuda:1"):  # again, in the same process
            assert os.environ.get(VISIBLE) == before


@pytest.mark.parametrize("visible", ["", "0"])
def test_a_device_that_is_hidden_is_refused(monkeypatch, visible):
    monkeypatch.setitem(sys.modules, "cupy", None)
    del sys.modules["cupy"]
    monkeypatch.setattr(Chosen, "number", 0)
    monkeypatch.setenv(VISIBLE, visible)
    with (
        pytest.raises(BackendError, match=rf"CUDA_VISIBLE_DEVICES={visible} leaves, got cuda:1"),
        only_device("cuda:1"),
    ):
        pytest.fail("the block must not be entered")
    assert os.environ[VISIBLE] == visible


def test_a_device_that_comes_too_late_or_is_none_of_cudas(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", types.ModuleType("cupy"))
    with pytest.raises(BackendError, match=r"must be known before CuPy is imported"), only_device("cuda:1"):
        pytest.fail("the block must not be entered")
    with pytest.raises(BackendError, match=r"must be cuda:0, cuda:1 and so on, got 'mps'"), only_device("mps"):
        pytest.fail("the block must not be entered")
    with only_device("cuda:0"), only_device(""):
        pass
    with pytest.raises(BackendError, match=r"got cuda:1, with which 2 are visible"):
        check_chosen(2, "cuda:1")
    check_chosen(1, "cuda:1")
    check_chosen(2, "")
