"""max(x, 0) in memory of every order, in place and not."""

import numpy as np

from backends.cpu import rectifying
from tests.cells import every_row

SHAPES = [(5000,), (7, 300), (64, 3, 4, 5), (3, 1, 1024), (2, 3, 5, 7, 32), (40, 40), (3,), (1 << 15,), (0, 4)]


@every_row("dtype", ["float32", "float64"])
@every_row("shape", SHAPES, ids=str)
def test_every_shape_and_order(shape, dtype):
    rng = np.random.default_rng(1)
    for _ in range(4):
        order = rng.permutation(len(shape))
        x = (10.0 * rng.normal(size=shape)).astype(dtype)
        lying = np.ascontiguousarray(x.transpose(order)).transpose(np.argsort(order))
        other = np.full_like(lying, 9)
        assert rectifying.rectify(lying, other) is other
        np.testing.assert_array_equal(other, np.where(x > 0, x, 0))
        strided = np.full((*shape, 2), 9, dtype)[..., 0]
        np.testing.assert_array_equal(rectifying.rectify(x, strided), np.where(x > 0, x, 0))
        np.testing.assert_array_equal(rectifying.rectify(lying, None), np.where(x > 0, x, 0))
        np.testing.assert_array_equal(rectifying.rectify(lying, lying), np.where(x > 0, x, 0))


def test_parts_of_rows_and_what_is_not_a_number():
    x = np.random.default_rng(2).normal(size=(32, 4000)).astype(np.float32)
    x[3, 5], expected = np.nan, np.where(x > 0, x, 0)
    expected[3, 5] = np.nan
    part = x[:, :1280]
    assert rectifying.rectify(part, part) is part
    np.testing.assert_array_equal(x[:, :1280], expected[:, :1280])
    assert (x[:, 1280:] < 0).any()


def test_zeros_take_the_place_of_the_number(monkeypatch):
    asked, zeros = [], rectifying.zeros
    monkeypatch.setattr(rectifying, "zeros", lambda *arguments: asked.append(arguments) or zeros(*arguments))
    images = np.ones((28, 32, 28, 16), np.float32).transpose(3, 1, 0, 2)
    for x, length in (
        (np.ones((4, 2000), np.float32), 2000),
        (images, 28 * 16 * 32),
        (images[:, :, ::2], 28 * 16 * 32),
    ):
        rectifying.rectify(x, x)
        assert asked.pop() == (length, np.float32)
