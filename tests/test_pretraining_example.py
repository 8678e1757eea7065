"""examples/pretraining.py: unlabelled digits help a network with few labels."""

import importlib.util
import pathlib
import re
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "pretraining.py"


@pytest.fixture
def example():
    spec = importlib.util.spec_from_file_location("pretraining_example", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_example(*arguments):
    done = subprocess.run(
        [sys.executable, EXAMPLE, "--backend", "numpy", *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    accuracies = dict(re.findall(r"^(.*): accuracy ([\d.]+) in the mean", done.stdout, re.MULTILINE))
    return done.stdout, {name: float(value) for name, value in accuracies.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "least"), [("autoencoder", 0.91), ("rbm", 0.82)])
def test_pretraining_helps_in_the_mean_of_five_seeds(kind, least):
    text, accuracies = run_example("--kind", kind)
    assert "in the mean of 5" in text
    assert accuracies["pretrained"] > accuracies["not pretrained"] + 0.01
    assert accuracies["pretrained"] >= least
    assert re.search(r"took [\d.]+ s", text)  # less than a minute where nothing else runs, which a test cannot know


@pytest.mark.slow
def test_a_short_run_of_one_seed_prints_both(tmp_path):
    picture = tmp_path / "filters.png"
    quick = ["--seeds", "1", "--pretrain-epochs", "2", "--epochs", "3"]
    text, accuracies = run_example(*quick, "--picture", str(picture))
    assert accuracies["pretrained"] > accuracies["not pretrained"] + 0.1, text
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_picture_has_a_square_for_every_unit(example, tmp_path):
    W = np.random.default_rng(0).normal(size=(784, 32))
    grey = example.filters(W)
    assert grey.shape == (2 * 30, 16 * 30)
    first = W[:, 0].reshape(28, 28)
    np.testing.assert_array_equal(grey[1:29, 1:29], (255 * (first - first.min()) / np.ptp(first)).astype(np.uint8))
    example.write_png(tmp_path / "one.png", grey)
    data = (tmp_path / "one.png").read_bytes()
    assert struct.unpack(">II", data[16:24]) == (480, 60)
    start = data.index(b"IDAT")
    size = struct.unpack(">I", data[start - 4 : start])[0]
    lines = np.frombuffer(zlib.decompress(data[start + 4 : start + 4 + size]), np.uint8).reshape(60, 481)
    np.testing.assert_array_equal(lines[:, 1:], grey)
