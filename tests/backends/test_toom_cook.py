"""Toom-Cook: few products in place of many, against sums written out in float64."""

import numpy as np
import pytest

from backends.cpu.numpy_backend import NumpyBackend
from backends.cpu.row_convolution import Geometry, Saved
from backends.cpu.toom_cook import best_tile, products, transforms
from backends.cpu.toom_cook_rows import ToomCookRows
from backends.generic.window import Window
from backends.signatures import ConvolutionBack
from tests.cells import every_row

MOST = 9  # outputs and taps together: there are seven points and infinity
SIZES = [(m, taps) for taps in range(1, MOST) for m in range(1, MOST - taps + 1)]
ROOM = {"float64": 1e-13, "float32": 3e-6}
"""Largest error of y, dL/dx and dL/dw over the largest sum of the products' absolute values."""


def matrices(m, taps, dtype="float64"):
    return [np.array(matrix, dtype) for matrix in transforms(m, taps)]


def correlated(w, x):
    return [sum(w[tap] * x[output + tap] for tap in range(len(w))) for output in range(len(x) - len(w) + 1)]


def spread(w, delta):
    """dL/dx of what `correlated` does."""
    found = [0.0] * (len(delta) + len(w) - 1)
    for output, of_output in enumerate(delta):
        for tap, weight in enumerate(w):
            found[output + tap] += weight * of_output
    return found


def assert_near(got, formula, arguments, dtype):
    got, arguments = np.asarray(got, "float64"), [np.asarray(each, "float64").tolist() for each in arguments]
    expected = np.array(formula(*arguments))
    scale = np.max(formula(*([abs(value) for value in each] for each in arguments)))
    assert got.shape == expected.shape
    assert np.abs(got - expected).max() <= ROOM[dtype] * scale


# OpenBLAS computes with what lies behind short vectors, and may flag it; the results, which would be NaN, are compared.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in dot:RuntimeWarning")
every_size = every_row("size", SIZES, ids=lambda size: "F({},{})".format(*size))


def numbers(size, dtype):
    """Return matrices, filter, input and dL/dy of one size, five times over."""
    m, taps = size
    rng = np.random.default_rng([m, taps])
    AT, G, BT = matrices(m, taps, dtype)
    return AT, G, BT, [[rng.normal(size=n).astype(dtype) for n in (taps, m + taps - 1, m)] for _ in range(5)]


@every_size
def test_the_outputs(size, dtype):
    AT, G, BT, cases = numbers(size, dtype)
    for w, x, _ in cases:
        assert_near(AT.dot(G.dot(w) * BT.dot(x)), correlated, (w, x), dtype)


@every_size
def test_the_gradient_of_the_input(size, dtype):
    AT, G, BT, cases = numbers(size, dtype)
    for w, _, delta in cases:
        assert_near(BT.T.dot(G.dot(w) * AT.T.dot(delta)), spread, (w, delta), dtype)


@every_size
def test_the_gradient_of_the_filter(size, dtype):
    AT, G, BT, cases = numbers(size, dtype)
    for _, x, delta in cases:
        assert_near(G.T.dot(AT.T.dot(delta) * BT.dot(x)), correlated, (delta, x), dtype)


@every_row(("m", "taps"), SIZES)
def test_shapes_and_what_float32_holds_exactly(m, taps):
    AT, G, BT = matrices(m, taps)
    p = m + taps - 1
    assert (AT.shape, G.shape, BT.shape) == ((m, p), (p, taps), (p, p))
    for matrix in (AT, BT):
        np.testing.assert_array_equal(matrix.astype("float32"), matrix)


def test_two_outputs_of_three_taps_by_hand():
    AT, G, BT = matrices(2, 3)
    w, x = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0, 7.0])
    np.testing.assert_allclose(AT.dot(G.dot(w) * BT.dot(x)), [32.0, 38.0], rtol=1e-15)


# ---- how large a tile


def counted(taps, outputs, m):
    """Walk over the outputs in tiles of m, and count the products."""
    done = count = 0
    while done < outputs:
        done += m
        count += m + taps - 1
    return count


@every_row("taps", range(1, 13))
def test_the_number_of_products(taps):
    for outputs in range(1, 40):
        assert [products(taps, outputs, m) for m in range(1, 9)] == [counted(taps, outputs, m) for m in range(1, 9)]


@every_row("taps", range(1, 13))
def test_the_best_tile_is_the_smallest_of_the_cheapest(taps):
    for outputs in range(1, 40):
        counts = {m: counted(taps, outputs, m) for m in range(1, outputs + 1) if m == 1 or m + taps <= MOST}
        assert best_tile(taps, outputs) == min(m for m, count in counts.items() if count == min(counts.values()))


@pytest.mark.parametrize(("taps", "outputs", "m"), [(5, 24, 4), (5, 8, 4), (3, 8, 4), (3, 5, 5), (1, 8, 1), (9, 8, 1)])
def test_tiles_by_hand(taps, outputs, m):
    assert best_tile(taps, outputs) == m


# ---- images

