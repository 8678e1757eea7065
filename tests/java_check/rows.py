"""Networks of this library, each with what it is trained on: every layer, loss, preprocessor and kind of mask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from nd.losses import LOSSES
from nn import (
    Bidirectional,
    CnnLossLayer,
    CnnToFeedForwardPreProcessor,
    CnnToRnnPreProcessor,
    Convolution1DLayer,
    ConvolutionLayer,
    DenseLayer,
    FeedForwardToCnn3DPreProcessor,
    FeedForwardToCnnPreProcessor,
    GlobalPoolingLayer,
    InputType,
    LastTimeStep,
    MaskLayer,
    MaskZeroLayer,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    RnnToCnnPreProcessor,
    SimpleRnn,
    Subsampling1DLayer,
    Subsampling3DLayer,
    TimeDistributed,
)
from optimize import Nesterovs
from tests.cases import losses
from tests.cases.layers import LAYER_CASES, TAIL, make_features, make_labels
from tests.cases.random_networks import draw

from .contents import draws

UPDATER = Nesterovs(0.05, momentum=0.8)
N, SIZE, CLASSES = 6, 5, 3


class Row(NamedTuple):
    """A network and its data; `draws` tells whether training draws random numbers."""

    name: str
    conf: MultiLayerConfiguration
    features: np.ndarray
    labels: np.ndarray
    features_mask: np.ndarray | None = None
    labels_mask: np.ndarray | None = None
    draws: bool = False


def base(**settings: Any) -> NeuralNetConfiguration:
    return NeuralNetConfiguration(**{"seed": 7, "updater": UPDATER, "bias_init": 0.1, **settings})


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng([*shape, 1]).normal(0.0, 0.8, shape)


def classes(count: int, n_out: int) -> np.ndarray:
    return np.eye(n_out)[np.random.default_rng([count, 2]).integers(0, n_out, count)]


def dense_row(name: str, layer: dict[str, Any], network: dict[str, Any] | None = None) -> Row:
    """A dense layer with these settings below an output layer, in a network with those."""
    layers = DenseLayer(**{"n_out": 4, "activation": "tanh", **layer}), *TAIL
    conf = base(**(network or {})).list(*layers, input_type=InputType.feed_forward(SIZE))
    return Row(name, conf, numbers(N, SIZE), classes(N, CLASSES), draws=draws(conf))


# ---- layers


def _row_of_case(name: str, conf: MultiLayerConfiguration, case: Any, draws: bool) -> Row:
    features = make_features(case)
    shape = MultiLayerNetwork(conf).init().output(features).shape[1:]
    return Row(name, conf, features, make_labels(case, shape), draws=draws)


def layer_rows() -> Iterator[Row]:
    """Every row of every layer in tests/cases/layers."""
    for kind, cases in LAYER_CASES.items():
        for case in cases:
            conf = base(validate_output_layer_config=False).list(case.layer, *case.tail, input_type=case.input_type)
            yield _row_of_case(f"layer-{kind}-{case.variant}", conf, case, case.draws)


def random_rows(count: int) -> Iterator[Row]:
    """So many networks that the library accepts, drawn at random."""
    number = accepted = 0
    while accepted < count:
        drawn = draw(number)
        if drawn is not None:
            case, net = drawn
            accepted += 1
            yield _row_of_case(f"random-{number}", net.conf, case, draws(net.conf))
        number += 1


# ---- losses


def loss_rows() -> Iterator[Row]:
    """Every row of every loss in tests/cases/losses, with weights of the outputs where it takes them."""
    for name, case in losses.ROWS:
        settings = [{}, {"weights": (0.5, 2.0, 1.5)}] if case.weighted else [{}]
        for more in settings:
            loss = LOSSES[name](**case.parameters, **more)
            labels = case.labels(np.random.default_rng(3))
            for activation in case.activations:
                last = OutputLayer(n_out=case.n_out, loss=loss, activation=activation)
                conf = base(validate_output_layer_config=False).list(
                    DenseLayer(n_in=SIZE, n_out=4, activation="tanh"), last
                )
                variant = "-".join([case.labels.__name__, activation, *more])
                yield Row(f"loss-{name}-{variant}", conf, numbers(len(labels), SIZE), labels)


# ---- preprocessors


def preprocessor_rows() -> Iterator[Row]:
    """Networks that change between rows, images, volumes and series: where the input type says so, and by hand."""
    images, volumes, series = (
        InputType.convolutional(4, 3, 2), InputType.convolutional3d(2, 3, 3, 2), InputType.recurrent(4, 5),
    )  # fmt: skip
    conv, dense = ConvolutionLayer(n_out=2, kernel_size=2, activation="tanh"), DenseLayer(n_out=4, activation="tanh")
    flat = InputType.convolutional_flat(4, 3, 2)
    over_time = RnnOutputLayer(n_out=CLASSES, loss="mcxent", activation="softmax")
    by_hand = {
        "rnn_to_cnn-cnn_to_rnn": (
            [conv, over_time],
            InputType.recurrent(24, 5),
            {0: RnnToCnnPreProcessor(4, 3, 2), 1: CnnToRnnPreProcessor(3, 2, 2)},
        ),
        "feed_forward_to_cnn": (
            [DenseLayer(n_out=24), conv, *TAIL],
            InputType.feed_forward(SIZE),
            {1: FeedForwardToCnnPreProcessor(4, 3, 2), 2: CnnToFeedForwardPreProcessor(3, 2, 2)},
        ),
        "feed_forward_to_cnn3d": (
            [DenseLayer(n_out=36), Subsampling3DLayer("max", kernel_size=(1, 2, 2), stride=1), *TAIL],
            InputType.feed_forward(SIZE),
            {1: FeedForwardToCnn3DPreProcessor(2, 3, 3, 2)},
        ),
        "cnn_flat": ([conv, *TAIL], flat, None),
        "cnn_to_feed_forward": ([conv, dense, *TAIL], images, None),
        "cnn3d_to_feed_forward": ([Subsampling3DLayer("avg", kernel_size=2, stride=1), *TAIL], volumes, None),
        "rnn_to_feed_forward-and-back": ([dense, over_time], series, None),
    }
    for name, (layers, input_type, preprocessors) in by_hand.items():
        conf = base().list(*layers, input_type=input_type, preprocessors=preprocessors)
        features = numbers(N, *input_type.shape)
        shape = MultiLayerNetwork(conf).init().output(features).shape
        places = shape[2:]
        labels = np.moveaxis(classes(N * int(np.prod(places)), CLASSES).reshape(N, *places, CLASSES), -1, 1)
        yield Row(f"preprocessor-{name}", conf, features, labels)


# ---- masks


def _lengths(steps: int) -> np.ndarray:
    return (np.arange(steps) < np.array([[5], [3], [1], [4], [5], [2]])).astype(float)


def _masked(name: str, layers: list[Any], input_type: InputType, labels: np.ndarray, *masks: np.ndarray | None) -> Row:
    conf = base().list(*layers, input_type=input_type)
    return Row(f"mask-{name}", conf, numbers(N, *input_type.shape), labels, *masks)


def mask_rows() -> Iterator[Row]:
    """Masks of features and of labels: of examples, outputs, time steps and pixels."""
    rows, series, images = InputType.feed_forward(SIZE), InputType.recurrent(4, 5), InputType.convolutional(3, 2, 4)
    steps, bits = _lengths(5), np.random.default_rng(8)
    examples = np.array([[1.0], [0.0], [1.0], [1.0], [0.0], [1.0]])
    outputs, pixels = (bits.integers(0, 2, shape).astype(float) for shape in ((N, CLASSES), (N, 1, 3, 2)))
    once, always = classes(N, CLASSES), np.moveaxis(classes(N * 5, CLASSES).reshape(N, 5, CLASSES), -1, 1)
    dense, several = DenseLayer(n_out=4, activation="tanh"), OutputLayer(n_out=CLASSES, loss="mse", activation="tanh")
    same = Convolution1DLayer(n_out=3, kernel_size=3, activation="tanh", convolution_mode="same")
    pooled = Subsampling1DLayer("max", kernel_size=2, stride=1, convolution_mode="same")
    over_time = RnnOutputLayer(n_out=CLASSES, loss="mcxent", activation="softmax")
    over_pixels = CnnLossLayer(loss="mse", activation="tanh")
    yield _masked("examples", [dense, *TAIL], rows, once, None, examples)
    yield _masked("outputs", [dense, several], rows, numbers(N, CLASSES), None, outputs)
    yield _masked("steps", [over_time], series, always, steps, steps)
    yield _masked("steps-of-features", [same, over_time], series, always, steps)
    yield _masked("steps-of-labels", [same, over_time], series, always, None, steps)
    yield _masked("layer", [same, MaskLayer(), over_time], series, always, steps, steps)
    for kind in ("avg", "max", "pnorm", "sum"):
        yield _masked(f"pooled-{kind}", [same, GlobalPoolingLayer(kind), *TAIL], series, once, steps)
    recurrent, every_step = (
        SimpleRnn(n_out=3, activation="tanh"),
        TimeDistributed(DenseLayer(n_out=3, activation="tanh")),
    )
    for name, layer in {"last": LastTimeStep(recurrent), "zeros": LastTimeStep(MaskZeroLayer(recurrent))}.items():
        yield _masked(name, [layer, *TAIL], series, once, steps)
    for name, layer in {"both": Bidirectional(recurrent), "distributed": every_step}.items():
        yield _masked(name, [layer, GlobalPoolingLayer("avg"), *TAIL], series, once, steps)
    yield _masked("subsampled", [pooled, GlobalPoolingLayer("avg"), *TAIL], series, once, steps)
    yield _masked("subsampled-and-convolved", [pooled, same, over_time], series, always, steps, steps)
    yield _masked("pixels", [over_pixels], images, numbers(N, 4, 3, 2) / 2, None, pixels)
