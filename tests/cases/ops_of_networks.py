"""Rows of the ops that networks run: products, values, windows, and the way back through activations."""

import itertools

import numpy as np

from nd.ops import OPS
from tests.cases import activations

STEP = 1e-6  # of central differences, in float64


def derivative(oracle):
    """Return Σ y da/dx by central differences of the oracle, element by element: softmax is of rows."""

    def gradient(x, y):
        found = np.zeros(x.shape)
        for index in np.ndindex(*x.shape):
            step = np.zeros(x.shape)
            step[index] = STEP
            found[index] = ((oracle(x + step) - oracle(x - step)) / (2.0 * STEP) * y).sum()
        return found

    return gradient


def windows(size, kernel, stride, padding):
    """Yield the output's place, and the rows and columns of the window, of the padded image."""
    counts = [(n + 2 * padding - kernel) // stride + 1 for n in size]
    for place in itertools.product(*map(range, counts)):
        yield place, tuple(slice(at * stride, at * stride + kernel) for at in place)


def padded(x, padding, value=0.0):
    widths = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    return np.pad(x, widths, constant_values=value)


def pooled(reduce, kernel, stride, padding=0, outside=0.0):
    """Return a pooling written as a loop over its windows."""

    def pool(x):
        cells = padded(x, padding, outside)
        places = list(windows(x.shape[2:], kernel, stride, padding))
        out = np.zeros((*x.shape[:2], *(1 + last for last in places[-1][0])))
        for place, window in places:
            out[:, :, *place] = reduce(cells[:, :, *window])
        return out

    return pool


def gathered(kernel, stride, padding):
    """Return im2col, written as a loop over windows."""

    def gather(x):
        cells = padded(x, padding)
        places = list(windows(x.shape[2:], kernel, stride, padding))
        col = np.zeros((*x.shape[:2], kernel, kernel, *(1 + last for last in places[-1][0])))
        for place, window in places:
            col[:, :, :, :, *place] = cells[:, :, *window]
        return col

    return gather


def scattered(size, kernel, stride, padding):
    """Return col2im, written as a loop over windows."""

    def scatter(col):
        image = np.zeros((*col.shape[:2], *(n + 2 * padding for n in size)))
        for place, window in windows(size, kernel, stride, padding):
            image[:, :, *window] += col[:, :, :, :, *place]
        return image[:, :, padding : padding + size[0], padding : padding + size[1]]

    return scatter


def largest(cells):
    return cells.max(axis=(2, 3))


def mean(cells):
    return cells.mean(axis=(2, 3))


def norm(p):
    return lambda cells: (np.abs(cells) ** p).sum(axis=(2, 3)) ** (1.0 / p)


def real_mean(x):
    """Return means over 3x3 windows, two apart, of the cells that lie in the image."""
    total = pooled(lambda cells: cells.sum(axis=(2, 3)), 3, 2, 1)
    return total(x) / total(np.ones(x.shape))


POOLS = {"maxpool2d": (largest, {}), "avgpool2d": (mean, {}), "pnormpool2d": (norm(2), {})}


OF_SEVERAL = {
    "concat": (
        {"x": (2, 3), "y": (2, 1), "w": (2, 2)},
        lambda op, x, y, w: op([x, y, w], 1),
        lambda x, y, w: [[*a, *b, *c] for a, b, c in zip(x.tolist(), y.tolist(), w.tolist(), strict=True)],
    ),
    "select": (
        {"x": (2, 3), "y": (2, 3), "w": (2, 3)},
        lambda op, x, y, w: op(x, y, w > 0),
        lambda x, y, w: x * (w > 0) + y * (w <= 0),
    ),
}
"""Ops of more than two arrays: shapes, the op of arrays, and its oracle."""


def cases(OpCase):
    """Return the rows, of the class of `tests.cases.ops`."""

    def back(name):
        return [
            OpCase(derivative(case.oracle), (2, 3), case.parameters, shape=(2, 3), coarse=True)
            for case in activations.CASES[name]
        ]

    def pooling(reduce, **more):
        sizes = (({"kernel": 2}, (2, 2)), ({"kernel": (3, 3), "stride": 2}, (3, 2)))
        return [OpCase(pooled(reduce, *steps), None, {**given, **more}, shape=(2, 3, 6, 6)) for given, steps in sizes]

    def pooling_back(reduce, **more):
        sizes = (({"kernel": 2}, (2, 2), (2, 2)), ({"kernel": 3, "stride": 1}, (3, 1), (2, 2)))
        rows = []
        for given, steps, out in sizes:
            side = 4
            shape, y = (2, 1, side, side), (2, 1, *out)
            rows.append(OpCase(derivative(pooled(reduce, *steps)), y, {**given, **more}, shape=shape, coarse=True))
        return rows

    def vectors(oracle, **given):
        return [OpCase(oracle, (7,), given, shape=(7,))]

    return {
        "assign": [OpCase(lambda x: 1.0 * x), OpCase(lambda x: 1.0 * x, shape=(2, 3, 4))],
        "axpby": vectors(lambda x, y: 2.0 * x - 0.5 * y, alpha=2.0, beta=-0.5),
        "axpy": vectors(lambda x, y: y + x / 4.0, alpha=0.25),
        "batched_gemm": [OpCase(lambda x, y: np.einsum("bmk,bkn->bmn", x, y), (3, 4, 2), shape=(3, 5, 4))],
        "cast": [
            OpCase(lambda x: np.trunc(x).astype(int), parameters={"dtype": "int64"}, dtype="int64"),
            OpCase(lambda x: 1.0 * x, parameters={"dtype": "float64"}, dtype="float64"),
        ],
        "col2im": [
            OpCase(scattered((5, 5), 3, 2, 1), None, {"size": 5, "stride": 2, "padding": 1}, shape=(2, 3, 3, 3, 3, 3))
        ],
        "dot": vectors(lambda x, y: np.asarray(np.sum(x * y))),
        "gemm": [
            OpCase(lambda x, y: -0.5 * np.einsum("mk,kn->mn", x, y), (5, 3), {"alpha": -0.5}),
            OpCase(lambda x, y: np.einsum("mk,kn->mn", x, y), (5, 3)),
        ],
        "im2col": [
            OpCase(gathered(3, 2, 1), None, {"kernel": 3, "stride": 2, "padding": 1}, shape=(2, 3, 5, 5)),
            OpCase(gathered(2, 1, 0), None, {"kernel": (2, 2)}, shape=(1, 2, 4, 3)),
        ],
        "mmul": [OpCase(lambda x, y: np.einsum("mk,kn->mn", x, y), (5, 3))],
        "set_scalar": [OpCase(lambda x: np.full(x.shape, 2.5), None, {"value": 2.5})],
        **{name: pooling(reduce, **more) for name, (reduce, more) in POOLS.items()},
        "avgpool2d": [
            *pooling(mean),
            OpCase(real_mean, None, {"kernel": 3, "stride": 2, "padding": 1}, shape=(2, 3, 5, 5)),
            OpCase(
                pooled(mean, 3, 2, 1),
                None,
                {"kernel": 3, "stride": 2, "padding": 1, "count_padding": True},
                shape=(2, 3, 5, 5),
            ),
        ],
        "pnormpool2d": [*pooling(norm(2)), *pooling(norm(3), p=3)],
        **{f"{name}_bp": pooling_back(reduce, **more) for name, (reduce, more) in POOLS.items()},
        "pnormpool2d_bp": [*pooling_back(norm(2)), *pooling_back(norm(3), p=3)],
        **{f"{name}_bp": back(name) for name in activations.CASES if f"{name}_bp" in OPS},
    }
