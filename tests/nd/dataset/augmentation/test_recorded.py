"""Rotations, zooms and colours beside torchvision 0.28's, on a picture whose results were recorded.

Recorded by ``rotate``, ``affine``, ``adjust_...`` and ``rgb_to_grayscale`` of ``torchvision.transforms.functional``.
"""

from pathlib import Path

import numpy as np
import pytest

from nd.dataset.augmentation import ColorJitter, RandomGrayscale, RandomRotation, RandomZoom

with np.load(Path(__file__).parent / "torchvision.npz") as _file:
    RECORDED = dict(_file)
PICTURE = RECORDED["picture"]
COLORS = ("brightness", "contrast", "saturation", "hue")


def fixed(name):
    """Return the augmentation that always makes what was recorded under a name."""
    kind, *settings = name.split()
    number = float(settings[-1]) if settings else 0.0
    if kind == "rotate":
        return RandomRotation((number, number), "nearest" if "nearest" in settings else "bilinear")
    if kind == "zoom":
        return RandomZoom(number, number)
    return RandomGrayscale(1.0)


@pytest.mark.parametrize("name", [name for name in RECORDED if name.split()[0] in ("rotate", "zoom", "grey")])
def test_places_and_grey(name):
    found = fixed(name).transform(PICTURE)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, RECORDED[name], atol=3e-6)


@pytest.mark.parametrize("name", [name for name in RECORDED if name.startswith(COLORS)])
@pytest.mark.parametrize("order", ["rgb", "bgr"])
def test_colors(name, order):
    kind, number = name.split()[0], float(name.split()[1])
    jitter = ColorJitter(**{kind: 0.5 if kind == "hue" else 1.0}, channel_order=order)
    # a factor is uniform in 0 to 2, and a hue in -0.5 to 0.5
    drawn = np.full((4, 1), number + 0.5 if kind == "hue" else number / 2, np.float32)
    given = PICTURE if order == "rgb" else PICTURE[::-1]
    found = jitter.changed(given[None], drawn)[0]
    np.testing.assert_allclose(found if order == "rgb" else found[::-1], RECORDED[name], atol=3e-6)
