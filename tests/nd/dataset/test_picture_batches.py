"""Minibatches of pictures on the host, against loops over their pixels."""

import numpy as np
import pytest

from nd.dataset.picture_batches import Cut, PictureBatches, host_numbers, joined, pixels_of, rows_of
from tests.cells import every_row

RNG = np.random.default_rng(4)
PICTURES = RNG.integers(0, 256, (4, 2, 5, 7), "uint8")
MEAN = RNG.uniform(0, 255, (2, 5, 7)).astype("float32")
ALIKE = [Cut(1, 2)] * 4
MIRRORED = [Cut(1, 2, True)] * 4
EACH = [Cut(0, 0), Cut(2, 3, True), Cut(1, 4), Cut(2, 0, True)]


def by_pixels(pictures, cuts, size, mean, scale):
    """(x - mean) scale, pixel by pixel, in float64."""
    out = np.zeros((len(pictures), 2, *size))
    for n, (picture, (top, left, mirrored)) in enumerate(zip(pictures, cuts, strict=True)):
        for c, h, w in np.ndindex(2, *size):
            there = (c, top + h, left + (size[1] - 1 - w if mirrored else w))
            shift = 0 if mean is None else mean[there] if mean.shape[1:] != (1, 1) else mean[c, 0, 0]
            out[n, c, h, w] = (float(picture[there]) - shift) * scale
    return out


@every_row("cuts", [ALIKE, MIRRORED, EACH])
@pytest.mark.parametrize("mean", [None, MEAN, MEAN[:, :1, :1]], ids=["none", "pixels", "channels"])
@pytest.mark.parametrize("scale", [1.0, 0.00390625])
def test_every_pixel(cuts, mean, scale, dtype):
    batches = PictureBatches(mean, scale, dtype)
    for pictures in (PICTURES, list(PICTURES), list(PICTURES.astype("float32"))):
        got = batches(pictures, cuts, (3, 3))
        assert got.dtype == dtype
        np.testing.assert_allclose(got, by_pixels(PICTURES, cuts, (3, 3), mean, scale), rtol=1e-6, atol=1e-5)


def test_whole_pictures():
    got = PictureBatches(None, 1.0, "float32")(PICTURES, [Cut()] * 4, (5, 7))
    np.testing.assert_array_equal(got, PICTURES)
    got = PictureBatches(None, 1.0, "float32")(PICTURES, [Cut(mirrored=True)] * 4, (5, 7))
    np.testing.assert_array_equal(got, PICTURES[..., ::-1])


def test_memory_is_used_anew_once_it_is_let_go():
    batches = PictureBatches(None, 0.5, "float64")
    kept = batches(PICTURES, ALIKE, (3, 3))
    copy, address = kept.copy(), kept.ctypes.data
    other = batches(PICTURES[::-1], ALIKE, (3, 3))
    np.testing.assert_array_equal(kept, copy)
    assert other.ctypes.data != address
    del kept
    assert batches(PICTURES, EACH, (3, 3)).ctypes.data == address


def test_bytes_become_one_array():
    chunks = [bytes(range(6)), bytes(range(6, 12))]
    got = pixels_of(chunks, [(1, 2, 3)] * 2)
    assert (got.dtype, got.tolist()) == ("uint8", [[[[0, 1, 2], [3, 4, 5]]], [[[6, 7, 8], [9, 10, 11]]]])


@every_row(
    ("chunks", "shapes"),
    [([bytes(6), bytes(4)], [(1, 2, 3), (1, 2, 2)]), ([bytes(4), [0.5, 1.5, 2.0, 3.0]], [(1, 2, 2)] * 2)],
)
def test_pictures_that_differ_stay_apart(chunks, shapes):
    got = pixels_of(chunks, shapes)
    assert [one.shape for one in got] == shapes
    for one, chunk in zip(got, chunks, strict=True):
        assert one.ravel().tolist() == list(chunk)


def test_rows():
    array = np.arange(12.0).reshape(6, 2)
    assert np.shares_memory(rows_of(array, slice(1, 3)), array)
    assert rows_of(array, np.array([4, 0])).tolist() == [[8, 9], [0, 1]]
    assert joined([array]) is array
    assert joined([array[:1], array[4:5]]).tolist() == [[0, 1], [8, 9]]
    assert host_numbers((1, 2), "float64").dtype == "float64"
