"""Where windows lie, and im2col and col2im, against definitions written as loops."""

import itertools

import numpy as np
import pytest

import nd
from nd.arrays.convolution import CONVOLUTION_MODES, make_rounded_up_window, make_window, pair
from tests.cells import every_row
from tests.stand_ins import TOLERANCE, as_input, make_backend

SIZES, KERNELS, STRIDES, PADDINGS, DILATIONS = range(1, 10), range(1, 5), range(1, 4), range(3), range(1, 4)
ONE_AXIS = list(itertools.product(SIZES, KERNELS, STRIDES, PADDINGS, DILATIONS))
RNG = np.random.default_rng(4)


def starts_that_fit(size, kernel, stride, padding, dilation):
    """Slide along the padded axis and note where the whole kernel is inside."""
    cells = set(range(-padding, size + padding))
    candidates = range(-padding, size + padding, stride)
    return [start for start in candidates if {start + dilation * cell for cell in range(kernel)} <= cells]


def two_axes(first, shift):
    """Geometries of both axes; the second axis takes another row of the list."""
    second = first[shift:] + first[:shift]
    return [tuple(zip(a, b, strict=True)) for a, b in zip(first, second, strict=True)]


def positions(window, axis):
    """Unpadded coordinates under every kernel cell, ``[cell][window]``, as `Window.cells` tells them."""
    coordinates = list(range(-window.pad_before[axis], window.size[axis] + window.pad_after[axis]))
    return [coordinates[cell[2 + axis]] for cell in window.cells if cell[1 - axis] == 0]


def expected_positions(starts, kernel, dilation):
    return [[start + dilation * cell for start in starts] for cell in range(kernel)]


# ---- output sizes and padding


def test_truncate_keeps_the_windows_that_fit():
    fitting = [axis for axis in ONE_AXIS if starts_that_fit(*axis)]
    for size, kernel, stride, padding, dilation in two_axes(fitting, 777):
        window = make_window("who", size, kernel, stride, padding, dilation, "truncate")
        for axis in (0, 1):
            starts = starts_that_fit(size[axis], kernel[axis], stride[axis], padding[axis], dilation[axis])
            assert window.out[axis] == len(starts)
            assert positions(window, axis) == expected_positions(starts, kernel[axis], dilation[axis])
        assert (window.pad_before, window.pad_after) == (padding, padding)


def test_strict_equals_truncate_where_the_last_window_ends_at_the_edge():
    exact, inexact = [], []
    for axis in ONE_AXIS:
        size, kernel, _, padding, dilation = axis
        starts = starts_that_fit(*axis)
        if starts:
            ends = starts[-1] + dilation * (kernel - 1) == size + padding - 1
            (exact if ends else inexact).append(axis)
    for geometry in two_axes(exact, 333):
        assert make_window("who", *geometry, mode="strict") == make_window("who", *geometry, mode="truncate")
    for bad, good in zip(inexact, itertools.cycle(exact), strict=False):
        for axes in ((bad, good), (good, bad)):
            with pytest.raises(nd.ShapeError, match="who: convolution_mode 'strict' needs windows that fit"):
                make_window("who", *zip(*axes, strict=True), mode="strict")
    assert exact
    assert inexact


def test_same_has_a_window_per_stride_and_the_least_padding():
    for size, kernel, stride, padding, dilation in two_axes(ONE_AXIS, 777):
        window = make_window("who", size, kernel, stride, padding, dilation, "same")
        for axis in (0, 1):
            strides = len(range(0, size[axis], stride[axis]))
            reach = (strides - 1) * stride[axis] + dilation[axis] * (kernel[axis] - 1) + 1  # of all windows together
            needed = max(reach - size[axis], 0)
            before, after = window.pad_before[axis], window.pad_after[axis]
            odd = needed % 2  # it goes below and to the right
            assert needed == 2 * before + odd
            assert after == before + odd
            assert window.out[axis] == strides
            starts = [number * stride[axis] - before for number in range(strides)]
            assert positions(window, axis) == expected_positions(starts, kernel[axis], dilation[axis])


