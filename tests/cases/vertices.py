"""A row for every variant of every vertex, and what it computes, written another way: loops over float64 numbers."""

from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from nn import (
    AttentionVertex,
    CnnToFeedForwardPreProcessor,
    DenseLayer,
    DuplicateToTimeSeriesVertex,
    ElementWiseVertex,
    FeedForwardToCnnPreProcessor,
    FeedForwardToRnnPreProcessor,
    FrozenVertex,
    L2NormalizeVertex,
    L2Vertex,
    LastTimeStepVertex,
    LayerVertex,
    MergeVertex,
    PoolHelperVertex,
    PreprocessorVertex,
    ReshapeVertex,
    ReverseTimeSeriesVertex,
    RnnToFeedForwardPreProcessor,
    ScaleVertex,
    ShiftVertex,
    StackVertex,
    SubsetVertex,
    UnstackVertex,
)

ROWS, SERIES, IMAGES, VOLUMES = (4, 5), (4, 3, 6), (4, 2, 5, 4), (4, 2, 3, 2, 2)
STEPS = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 1, 1, 0, 1, 0], [0, 0, 0, 0, 0, 0]], float)
OTHER_STEPS = np.array([[1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0], [0, 1, 1, 0, 1, 0], [0, 0, 1, 0, 0, 0]], float)
EXAMPLES = np.array([[1], [0], [1], [1]], float)


class VertexCase(NamedTuple):
    """A vertex, the shapes of what comes in, and its activations written another way: ``oracle(xs, params)``."""

    variant: str
    vertex: Any
    shapes: tuple[tuple[int, ...], ...]
    oracle: Callable[..., np.ndarray]
    masks: tuple[Any, ...] = ()
    """Of the inputs; none where there are none."""
    mask: Any = None
    """What becomes of them."""
    network: Mapping[str, tuple[tuple[int, ...], Any]] = {}
    """Name -> shape and mask of the network's inputs that the vertex looks at."""
    splits: bool = True
    examples: int = 4
    """Of the minibatch."""
    equals: bool = False
    """Inputs are whole numbers, of which many are equal."""

    def inputs(self, seed=0):
        """Return float64 inputs."""
        rng = np.random.default_rng([seed, 1])
        if self.equals:
            return [rng.integers(-2, 3, shape).astype(float) for shape in self.shapes]
        return [rng.normal(0.0, 0.8, shape) for shape in self.shapes]


# ---- oracles


def _joined(xs, params, axis):
    return np.array(np.split(np.concatenate(xs, axis), 1)[0])


def _folded(function, xs, params):
    out = np.zeros(np.broadcast_shapes(*(x.shape for x in xs)))
    spread = [np.broadcast_to(x, out.shape) for x in xs]
    for at in np.ndindex(*out.shape):
        out[at] = reduce(function, [float(x[at]) for x in spread])
    return out


def _average(xs, params):
    return np.mean(np.stack(np.broadcast_arrays(*xs)), 0)


def _stacked(xs, params):
    longest = max(x.shape[-1] for x in xs)
    rows = [np.concatenate([row, np.zeros((*row.shape[:-1], longest - row.shape[-1]))], -1) for x in xs for row in x]
    return np.array(rows)


def _distance(xs, params):
    return np.array([[np.sqrt(sum((a - b) ** 2 for a, b in zip(p.flat, q.flat, strict=True)))] for p, q in zip(*xs, strict=True)])


def _normalized(xs, params, axes):
    (x,) = xs
    return x / np.linalg.norm(np.sqrt((x * x).sum(axes, keepdims=True))[None], axis=0).clip(1e-8)


def _reshaped(xs, params, shape, order="C"):
    (x,) = xs
    return np.reshape(x, shape, order=order)


def _last(xs, params, mask=None):
    (x,) = xs
    steps = [x.shape[2] - 1] * len(x) if mask is None else [max(np.flatnonzero(row), default=0) for row in mask]
    return np.array([example[:, step] for example, step in zip(x, steps, strict=True)])


def _reversed(xs, params, mask=None):
    (x,) = xs
    out = np.zeros_like(x)
    for n, example in enumerate(x):
        steps = np.arange(x.shape[2]) if mask is None else np.flatnonzero(mask[n])
        for step, source in zip(steps, steps[::-1], strict=True):
            out[n, :, step] = example[:, source]
    return out


def _repeated(xs, params, steps):
    (x,) = xs
    return np.stack([x] * steps, 2)


def _rows_of_steps(xs, params):
    (x,) = xs
    return np.array([x[n, :, t] for t in range(x.shape[2]) for n in range(x.shape[0])])


