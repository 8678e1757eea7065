"""A network for every part of the library that is no layer: with its defaults, and with numbers drawn at random."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import nd
from nn import (
    BatchNormalization,
    Convolution1DLayer,
    ConvolutionLayer,
    DepthwiseConvolution2D,
    GlobalPoolingLayer,
    InputType,
    LocallyConnected2D,
    MultiLayerNetwork,
    OCNNOutputLayer,
    OutputLayer,
    SelfAttentionLayer,
    SpatialDropout,
)
from nn.conf.parts import KINDS, Kind
from nn.terms.weights import SCALED, WEIGHT_INITS, ScaledWeightInit
from optimize import Adam, MaxNormConstraint, MinMaxNormConstraint, Nesterovs, Sgd
from optimize.gradient_normalization import GRADIENT_NORMALIZATIONS
from optimize.solvers import OPTIMIZERS
from tests.cases.layers import TAIL
from tests.cases.random_values import made

from .rows import (
    CLASSES,
    SIZE,
    UPDATER,
    N,
    Row,
    base,
    classes,
    dense_row,
    layer_rows,
    loss_rows,
    numbers,
    preprocessor_rows,
)

VARIANTS = 3


def variants(part: type) -> Iterator[Any]:
    """Yield instances of a class: its defaults if it has them for all fields, then some with drawn values."""
    with contextlib.suppress(TypeError, nd.ConfigurationError):
        yield part()
    for number in range(VARIANTS):
        rng = random.Random(f"{part.__name__} {number}")
        with contextlib.suppress(nd.NdError):  # values that do not agree
            yield made(rng, part)


def _dropped(part: Any) -> Row:
    if not isinstance(part, SpatialDropout):
        return dense_row("", {"drop_out": part})
    layer = ConvolutionLayer(n_out=2, kernel_size=2, activation="tanh", drop_out=part)
    conf = base().list(layer, *TAIL, input_type=InputType.convolutional(4, 3, 2))
    return Row("", conf, numbers(N, 2, 4, 3), classes(N, CLASSES), draws=True)


PLACES: dict[str, Callable[[Any], Row]] = {
    "activation": lambda part: dense_row("", {"activation": part}),
    "constraint": lambda part: dense_row("", {"constrain_weights": part}),
    "distribution": lambda part: dense_row("", {"weight_init": part}),
    "dropout": _dropped,
    "schedule": lambda part: dense_row("", {"updater": Nesterovs(part, momentum=0.5), "l2": part}),
    "termination condition": lambda part: dense_row("", {}, {"terminations": part}),
    "updater": lambda part: dense_row("", {"updater": part, "l1": 0.01, "l2_bias": 0.02}),
    "weight noise": lambda part: dense_row("", {"weight_noise": part}),
}
"""Kind -> the network that has a part of it."""
ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "input preprocessor": preprocessor_rows,
    "layer": layer_rows,
    "loss": loss_rows,
    "vertex": lambda: iter(()),
}
"""Kind -> rows of all its parts at once; vertices are in graphs."""


def rows_of(kind: Kind) -> Iterator[Row]:
    """Yield the rows of all parts of a kind."""
    if kind.name in ROWS:
        yield from ROWS[kind.name]()
        return
    for name, part in kind.library.items():
        for number, variant in enumerate(variants(part)):
            with contextlib.suppress(nd.NdError):  # drawn values that do not fit into this network
                row = PLACES[kind.name](variant)
                MultiLayerNetwork(row.conf).init()
                yield row._replace(name=f"{kind.name.replace(' ', '_')}-{name}-{number}")


def rows_with_faults() -> Iterator[Row]:
    """Networks that meet with faults of Java's that no other row is sure to meet."""
    images, series, norm = InputType.convolutional(6, 6, 2), InputType.recurrent(4, 5), MaxNormConstraint(0.1)
    depthwise = DepthwiseConvolution2D(kernel_size=2, activation="tanh", l2=0.1)
    unshared = LocallyConnected2D(n_out=2, kernel_size=2, activation="selu")
    series_layer = Convolution1DLayer(n_out=3, kernel_size=2, activation="tanh", constrain_weights=norm)
    bias = LocallyConnected2D(n_out=2, kernel_size=2, activation="tanh", constrain_bias=norm)
    one_class = OCNNOutputLayer(hidden_size=3, constrain_all_parameters=norm)
    labels = classes(N, CLASSES)
    yield dense_row("fault-equal_norms", {"constrain_weights": MinMaxNormConstraint(0.5, 0.5)})
    yield dense_row("fault-all_weights", {"constrain_weights": MaxNormConstraint(0.1, dimensions=(0, 1))})
    leaky = LocallyConnected2D(n_out=2, kernel_size=2, activation="leakyrelu")
    for name, layer in {
        "depthwise": depthwise,
        "leaky_unshared": leaky,
        "unshared": unshared,
        "unshared_bias": bias,
    }.items():
        yield Row(f"fault-{name}", base().list(layer, *TAIL, input_type=images), numbers(N, *images.shape), labels)
    conf = base().list(series_layer, GlobalPoolingLayer("avg"), *TAIL, input_type=series)
    yield Row("fault-norm_of_series", conf, numbers(N, *series.shape), labels)
    attention = SelfAttentionLayer(n_out=4, n_heads=2, project_input=True, l2=0.1)
    conf = base().list(attention, GlobalPoolingLayer("avg"), *TAIL, input_type=series)
    yield Row("fault-penalised_attention", conf, numbers(N, *series.shape), labels)
    conf = base().list(one_class, input_type=InputType.feed_forward(SIZE))
    far = OutputLayer(n_out=CLASSES, loss="mcxent", activation="softmax", bias_init=-1000.0)
    conf_far = base(dtype="float64").list(far, input_type=InputType.feed_forward(SIZE))
    yield Row("fault-softmax", conf_far, numbers(N, SIZE), labels)
    volumes = InputType.convolutional3d(3, 3, 3, 2)
    conf_volumes = base().list(BatchNormalization(), *TAIL, input_type=volumes)
    yield Row("fault-normalised_volumes", conf_volumes, numbers(N, *volumes.shape), labels)
    yield Row("fault-norm_of_scalar", conf, numbers(N, SIZE), np.ones((N, 1)))
    zeros = OutputLayer(n_out=CLASSES, loss="mcxent", activation="relu", bias_init=0.1)
    conf_zeros = base(validate_output_layer_config=False).list(zeros, input_type=InputType.feed_forward(SIZE))
    largest = MultiLayerNetwork(conf_zeros).init().output(numbers(N, SIZE)).argmax(1)  # is above 0, others are not
    yield Row("fault-logarithm", conf_zeros, numbers(N, SIZE), np.eye(CLASSES)[largest])