def test_rounded_up_keeps_every_window_that_begins_before_the_end():
    """A window more than fit where some cells are under none, which is beyond the padding as far as needed."""
    without_dilation = [axis[:4] for axis in ONE_AXIS if axis[4] == 1 and axis[3] < axis[1]]
    for geometry in two_axes([axis for axis in without_dilation if axis[0] + 2 * axis[3] > axis[1] - axis[2]], 111):
        window = make_rounded_up_window("who", *geometry)
        for axis, (size, kernel, stride, padding) in enumerate(zip(*geometry, strict=True)):
            end = size + padding
            starts = [start for start in range(-padding, size, stride) if start - stride + kernel < end]
            assert window.out[axis] == max(len(starts), 1)
            overhang = max(starts[-1] + kernel - end, 0)
            assert (window.pad_before[axis], window.pad_after[axis]) == (padding, padding + overhang)
            assert window.overhang[axis] == overhang


def test_rounding_up_does_not_help_a_kernel_far_larger_than_the_input():
    assert make_rounded_up_window("who", (3, 3), (4, 5), (2, 3), (0, 0)).out == (1, 1)
    with pytest.raises(nd.ShapeError, match=r"who: the kernel must fit into the padded input, got kernel 5 .*width 3"):
        make_rounded_up_window("who", (3, 3), (4, 5), (2, 2), (0, 0))


def test_real_cells_are_those_that_are_not_padding():
    fitting = [axis for axis in ONE_AXIS if starts_that_fit(*axis)][::7]
    for geometry in two_axes(fitting, 50):
        for mode in ("truncate", "same"):
            window = make_window("who", *geometry, mode=mode)
            rows, columns = (np.array(positions(window, axis)) for axis in (0, 1))
            counts = [((p >= 0) & (p < size)).sum(0) for p, size in zip((rows, columns), window.size, strict=True)]
            assert window.real_cells() == np.outer(*counts).tolist()


@pytest.mark.parametrize(
    ("geometry", "message"),
    [
        (
            {"size": (28, 28), "kernel": (5, 5), "stride": (1, 2)},
            r"layer 3: convolution_mode 'strict' needs windows that fit exactly, got width \(28 - 5 \+ 2 \* 0\) / 2 "
            r"\+ 1 = 12\.50\. Change size, kernel, padding or stride, or use 'truncate' or 'same'\.",
        ),
        (
            {"size": (7, 9), "kernel": (2, 3), "stride": (3, 2), "padding": (2, 0), "dilation": (3, 1)},
            r"layer 3: convolution_mode 'strict' .* got height \(7 - 4 \+ 2 \* 2\) / 3 \+ 1 = 3\.33\.",
        ),
    ],
)
def test_strict_tells_the_whole_sum(geometry, message):
    with pytest.raises(nd.ShapeError, match=message):
        make_window("layer 3", **geometry, mode="strict")


@pytest.mark.parametrize("mode", ["strict", "truncate"])
def test_a_kernel_that_does_not_fit(mode):
    with pytest.raises(
        nd.ShapeError,
        match=r"who: the kernel must fit into the padded input, got kernel 3 \(dilation 2, so 5\) over width 2 \+ 2 \* "
        r"1\. Use a smaller kernel, more padding, or convolution_mode='same'\.",
    ):
        make_window("who", (9, 2), (3, 3), padding=(1, 1), dilation=(2, 2), mode=mode)
    assert make_window("who", (9, 2), (3, 3), padding=(1, 1), dilation=(2, 2), mode="same").out == (9, 2)


def test_unknown_mode():
    assert CONVOLUTION_MODES == ("causal", "same", "strict", "truncate")
    with pytest.raises(
        nd.ChoiceError, match=r"who: unknown convolution mode 'sane', .*causal, same, strict, truncate\. Did"
    ):
        make_window("who", (4, 4), (2, 2), mode="sane")


# ---- im2col and col2im

