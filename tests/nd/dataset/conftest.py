"""Fixtures of the data set tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.absent import Absent


@pytest.fixture
def mnist_folder(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder with the MNIST files, and make it the one that the library looks in."""
    data = Path(os.environ.get("ND_DATA_DIR") or Path(__file__).parents[4] / "shared" / "data")
    if not list(data.glob("mnist/train-images-idx3-ubyte*")):
        raise Absent(f"no MNIST files in {data}/mnist; set ND_DATA_DIR")
    monkeypatch.setenv("ND_DATA_DIR", str(data))
    return data / "mnist"
