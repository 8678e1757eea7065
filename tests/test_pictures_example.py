"""examples/pictures_from_folder.py: digits as files, trained on and named."""

import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "pictures_from_folder.py"
pytest.importorskip("PIL")


def run_example(*arguments, check=True):
    command = [sys.executable, EXAMPLE, "--backend", "numpy", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=check)


@pytest.mark.slow
def test_digits_are_learnt_from_files():
    said = run_example("--epochs", 6).stdout
    assert "1438 pictures to train with, 359 to evaluate with" in said
    assert float(re.search(r"held-out pictures: (0\.\d+)", said)[1]) > 0.94
    assert len(re.findall(r"/(\d)/\w+\.png: \1$", said, re.MULTILINE)) >= 4


@pytest.mark.slow
def test_pictures_of_ones_own(tmp_path):
    from PIL import Image

    for number in range(40):
        path = tmp_path / ("dark", "light")[number % 2] / f"{number}.png"
        path.parent.mkdir(exist_ok=True)
        pixels = np.random.default_rng(number).integers(0, 100, (20, 16, 3)) + 150 * (number % 2)
        Image.fromarray(pixels.astype(np.uint8)).save(path)
    (tmp_path / "dark" / "broken.jpg").write_bytes(b"no picture")
    arguments = (tmp_path, "--channels", 3, "--size", 16, "--epochs", 2, "--batch", 8)
    refused = run_example(*arguments, check=False)
    assert refused.stderr.startswith("pictures_from_folder: ImageFolderIterator: '")
    said = run_example(*arguments, "--damaged", "skip", "--save", tmp_path / "net.zip").stdout
    assert "held-out pictures: " in said
    assert (tmp_path / "net.zip").exists()
