"""examples/zoo_transfer.py: weights of the zoo's LeNet help with other digits."""

import importlib.util
import pathlib

import pytest

EXAMPLE = pathlib.Path(__file__).parent.parent.parent.parent / "examples" / "zoo_transfer.py"
BY_CHANCE = 0.3


@pytest.fixture
def example():
    spec = importlib.util.spec_from_file_location("zoo_transfer", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("epochs", "examples", "learned"), [(1, 60, BY_CHANCE), pytest.param(4, 100, 0.9, marks=pytest.mark.slow)]
)
@pytest.mark.slow
def test_it_learns_the_other_digits(example, epochs, examples, learned, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["zoo_transfer.py", "--epochs", str(epochs), "--examples", str(examples)])
    example.main()
    assert float(capsys.readouterr().out.split()[-1]) > learned
