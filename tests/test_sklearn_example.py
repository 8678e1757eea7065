"""examples/sklearn_pipeline.py: the search finds networks that read digits."""

import importlib.util
import pathlib
import re

import pytest

pytest.importorskip("sklearn", reason="the extra sklearn is not installed")

EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "sklearn_pipeline.py"


@pytest.mark.slow
def test_its_program_reads_digits(monkeypatch, capsys):
    spec = importlib.util.spec_from_file_location("sklearn_pipeline", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr("sys.argv", ["sklearn_pipeline.py", "--epochs", "8"])
    module.main()
    printed = capsys.readouterr().out
    accuracies = [float(number) for number in re.findall(r"(0\.\d{3}) (?:in|on)", printed)]
    assert len(accuracies) == 2
    assert min(accuracies) > 0.9
    assert len(re.findall(r"\d with 0\.\d\d", printed)) == 2
