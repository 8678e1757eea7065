"""Recurrent networks learn: the examples, as the pages name them."""

import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
SHAKESPEARE, CLASSIFICATION = EXAMPLES / "shakespeare.py", EXAMPLES / "sequence_classification.py"
ACCURACY = 0.95
LOSS = 2.3  # nats, after six short epochs: of letters that are expected by their frequency alone it is 3.1


def run_example(example, *arguments):
    command = [sys.executable, example, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout


@pytest.mark.slow
def test_charts_of_different_lengths_are_told_apart(request):
    text = run_example(CLASSIFICATION, "--backend", request.config.getoption("--backend") or "numpy")
    assert float(re.search(r"accuracy on 300 held-out series: ([\d.]+)", text)[1]) >= ACCURACY


@pytest.mark.slow
def test_the_sonnets_are_learnt(request, tmp_path):
    backend = request.config.getoption("--backend") or "numpy"
    saved = tmp_path / "net.zip"
    text = run_example(SHAKESPEARE, "--backend", backend, "--epochs", 6, "--sample", 80, "--save", saved)
    assert float(re.search(r"loss per held-out character: ([\d.]+) nats", text)[1]) < LOSS
    assert len(re.findall(r"^epoch \d+, \d+ s: ", text, re.MULTILINE)) == 6
    assert saved.stat().st_size > 500_000


@pytest.mark.parametrize("example", [SHAKESPEARE, CLASSIFICATION], ids=lambda path: path.stem)
@pytest.mark.slow
def test_an_example_explains_itself(example):
    text = run_example(example, "--help")
    for option in ("--backend", "--epochs", "--batch", "--save", "--seed"):
        assert option in text