GEOMETRIES = {
    "plain": {"kernel": (2, 3)},
    "strides": {"kernel": (2, 2), "stride": (2, 3)},
    "padding": {"kernel": (3, 3), "stride": (2, 2), "padding": (1, 2)},
    "dilation": {"kernel": (2, 3), "dilation": (3, 2)},
    "all": {"kernel": (3, 2), "stride": (3, 2), "padding": (2, 1), "dilation": (2, 3)},
    "same": {"kernel": (2, 3), "stride": (2, 2), "same_mode": True},
    "same-dilated": {"kernel": (3, 2), "dilation": (2, 3), "same_mode": True},
    "point": {"kernel": (1, 1)},
}
N, C, H, W = 2, 3, 6, 7
X = RNG.normal(size=(N, C, H, W))
EVERY_GEOMETRY = pytest.mark.parametrize("name", sorted(GEOMETRIES))


def window_of(kernel, stride=(1, 1), padding=(0, 0), dilation=(1, 1), same_mode=False):
    return make_window("who", (H, W), kernel, stride, padding, dilation, "same" if same_mode else "truncate")


def cells_of(window):
    """Yield index into the columns and position in the unpadded image, or None outside."""
    rows, columns = positions(window, 0), positions(window, 1)
    for i, j, p, q in itertools.product(*map(range, (*window.kernel, *window.out))):
        row, column = rows[i][p], columns[j][q]
        yield (i, j, p, q), (row, column) if 0 <= row < H and 0 <= column < W else None


def naive_im2col(x, window):
    col = np.zeros((N, C, *window.kernel, *window.out))
    for cell, position in cells_of(window):
        if position is not None:
            col[(..., *cell)] = x[(..., *position)]
    return col


def naive_col2im(col, window):
    image = np.zeros((N, C, H, W))
    for cell, position in cells_of(window):
        if position is not None:
            image[(..., *position)] += col[(..., *cell)]
    return image


@EVERY_GEOMETRY
def test_im2col(backend, dtype, order, name):
    geometry = GEOMETRIES[name]
    x = as_input(backend, X, order, dtype)
    col = nd.im2col(x, **geometry)
    window = window_of(**geometry)
    assert col.shape == (N, C, *geometry["kernel"], *window.out)
    assert nd.dtype_name(col) == dtype
    np.testing.assert_array_equal(nd.to_host(col), naive_im2col(X.astype(dtype), window))
    np.testing.assert_array_equal(nd.to_host(x), X.astype(dtype))


@EVERY_GEOMETRY
def test_col2im(backend, dtype, order, name):
    geometry = dict(GEOMETRIES[name])
    window = window_of(**geometry)
    values = RNG.normal(size=(N, C, *window.kernel, *window.out))
    col = as_input(backend, values, order, dtype)
    del geometry["kernel"]
    image = nd.col2im(col, (H, W), **geometry)
    assert image.shape == (N, C, H, W)
    assert nd.dtype_name(image) == dtype
    np.testing.assert_allclose(nd.to_host(image), naive_col2im(values, window), **TOLERANCE[dtype])
    np.testing.assert_array_equal(nd.to_host(col), values.astype(dtype))


@EVERY_GEOMETRY
def test_col2im_is_the_transpose_of_im2col(backend, dtype, order, name):
    geometry = dict(GEOMETRIES[name])
    window = window_of(**geometry)
    y = RNG.normal(size=(N, C, *window.kernel, *window.out))
    gathered = nd.to_host(nd.im2col(as_input(backend, X, order, dtype), **geometry)).astype(np.float64)
    del geometry["kernel"]
    spread = nd.to_host(nd.col2im(as_input(backend, y, order, dtype), (H, W), **geometry)).astype(np.float64)
    scale = np.linalg.norm(X) * np.linalg.norm(y)  # what rounding errors of an inner product are relative to
    np.testing.assert_allclose(np.sum(gathered * y) / scale, np.sum(X * spread) / scale, **TOLERANCE[dtype])


