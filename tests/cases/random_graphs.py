"""Graphs drawn at random: 2 to 12 vertices, one or two inputs and outputs, of rows, images and series."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nd.dataset import MultiDataSet
from nn import (
    LSTM,
    ActivationLayer,
    AttentionVertex,
    BatchNormalization,
    Bidirectional,
    Convolution1DLayer,
    ConvolutionLayer,
    DenseLayer,
    DuplicateToTimeSeriesVertex,
    ElementWiseVertex,
    FeedForwardToCnnPreProcessor,
    FrozenLayer,
    FrozenVertex,
    GlobalPoolingLayer,
    GravesLSTM,
    InputType,
    L2NormalizeVertex,
    L2Vertex,
    LastTimeStepVertex,
    MergeVertex,
    NeuralNetConfiguration,
    OutputLayer,
    PoolHelperVertex,
    PreprocessorVertex,
    ReshapeVertex,
    ReverseTimeSeriesVertex,
    RnnOutputLayer,
    ScaleVertex,
    ShiftVertex,
    SimpleRnn,
    StackVertex,
    Subsampling1DLayer,
    SubsamplingLayer,
    SubsetVertex,
    UnstackVertex,
)
from optimize import AdaDelta, AdaGrad, Adam, AMSGrad, Nadam, Nesterovs, RmsProp, Sgd
from optimize.gradient_normalization import GRADIENT_NORMALIZATIONS

EXAMPLES, CLASSES, LENGTH, SIDE = 4, 3, 5, 4
INPUTS = {"rows": (4,), "images": (2, SIDE, SIDE), "series": (3, LENGTH)}
"""Kind of an input -> the shape of one example."""
ACTIVATIONS = ("tanh", "sigmoid", "relu", "identity", "softplus", "softsign", "elu", "swish")
UPDATERS = (
    Sgd(0.1), Nesterovs(0.05, momentum=0.8), Adam(0.01), AMSGrad(0.01), Nadam(0.01), AdaGrad(0.05), RmsProp(0.01),
    AdaDelta(),
)  # fmt: skip
NORMALIZATIONS = tuple(name for name in GRADIENT_NORMALIZATIONS if name != "none")


class Vertex(NamedTuple):
    """An activation that is there to be used: its name, and the shape of one example."""

    name: str
    shape: tuple[int, ...]

    @property
    def kind(self) -> str:
        return next(kind for kind, shape in INPUTS.items() if len(shape) == len(self.shape))


class RandomGraph(NamedTuple):
    """A configuration and its data; `inferred` tells whether Java infers the same sizes.

    Java takes a subset of channels for none, what PoolHelperVertex leaves for what it is given, and a pooled series for
    a series.
    """

    conf: Any
    data: MultiDataSet
    input_types: Sequence[InputType]
    inferred: bool


class _Drawing:
    """A graph that grows vertex by vertex, each from the generator of its number."""

    def __init__(self, number: int) -> None:
        self.rng = random.Random(f"graph {number}")
        self.numbers = np.random.default_rng([number, 17])
        self.nodes: dict[str, tuple[Any, ...]] = {}
        self.there: list[Vertex] = []
        self.used: list[str] = []
        self.inferred = True
        kinds = self.rng.choice([["rows"], ["images"], ["series"], ["rows"] * 2, ["images", "rows"], ["series"] * 2])
        self.inputs = [Vertex(self.name(), INPUTS[kind]) for kind in kinds]
        self.there += self.inputs
        self.masked = "series" in kinds and self.rng.random() < 0.5

    def chance(self, probability: float = 0.2) -> bool:
        return self.rng.random() < probability

    def name(self) -> str:
        """Return a new name; the order of names is not that of the vertices."""
        taken = {*self.nodes, *(vertex.name for vertex in self.there)}
        return next(name for name in iter(lambda: f"{self.rng.choice('abcxyz')}{self.rng.randrange(100)}", None)
                    if name not in taken)  # fmt: skip

    def add(self, node: Any, shape: tuple[int, ...], *inputs: Vertex) -> Vertex:
        """Put a layer or vertex on top of others."""
        vertex = Vertex(self.name(), shape)
        self.nodes[vertex.name] = (node, *(each.name for each in inputs))
        self.used += [each.name for each in inputs]
        self.there.append(vertex)
        return vertex

    def pick(self) -> Vertex:
        """Return an activation: rather one that nobody uses, rather a late one."""
        unused = [vertex for vertex in self.there if vertex.name not in self.used]
        if unused and self.chance(0.6):
            return self.rng.choice(unused)
        return self.rng.choice(self.there[-4:] if self.chance(0.7) else self.there)

    def fellow(self, vertex: Vertex, *, size: bool = True) -> Vertex:
        """Return another activation, or the same, of the same shape; of the same kind and places with size=False."""
        like = [each for each in self.there if each.kind == vertex.kind and each.shape[1:] == vertex.shape[1:]]
        like = [each for each in like if not size or each.shape == vertex.shape]
        others = [each for each in like if each != vertex]
        return self.rng.choice(others) if others and not self.chance(0.1) else vertex

    # ---- settings

    def settings(self) -> dict[str, Any]:
        """Return settings of a layer with parameters."""
        settings: dict[str, Any] = {"activation": self.rng.choice(ACTIVATIONS)}
        if self.chance(0.15):
            settings["updater"] = self.rng.choice(UPDATERS)
        if self.chance(0.15):
            settings["bias_updater"] = self.rng.choice(UPDATERS)
        if self.chance(0.15):
            settings |= {"l2": 0.05, "l1_bias": 0.01}
        return settings

    def network(self) -> NeuralNetConfiguration:
        """Return the settings of the network."""
        settings: dict[str, Any] = {"updater": self.rng.choice(UPDATERS)}
        if self.chance():
            settings |= {"l1": 0.01, "l2": 0.02}
        if self.chance():
            settings["weight_decay_bias" if self.chance() else "l2_bias"] = 0.03
        if self.chance():
            settings |= {
                "gradient_normalization": self.rng.choice(NORMALIZATIONS), "gradient_normalization_threshold": 0.2,
            }  # fmt: skip
        return NeuralNetConfiguration(
            seed=self.rng.randrange(1, 10**6), dtype="float64", bias_init=0.1, weight_init="xavier", **settings
        )

    # ---- vertices of every kind

    def grow(self) -> None:
        """Add a vertex, or two or three that belong together."""
        vertex = self.pick()
        own = {"rows": _ROWS, "images": _IMAGES, "series": _SERIES}[vertex.kind]
        self.rng.choice((*own, *own, *_ANY))(self, vertex)

    def element_wise(self, vertex: Vertex) -> None:
        op = self.rng.choice(["add", "subtract", "product", "average", "max"])
        inputs = [vertex, self.fellow(vertex)]
        if op != "subtract" and self.chance(0.3):
            inputs.append(self.fellow(vertex))
        self.add(ElementWiseVertex(op), vertex.shape, *inputs)

    def merge(self, vertex: Vertex) -> None:
        inputs = [vertex, *(self.fellow(vertex, size=False) for _ in range(self.rng.choice([1, 1, 2])))]
        self.add(MergeVertex(), (sum(each.shape[0] for each in inputs), *vertex.shape[1:]), *inputs)

    def scale(self, vertex: Vertex) -> None:
        self.add(self.rng.choice([ScaleVertex(0.7), ShiftVertex(-0.3)]), vertex.shape, vertex)

    def subset(self, vertex: Vertex) -> None:
        first = self.rng.randrange(vertex.shape[0])
        last = self.rng.randrange(first, vertex.shape[0])
        self.inferred &= vertex.kind != "images"
        self.add(SubsetVertex(first, last), (last - first + 1, *vertex.shape[1:]), vertex)

    def normalize(self, vertex: Vertex) -> None:
        self.add(L2NormalizeVertex(), vertex.shape, vertex)

    def distance(self, vertex: Vertex) -> None:
        """From another: of nothing from itself Java makes NaN now and then. A mask of steps would go on to rows."""
        other = self.fellow(vertex)
        if other != vertex and not (self.masked and vertex.kind == "series"):
            self.add(L2Vertex(), (1,), vertex, other)

    def twins(self, vertex: Vertex) -> None:
        """Two activations through one layer."""
        stack = self.add(StackVertex(), vertex.shape, vertex, self.fellow(vertex))
        shared = {"rows": self.dense, "images": self.convolution, "series": self.convolution1d}[vertex.kind](stack)
        for number in range(2):
            self.add(UnstackVertex(number, 2), shared.shape, shared)
        self.there = [each for each in self.there if each not in (stack, shared)]  # they have twice the examples

    def activation(self, vertex: Vertex) -> None:
        """Java writes into what is below when it does not train, so nobody else may read it."""
        if vertex.name not in self.used and vertex not in self.inputs:
            self.add(ActivationLayer(activation=self.rng.choice(ACTIVATIONS)), vertex.shape, vertex)
            self.there.remove(vertex)

    def normalization(self, vertex: Vertex) -> None:
        if vertex.kind != "series":
            self.add(BatchNormalization(decay=0.8), vertex.shape, vertex)

    def frozen_vertex(self, vertex: Vertex) -> None:
        """Nothing below that is trained: Java asks for an epsilon there."""
        of_inputs = [each for each in self.inputs if each.kind == vertex.kind]
        if of_inputs:
            self.add(FrozenVertex(ScaleVertex(1.5)), of_inputs[0].shape, of_inputs[0])

    # ---- of rows

    def dense(self, vertex: Vertex) -> Vertex:
        size = self.rng.randrange(2, 6)
        layer = DenseLayer(n_out=size, has_bias=not self.chance(), **self.settings())
        return self.add(layer, (size,), vertex)

    def dense_of_several(self, vertex: Vertex) -> None:
        """The layer gets a vertex of its own that merges."""
        layer = DenseLayer(n_out=3, **self.settings())
        self.add(layer, (3,), vertex, self.fellow(vertex, size=False))

    def frozen(self, vertex: Vertex) -> None:
        of_inputs = [each for each in self.inputs if each.kind == "rows"]
        if of_inputs:
            self.add(FrozenLayer(DenseLayer(n_out=3, activation="tanh")), (3,), of_inputs[0])

    def broadcast(self, vertex: Vertex) -> None:
        one = self.add(DenseLayer(n_out=1, activation="tanh"), (1,), self.fellow(vertex, size=False))
        inputs = [vertex, one] if self.chance(0.5) else [one, vertex]
        self.add(ElementWiseVertex(self.rng.choice(["add", "product", "average"])), vertex.shape, *inputs)

    def reshape(self, vertex: Vertex) -> None:
        image = self.add(DenseLayer(n_out=8, activation="tanh"), (8,), vertex)
        to_images = PreprocessorVertex(FeedForwardToCnnPreProcessor(2, 2, 2))
        self.add(self.rng.choice([ReshapeVertex(-1, 2, 2, 2), to_images]), (2, 2, 2), image)

    def duplicate(self, vertex: Vertex) -> None:
        series = [each for each in self.inputs if each.kind == "series"]
        if series:
            self.add(DuplicateToTimeSeriesVertex(series[0].name), (*vertex.shape, LENGTH), vertex)

    # ---- of images

    def convolution(self, vertex: Vertex) -> Vertex:
        channels, kernel = self.rng.randrange(1, 4), (self.rng.randrange(1, 4), self.rng.randrange(1, 3))
        layer = ConvolutionLayer(n_out=channels, kernel_size=kernel, convolution_mode="same", **self.settings())
        return self.add(layer, (channels, *vertex.shape[1:]), vertex)

    def pooling(self, vertex: Vertex) -> None:
        layer = SubsamplingLayer(self.rng.choice(["max", "avg"]), kernel_size=2, stride=1, convolution_mode="same")
        self.add(layer, vertex.shape, vertex)

    def halved(self, vertex: Vertex) -> None:
        channels, height, width = vertex.shape
        if height > 1 and width > 1:
            layer = SubsamplingLayer(self.rng.choice(["max", "avg"]), kernel_size=2, stride=2)
            self.add(layer, (channels, height // 2, width // 2), vertex)

    def pool_helper(self, vertex: Vertex) -> None:
        channels, height, width = vertex.shape
        if height == width > 1:
            self.inferred = False
            self.add(PoolHelperVertex(), (channels, height - 1, width - 1), vertex)

    def flattened(self, vertex: Vertex) -> None:
        self.dense(vertex)

    def pooled(self, vertex: Vertex) -> Vertex:
        self.inferred &= vertex.kind != "series"
        return self.add(GlobalPoolingLayer(self.rng.choice(["avg", "max", "sum"])), vertex.shape[:1], vertex)

    # ---- of series

    def convolution1d(self, vertex: Vertex) -> Vertex:
        channels, mode = self.rng.randrange(1, 4), self.rng.choice(["same", "causal"])
        kernel = self.rng.randrange(1, 4)
        layer = Convolution1DLayer(n_out=channels, kernel_size=kernel, convolution_mode=mode, **self.settings())
        return self.add(layer, (channels, *vertex.shape[1:]), vertex)

    def pooling1d(self, vertex: Vertex) -> None:
        layer = Subsampling1DLayer(self.rng.choice(["max", "avg"]), kernel_size=2, stride=1, convolution_mode="same")
        self.add(layer, vertex.shape, vertex)

    def recurrent(self, vertex: Vertex) -> None:
        """Forward through time, or in both directions, which are one after the other."""
        kind, size = self.rng.choice([GravesLSTM, LSTM, LSTM, SimpleRnn]), self.rng.randrange(1, 4)
        layer: Any = kind(n_out=size, **self.settings())
        if self.chance(0.3):
            layer, size = Bidirectional(layer), 2 * size
        self.add(layer, (size, *vertex.shape[1:]), vertex)

    def last_step(self, vertex: Vertex) -> None:
        self.add(LastTimeStepVertex(self.rng.choice(self.inputs).name), vertex.shape[:1], vertex)

    def reverse(self, vertex: Vertex) -> None:
        masks = self.rng.choice([*(each.name for each in self.inputs), None])
        self.add(ReverseTimeSeriesVertex(masks), vertex.shape, vertex)

    def attention(self, vertex: Vertex) -> None:
        keys = self.fellow(vertex, size=False)
        attention = AttentionVertex(
            n_in_queries=vertex.shape[0], n_in_keys=keys.shape[0], n_in_values=keys.shape[0], n_out=2, head_size=3,
            n_heads=2, project_input=True, weight_init="xavier",
        )  # fmt: skip
        self.add(attention, (2, LENGTH), vertex, keys, keys)

    # ---- outputs

    def output(self, leaves: Sequence[Vertex]) -> tuple[str, np.ndarray, np.ndarray | None]:
        """Put an output layer on activations; return its name, its labels, and their mask."""
        if all(leaf.kind == "series" for leaf in leaves) and self.chance(0.6):
            return self.output_of_series(leaves)
        rows = [leaf if leaf.kind == "rows" or self.flattens(leaf, leaves) else self.pooled(leaf) for leaf in leaves]
        classes = self.chance(0.5)
        loss = {"loss": "mcxent", "activation": "softmax"} if classes else {"loss": "mse", "activation": "tanh"}
        out = self.add(OutputLayer(n_out=CLASSES, **loss), (CLASSES,), *rows)
        labels = self.numbers.normal(size=(EXAMPLES, CLASSES))
        if classes:
            labels = np.eye(CLASSES)[self.numbers.integers(0, CLASSES, EXAMPLES)]
        mask = np.array([[1.0], [0.0], [1.0], [1.0]]) if self.chance(0.2) else None
        return out.name, labels, mask

    def flattens(self, leaf: Vertex, leaves: Sequence[Vertex]) -> bool:
        return leaf.kind == "images" and len(leaves) == 1 and self.chance(0.5)

    def output_of_series(self, leaves: Sequence[Vertex]) -> tuple[str, np.ndarray, np.ndarray | None]:
        out = self.add(RnnOutputLayer(n_out=CLASSES, loss="mcxent", activation="softmax"), (CLASSES, LENGTH), *leaves)
        labels = np.eye(CLASSES)[self.numbers.integers(0, CLASSES, (EXAMPLES, LENGTH))].transpose(0, 2, 1)
        # where features alone are masked, Java counts masked steps in the loss
        return out.name, labels, self.steps() if self.masked or self.chance(0.3) else None

    def steps(self) -> np.ndarray:
        """Return a mask of time steps."""
        lengths = self.numbers.permutation([LENGTH, 3, 4, 2])
        return (np.arange(LENGTH) < lengths[:, None]).astype(float)

    def finished(self) -> RandomGraph:
        """Return the graph, with outputs on everything that nobody uses."""
        leaves = [vertex for vertex in self.there if vertex.name not in self.used]
        both = self.chance(0.35)
        cut = self.rng.randrange(1, len(leaves)) if both and len(leaves) > 1 else len(leaves)
        outputs = [self.output(leaves[:cut])]
        if both:
            outputs.append(self.output(leaves[cut:] or [self.rng.choice(self.there[:-1])]))
        names, labels, label_masks = zip(*self.rng.sample(outputs, len(outputs)), strict=True)
        features = [self.numbers.normal(size=(EXAMPLES, *vertex.shape)) for vertex in self.inputs]
        masks = [self.steps() if self.masked and len(vertex.shape) == 2 else None for vertex in self.inputs]
        types = [_input_type(vertex) for vertex in self.inputs]
        named = {vertex.name: each for vertex, each in zip(self.inputs, types, strict=True)}
        conf = self.network().graph(inputs=named, nodes=self.nodes, outputs=list(names))
        data = MultiDataSet(features, list(labels), masks, list(label_masks))
        return RandomGraph(conf, data, types, self.inferred)


_ANY = (
    _Drawing.element_wise, _Drawing.element_wise, _Drawing.merge, _Drawing.scale, _Drawing.subset, _Drawing.normalize,
    _Drawing.distance, _Drawing.twins, _Drawing.activation, _Drawing.normalization, _Drawing.frozen_vertex,
)  # fmt: skip
_ROWS = (
    _Drawing.dense, _Drawing.dense, _Drawing.dense_of_several, _Drawing.frozen, _Drawing.broadcast, _Drawing.reshape,
    _Drawing.duplicate,
)  # fmt: skip
_IMAGES = (
    _Drawing.convolution, _Drawing.convolution, _Drawing.pooling, _Drawing.halved, _Drawing.pool_helper,
    _Drawing.flattened, _Drawing.pooled,
)  # fmt: skip
_SERIES = (
    _Drawing.convolution1d, _Drawing.recurrent, _Drawing.recurrent, _Drawing.pooling1d, _Drawing.last_step,
    _Drawing.reverse, _Drawing.attention, _Drawing.pooled,
)  # fmt: skip


def _input_type(vertex: Vertex) -> InputType:
    if vertex.kind == "rows":
        return InputType.feed_forward(*vertex.shape)
    if vertex.kind == "series":
        return InputType.recurrent(*vertex.shape)
    channels, height, width = vertex.shape
    return InputType.convolutional(height, width, channels)


def draw_graph(number: int) -> RandomGraph:
    """Return the graph of that number."""
    drawing = _Drawing(number)
    size = drawing.rng.randrange(1, 11)
    while len(drawing.nodes) < size:
        drawing.grow()
    return drawing.finished()
