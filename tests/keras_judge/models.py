"""Models of Keras drawn at random, of every form that a file has: chains, graphs, nested, shared; and inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from .drawing import LIMITED, Drawer

EXAMPLES = 3
PARAMETERS = {"moving_variance": (0.5, 1.5), "gamma": (0.5, 1.5), "alpha": (0.0, 0.5)}
"""Weights that are drawn between two numbers; kernels stay as they were initialised, all others are normal."""


class Drawn(NamedTuple):
    """A model, and the arrays that it takes."""

    kind: str
    model: Any
    inputs: list[np.ndarray]


class Parts(NamedTuple):
    """What a kind returns: tensors of Keras, or a Sequential model instead of them."""

    inputs: list[Any]
    outputs: list[Any]
    model: Any = None
    words: int = 0
    """Numbers of words where inputs are words."""


def draw(keras: ModuleType, seed: int) -> Drawn:
    """Return the model of a seed; kinds take turns."""
    kind = list(KINDS)[seed % len(KINDS)]
    keras.utils.set_random_seed(seed)
    keras.backend.clear_session(free_memory=False)
    drawer = Drawer(keras, seed, "channels_first" if kind == "channels_first" else "channels_last")
    with drawn_by_numpy(drawer.rng):
        parts = KINDS[kind](drawer)
        model = parts.model or keras.Model(_one(parts.inputs), _one(parts.outputs))
    _fill(model, drawer.rng)
    if drawer.happens():
        losses = ("mean_squared_error", "mean_absolute_error")
        model.compile(optimizer=drawer.one_of(("sgd", "adam", "rmsprop")), loss=drawer.one_of(losses))
    return Drawn(kind, model, [_input(drawer, tensor.shape, parts.words) for tensor in model.inputs])


@contextmanager
def drawn_by_numpy(rng: np.random.Generator) -> Iterator[None]:
    """Let NumPy draw what JAX would compile a program for, at half a second a shape."""
    import jax

    def uniform(key: Any, shape: Any, dtype: Any = "float32", minval: float = 0.0, maxval: float = 1.0) -> Any:
        return jax.numpy.asarray(rng.uniform(minval, maxval, shape), dtype)

    def normal(key: Any, shape: Any, dtype: Any = "float32") -> Any:
        return jax.numpy.asarray(rng.normal(0.0, 1.0, shape), dtype)

    with mock.patch("jax.random.uniform", uniform), mock.patch("jax.random.normal", normal):
        yield


def _one(tensors: list[Any]) -> Any:
    return tensors[0] if len(tensors) == 1 else tensors


def _fill(model: Any, rng: np.random.Generator) -> None:
    """Give numbers to what is initialised with zeros or ones."""
    for weight in model.weights:
        if weight.name in PARAMETERS:
            weight.assign(rng.uniform(*PARAMETERS[weight.name], weight.shape).astype("float32"))
        elif weight.name in ("bias", "beta", "moving_mean"):
            weight.assign(rng.normal(0.0, 0.3, weight.shape).astype("float32"))


def _input(drawer: Drawer, shape: tuple[int | None, ...], words: int) -> np.ndarray:
    shape = (EXAMPLES, *(5 if length is None else length for length in shape[1:]))
    if words:
        x = drawer.rng.integers(1, words, shape).astype("float32")
        x[0, -2:] = x[1, -1:] = 0  # which a mask leaves out
        return x
    x = drawer.rng.normal(0.0, 1.0, shape).astype("float32")
    if len(shape) == 3:
        x[0, -2:] = x[1, -1:] = 0
    return x


# ---- kinds


def _rows(drawer: Drawer) -> Parts:
    keras, layers = drawer.keras, drawer.layers
    first = y = keras.Input((drawer.between(2, 6),))
    for _ in range(drawer.between(1, 3)):
        y = drawer.between_layers(drawer.dense(y))
    if drawer.happens(0.3):
        y = layers.RepeatVector(drawer.between(2, 3))(y)
        y = drawer.one_of((layers.Permute((2, 1)), layers.Flatten(), layers.Dense(2)))(y)
    elif drawer.happens(0.4):
        y = layers.Reshape((2, 3))(layers.Dense(6)(y))
        y = layers.Flatten()(drawer.one_of((layers.Permute((2, 1)), layers.Dense(2)))(y))
    return Parts([first], [drawer.dense(y)])


def _images(rank: int) -> Callable[[Drawer], Parts]:
    def draw_images(drawer: Drawer) -> Parts:
        sizes = [drawer.between(4, 9 if rank == 1 else 6 if rank == 2 else 4) for _ in range(rank)]
        channels = drawer.between(1, 3)
        is_first = drawer.data_format == "channels_first"
        first = y = drawer.keras.Input((channels, *sizes) if is_first else (*sizes, channels))
        for _ in range(drawer.between(1, 3)):
            drawn = (drawer.convolution, drawer.convolution, drawer.other_convolution, drawer.pooling, drawer.resizing)
            y = drawer.between_layers(drawer.one_of(drawn)(y))
        if drawer.happens(0.85):
            y = drawer.dense(drawer.flat(y))
        return Parts([first], [y])

    return draw_images


def _series(drawer: Drawer) -> Parts:
    layers, words = drawer.layers, drawer.one_of((0, 7))
    first = drawer.keras.Input((drawer.between(4, 6),) if words else (drawer.between(4, 6), drawer.between(1, 3)))
    y = layers.Embedding(words, drawer.between(2, 4))(first) if words else first
    for _ in range(drawer.between(0, 1)):
        y = drawer.over_series(y, returns=True)
    y = drawer.over_series(y, returns=drawer.happens(0.3))
    if len(y.shape) == 3 and drawer.happens():
        y = layers.TimeDistributed(layers.Dense(3, activation=drawer.one_of(LIMITED)))(y)
    return Parts([first], [drawer.dense(y)], words=words)


def _masked(drawer: Drawer) -> Parts:
    """Steps that a mask leaves out, at the end of a series."""
    layers, words = drawer.layers, drawer.one_of((0, 7))
    first = drawer.keras.Input((5,) if words else (5, 2))
    y = layers.Embedding(words, 3, mask_zero=True)(first) if words else layers.Masking()(first)
    if drawer.happens():
        y = drawer.over_series(y, returns=True)
    y = drawer.over_series(y, returns=drawer.happens(0.3))
    return Parts([first], [drawer.dense(y)], words=words)


def _two_by_two(drawer: Drawer) -> Parts:
    """Two inputs, merged, and two outputs."""
    keras, layers, units = drawer.keras, drawer.layers, drawer.between(2, 4)
    inputs = [keras.Input((drawer.between(2, 5),)) for _ in range(2)]
    branches = [drawer.between_layers(drawer.dense(x, units)) for x in inputs]
    kinds = ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate")
    y = getattr(layers, drawer.one_of(kinds))()(branches)
    if drawer.happens(0.3):
        y = layers.Dot(axes=1)([y, y]) if drawer.happens(0.3) else layers.Concatenate()([y, inputs[0]])
    outputs = [drawer.dense(y), drawer.dense(drawer.activation(y))]
    return Parts(inputs, outputs if drawer.happens(0.7) else outputs[:1])


def _residual(drawer: Drawer) -> Parts:
    """Images around which a sum goes."""
    layers = drawer.layers
    first = drawer.keras.Input((5, 5, 2))
    y = layers.Conv2D(3, 3, padding="same", activation="relu")(first)
    other = drawer.normalization(layers.Conv2D(3, 3, padding="same")(y))
    merged = getattr(layers, drawer.one_of(("Add", "Concatenate", "Maximum", "Multiply")))()([y, other])
    return Parts([first], [drawer.dense(drawer.flat(drawer.activation(merged)))])


def _nested(drawer: Drawer) -> Parts:
    """A model within a model, a chain or a graph, perhaps two deep."""
    keras, width = drawer.keras, drawer.between(2, 4)
    inner_input = keras.Input((width,))
    inner = keras.Model(inner_input, drawer.dense(drawer.dense(inner_input), 3), name="inner")
    if drawer.happens(0.4):
        outer_input = keras.Input((width,))
        inner = keras.Model(outer_input, drawer.dense(inner(outer_input), 3), name="outer")
    if drawer.happens(0.4):
        chain = keras.Sequential([keras.Input((width,)), inner, drawer.layers.Dense(2, activation="tanh")])
        return Parts([], [], chain)
    first = keras.Input((width,))
    y = inner(drawer.layers.Dense(width)(first) if drawer.happens() else first)
    return Parts([first], [drawer.dense(y)])


def _shared(drawer: Drawer) -> Parts:
    """A layer, or a model, that is called twice."""
    keras, layers = drawer.keras, drawer.layers
    inputs = [keras.Input((3,)) for _ in range(2)]
    if drawer.happens():
        shared = layers.Dense(4, activation=drawer.one_of(LIMITED))
    else:
        inner = keras.Input((3,))
        shared = keras.Model(inner, drawer.between_layers(drawer.dense(inner, 4)), name="twin")
    merged = getattr(layers, drawer.one_of(("Add", "Subtract", "Concatenate")))()([shared(x) for x in inputs])
    return Parts(inputs, [drawer.dense(merged)])


def _chain(drawer: Drawer) -> Parts:
    """A Sequential model, of rows, images or series."""
    keras, layers = drawer.keras, drawer.layers
    last = layers.Dense(drawer.between(2, 4), activation=drawer.one_of(("linear", "softmax", "sigmoid")))
    rows = [keras.Input((4,)), layers.Dense(5, activation="relu"), layers.BatchNormalization(), layers.Dropout(0.2)]
    images = [
        keras.Input((6, 6, 2)),
        layers.Conv2D(3, 3, activation="relu", padding=drawer.one_of(("same", "valid"))),
        drawer.one_of((layers.MaxPooling2D(), layers.AveragePooling2D(2))),
        drawer.one_of((layers.Flatten(), layers.GlobalAveragePooling2D())),
    ]
    series = [keras.Input((5, 3)), drawer.recurrent(4, return_sequences=True), drawer.recurrent(3)]
    return Parts([], [], keras.Sequential([*drawer.one_of((rows, images, series)), last]))


def _wrapped(drawer: Drawer) -> Parts:
    """Layers within layers: each step, both directions."""
    keras, layers = drawer.keras, drawer.layers
    first = keras.Input((4, 3))
    inner = layers.Dense(3, activation=drawer.one_of(LIMITED))
    y = layers.TimeDistributed(inner)(first)
    mode = drawer.one_of(("concat", "sum", "mul", "ave"))
    y = layers.Bidirectional(drawer.recurrent(3, return_sequences=drawer.happens()), merge_mode=mode)(y)
    if len(y.shape) == 3:
        y = drawer.one_of((layers.Flatten(), layers.GlobalMaxPooling1D(), layers.GlobalAveragePooling1D()))(y)
    return Parts([first], [drawer.dense(y)])


KINDS: dict[str, Callable[[Drawer], Parts]] = {
    "rows": _rows,
    "cnn1": _images(1),
    "cnn2": _images(2),
    "cnn3": _images(3),
    "channels_first": _images(2),
    "series": _series,
    "masked": _masked,
    "two_by_two": _two_by_two,
    "residual": _residual,
    "nested": _nested,
    "shared": _shared,
    "chain": _chain,
    "wrapped": _wrapped,
}
