"""Networks of every kind with minibatches for them: what `same_numbers.py` hashes and `against_commits.py` times.

Runs on any commit since 9edb609: it says everything by name and by public names alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nd.dataset import DataSet
from nn import (
    ActivationLayer,
    BatchNormalization,
    CnnLossLayer,
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    Deconvolution2D,
    DenseLayer,
    DepthwiseConvolution2D,
    DropConnect,
    DropoutLayer,
    ElementWiseMultiplicationLayer,
    EmbeddingLayer,
    FrozenLayer,
    GlobalPoolingLayer,
    InputType,
    LocallyConnected2D,
    LossLayer,
    MultiLayerConfiguration,
    NeuralNetConfiguration,
    OutputLayer,
    PReLULayer,
    RnnOutputLayer,
    SeparableConvolution2D,
    SubsamplingLayer,
    Upsampling2D,
    ZeroPaddingLayer,
)
from optimize import Adam, MaxNormConstraint, Nesterovs, RmsProp, StepSchedule

SEED = 123
CLASSES = 5


class Case(NamedTuple):
    """A network, and what one minibatch of N examples looks like."""

    conf: Callable[[], MultiLayerConfiguration]
    shape: tuple[int, ...]
    batches: tuple[int, ...] = (32,)
    """Sizes of the minibatches, one after the other."""
    labels: str = "classes"
    """"classes", "series", "images" or "numbers"."""
    masks: bool = False


def rows(*layers: Any, n_in: int = 12, **settings: Any) -> Callable[[], MultiLayerConfiguration]:
    """Return a network over rows, closed by a softmax."""
    return network(
        *layers, OutputLayer(n_out=CLASSES, activation="softmax"), kind=InputType.feed_forward(n_in), **settings
    )


def images(*layers: Any, size: int = 10, channels: int = 2, **settings: Any) -> Callable[[], MultiLayerConfiguration]:
    """Return a network over images, closed by a softmax."""
    kind = InputType.convolutional(size, size, channels)
    return network(*layers, OutputLayer(n_out=CLASSES, activation="softmax"), kind=kind, **settings)


def network(*layers: Any, kind: Any, updater: Any = None, **settings: Any) -> Callable[[], MultiLayerConfiguration]:
    """Return a network of these layers."""

    def make() -> MultiLayerConfiguration:
        chosen = Nesterovs(0.05, momentum=0.9) if updater is None else updater
        settled = {"seed": SEED, "weight_init": "xavier", "updater": chosen, "activation": "tanh", **settings}
        return NeuralNetConfiguration(**settled).list(*layers, input_type=kind)

    return make


def conv(n_out: int, size: int = 3, **settings: Any) -> ConvolutionLayer:
    """Return a square convolution."""
    return ConvolutionLayer(n_out=n_out, kernel_size=(size, size), **settings)


def pool(kind: str = "max") -> SubsamplingLayer:
    """Return a pooling over 2x2."""
    return SubsamplingLayer(kind, kernel_size=(2, 2), stride=(2, 2))


def _lenet() -> Callable[[], MultiLayerConfiguration]:
    layers = conv(20, 5, activation="identity"), pool(), conv(50, 5, activation="identity"), pool()
    dense = DenseLayer(n_out=500, activation="relu")
    return network(
        *layers, dense, OutputLayer(n_out=10, loss="negativeloglikelihood", activation="softmax"),
        kind=InputType.convolutional_flat(28, 28, 1), updater=Nesterovs(0.01, momentum=0.9), l2=5e-4,
    )  # fmt: skip


def _mlp(*sizes: int, **settings: Any) -> Callable[[], MultiLayerConfiguration]:
    hidden = [DenseLayer(n_out=size, activation="relu") for size in sizes[1:-1]]
    made = {"updater": Nesterovs(0.01, momentum=0.9), "l2": 5e-4, **settings}
    return network(
        *hidden, OutputLayer(n_out=sizes[-1], activation="softmax"), kind=InputType.feed_forward(sizes[0]), **made
    )


def same(n_out: int, size: int = 3, **settings: Any) -> ConvolutionLayer:
    """Return a square convolution whose outputs are as large as its inputs."""
    return conv(n_out, size, convolution_mode="same", **settings)


def _normalised() -> list[Any]:
    """Return a convolution with batch normalisation, as the suite's network has two of."""
    return [same(16, activation="identity", has_bias=False), BatchNormalization(), ActivationLayer(activation="relu")]


def _depthwise() -> list[Any]:
    """Return a depthwise convolution and one of cells, as the suite's network has two of."""
    cells = DepthwiseConvolution2D(
        depth_multiplier=1, kernel_size=(3, 3), convolution_mode="same", activation="identity"
    )
    return [cells, same(32, 1, activation="relu")]


