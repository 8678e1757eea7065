import itertools

import numpy as np
import pytest

import nd
from tests.cells import every_row
from tests.stand_ins import TOLERANCE, as_input, make_backend

M, K, N = 3, 4, 5
RNG = np.random.default_rng(1)
A, B, C = RNG.normal(size=(M, K)), RNG.normal(size=(K, N)), RNG.normal(size=(M, N))
TRANSPOSES = pytest.mark.parametrize(("transpose_a", "transpose_b"), list(itertools.product([False, True], repeat=2)))
FACTORS = list(itertools.product([1.0, -0.5, 0.0], [0.0, 1.0, 2.0]))  # alpha, beta


def product(a, b):
    """a @ b by its definition, in float64."""
    rows, inner, columns = len(a), len(b), len(b[0]) if len(b) else 0
    return np.array([[sum(a[i][k] * b[k][j] for k in range(inner)) for j in range(columns)] for i in range(rows)])


AB = product(A, B)


def operands(backend, order, dtype, transpose_a=False, transpose_b=False):
    return (
        as_input(backend, A.T if transpose_a else A, order, dtype),
        as_input(backend, B.T if transpose_b else B, order, dtype),
    )


def receiver(kind, dtype, value=C):
    """An array [M, N] to write into: c order, f order, every other column, or a view of a flat vector."""
    if kind in ("c", "f"):
        target = nd.create_uninitialized(M, N, dtype=dtype, order=kind)
    elif kind == "strided":
        target = nd.zeros(M, 2 * N, dtype=dtype)[:, ::2]
    else:
        flat = nd.zeros(1, M * N + 2, dtype=dtype)
        target = nd.reshape_view(flat[0, 1:-1], (M, N), kind.removeprefix("flat-"))
    return nd.assign(target, nd.create(value, dtype))


RECEIVERS = ["c", "f", "flat-c", "flat-f", "strided"]


@TRANSPOSES
@pytest.mark.parametrize("alpha", [1.0, -0.5, 0.0])
def test_a_new_product(backend, dtype, order, transpose_a, transpose_b, alpha):
    a, b = operands(backend, order, dtype, transpose_a, transpose_b)
    c = nd.gemm(a, b, transpose_a=transpose_a, transpose_b=transpose_b, alpha=alpha)
    assert nd.is_array(c)
    assert nd.dtype_name(c) == dtype
    np.testing.assert_allclose(nd.to_host(c), alpha * AB, **TOLERANCE[dtype])


@TRANSPOSES
@pytest.mark.parametrize("kind", RECEIVERS)
def test_a_product_into_c(backend, dtype, order, transpose_a, transpose_b, kind):
    a, b = operands(backend, order, dtype, transpose_a, transpose_b)
    for alpha, beta in FACTORS:
        c = receiver(kind, dtype)
        returned = nd.gemm(a, b, c, transpose_a, transpose_b, alpha, beta)
        assert returned is c
        message = f"alpha {alpha}, beta {beta}"
        np.testing.assert_allclose(nd.to_host(c), alpha * AB + beta * C, **TOLERANCE[dtype], err_msg=message)
        assert nd.dtype_name(c) == dtype


def test_the_operands_stay_as_they_are(backend, dtype, order):
    a, b = operands(backend, order, dtype)
    nd.gemm(a, b, receiver("c", dtype), alpha=2.0, beta=3.0)
    np.testing.assert_array_equal(nd.to_host(a), A.astype(dtype))
    np.testing.assert_array_equal(nd.to_host(b), B.astype(dtype))


@pytest.mark.parametrize("kind", ["flat-c", "flat-f"])
def test_a_view_of_a_vector_is_written_and_nothing_beside_it(backend, dtype, kind):
    flat = nd.full(1, M * N + 2, value=7.0, dtype=dtype)
    view = nd.reshape_view(flat[0, 1:-1], (M, N), kind.removeprefix("flat-"))
    nd.gemm(*operands(backend, "c", dtype), view)
    expected = np.concatenate([[7.0], AB.ravel(kind[-1].upper()), [7.0]])
    np.testing.assert_allclose(nd.to_host(flat)[0], expected, **TOLERANCE[dtype])


@every_row("kind", RECEIVERS)
@every_row("alpha", [1.0, 2.0])
def test_with_beta_0_the_old_contents_are_not_read(backend, dtype, kind, alpha):
    c = receiver(kind, dtype, np.full((M, N), np.nan))
    nd.gemm(*operands(backend, "c", dtype), c, alpha=alpha, beta=0.0)
    np.testing.assert_allclose(nd.to_host(c), alpha * AB, **TOLERANCE[dtype])


@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (1, 4, 1), (4, 1, 4), (0, 3, 2), (2, 0, 3)])
def test_thin_and_empty_matrices(backend, m, k, n):
    c = nd.full(m, n, value=5.0)
    nd.gemm(nd.full(m, k, value=2.0), nd.full(k, n, value=3.0), c, beta=1.0)
    np.testing.assert_array_equal(nd.to_host(c), np.full((m, n), 5.0 + 6.0 * k))


