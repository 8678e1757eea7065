"""examples/keras_fine_tuning.py: what a file of Keras has learned helps with other digits."""

import importlib.util
import pathlib
import zipfile

import pytest

pytest.importorskip("h5py", reason="the extra keras is not installed")

EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "keras_fine_tuning.py"
LEARNED, BY_CHANCE = 0.85, 0.5


@pytest.fixture
def example():
    spec = importlib.util.spec_from_file_location("keras_fine_tuning", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_its_program_learns_the_other_digits(example, tmp_path, monkeypatch, capsys):
    path = tmp_path / "digits.keras"
    monkeypatch.setattr("sys.argv", ["keras_fine_tuning.py", "--file", str(path), "--epochs", "12"])
    example.main()
    before, behind = (float(word) for word in capsys.readouterr().out.split() if word.startswith("0."))
    assert before < BY_CHANCE
    assert behind > LEARNED
    assert "model.weights.h5" in zipfile.ZipFile(path).namelist()