TILINGS = {  # taps, output rows, tile
    "one tile": (3, 4, 4),
    "two tiles": (5, 8, 4),
    "a row left over": (3, 5, 4),
    "all but a row left over": (5, 7, 4),
    "tiles that overlap twice": (3, 8, 5),
    "odd tile": (4, 6, 3),
    "tiles of one": (3, 4, 1),
    "tiles of two": (2, 6, 2),
    "as many points as there are": (7, 4, 2),
}
N, CHANNELS, N_OUT, COLUMN_TAPS = 3, 2, 4, 2


def image_problem(name, out_w=5):
    taps, out_h, tile = TILINGS[name]
    window = Window((out_h + taps - 1, out_w + COLUMN_TAPS - 1), (taps, COLUMN_TAPS))
    rng = np.random.default_rng([taps, out_h, out_w])
    x, W = rng.normal(size=(N, CHANNELS, *window.size)), rng.normal(size=(N_OUT, CHANNELS, *window.kernel))
    return window, tile, x, W, rng.normal(size=N_OUT), rng.normal(size=(N, N_OUT, out_h, out_w))


def cells(window):
    for row in range(window.kernel[0]):
        for column in range(window.kernel[1]):
            yield row, column, np.s_[:, :, row : row + window.out[0], column : column + window.out[1]]


def convolved(window, x, W, b):
    z = np.zeros((N, N_OUT, *window.out)) + b.reshape(-1, 1, 1)
    for row, column, here in cells(window):
        z += np.einsum("nchw,oc->nohw", x[here], W[:, :, row, column])
    return z


def gradients_of(window, x, W, delta):
    W_gradient, image = np.zeros_like(W), np.zeros_like(x)
    for row, column, here in cells(window):
        W_gradient[:, :, row, column] = np.einsum("nohw,nchw->oc", delta, x[here])
        image[here] += np.einsum("nohw,oc->nchw", delta, W[:, :, row, column])
    return W_gradient, delta.sum((0, 2, 3)), image


def algorithm_of(window, tile, dtype):
    buffers = NumpyBackend(threads=1).fresh_buffers(dtype)
    return ToomCookRows(Geometry(window, CHANNELS, N_OUT, N), np.dtype(dtype), tile), buffers


def backward(name, out_w, dtype, need_epsilon=True):
    """Return gradients of W, b and x, and those that loops give in float64."""
    window, tile, x, W, _, delta = image_problem(name, out_w)
    algorithm, buffers = algorithm_of(window, tile, dtype)
    x, W, delta = (each.astype(dtype) for each in (x, W, delta))
    gradients = np.full(W.shape, np.nan, dtype), np.full(N_OUT, np.nan, dtype)
    epsilon = algorithm.backward(
        ConvolutionBack(delta, Saved(x, algorithm), W, window, gradients, buffers, need_epsilon)
    )
    expected = gradients_of(window, *(each.astype("float64") for each in (x, W, delta)))
    return (*gradients, epsilon), expected


@every_row("out_w", [1, 5, 8])
@every_row("name", TILINGS)
def test_gradients_of_images(name, out_w, dtype):
    found, expected = backward(name, out_w, dtype)
    for got, wanted in zip(found, expected, strict=True):
        assert got.dtype == dtype
        assert got.shape == wanted.shape
        assert np.abs(got - wanted).max() < {"float64": 1e-13, "float32": 3e-6}[dtype] * np.abs(wanted).max()


@every_row("name", TILINGS)
def test_gradients_without_that_of_the_image(name):
    found, expected = backward(name, 5, "float64", need_epsilon=False)
    assert found[2] is None
    for got, wanted in zip(found[:2], expected[:2], strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-12)


@every_row("exact", [True, False])
@every_row("name", TILINGS)
def test_output_rows_take_fewer_products_where_tiles_are_even_and_leave_nothing_over(name, exact):
    window, tile, x, W, b, _ = image_problem(name)
    algorithm, buffers = algorithm_of(window, tile, "float64")
    prepared = algorithm.prepared(x, W, buffers, exact)
    assert (prepared.kernel.ndim == 3) == (not exact and tile % 2 == 0 and window.out[0] % tile == 0)
    z, rows = np.full((window.out[0], N_OUT, window.out[1], N), np.nan), []
    for part, block in algorithm.output_rows(prepared, b, buffers):
        z[part] = block.reshape(-1, N_OUT, window.out[1], N)
        rows += range(part.start, part.stop)
    assert rows == list(range(window.out[0]))
    np.testing.assert_allclose(z.transpose(3, 1, 0, 2), convolved(window, x, W, b), rtol=1e-11, atol=1e-12)


@every_row("name", TILINGS)
def test_tiles_begin_each_output_row_once(name):
    window, tile, *_ = image_problem(name)
    algorithm, _ = algorithm_of(window, tile, "float64")
    rows = [start + row for start, first in algorithm.tiles for row in range(first, tile)]
    assert rows == list(range(window.out[0]))
    assert len(algorithm.tiles) * algorithm.p == counted(window.kernel[0], window.out[0], tile)