def _steps_of_rows(xs, params, n):
    (x,) = xs
    return np.stack([x[t * n : (t + 1) * n] for t in range(len(x) // n)], 2)


def _attended(xs, params, masks=(None, None, None)):
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
            kept = kept if kept.size else np.arange(k.shape[1])  # where nothing counts, everything does
            raised = np.exp(np.array([q @ k[:, key] for key in kept]) / np.sqrt(len(q)))
            taken.append(v[:, kept] @ (raised / raised.sum()))
        joined = np.concatenate(taken)
        out[example, :, step] = counts[0][example, step] * (joined @ params["Wo"] if params else joined)
    return out


# ---- rows


def _attention(variant, sizes, lengths, masks=(), **settings):
    shapes = tuple((4, size, length) for size, length in zip(sizes, lengths, strict=True))
    oracle = partial(_attended, masks=masks or (None,) * 3)
    return VertexCase(variant, AttentionVertex(**settings), shapes, oracle, masks, masks[0] if masks else None)


def _element_wise(op, function, variant, *shapes, **settings):
    oracle = function if op == "average" else partial(_folded, function)
    return VertexCase(f"{op}-{variant}", ElementWiseVertex(op), shapes, oracle, **settings)


def _plus(x, y):
    return x + y


def _minus(x, y):
    return x - y


def _times(x, y):
    return x * y


_ANY_STEPS = np.maximum(STEPS, OTHER_STEPS)
VERTEX_CASES: dict[str, list[VertexCase]] = {
    "attention": [
        _attention("plain", (3, 3, 3), (5, 6, 6)),
        _attention("plain-masked", (3, 3, 3), (6, 6, 6), (STEPS, OTHER_STEPS, STEPS)),
        _attention("projected", (2, 3, 4), (5, 6, 6), n_out=4, n_heads=2, project_input=True),
        _attention(
            "projected-masked", (2, 3, 4), (6, 6, 6), (OTHER_STEPS, None, STEPS),
            n_out=3, n_heads=2, head_size=5, project_input=True,
        ),
        _attention("one-head-keys-masked", (3, 2, 3), (2, 6, 6), (None, STEPS, None), n_out=2, project_input=True),
    ],
    "duplicate_to_time_series": [
        VertexCase("rows", DuplicateToTimeSeriesVertex("in"), (ROWS,), partial(_repeated, steps=6), network={"in": (SERIES, None)}),
        VertexCase(
            "masked", DuplicateToTimeSeriesVertex("in"), (ROWS,), partial(_repeated, steps=6), (EXAMPLES,), STEPS,
            network={"in": (SERIES, STEPS)},
        ),
    ],
    "element_wise": [
        _element_wise("add", _plus, "two", ROWS, ROWS),
        _element_wise("add", _plus, "images", IMAGES, IMAGES, IMAGES),
        _element_wise("add", _plus, "one", SERIES),
        _element_wise("add", _plus, "repeated", (4, 1), ROWS, (4, 5)),
        _element_wise("add", _plus, "both-repeated", (4, 1, 6), (4, 3, 1)),
        _element_wise("add", _plus, "masked", SERIES, SERIES, masks=(STEPS, OTHER_STEPS), mask=_ANY_STEPS),
        _element_wise("add", _plus, "half-masked", SERIES, SERIES, masks=(STEPS, None)),
        _element_wise("average", _average, "three", ROWS, ROWS, ROWS, masks=(EXAMPLES,) * 3, mask=EXAMPLES),
        _element_wise("average", _average, "repeated", IMAGES, (4, 2, 1, 1)),
        _element_wise("max", max, "two", ROWS, ROWS),
        _element_wise("max", max, "equals", SERIES, SERIES, SERIES, equals=True),
        _element_wise("max", max, "repeated", (4, 1), ROWS),
        _element_wise("product", _times, "two", VOLUMES, VOLUMES),
        _element_wise("product", _times, "three-repeated", ROWS, (4, 1), ROWS),
        _element_wise("subtract", _minus, "two", SERIES, SERIES),
        _element_wise("subtract", _minus, "second-repeated", ROWS, (4, 1)),
        _element_wise("subtract", _minus, "both-repeated", (4, 1, 6), (4, 3, 1)),
    ],
    "frozen": [
        VertexCase("sum", FrozenVertex(ElementWiseVertex("add")), (ROWS, ROWS), partial(_folded, _plus)),
        _attention("attention", (2, 3, 4), (5, 6, 6), n_out=4, n_heads=2, project_input=True),
        VertexCase("unstacked", FrozenVertex(UnstackVertex(1, 2)), (ROWS,), lambda xs, params: xs[0][2:], splits=False),
    ],
    "l2": [
        VertexCase("rows", L2Vertex(), (ROWS, ROWS), _distance),
        VertexCase("series", L2Vertex(), (SERIES, SERIES), _distance, (STEPS, OTHER_STEPS), STEPS),
        VertexCase("images", L2Vertex(1e-4), (IMAGES, IMAGES), _distance),
    ],
    "l2_normalize": [
        VertexCase("rows", L2NormalizeVertex(), (ROWS,), partial(_normalized, axes=1), (EXAMPLES,), EXAMPLES),
        VertexCase("images", L2NormalizeVertex(), (IMAGES,), partial(_normalized, axes=(1, 2, 3))),
        VertexCase("channels", L2NormalizeVertex([1], 1e-8), (SERIES,), partial(_normalized, axes=1)),
    ],
    "last_time_step": [
        VertexCase("all", LastTimeStepVertex("in"), (SERIES,), _last, (STEPS,), network={"in": (SERIES, None)}),
        VertexCase(
            "masked", LastTimeStepVertex("in"), (SERIES,), partial(_last, mask=STEPS), network={"in": ((4, 9, 6), STEPS)}
        ),
    ],
    "layer": [],
    "merge": [
        VertexCase("rows", MergeVertex(), (ROWS, (4, 2), ROWS), partial(_joined, axis=1)),
        VertexCase("series", MergeVertex(), (SERIES, (4, 1, 6)), partial(_joined, axis=1), (STEPS, OTHER_STEPS), _ANY_STEPS),
        VertexCase("images", MergeVertex(), (IMAGES, (4, 3, 5, 4)), partial(_joined, axis=1)),
        VertexCase("volumes", MergeVertex(), (VOLUMES, VOLUMES), partial(_joined, axis=1)),
        VertexCase("steps", MergeVertex(2), (SERIES, (4, 3, 2)), partial(_joined, axis=2)),
        VertexCase("one", MergeVertex(), (ROWS,), partial(_joined, axis=1), (EXAMPLES,), EXAMPLES),
    ],
    "pool_helper": [
        VertexCase("images", PoolHelperVertex(), (IMAGES,), lambda xs, params: np.delete(np.delete(xs[0], 0, 2), 0, 3)),
        VertexCase(
            "masked", PoolHelperVertex(), (IMAGES,), lambda xs, params: np.delete(np.delete(xs[0], 0, 2), 0, 3),
            (np.arange(20.0).reshape(4, 1, 5, 1),), np.arange(20.0).reshape(4, 1, 5, 1)[:, :, 1:],
        ),
    ],
    "preprocessor": [
        VertexCase(
            "images-to-rows", PreprocessorVertex(CnnToFeedForwardPreProcessor(5, 4, 2)), (IMAGES,),
            partial(_reshaped, shape=(-1, 40)), (EXAMPLES.reshape(4, 1, 1, 1),), EXAMPLES,
        ),
        VertexCase(
            "rows-to-images", PreprocessorVertex(FeedForwardToCnnPreProcessor(5, 1, 1)), (ROWS,),
            partial(_reshaped, shape=(-1, 1, 5, 1)),
        ),
        VertexCase("passes", PreprocessorVertex(CnnToFeedForwardPreProcessor(5, 1, 1)), (ROWS,), lambda xs, params: xs[0]),
        VertexCase(
            "series-to-rows", PreprocessorVertex(RnnToFeedForwardPreProcessor()), (SERIES,), _rows_of_steps, (STEPS,),
            STEPS.T.reshape(-1, 1), splits=False,
        ),
        VertexCase(
            "rows-to-series", PreprocessorVertex(FeedForwardToRnnPreProcessor()), ((8, 3),),
            partial(_steps_of_rows, n=4), splits=False,
        ),
    ],
    "reshape": [
        VertexCase("rows", ReshapeVertex(-1, 18), (SERIES,), partial(_reshaped, shape=(-1, 18))),
        VertexCase(
            "series", ReshapeVertex([-1, 2, 3]), ((4, 6),), partial(_reshaped, shape=(-1, 2, 3)), (EXAMPLES,),
            np.repeat(EXAMPLES, 3, 1),
        ),
        VertexCase("images", ReshapeVertex(-1, 1, 6, 3), (SERIES,), partial(_reshaped, shape=(-1, 1, 6, 3))),
        VertexCase(
            "first-axis-fastest", ReshapeVertex("f", [-1, 9, 2]), (SERIES,), partial(_reshaped, shape=(-1, 9, 2), order="F")
        ),
        VertexCase(
            "other-examples", ReshapeVertex(2, 5, -1), (ROWS,), partial(_reshaped, shape=(2, 5, 2)), (EXAMPLES,),
            splits=False,
        )._replace(vertex=ReshapeVertex(2, 5, 2), mask=EXAMPLES.reshape(2, 2)),
        VertexCase(
            "mask-shape", ReshapeVertex("f", [8, -1], [8, 3]), (SERIES,), partial(_reshaped, shape=(8, 9), order="F"),
            (STEPS,), STEPS.reshape(8, 3, order="F"), splits=False,
        ),
    ],
    "reverse_time_series": [
        VertexCase("all", ReverseTimeSeriesVertex(), (SERIES,), _reversed, (STEPS,), STEPS),
        VertexCase(
            "masked", ReverseTimeSeriesVertex("in"), (SERIES,), partial(_reversed, mask=STEPS), (OTHER_STEPS,), OTHER_STEPS,
            {"in": (SERIES, STEPS)},
        ),
        VertexCase("unmasked", ReverseTimeSeriesVertex("in"), (SERIES,), _reversed, network={"in": (SERIES, None)}),
    ],
    "scale": [
        VertexCase("rows", ScaleVertex(2.5), (ROWS,), lambda xs, params: xs[0] / 0.4, (EXAMPLES,), EXAMPLES),
        VertexCase("images", ScaleVertex(-1.0), (IMAGES,), lambda xs, params: 0.0 - xs[0]),
    ],
    "shift": [
        VertexCase("rows", ShiftVertex(0.25), (ROWS,), lambda xs, params: xs[0] - -0.25),
        VertexCase("series", ShiftVertex(), (SERIES,), lambda xs, params: xs[0], (STEPS,), STEPS),
    ],
    "stack": [
        VertexCase("rows", StackVertex(), (ROWS, ROWS, ROWS), _stacked, splits=False),
        VertexCase("images", StackVertex(), (IMAGES, IMAGES), _stacked, splits=False),
        VertexCase(
            "series-of-other-lengths", StackVertex(), (SERIES, (4, 3, 4)), _stacked, (STEPS, OTHER_STEPS[:, :4]),
            np.concatenate([STEPS, np.pad(OTHER_STEPS[:, :4], ((0, 0), (0, 2)))]), splits=False,
        ),
        VertexCase(
            "half-masked", StackVertex(), (SERIES, SERIES), _stacked, (None, STEPS),
            np.concatenate([np.ones_like(STEPS), STEPS]), splits=False,
        ),
        VertexCase("other-counts", StackVertex(), (ROWS, (3, 5)), _stacked, splits=False),
        VertexCase("one", StackVertex(), (ROWS,), _stacked, (EXAMPLES,), EXAMPLES, splits=False),
    ],
    "subset": [
        VertexCase("rows", SubsetVertex(1, 3), (ROWS,), lambda xs, params: xs[0][:, [1, 2, 3]], (EXAMPLES,), EXAMPLES),
        VertexCase("series", SubsetVertex(2, 2), (SERIES,), lambda xs, params: xs[0][:, [2]], (STEPS,), STEPS),
        VertexCase("volumes", SubsetVertex(0, 0), (VOLUMES,), lambda xs, params: xs[0][:, [0]]),
    ],
    "unstack": [
        VertexCase("first", UnstackVertex(0, 2), (ROWS,), lambda xs, params: xs[0][[0, 1]], (EXAMPLES,), EXAMPLES[:2], splits=False),
        VertexCase("last", UnstackVertex(3, 4), (SERIES,), lambda xs, params: xs[0][[3]], (STEPS,), STEPS[[3]], splits=False),
    ],
}  # fmt: skip
"""Name in VERTICES -> rows."""
VERTEX_CASES["frozen"][1] = VERTEX_CASES["frozen"][1]._replace(vertex=FrozenVertex(VERTEX_CASES["frozen"][1].vertex))
LAYER_VERTICES = (
    LayerVertex(DenseLayer(n_in=3, n_out=2, activation="tanh", weight_init="xavier", bias_init=0.0, updater="sgd")),
    LayerVertex(
        DenseLayer(n_in=6, n_out=2, activation="tanh", weight_init="xavier", bias_init=0.0, updater="sgd"),
        CnnToFeedForwardPreProcessor(1, 2, 3),
    ),
)
"""Of the kind that has no runtime."""
