"""What vertices compute, written another way: ``oracle(xs, params)`` over float64 arrays."""

from functools import reduce

import numpy as np


def joined(xs, params, axis):
    return np.array(np.split(np.concatenate(xs, axis), 1)[0])


def folded(function, xs, params):
    out = np.zeros(np.broadcast_shapes(*(x.shape for x in xs)))
    spread = [np.broadcast_to(x, out.shape) for x in xs]
    for at in np.ndindex(*out.shape):
        out[at] = reduce(function, [float(x[at]) for x in spread])
    return out


def average(xs, params):
    return np.mean(np.stack(np.broadcast_arrays(*xs)), 0)


def stacked(xs, params):
    longest = max(x.shape[-1] for x in xs)
    rows = [np.concatenate([row, np.zeros((*row.shape[:-1], longest - row.shape[-1]))], -1) for x in xs for row in x]
    return np.array(rows)


def distance(xs, params):
    return np.array(
        [[np.sqrt(sum((a - b) ** 2 for a, b in zip(p.flat, q.flat, strict=True)))] for p, q in zip(*xs, strict=True)]
    )


def normalized(xs, params, axes):
    (x,) = xs
    return x / np.linalg.norm(np.sqrt((x * x).sum(axes, keepdims=True))[None], axis=0).clip(1e-8)


def reshaped(xs, params, shape, order="C"):
    (x,) = xs
    return np.reshape(x, shape, order=order)


def reshaped_outside(xs, params, shape, order="C"):
    """Of arrays whose channels are last outside."""
    (x,) = xs
    outside = np.ascontiguousarray(np.moveaxis(x, 1, -1)) if x.ndim > 2 else x
    return np.moveaxis(np.reshape(outside, shape, order=order), -1, 1)


def last(xs, params, mask=None):
    (x,) = xs
    steps = [x.shape[2] - 1] * len(x) if mask is None else [max(np.flatnonzero(row), default=0) for row in mask]
    return np.array([example[:, step] for example, step in zip(x, steps, strict=True)])


def reversed(xs, params, mask=None):
    (x,) = xs
    out = np.zeros_like(x)
    for n, example in enumerate(x):
        steps = np.arange(x.shape[2]) if mask is None else np.flatnonzero(mask[n])
        for step, source in zip(steps, steps[::-1], strict=True):
            out[n, :, step] = example[:, source]
    return out


def repeated(xs, params, steps):
    (x,) = xs
    return np.stack([x] * steps, 2)


def rows_of_steps(xs, params):
    (x,) = xs
    return np.array([x[n, :, t] for t in range(x.shape[2]) for n in range(x.shape[0])])


def steps_of_rows(xs, params, n):
    (x,) = xs
    return np.stack([x[t * n : (t + 1) * n] for t in range(len(x) // n)], 2)


def attended(xs, params, masks=(None, None, None)):
    """Every query of every head and example by itself."""
    queries, keys, values = xs
    n, _, steps = queries.shape
    heads = len(params["Wq"]) if params else 1
    out = np.zeros((n, params["Wo"].shape[1] if params else values.shape[1], steps))
    counts = [np.ones((n, x.shape[2])) if mask is None else mask for x, mask in zip(xs, masks, strict=True)]
    for example, step in np.ndindex(n, steps):
        taken = []
        for head in range(heads):
            q, k, v = queries[example, :, step], keys[example], values[example]
            if params:
                q, k, v = params["Wq"][head] @ q, params["Wk"][head] @ k, params["Wv"][head] @ v
            kept = np.flatnonzero(np.minimum(counts[1], counts[2])[example])
            raised = np.exp(np.array([q @ k[:, key] for key in kept]) / np.sqrt(len(q)))
            taken.append(v[:, kept] @ (raised / raised.sum()))
        joined = np.concatenate(taken)
        out[example, :, step] = counts[0][example, step] * (joined @ params["Wo"] if params else joined)
    return out