def part_rows() -> Iterator[Row]:
    """Yield the rows of all kinds, and of what is chosen by name."""
    for kind in KINDS:
        yield from rows_of(kind)
    yield from rows_with_faults()
    for name in sorted(WEIGHT_INITS - {"distribution"}):
        size = {"n_out": 5} if name == "identity" else {}
        yield dense_row(f"weight_init-{name}", {"weight_init": name, **size})
        if name in SCALED:
            yield dense_row(f"weight_init-{name}-scaled", {"weight_init": ScaledWeightInit(name, 1.7), **size})
    for name in GRADIENT_NORMALIZATIONS:
        settings = {"gradient_normalization": name, "gradient_normalization_threshold": 0.05}
        yield dense_row(f"gradient_normalization-{name}", settings)
    for name in OPTIMIZERS:
        yield dense_row(f"optimizer-{name}", {}, {"optimization_algo": name, "updater": Sgd(0.5)})
    yield dense_row("penalty-decay", {"weight_decay": 0.02, "weight_decay_bias": 0.01, "l1": 0.01, "l1_bias": 0.02})
    yield dense_row("penalty-of-the-network", {}, {"l1": 0.01, "l2": 0.02, "l2_bias": 0.01, "updater": UPDATER})
    yield dense_row("updater-of-biases", {"bias_updater": Adam(0.01)})
    yield dense_row("network-no-mini-batch", {}, {"mini_batch": False, "updater": Sgd(0.01)})
    yield dense_row("network-float64", {}, {"dtype": "float64"})
