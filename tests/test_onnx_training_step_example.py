"""examples/onnx_training_step.py: onnxruntime trains a network by a file, without the library that wrote it."""

import importlib.util
import pathlib
import sys

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the extra onnx is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "onnx_training_step.py"
STEPS, LAST = 400, 50
LEARNED = 0.85


@pytest.fixture
def example():
    spec = importlib.util.spec_from_file_location("onnx_training_step", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_learns_without_the_library(example, tmp_path, monkeypatch):
    path = str(tmp_path / "step.onnx")
    example.write(path, seed=1)
    for name in ("backends", "nd", "ndwright", "nn", "optimize"):
        monkeypatch.setitem(sys.modules, name, None)  # to import it is an error
    history = np.array(example.train(path, STEPS, batch=64, seed=1))
    (first, _), (last, accuracy) = history[:LAST].mean(0), history[-LAST:].mean(0)
    assert last < first / 2
    assert accuracy > LEARNED


def test_its_program_prints_how_it_learns(example, tmp_path, monkeypatch, capsys):
    path = tmp_path / "step.onnx"
    monkeypatch.setattr("sys.argv", ["onnx_training_step.py", "--file", str(path), "--steps", "20"])
    example.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 11
    assert lines[-1].startswith("last score ")
    assert path.is_file()
