"""LeNet learns: the accuracies that the README names."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "lenet_mnist.py"
BUNDLED_ACCURACY, MNIST_ACCURACY = 0.97, 0.985
MINUTE = 60.0


def run_example(*arguments, without_data=False):
    environment = dict(os.environ)
    if without_data:
        environment.pop("ND_DATA_DIR", None)
    done = subprocess.run(
        [sys.executable, EXAMPLE, *arguments], env=environment, capture_output=True, text=True, check=True, timeout=600
    )
    accuracy = re.search(r"accuracy on [\d,]+ held-out images: ([\d.]+)", done.stdout)
    seconds = re.search(r"trained for ([\d.]+) s", done.stdout)
    return float(accuracy.group(1)), float(seconds.group(1)), done.stdout


@pytest.mark.slow
def test_bundled_digits(request):
    backend = request.config.getoption("--backend") or "numpy"
    accuracy, seconds, text = run_example("--dataset", "digits", "--backend", backend, without_data=True)
    assert accuracy >= BUNDLED_ACCURACY
    assert seconds < MINUTE
    assert "total parameters: 431,080" in text


@pytest.mark.slow
def test_mnist_after_three_epochs(mnist_folder, request):
    backend = request.config.getoption("--backend") or "numpy"
    accuracy, _, text = run_example("--dataset", "mnist", "--epochs", "3", "--batch", "64", "--backend", backend)
    assert accuracy >= MNIST_ACCURACY
    assert "10,000 held-out images" in text


def test_the_example_explains_itself():
    done = subprocess.run([sys.executable, EXAMPLE, "--help"], capture_output=True, text=True, check=True)
    for option in ("--dataset", "--backend", "--epochs", "--batch", "--save", "--seed"):
        assert option in done.stdout


@pytest.mark.slow
def test_one_epoch_of_the_bundled_digits_learns_and_saves(tmp_path):
    accuracy, _, text = run_example("--dataset", "digits", "--epochs", "1", "--save", str(tmp_path / "lenet.zip"))
    assert accuracy > 0.5
    assert (tmp_path / "lenet.zip").stat().st_size > 1_000_000
    assert "training on the bundled digits" not in text
