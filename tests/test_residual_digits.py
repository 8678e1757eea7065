"""A residual network learns: the example, as the pages name it."""

import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "residual_digits.py"
ACCURACY, MINUTE, CONVOLUTIONS = 0.97, 60.0, 21


def run_example(*arguments):
    done = subprocess.run(
        [sys.executable, EXAMPLE, *arguments], capture_output=True, text=True, check=True, timeout=600
    )
    return done.stdout


@pytest.mark.slow
def test_it_learns_the_bundled_digits(request):
    text = run_example("--backend", request.config.getoption("--backend") or "numpy")
    assert float(re.search(r"accuracy on 359 held-out images: ([\d.]+)", text)[1]) >= ACCURACY
    assert float(re.search(r"trained for ([\d.]+) s", text)[1]) < MINUTE
    assert len(re.findall(r" ConvolutionLayer ", text)) == CONVOLUTIONS


@pytest.mark.slow
def test_it_explains_itself():
    text = run_example("--help")
    assert f"{CONVOLUTIONS} convolutions" in " ".join(text.split())
    for option in ("--backend", "--epochs", "--batch", "--save", "--seed", "--picture"):
        assert option in text


@pytest.mark.slow
def test_without_an_epoch_it_saves_and_draws(tmp_path):
    text = run_example("--epochs", "0", "--save", str(tmp_path / "net.zip"), "--picture", str(tmp_path / "net.svg"))
    assert len(re.findall(r" ConvolutionLayer ", text)) == CONVOLUTIONS
    assert (tmp_path / "net.zip").stat().st_size > 500_000
    assert (tmp_path / "net.svg").read_text(encoding="utf-8").count(">ConvolutionLayer: ") == CONVOLUTIONS
