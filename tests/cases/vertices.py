"""A row for every variant of every vertex, and what it computes, written another way: loops over float64 numbers."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from nn import (
    AttentionVertex,
    CnnToFeedForwardPreProcessor,
    DuplicateToTimeSeriesVertex,
    ElementWiseVertex,
    FeedForwardToCnnPreProcessor,
    FeedForwardToRnnPreProcessor,
    FrozenVertex,
    L2NormalizeVertex,
    L2Vertex,
    LastTimeStepVertex,
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

from . import vertex_oracles as oracles

ROWS, SERIES, IMAGES, VOLUMES = (4, 5), (4, 3, 6), (4, 2, 5, 4), (4, 2, 3, 2, 2)
STEPS = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 1, 1, 0, 1, 0], [0, 0, 0, 0, 0, 0]], float)
OTHER_STEPS = np.array([[1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0], [0, 1, 1, 0, 1, 0], [0, 0, 1, 0, 0, 0]], float)
KEYS = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 0, 1, 0, 0], [0, 1, 1, 0, 1, 0], [0, 0, 1, 0, 0, 1]], float)
OTHER_KEYS = np.array([[1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0], [0, 1, 1, 0, 1, 1], [0, 0, 1, 0, 0, 0]], float)
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


# ---- rows


def _attention(variant, sizes, lengths, masks=(), **settings):
    shapes = tuple((4, size, length) for size, length in zip(sizes, lengths, strict=True))
    oracle = partial(oracles.attended, masks=masks or (None,) * 3)
    return VertexCase(variant, AttentionVertex(**settings), shapes, oracle, masks, masks[0] if masks else None)


def _element_wise(op, function, variant, *shapes, **settings):
    oracle = function if op == "average" else partial(oracles.folded, function)
    return VertexCase(f"{op}-{variant}", ElementWiseVertex(op), shapes, oracle, **settings)


def _frozen(case):
    return case._replace(vertex=FrozenVertex(case.vertex))


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
        _attention("plain-masked", (3, 3, 3), (6, 6, 6), (STEPS, OTHER_KEYS, KEYS)),
        _attention("projected", (2, 3, 4), (5, 6, 6), n_out=4, n_heads=2, project_input=True),
        _attention(
            "projected-masked",
            (2, 3, 4),
            (6, 6, 6),
            (STEPS, None, KEYS),
            n_out=3,
            n_heads=2,
            head_size=5,
            project_input=True,
        ),
        _attention("one-head-keys-masked", (3, 2, 3), (2, 6, 6), (None, KEYS, None), n_out=2, project_input=True),
    ],
    "duplicate_to_time_series": [
        VertexCase(
            "rows",
            DuplicateToTimeSeriesVertex("in"),
            (ROWS,),
            partial(oracles.repeated, steps=6),
            network={"in": (SERIES, None)},
        ),
        VertexCase(
            "masked",
            DuplicateToTimeSeriesVertex("in"),
            (ROWS,),
            partial(oracles.repeated, steps=6),
            (EXAMPLES,),
            STEPS,
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
        _element_wise("average", oracles.average, "three", ROWS, ROWS, ROWS, masks=(EXAMPLES,) * 3, mask=EXAMPLES),
        _element_wise("average", oracles.average, "repeated", IMAGES, (4, 2, 1, 1)),
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
        VertexCase("sum", FrozenVertex(ElementWiseVertex("add")), (ROWS, ROWS), partial(oracles.folded, _plus)),
        _frozen(_attention("attention", (2, 3, 4), (5, 6, 6), n_out=4, n_heads=2, project_input=True)),
        VertexCase("unstacked", FrozenVertex(UnstackVertex(1, 2)), (ROWS,), lambda xs, params: xs[0][2:], splits=False),
    ],
    "l2": [
        VertexCase("rows", L2Vertex(), (ROWS, ROWS), oracles.distance),
        VertexCase("series", L2Vertex(), (SERIES, SERIES), oracles.distance, (STEPS, OTHER_STEPS)),
        VertexCase("images", L2Vertex(1e-4), (IMAGES, IMAGES), oracles.distance),
        VertexCase("examples", L2Vertex(), (ROWS, ROWS), oracles.distance, (EXAMPLES, None), EXAMPLES),
    ],
    "l2_normalize": [
        VertexCase("rows", L2NormalizeVertex(), (ROWS,), partial(oracles.normalized, axes=1), (EXAMPLES,), EXAMPLES),
        VertexCase("images", L2NormalizeVertex(), (IMAGES,), partial(oracles.normalized, axes=(1, 2, 3))),
        VertexCase("channels", L2NormalizeVertex([1], 1e-8), (SERIES,), partial(oracles.normalized, axes=1)),
        VertexCase(
            "channels-last",
            L2NormalizeVertex([3], 1e-8, data_format="NHWC"),
            (IMAGES,),
            partial(oracles.normalized, axes=1),
        ),
        VertexCase(
            "places",
            L2NormalizeVertex([1, 2], 1e-8, data_format="NHWC"),
            (IMAGES,),
            partial(oracles.normalized, axes=(2, 3)),
        ),
    ],
    "last_time_step": [
        VertexCase("all", LastTimeStepVertex("in"), (SERIES,), oracles.last, (STEPS,), network={"in": (SERIES, None)}),
        VertexCase(
            "masked",
            LastTimeStepVertex("in"),
            (SERIES,),
            partial(oracles.last, mask=STEPS),
            network={"in": ((4, 9, 6), STEPS)},
        ),
    ],
    "merge": [
        VertexCase("rows", MergeVertex(), (ROWS, (4, 2), ROWS), partial(oracles.joined, axis=1)),
        VertexCase(
            "series",
            MergeVertex(),
            (SERIES, (4, 1, 6)),
            partial(oracles.joined, axis=1),
            (STEPS, OTHER_STEPS),
            _ANY_STEPS,
        ),
        VertexCase("images", MergeVertex(), (IMAGES, (4, 3, 5, 4)), partial(oracles.joined, axis=1)),
        VertexCase("volumes", MergeVertex(), (VOLUMES, VOLUMES), partial(oracles.joined, axis=1)),
        VertexCase("steps", MergeVertex(2), (SERIES, (4, 3, 2)), partial(oracles.joined, axis=2)),
        VertexCase("one", MergeVertex(), (ROWS,), partial(oracles.joined, axis=1), (EXAMPLES,), EXAMPLES),
        VertexCase("last", MergeVertex(3, data_format="NHWC"), (IMAGES, (4, 3, 5, 4)), partial(oracles.joined, axis=1)),
        VertexCase(
            "rows-of-images",
            MergeVertex(1, data_format="NHWC"),
            (IMAGES, (4, 2, 3, 4)),
            partial(oracles.joined, axis=2),
        ),
        VertexCase(
            "steps-of-nwc", MergeVertex(1, data_format="NWC"), (SERIES, (4, 3, 2)), partial(oracles.joined, axis=2)
        ),
    ],
    "pool_helper": [
        VertexCase("images", PoolHelperVertex(), (IMAGES,), lambda xs, params: np.delete(np.delete(xs[0], 0, 2), 0, 3)),
        VertexCase(
            "masked",
            PoolHelperVertex(),
            (IMAGES,),
            lambda xs, params: np.delete(np.delete(xs[0], 0, 2), 0, 3),
            (np.arange(20.0).reshape(4, 1, 5, 1),),
            np.arange(20.0).reshape(4, 1, 5, 1)[:, :, 1:],
        ),
    ],
    "preprocessor": [
        VertexCase(
            "images-to-rows",
            PreprocessorVertex(CnnToFeedForwardPreProcessor(5, 4, 2)),
            (IMAGES,),
            partial(oracles.reshaped, shape=(-1, 40)),
            (EXAMPLES.reshape(4, 1, 1, 1),),
            EXAMPLES,
        ),
        VertexCase(
            "rows-to-images",
            PreprocessorVertex(FeedForwardToCnnPreProcessor(5, 1, 1)),
            (ROWS,),
            partial(oracles.reshaped, shape=(-1, 1, 5, 1)),
        ),
        VertexCase(
            "passes", PreprocessorVertex(CnnToFeedForwardPreProcessor(5, 1, 1)), (ROWS,), lambda xs, params: xs[0]
        ),
        VertexCase(
            "series-to-rows",
            PreprocessorVertex(RnnToFeedForwardPreProcessor()),
            (SERIES,),
            oracles.rows_of_steps,
            (STEPS,),
            STEPS.T.reshape(-1, 1),
            splits=False,
        ),
        VertexCase(
            "rows-to-series",
            PreprocessorVertex(FeedForwardToRnnPreProcessor()),
            ((8, 3),),
            partial(oracles.steps_of_rows, n=4),
            splits=False,
        ),
    ],
    "reshape": [
        VertexCase("rows", ReshapeVertex(-1, 18), (SERIES,), partial(oracles.reshaped, shape=(-1, 18))),
        VertexCase(
            "series",
            ReshapeVertex([-1, 2, 3]),
            ((4, 6),),
            partial(oracles.reshaped, shape=(-1, 2, 3)),
            (EXAMPLES,),
            np.repeat(EXAMPLES, 3, 1),
        ),
        VertexCase("images", ReshapeVertex(-1, 1, 6, 3), (SERIES,), partial(oracles.reshaped, shape=(-1, 1, 6, 3))),
        VertexCase(
            "first-axis-fastest",
            ReshapeVertex("f", [-1, 9, 2]),
            (SERIES,),
            partial(oracles.reshaped, shape=(-1, 9, 2), order="F"),
        ),
        VertexCase(
            "other-examples",
            ReshapeVertex(2, 5, 2),
            (ROWS,),
            partial(oracles.reshaped, shape=(2, 5, 2)),
            (EXAMPLES,),
            EXAMPLES.reshape(2, 2),
            splits=False,
        ),
        VertexCase(
            "mask-shape",
            ReshapeVertex("f", [8, 9], [8, -1]),
            (SERIES,),
            partial(oracles.reshaped, shape=(8, 9), order="F"),
            (STEPS,),
            STEPS.reshape(8, 3, order="F"),
            splits=False,
        ),
        VertexCase(
            "last",
            ReshapeVertex(-1, 10, 1, 4, data_format="NHWC", output_format="NHWC"),
            (IMAGES,),
            partial(oracles.reshaped_outside, shape=(-1, 10, 1, 4)),
        ),
        VertexCase(
            "last-first-axis-fastest",
            ReshapeVertex("f", [-1, 4, 10], None, data_format="NHWC", output_format="NWC"),
            (IMAGES,),
            partial(oracles.reshaped_outside, shape=(-1, 4, 10), order="F"),
        ),
        VertexCase(
            "rows-to-series-last",
            ReshapeVertex(-1, 2, 3, output_format="NWC"),
            ((4, 6),),
            partial(oracles.reshaped_outside, shape=(-1, 2, 3)),
            (EXAMPLES,),
            np.repeat(EXAMPLES, 2, 1),
        ),
    ],
    "reverse_time_series": [
        VertexCase("all", ReverseTimeSeriesVertex(), (SERIES,), oracles.reversed, (STEPS,), STEPS),
        VertexCase(
            "masked",
            ReverseTimeSeriesVertex("in"),
            (SERIES,),
            partial(oracles.reversed, mask=STEPS),
            (OTHER_STEPS,),
            OTHER_STEPS,
            {"in": (SERIES, STEPS)},
        ),
        VertexCase(
            "unmasked", ReverseTimeSeriesVertex("in"), (SERIES,), oracles.reversed, network={"in": (SERIES, None)}
        ),
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
        VertexCase("rows", StackVertex(), (ROWS, ROWS, ROWS), oracles.stacked, splits=False),
        VertexCase("images", StackVertex(), (IMAGES, IMAGES), oracles.stacked, splits=False),
        VertexCase(
            "series-of-other-lengths",
            StackVertex(),
            (SERIES, (4, 3, 4)),
            oracles.stacked,
            (STEPS, OTHER_STEPS[:, :4]),
            np.concatenate([STEPS, np.pad(OTHER_STEPS[:, :4], ((0, 0), (0, 2)))]),
            splits=False,
        ),
        VertexCase(
            "half-masked",
            StackVertex(),
            (SERIES, SERIES),
            oracles.stacked,
            (None, STEPS),
            np.concatenate([np.ones_like(STEPS), STEPS]),
            splits=False,
        ),
        VertexCase("other-counts", StackVertex(), (ROWS, (3, 5)), oracles.stacked, splits=False),
        VertexCase("one", StackVertex(), (ROWS,), oracles.stacked, (EXAMPLES,), EXAMPLES, splits=False),
    ],
    "subset": [
        VertexCase("rows", SubsetVertex(1, 3), (ROWS,), lambda xs, params: xs[0][:, [1, 2, 3]], (EXAMPLES,), EXAMPLES),
        VertexCase("series", SubsetVertex(2, 2), (SERIES,), lambda xs, params: xs[0][:, [2]], (STEPS,), STEPS),
        VertexCase("volumes", SubsetVertex(0, 0), (VOLUMES,), lambda xs, params: xs[0][:, [0]]),
        VertexCase(
            "last", SubsetVertex(1, 3, data_format="NHWC"), (IMAGES,), lambda xs, params: xs[0][:, :, [1, 2, 3]]
        ),
    ],
    "unstack": [
        VertexCase(
            "first",
            UnstackVertex(0, 2),
            (ROWS,),
            lambda xs, params: xs[0][[0, 1]],
            (EXAMPLES,),
            EXAMPLES[:2],
            splits=False,
        ),
        VertexCase(
            "last", UnstackVertex(3, 4), (SERIES,), lambda xs, params: xs[0][[3]], (STEPS,), STEPS[[3]], splits=False
        ),
    ],
}
"""Name in VERTICES -> rows; the vertex of a layer has no runtime."""