dense = DenseLayer(n_out=16)
CASES: dict[str, Case] = {
    "adam": Case(rows(dense, updater=Adam(0.01)), (12,)),
    "adam_bias_updater": Case(rows(dense, updater=Adam(0.01), bias_updater=Nesterovs(0.1, 0.5)), (12,)),
    "batch_norm": Case(images(conv(6), BatchNormalization(), ActivationLayer(activation="relu"), pool()), (2, 10, 10)),
    "batch_norm_large": Case(
        images(*_normalised(), *_normalised(), pool(), size=28, channels=1), (1, 28, 28), (64,)
    ),
    "cg": Case(rows(dense, updater="sgd", optimization_algo="conjugate_gradient", iterations=2), (12,)),
    "constraints": Case(rows(dense, constrain_weights=MaxNormConstraint(1.0)), (12,)),
    "conv1d": Case(
        network(
            Convolution1DLayer(n_out=8, kernel_size=3, convolution_mode="same"), RnnOutputLayer(n_out=CLASSES),
            kind=InputType.recurrent(4, 9),
        ), (4, 9), labels="series", masks=True,
    ),
    "conv3d": Case(
        network(
            Convolution3D(n_out=4, kernel_size=(2, 2, 2)), OutputLayer(n_out=CLASSES, activation="softmax"),
            kind=InputType.convolutional3d(4, 5, 5, 2),
        ), (2, 4, 5, 5),
    ),
    "deconvolution": Case(
        network(
            conv(6, stride=(2, 2)), Deconvolution2D(n_out=3, kernel_size=(4, 4), stride=(2, 2)),
            CnnLossLayer(loss="mse", activation="identity"), kind=InputType.convolutional(10, 10, 2),
        ), (2, 10, 10), labels="images",
    ),
    "depthwise": Case(
        images(
            DepthwiseConvolution2D(depth_multiplier=2, kernel_size=(3, 3)),
            SeparableConvolution2D(n_out=6, kernel_size=(3, 3)), GlobalPoolingLayer("avg"),
        ), (2, 10, 10),
    ),
    "depthwise_large": Case(
        images(*_depthwise(), *_depthwise(), GlobalPoolingLayer("avg"), size=28, channels=16), (16, 28, 28), (64,)
    ),
    "drop_connect": Case(rows(dense, weight_noise=DropConnect(0.7)), (12,)),
    "dropout": Case(rows(dense, drop_out=0.5), (12,), (32, 17)),
    "dropout_images": Case(images(conv(6), DropoutLayer(0.6), pool(), drop_out=0.8), (2, 10, 10)),
    "element_wise": Case(rows(ElementWiseMultiplicationLayer(n_out=12), PReLULayer(), dense), (12,)),
    "embedding": Case(
        rows(EmbeddingLayer(n_in=12, n_out=6)), (1,)
    ),
    "frozen": Case(rows(FrozenLayer(dense), DenseLayer(n_out=8)), (12,)),
    "gradient_clipping": Case(
        rows(dense, gradient_normalization="clip_l2_per_layer", gradient_normalization_threshold=0.3), (12,)
    ),
    "l1_l2_decay": Case(rows(DenseLayer(n_out=9, l1=1e-3, l2_bias=1e-2), dense, weight_decay=1e-3), (12,)),
    "lbfgs": Case(rows(dense, updater="sgd", optimization_algo="lbfgs", iterations=2), (12,)),
    "lenet": Case(_lenet(), (784,), (64,)),
    "lenet_16": Case(_lenet(), (784,), (16,)),
    "lenet_256": Case(_lenet(), (784,), (256,)),
    "locally_connected": Case(images(LocallyConnected2D(n_out=3, kernel_size=(3, 3)), pool("avg")), (2, 10, 10)),
    "loss_layer": Case(
        network(DenseLayer(n_out=CLASSES), LossLayer(activation="softmax"), kind=InputType.feed_forward(12)), (12,)
    ),
    "masked_rows": Case(rows(dense), (12,), (32,), masks=True),
    "mlp": Case(_mlp(784, 256, 128, 10), (784,), (64,)),
    "mlp_256": Case(_mlp(784, 256, 128, 10), (784,), (256,)),
    "mlp_dropout": Case(_mlp(784, 256, 128, 10, drop_out=0.5), (784,), (64,)),
    "mlp_sizes_20": Case(_mlp(784, 64, 10), (784,), tuple(range(20, 60, 2))),
    "mlp_sizes_5": Case(_mlp(784, 64, 10), (784,), (64, 50, 36, 22, 8)),
    "mse_schedules": Case(
        network(
            dense, OutputLayer(n_out=3, loss="mse", activation="identity"), kind=InputType.feed_forward(12),
            updater=RmsProp(StepSchedule("iteration", 0.02, 0.5, 5)), drop_out=0.9,
        ), (12,), labels="numbers",
    ),
    "small_images": Case(images(conv(4, activation="relu"), conv(4, activation="elu"), pool()), (2, 10, 10), (9,)),
    "tiny": Case(_mlp(2, 20, 2, l2=0.0), (2,), (50,)),
    "tiny_dropout": Case(_mlp(2, 20, 2, l2=0.0, drop_out=0.8), (2,), (50,)),
    "upsampling": Case(images(ZeroPaddingLayer(1), conv(4), Upsampling2D(2), pool("avg")), (2, 10, 10)),
}  # fmt: skip
"""Name -> case, sorted."""


def minibatches(case: Case, classes: int) -> list[DataSet]:
    """Return the minibatches of a case, numbers drawn with a fixed seed."""
    rng = np.random.default_rng(SEED)
    return [_minibatch(case, size, classes, rng) for size in case.batches]


def _minibatch(case: Case, n: int, classes: int, rng: np.random.Generator) -> DataSet:
    features = rng.normal(size=(n, *case.shape)).astype(np.float32)
    if case.shape == (1,):  # indices
        features = rng.integers(0, 12, (n, 1)).astype(np.float32)
    where = {"series": (n, case.shape[-1]), "classes": (n,), "numbers": (n,), "images": (n,)}[case.labels]
    labels = np.eye(classes, dtype=np.float32)[rng.integers(0, classes, where)]
    if case.labels == "series":
        labels = np.ascontiguousarray(labels.transpose(0, 2, 1))
    elif case.labels == "numbers":
        labels = rng.normal(size=(n, 3)).astype(np.float32)
    elif case.labels == "images":
        labels = rng.normal(size=(n, 3, *case.shape[1:])).astype(np.float32)
    if not case.masks:
        return DataSet(features, labels)
    mask = (rng.random(where if case.labels == "series" else (n, 1)) < 0.7).astype(np.float32)
    mask[0] = 1.0
    return DataSet(features, labels, mask, None if case.labels == "series" else mask)
