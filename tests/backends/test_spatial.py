"""Convolution and pooling of every backend against loops over windows in float64."""

import numpy as np
import pytest

from backends.generic.window import Window
from tests.stand_ins import TOLERANCE, as_input

WINDOWS = {
    "2x2 side by side": Window((6, 4), (2, 2), (2, 2)),
    "2x2, odd size": Window((7, 5), (2, 2), (2, 2)),
    "3x3 side by side": Window((6, 7), (3, 3), (3, 3)),
    "overlapping": Window((7, 6), (3, 3), (2, 2)),
    "dense overlap": Window((5, 6), (3, 2)),
    "padded": Window((4, 5), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    "padded below and to the right": Window((5, 5), (2, 2), (2, 2), (1, 1), (0, 0), (1, 1)),
    "dilated, padded, strided": Window((8, 7), (3, 2), (2, 1), (2, 3), (2, 1), (1, 2)),
    "1x1": Window((3, 4), (1, 1)),
    "rounded up": Window((7, 8), (2, 3), (2, 2), (1, 1), (0, 1), (1, 2), (1, 1)),
    "rounded up without padding": Window((6, 8), (3, 3), (2, 3), (1, 1), (0, 0), (1, 1), (1, 1)),
    "rounded up, larger than the image": Window((3, 3), (4, 4), (3, 3), (1, 1), (0, 0), (1, 1), (1, 1)),
}


@pytest.fixture(params=list(WINDOWS))
def window(request):
    return WINDOWS[request.param]


@pytest.fixture
def batch(window):
    return 1 if window is WINDOWS["overlapping"] else 3


def out_size(window):
    """As spec §5.3: floor((in + padding - effective kernel) / stride) + 1."""
    sizes = []
    for axis in (0, 1):
        padded = window.size[axis] + window.pad_before[axis] + window.pad_after[axis]
        extent = window.kernel[axis] + (window.kernel[axis] - 1) * (window.dilation[axis] - 1)
        sizes.append((padded - extent) // window.stride[axis] + 1)
    return tuple(sizes)


def cells_of(window, i, j):
    """Yield row, column in the kernel and in the image for the real cells of output (i, j), in row-major order."""
    for row in range(window.kernel[0]):
        for column in range(window.kernel[1]):
            y = i * window.stride[0] + row * window.dilation[0] - window.pad_before[0]
            x = j * window.stride[1] + column * window.dilation[1] - window.pad_before[1]
            if 0 <= y < window.size[0] and 0 <= x < window.size[1]:
                yield row, column, y, x


def padded_cells(window, i, j):
    """Count the cells of output (i, j) that are the image's or its padding, but not overhang."""
    count = 1
    for axis, at in enumerate((i, j)):
        last = window.size[axis] + window.pad_before[axis] + window.pad_after[axis] - window.overhang[axis]
        starts = range(at * window.stride[axis], last, window.dilation[axis])
        count *= len(starts[: window.kernel[axis]])
    return count


def places(window):
    rows, columns = out_size(window)
    return [(i, j) for i in range(rows) for j in range(columns)]


def numbers(shape, dtype, seed=0):
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(dtype)


def close(backend, got, expected, dtype):
    got = backend.to_host(got)
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_allclose(got, expected, **TOLERANCE[dtype])


def naive_im2col(image, window):
    col = np.zeros((*image.shape[:2], *window.kernel, *out_size(window)))
    for i, j in places(window):
        for row, column, y, x in cells_of(window, i, j):
            col[:, :, row, column, i, j] = image[:, :, y, x]
    return col


def test_windows_lie_where_the_formula_says(window):
    assert window.out == out_size(window)
    counts = [[len(list(cells_of(window, i, j))) for j in range(window.out[1])] for i in range(window.out[0])]
    assert window.real_cells() == counts
    counts = [[padded_cells(window, i, j) for j in range(window.out[1])] for i in range(window.out[0])]
    assert window.padded_cells() == counts


def test_im2col_gathers_every_window(any_backend, dtype, order, window, batch):
    image = numbers((batch, 2, *window.size), dtype)
    x = as_input(any_backend, image, order)
    close(
        any_backend, any_backend.im2col(x, window, any_backend.fresh_buffers(dtype)), naive_im2col(image, window), dtype
    )
    close(any_backend, x, image, dtype)


def test_col2im_adds_every_window_back(any_backend, dtype, order, window, batch):
    columns = numbers((batch, 2, *window.kernel, *out_size(window)), dtype)
    expected = np.zeros((batch, 2, *window.size))
    for i, j in places(window):
        for row, column, y, x in cells_of(window, i, j):
            expected[:, :, y, x] += columns[:, :, row, column, i, j]
    col = as_input(any_backend, columns, order)
    close(any_backend, any_backend.col2im(col, window, any_backend.fresh_buffers(dtype)), expected, dtype)
    close(any_backend, col, columns, dtype)


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.quick_rows(every=3)
def test_convolution_and_its_gradients(any_backend, dtype, order, window, batch, with_bias):
    image, filters = numbers((batch, 2, *window.size), dtype), numbers((4, 2, *window.kernel), dtype, 1)
    bias, delta = numbers((1, 4), dtype, 2), numbers((batch, 4, *out_size(window)), dtype, 3)
    col = naive_im2col(image, window)
    exact = filters.astype("float64")
    x, W, b = (as_input(any_backend, host, order) for host in (image, filters, bias))
    buffers = any_backend.fresh_buffers(dtype)

    z, saved = any_backend.conv2d(x, W, b if with_bias else None, window, buffers)
    expected = np.einsum("ocab,ncabij->noij", exact, col) + with_bias * bias.astype("float64").reshape(1, 4, 1, 1)
    close(any_backend, z, expected, dtype)

    gradients = any_backend.full(filters.shape, 9.0, dtype), any_backend.full((1, 4), 9.0, dtype)
    eps = as_input(any_backend, delta, order)
    back = any_backend.conv2d_backward(
        eps, saved, W, window, (gradients[0], gradients[1] if with_bias else None), buffers
    )
    expected = np.zeros(image.shape)
    for i, j in places(window):
        for row, column, y, x_ in cells_of(window, i, j):
            expected[:, :, y, x_] += delta[:, :, i, j].astype("float64") @ exact[:, :, row, column]
    close(any_backend, back, expected, dtype)
    close(any_backend, gradients[0], np.einsum("noij,ncabij->ocab", delta.astype("float64"), col), dtype)
    if with_bias:
        close(any_backend, gradients[1], delta.astype("float64").sum((0, 2, 3)).reshape(1, 4), dtype)
    for array, host in ((x, image), (W, filters), (b, bias), (eps, delta)):
        close(any_backend, array, host, dtype)


def test_convolution_gives_no_epsilon_that_nobody_needs(any_backend, dtype):
    window, buffers = WINDOWS["padded"], any_backend.fresh_buffers(dtype)
    image, filters = numbers((2, 2, *window.size), dtype), numbers((4, 2, *window.kernel), dtype, 1)
    W = as_input(any_backend, filters)
    z, saved = any_backend.conv2d(as_input(any_backend, image), W, None, window, buffers)
    gradient = any_backend.full(filters.shape, 9.0, dtype)
    assert any_backend.conv2d_backward(z, saved, W, window, (gradient, None), buffers, need_epsilon=False) is None
    col = naive_im2col(image, window)
    expected = np.einsum("noij,ncabij->ocab", np.einsum("ocab,ncabij->noij", filters.astype("float64"), col), col)
    close(any_backend, gradient, expected, dtype)


def tied(shape, dtype):
    """Whole numbers that repeat, so that windows tie; all negative in one image, so that padding of 0 would win."""
    values = np.random.default_rng(4).integers(-2, 3, shape).astype(dtype)
    values[0] -= 5
    return values


@pytest.mark.parametrize("kind", [numbers, tied], ids=["different", "tied"])
@pytest.mark.quick_rows(every=3)
def test_max_pool_takes_the_first_maximum_in_row_major_order(any_backend, dtype, order, window, batch, kind):
    image, epsilon = kind((batch, 2, *window.size), dtype), numbers((batch, 2, *out_size(window)), dtype, 3)
    expected, expected_back = np.zeros(epsilon.shape), np.zeros(image.shape)
    for i, j in places(window):
        cells = [(y, x) for _, _, y, x in cells_of(window, i, j)]
        values = np.stack([image[:, :, y, x] for y, x in cells])
        expected[:, :, i, j] = values.max(0)
        for n, c in np.ndindex(*image.shape[:2]):
            y, x = cells[values[:, n, c].tolist().index(values[:, n, c].max())]  # index: the first
            expected_back[n, c, y, x] += epsilon[n, c, i, j]
    x, eps = as_input(any_backend, image, order), as_input(any_backend, epsilon, order)
    buffers = any_backend.fresh_buffers(dtype)
    out, saved = any_backend.max_pool(x, window, buffers)
    close(any_backend, out, expected, dtype)
    close(any_backend, any_backend.max_pool_backward(eps, saved, window, buffers), expected_back, dtype)
    close(any_backend, x, image, dtype)
    close(any_backend, eps, epsilon, dtype)


@pytest.mark.parametrize("kind", [numbers, tied], ids=["different", "tied"])
@pytest.mark.quick_rows(every=3)
def test_places_of_maxima_are_those_of_the_first_ones(any_backend, dtype, order, window, batch, kind):
    image = kind((batch, 2, *window.size), dtype)
    expected = np.zeros((batch, 2, *out_size(window)))
    for i, j in places(window):
        cells = [(y, x) for _, _, y, x in cells_of(window, i, j)]
        winners = np.stack([image[:, :, y, x] for y, x in cells]).argmax(0)
        expected[:, :, i, j] = np.array([y * window.size[1] + x for y, x in cells])[winners]
    x = as_input(any_backend, image, order)
    close(any_backend, any_backend.max_places(x, window, any_backend.fresh_buffers(dtype)), expected, dtype)
    close(any_backend, x, image, dtype)


@pytest.mark.quick_rows(every=3)
def test_a_drawn_cell_is_the_first_that_reaches_the_share_of_the_sum(any_backend, dtype, order, window, batch):
    """The image has whole numbers, so that sums are exact, and draws are not between two cells."""
    image = np.random.default_rng(4).integers(0, 5, (batch, 2, *window.size)).astype(dtype)
    draws = (np.random.default_rng(5).integers(0, 64, (batch, 2, *out_size(window))) / 64 + 1 / 128).astype(dtype)
    epsilon = numbers(draws.shape, dtype, 3)
    expected, expected_back = np.zeros(draws.shape), np.zeros(image.shape)
    for i, j in places(window):
        cells = [(y, x) for _, _, y, x in cells_of(window, i, j)]
        for n, c in np.ndindex(batch, 2):
            sums = np.cumsum([image[n, c, y, x] for y, x in cells])
            drawn = int((sums < draws[n, c, i, j] * sums[-1]).sum())
            expected[n, c, i, j] = image[n, c, *cells[drawn]]
            expected_back[n, c, *cells[drawn]] += epsilon[n, c, i, j] if sums[-1] else 0.0
    x, here, eps = (as_input(any_backend, host, order) for host in (image, draws, epsilon))
    buffers = any_backend.fresh_buffers(dtype)
    out, saved = any_backend.stochastic_pool(x, here, window, buffers)
    close(any_backend, out, expected, dtype)
    back = any_backend.to_host(any_backend.max_pool_backward(eps, saved, window, buffers))
    blank = image == 0  # of a window of zeros any cell may be drawn
    np.testing.assert_allclose(np.where(blank, 0.0, back), np.where(blank, 0.0, expected_back), **TOLERANCE[dtype])
    close(any_backend, x, image, dtype)


@pytest.mark.quick_rows(every=3)
def test_avg_pool_divides_by_all_cells_or_by_the_real_ones(any_backend, dtype, order, window, batch):
    for count_padding in (True, False):
        check_avg_pool(any_backend, dtype, order, window, batch, count_padding)


def check_avg_pool(any_backend, dtype, order, window, batch, count_padding):
    image, epsilon = numbers((batch, 2, *window.size), dtype), numbers((batch, 2, *out_size(window)), dtype, 3)
    expected, expected_back = np.zeros(epsilon.shape), np.zeros(image.shape)
    for i, j in places(window):
        cells = list(cells_of(window, i, j))
        divisor = padded_cells(window, i, j) if count_padding else len(cells)
        for _, _, y, x in cells:
            expected[:, :, i, j] += image[:, :, y, x] / divisor
            expected_back[:, :, y, x] += epsilon[:, :, i, j] / divisor
    x, eps = as_input(any_backend, image, order), as_input(any_backend, epsilon, order)
    buffers = any_backend.fresh_buffers(dtype)
    out, saved = any_backend.avg_pool(x, window, count_padding, buffers)
    close(any_backend, out, expected, dtype)
    close(any_backend, any_backend.avg_pool_backward(eps, saved, window, buffers), expected_back, dtype)
    close(any_backend, x, image, dtype)


@pytest.mark.quick_rows(every=3)
def test_pnorm_pool_has_no_slope_where_all_is_blank(any_backend, dtype, order, window, batch):
    for p in (1, 2, 3):
        check_pnorm_pool(any_backend, dtype, order, window, batch, p)


def check_pnorm_pool(any_backend, dtype, order, window, batch, p):
    image, epsilon = numbers((batch, 2, *window.size), dtype), numbers((batch, 2, *out_size(window)), dtype, 3)
    image[:, 0] = 0  # a blank channel: norm 0, gradient 0
    exact = image.astype("float64")
    expected, expected_back = np.zeros(epsilon.shape), np.zeros(image.shape)
    for i, j in places(window):
        cells = list(cells_of(window, i, j))
        norm = sum(np.abs(exact[:, :, y, x]) ** p for _, _, y, x in cells) ** (1 / p)
        expected[:, :, i, j] = norm
        scale = np.where(norm > 0, np.where(norm > 0, norm, 1) ** (1 - p), 0)
        for _, _, y, x in cells:
            value = exact[:, :, y, x]
            expected_back[:, :, y, x] += epsilon[:, :, i, j] * scale * np.abs(value) ** (p - 1) * np.sign(value)
    x, eps = as_input(any_backend, image, order), as_input(any_backend, epsilon, order)
    buffers = any_backend.fresh_buffers(dtype)
    out, saved = any_backend.pnorm_pool(x, window, p, buffers)
    close(any_backend, out, expected, dtype)
    close(any_backend, any_backend.pnorm_pool_backward(eps, saved, window, p, buffers), expected_back, dtype)
    close(any_backend, x, image, dtype)


def test_buffers_are_used_again(any_backend, dtype):
    """A step with buffers that keep their memory gives the same as one with fresh ones, also for a smaller batch."""
    window, memory = WINDOWS["padded"], {}

    def buffers(name, shape, kind=None):
        key = name, kind
        if key not in memory:
            memory[key] = any_backend.full((5000,), True if kind == "bool" else 9, kind or dtype)
        return any_backend.activation_view(memory[key], shape)

    filters = as_input(any_backend, numbers((4, 2, *window.kernel), dtype, 1))
    for batch in (3, 2, 3):
        x = as_input(any_backend, numbers((batch, 2, *window.size), dtype, batch))
        results = []
        for kind in (buffers, any_backend.fresh_buffers(dtype)):
            gradient = any_backend.full(filters.shape, 9.0, dtype)
            z, saved = any_backend.conv2d(x, filters, None, window, kind)
            pooled, winners = any_backend.max_pool(z, window, kind)
            back = any_backend.max_pool_backward(pooled, winners, window, kind)
            # A layer has buffers of its own, so what pooling returned does not lie where convolution writes.
            back = any_backend.conv2d_backward(any_backend.copy(back), saved, filters, window, (gradient, None), kind)
            results.append((any_backend.to_host(back).copy(), any_backend.to_host(gradient)))
        for again, fresh in zip(*results, strict=True):
            np.testing.assert_array_equal(again, fresh)
