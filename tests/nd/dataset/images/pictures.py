"""Folders of pictures for the tests."""

import numpy as np
from PIL import Image


def picture(seed, height=6, width=5, channels=3):
    """Return random bytes [H, W, C], or [H, W] for one channel."""
    shape = (height, width) if channels == 1 else (height, width, channels)
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def save(path, pixels, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)
    return pixels


def pets(folder, cats=5, dogs=4, size=(6, 5)):
    """Write pictures of two classes; return path within the folder -> pixels."""
    names = [f"cat/{number}.png" for number in range(cats)] + [f"dog/{number}.png" for number in range(dogs)]
    return {name: save(folder / name, picture(seed, *size)) for seed, name in enumerate(names)}


def reasons_of(iterator):
    """Return name of a skipped file -> why."""
    return {path.rpartition("/")[2]: why for path, why in iterator.skipped.items()}
