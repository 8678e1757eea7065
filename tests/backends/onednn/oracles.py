"""What oneDNN computes, in float64 and by loops over the cells of kernels and the steps of series.

Given absolute values where it is linear, an oracle returns the size of its sums: what errors are relative to.
"""

import numpy as np

TOLERANCE = 1e-5  # of the sums' size


def close(got, expected, size):
    """Hold a result against its oracle, within `TOLERANCE` of the size of the sums that it is."""
    assert got.dtype == np.float32
    assert got.shape == expected.shape
    wrong = np.abs(np.asarray(got, np.float64) - expected) - TOLERANCE * size
    assert np.all(wrong <= 1e-30), f"{np.max(wrong)} beyond what is allowed, of {np.max(size)}"


def under(window, cell):
    """Return the slices of the padded input that lie under a kernel's cell, for all places of the kernel."""
    starts = [window.dilation[axis] * cell[axis] for axis in window.axes]
    return tuple(
        slice(start, start + window.stride[axis] * (window.out[axis] - 1) + 1, window.stride[axis])
        for axis, start in enumerate(starts)
    )


def padded(x, window, value=0.0):
    """Return ``x [N, C, ...]`` in float64 with its padding."""
    around = [(before, after) for before, after in zip(window.pad_before, window.pad_after, strict=True)]
    return np.pad(np.asarray(x, np.float64), [(0, 0), (0, 0), *around], constant_values=value)


def _by_groups(x, groups):
    return x.reshape(x.shape[0], groups, -1, *x.shape[2:])


def convolved(x, W, b, window):
    """Return ``z [N, groups * n, ...]`` of ``x [N, groups * c, ...]`` and ``W [groups, n, c, *kernel]``."""
    cells, W = padded(x, window), np.asarray(W, np.float64)
    z = np.zeros((x.shape[0], *W.shape[:2], *window.out))
    for cell in np.ndindex(*window.kernel):
        share = _by_groups(cells[:, :, *under(window, cell)], W.shape[0])
        z += np.einsum("ngc...,goc->ngo...", share, W[:, :, :, *cell])
    z = z.reshape(z.shape[0], -1, *window.out)
    return z if b is None else z + np.asarray(b, np.float64).reshape(1, -1, *(1,) * len(window.out))


def spread(delta, W, window):
    """Return dL/dx of `convolved`, which is the transposed convolution of delta."""
    W = np.asarray(W, np.float64)
    delta = _by_groups(np.asarray(delta, np.float64), W.shape[0])
    image = np.zeros((delta.shape[0], W.shape[0] * W.shape[2], *window.padded))
    for cell in np.ndindex(*window.kernel):
        share = np.einsum("ngo...,goc->ngc...", delta, W[:, :, :, *cell])
        image[:, :, *under(window, cell)] += share.reshape(share.shape[0], -1, *window.out)
    return image[:, :, *window.interior]


