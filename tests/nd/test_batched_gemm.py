"""Products of many matrices at once."""

import numpy as np
import pytest

import nd
from tests.stand_ins import TOLERANCE, as_input

RNG = np.random.default_rng(2)


@pytest.mark.parametrize("shape", [(3, 2, 4, 5), (1, 1, 1, 1), (4, 3, 1, 2), (2, 5, 3, 1)])
def test_each_product_is_that_of_its_matrices(shape, backend, dtype, order):
    if backend.name == "strict" and order != "c":
        order = "c"  # it has no strides
    count, m, k, n = shape
    a, b = RNG.normal(size=(count, m, k)).astype(dtype), RNG.normal(size=(count, k, n)).astype(dtype)
    expected = [[[sum(x * y for x, y in zip(row, column, strict=True)) for column in right.T] for row in left]
                for left, right in zip(a.astype(float), b.astype(float), strict=True)]  # fmt: skip
    x, y = as_input(backend, a, order), as_input(backend, b, order)
    np.testing.assert_allclose(nd.to_host(nd.batched_gemm(x, y)), expected, **TOLERANCE[dtype])
    out = nd.zeros(count, m, n, dtype=dtype)
    assert nd.batched_gemm(x, y, out) is out
    np.testing.assert_allclose(nd.to_host(out), expected, **TOLERANCE[dtype])


def test_into_a_view_and_of_views(backend):
    a, b = RNG.normal(size=(2, 4, 3)), RNG.normal(size=(2, 5, 4))
    out = nd.zeros(3, 5, 2, dtype="float64")
    x, y = nd.create(a, "float64"), nd.create(b, "float64")
    nd.batched_gemm(nd.permute(x, (0, 2, 1)), nd.permute(y, (0, 2, 1)), nd.permute(out, (2, 0, 1)))
    np.testing.assert_allclose(nd.to_host(out), np.einsum("bkm,bnk->mnb", a, b), **TOLERANCE["float64"])


@pytest.mark.parametrize(
    ("a", "b", "c", "message"),
    [
        ((2, 3, 4), (2, 5, 6), None, r"got \[2, 3, 4\], \[2, 5, 6\]\."),
        ((2, 3, 4), (3, 4, 5), None, r"a must be \[B, M, K\], b \[B, K, N\], c \[B, M, N\], got"),
        ((3, 4), (4, 5), None, r"got \[3, 4\], \[4, 5\]"),
        ((2, 3, 4), (2, 4, 5), (2, 5, 3), r"got \[2, 3, 4\], \[2, 4, 5\] and c \[2, 5, 3\]"),
    ],
)
def test_shapes_that_do_not_fit(a, b, c, message, backend):
    with pytest.raises(nd.ShapeError, match=message):
        nd.batched_gemm(nd.ones(*a), nd.ones(*b), None if c is None else nd.ones(*c))


def test_dtypes_that_differ(backend):
    with pytest.raises(nd.DTypeError, match="batched_gemm"):
        nd.batched_gemm(nd.ones(1, 2, 2), nd.ones(1, 2, 2, dtype="float64"))