@pytest.mark.parametrize("geometry", [(2, 1, 0, 1, False), (2, 3, 1, 2, False), (3, 2, 0, 1, True)])
def test_one_number_stands_for_both_axes(backend, geometry):
    x, (size, *others) = nd.create(X), geometry
    pairs = [value if isinstance(value, bool) else (value, value) for value in geometry]
    col = nd.im2col(x, *geometry)
    np.testing.assert_array_equal(nd.to_host(col), nd.to_host(nd.im2col(x, *pairs)))
    image = nd.col2im(col, (H, W), *others)
    np.testing.assert_array_equal(nd.to_host(image), nd.to_host(nd.col2im(col, (H, W), *pairs[1:])))
    assert col.shape[2:4] == (size, size)


def test_windows_side_by_side_come_back_as_they_were(backend, dtype):
    x = nd.create(X[:, :, :6, :6], dtype)
    np.testing.assert_array_equal(nd.to_host(nd.col2im(nd.im2col(x, 2, 2), (6, 6), 2)), nd.to_host(x))


@pytest.mark.parametrize(("shape", "got"), [((6, 7), r"\[6, 7\]"), ((3, 6, 7), r"\[3, 6, 7\]")])
def test_im2col_wants_images(backend, shape, got):
    with pytest.raises(nd.ShapeError, match=rf"im2col: expected an array of rank 4, got shape {got}"):
        nd.im2col(nd.zeros(shape), 2)
    with pytest.raises(nd.ShapeError, match=rf"col2im: expected an array of rank 6, got shape {got}"):
        nd.col2im(nd.zeros(shape), (3, 3))


def test_im2col_names_itself_when_the_kernel_does_not_fit(backend):
    with pytest.raises(nd.ShapeError, match=r"im2col: the kernel must fit into the padded input, got kernel 8 "):
        nd.im2col(nd.create(X), 8)


def test_col2im_wants_the_columns_of_that_image(backend):
    col = nd.im2col(nd.create(X), 2)
    with pytest.raises(nd.ShapeError, match=r"col2im: an image \[6, 8\] has \[5, 7\] windows, got \[5, 6\]\."):
        nd.col2im(col, (6, 8))


@pytest.mark.parametrize("size", [(6,), (6, 7, 1), (6.0, 7), (0, 7), None])
def test_col2im_wants_a_size_of_two_integers(backend, size):
    col = nd.im2col(nd.create(X), 2)
    with pytest.raises(nd.ShapeError, match=r"col2im: size must be .* >= 1, got "):
        nd.col2im(col, size)


@every_row(
    ("name", "least", "value"),
    [
        ("kernel", 1, 0), ("stride", 1, 0), ("padding", 0, -1), ("dilation", 1, 0),
        ("kernel", 1, (2,)), ("kernel", 1, (2, 2, 2)), ("kernel", 1, (2, 1.5)), ("stride", 1, True),
        ("kernel", 1, 2.5), ("padding", 0, None), ("dilation", 1, "22"),
    ],
)  # fmt: skip
def test_bad_pairs(backend, name, least, value):
    geometry = {"kernel": 2, name: value}
    with pytest.raises(nd.ShapeError, match=rf"im2col: {name} must be one or two integers >= {least}, got "):
        nd.im2col(nd.create(X), **geometry)


@pytest.mark.parametrize(("value", "expected"), [(3, (3, 3)), ((1, 2), (1, 2)), ([4, 5], (4, 5))])
def test_pairs(value, expected):
    assert pair("who", "what", value, 1) == expected


def test_arrays_of_another_backend_are_refused():
    with nd.use_backend("numpy"):
        image, col = nd.zeros(1, 1, 3, 3), nd.zeros(1, 1, 2, 2, 2, 2)
    with nd.use_backend(make_backend("strict")):
        with pytest.raises(nd.BackendError, match="im2col: the backend is 'strict', got an array of 'numpy'"):
            nd.im2col(image, 2)
        with pytest.raises(nd.BackendError, match="col2im: the backend is 'strict', got an array of 'numpy'"):
            nd.col2im(col, (3, 3))