@pytest.mark.parametrize(
    ("a", "b", "transposes", "got"),
    [
        ((3, 4), (5, 4), {}, r"\[3, 4\] @ \[5, 4\]"),
        ((3, 4), (4, 5), {"transpose_a": True}, r"\[4, 3\] @ \[4, 5\]"),
        ((3, 4), (4, 5), {"transpose_b": True}, r"\[3, 4\] @ \[5, 4\]"),
        ((3,), (3, 4), {}, r"\[3\] @ \[3, 4\]"),
        ((2, 3, 4), (4, 5), {}, r"\[2, 3, 4\] @ \[4, 5\]"),
    ],
)
def test_inner_axes_must_agree(backend, a, b, transposes, got):
    with pytest.raises(nd.ShapeError, match=rf"gemm: the inner axes must agree, got {got} .*transpose_b"):
        nd.gemm(nd.zeros(a), nd.zeros(b), **transposes)


@pytest.mark.parametrize("shape", [(5, 3), (3, 6), (15,), (1, 3, 5)])
def test_c_must_have_the_shape_of_the_product(backend, shape):
    with pytest.raises(nd.ShapeError, match=r"gemm: c must be \[3, 5\], got \["):
        nd.gemm(nd.zeros(3, 4), nd.zeros(4, 5), nd.zeros(shape))


@pytest.mark.parametrize("position", [0, 1, 2])
def test_an_array_of_another_backend_is_refused(backend, position):
    other = make_backend("numpy" if backend.name == "strict" else "strict")
    with nd.use_backend(other):
        foreign = nd.zeros(2, 2)
    arrays = [nd.zeros(2, 2) for _ in range(3)]
    arrays[position] = foreign
    with pytest.raises(nd.BackendError, match=rf"gemm: the backend is '{backend.name}', got an array of '.*Convert it"):
        nd.gemm(*arrays)


# ---- dot, svd


def test_dot(backend, dtype, order):
    x, y = as_input(backend, A[0], order, dtype), as_input(backend, A[1], order, dtype)
    result = nd.dot(x, y)
    np.testing.assert_allclose(nd.item(result), sum(A[0][k] * A[1][k] for k in range(K)), **TOLERANCE[dtype])
    assert nd.dtype_name(result) == dtype


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4)])
def test_svd_puts_the_matrix_together_again(backend, dtype, order, shape):
    matrix = np.random.default_rng(2).normal(size=shape)
    u, s, vh = (nd.to_host(part) for part in nd.svd(as_input(backend, matrix, order, dtype)))
    rank = min(shape)
    assert (u.shape, s.shape, vh.shape) == ((shape[0], rank), (rank,), (rank, shape[1]))
    tolerance = {"rtol": TOLERANCE[dtype]["rtol"], "atol": TOLERANCE[dtype]["rtol"]}  # errors are relative to the norm
    np.testing.assert_allclose(u @ np.diag(s) @ vh, matrix, **tolerance)
    np.testing.assert_allclose(u.T @ u, np.eye(rank), **tolerance)
    np.testing.assert_allclose(vh @ vh.T, np.eye(rank), **tolerance)
    assert np.all(np.diff(s) <= 0)
    assert u.dtype == s.dtype == vh.dtype == dtype


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("kind", ["c", "f"])
def test_gradients_of_an_affine_map(backend, dtype, order, kind, with_bias):
    x, delta = as_input(backend, A, order, dtype), as_input(backend, RNG.normal(size=(M, N)), order, dtype)
    W, b = nd.zeros(K, N, dtype=dtype, order=kind), nd.full(N, value=7.0, dtype=dtype)
    nd.affine_gradients(x, delta, W, b if with_bias else None)
    np.testing.assert_allclose(nd.to_host(W), product(A.T, nd.to_host(delta)), **TOLERANCE[dtype])
    expected = [sum(column) for column in nd.to_host(delta).T] if with_bias else [7.0] * N
    np.testing.assert_allclose(nd.to_host(b), expected, **TOLERANCE[dtype])


def test_gradients_of_an_affine_map_that_do_not_fit(backend):
    x, delta = nd.zeros(3, 4), nd.zeros(3, 5)
    with pytest.raises(nd.ShapeError, match=r"affine_gradients: c must be \[4, 5\], got \[5, 4\]"):
        nd.affine_gradients(x, delta, nd.zeros(5, 4), None)
    with pytest.raises(nd.ShapeError, match=r"affine_gradients: b_gradient must be \[5\], got \[1, 5\]"):
        nd.affine_gradients(x, delta, nd.zeros(4, 5), nd.zeros(1, 5))
    with pytest.raises(nd.ShapeError, match="affine_gradients: the inner axes must agree"):
        nd.affine_gradients(nd.zeros(2, 4), delta, nd.zeros(4, 5), None)