def kernel_gradient(x, delta, groups, window):
    """Return dL/dW ``[groups, n, c, *kernel]`` of `convolved`."""
    cells, delta = padded(x, window), _by_groups(np.asarray(delta, np.float64), groups)
    gradient = np.zeros((groups, delta.shape[2], x.shape[1] // groups, *window.kernel))
    for cell in np.ndindex(*window.kernel):
        share = _by_groups(cells[:, :, *under(window, cell)], groups)
        for g in range(groups):
            left = np.moveaxis(delta[:, g], 1, 0).reshape(delta.shape[2], -1)
            gradient[g, :, :, *cell] = left @ np.moveaxis(share[:, g], 1, 0).reshape(share.shape[2], -1).T
    return gradient


def bias_gradient(delta):
    """Return dL/db ``[1, n_out]``."""
    delta = np.asarray(delta, np.float64)
    return delta.sum(axis=(0, *range(2, delta.ndim)))[None]


def maxima(x, window):
    """Return the maxima of windows, and dL/dx as a function of dL/dz: of equal cells the first in row-major order."""
    cells = padded(x, window, -np.inf)
    stack = np.stack([cells[:, :, *under(window, cell)] for cell in np.ndindex(*window.kernel)])
    winners = np.argmax(stack, axis=0)  # the first of them

    def back(epsilon):
        image = np.zeros(cells.shape)
        for number, cell in enumerate(np.ndindex(*window.kernel)):
            image[:, :, *under(window, cell)] += np.where(winners == number, epsilon, 0.0)
        return image[:, :, *window.interior]

    return stack.max(axis=0), back


def means(x, window, real):
    """Return the means of windows over all of their cells, or over those that are `real`, and the way back."""
    cells = padded(x, window)
    inside = padded(np.ones(x.shape), window)
    places = [under(window, cell) for cell in np.ndindex(*window.kernel)]
    counts = sum(inside[:, :, *place] for place in places) if real else float(len(places))

    def back(epsilon):
        image = np.zeros(cells.shape)
        for place in places:
            image[:, :, *place] += np.asarray(epsilon, np.float64) / counts
        return image[:, :, *window.interior]

    return sum(cells[:, :, *place] for place in places) / counts, back


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def lstm_forward(x, weights, state, reverse):
    """Return what each step of an LSTM has computed, in the order of time.

    ``x [T, N, C]``; weights as in `backends.signatures.Series`.
    """
    W, RW, b, peepholes = weights
    forget, output, entry = (0.0, 0.0, 0.0) if peepholes is None else peepholes
    h, c = state
    steps = [None] * len(x)
    for t in range(len(x))[:: -1 if reverse else 1]:
        z = [x[t] @ W[k] + h @ RW[k] + b[k] for k in range(4)]
        i, f, g = np.tanh(z[0]), sigmoid(z[1] + c * forget), sigmoid(z[3] + c * entry)
        behind = f * c + g * i
        o = sigmoid(z[2] + behind * output)
        steps[t] = {"h": h, "c": c, "i": i, "f": f, "o": o, "g": g, "c_behind": behind, "h_behind": o * np.tanh(behind)}
        h, c = steps[t]["h_behind"], behind
    return steps


def lstm_backward(x, weights, steps, epsilon, reverse):
    """Return dL/dx and the gradients of W, RW, b and the peepholes by name, ``epsilon [T, N, H]``, and their sizes."""
    W, RW, b, peepholes = weights
    forget, output, entry = (0.0, 0.0, 0.0) if peepholes is None else peepholes
    shapes = {"x": x.shape, "W": W.shape, "RW": RW.shape, "b": b.shape, "peepholes": (3, W.shape[2])}
    sums, sizes = ({name: np.zeros(shape) for name, shape in shapes.items()} for _ in range(2))
    dh, dc = np.zeros(steps[0]["h"].shape), np.zeros(steps[0]["c"].shape)
    for t in range(len(x))[:: 1 if reverse else -1]:
        at = steps[t]
        squashed = np.tanh(at["c_behind"])
        dh = dh + epsilon[t]
        do = dh * squashed * at["o"] * (1 - at["o"])
        dc = dc + dh * at["o"] * (1 - squashed**2) + do * output
        errors = (
            dc * at["g"] * (1 - at["i"] ** 2),
            dc * at["c"] * at["f"] * (1 - at["f"]),
            do,
            dc * at["i"] * at["g"] * (1 - at["g"]),
        )
        seen = (at["c"], at["c_behind"], at["c"])
        _add_products(sums, t, x[t], at["h"], errors, seen, (W, RW))
        absolute = [tuple(map(np.abs, each)) for each in ((x[t], at["h"]), errors, seen, (W, RW))]
        _add_products(sizes, t, *absolute[0], *absolute[1:])
        dh = sum(error @ RW[k].T for k, error in enumerate(errors))
        dc = dc * at["f"] + errors[1] * forget + errors[3] * entry
    return sums, sizes


def _add_products(sums, t, x, h, errors, seen, weights):
    for k, error in enumerate(errors):
        sums["W"][k] += x.T @ error
        sums["RW"][k] += h.T @ error
        sums["b"][k] += error.sum(axis=0)
        sums["x"][t] += error @ weights[0][k].T
    for place, memory in enumerate(seen):
        sums["peepholes"][place] += (errors[place + 1] * memory).sum(axis=0)
