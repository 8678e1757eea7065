"""Graphs drawn at random: rows, series and images through layers and vertices, fan-out, several inputs and outputs."""

import random
from typing import Any, NamedTuple

import numpy as np

from nn import (
    ActivationLayer,
    AttentionVertex,
    BatchNormalization,
    CenterLossOutputLayer,
    CnnLossLayer,
    CnnToFeedForwardPreProcessor,
    ComputationGraph,
    ComputationGraphConfiguration,
    Convolution1DLayer,
    ConvolutionLayer,
    DenseLayer,
    DuplicateToTimeSeriesVertex,
    ElementWiseMultiplicationLayer,
    ElementWiseVertex,
    FrozenLayer,
    FrozenLayerWithBackprop,
    FrozenVertex,
    GlobalPoolingLayer,
    InputType,
    L2NormalizeVertex,
    L2Vertex,
    LastTimeStepVertex,
    LossLayer,
    MergeVertex,
    NeuralNetConfiguration,
    OutputLayer,
    PoolHelperVertex,
    PreprocessorVertex,
    ReshapeVertex,
    ReverseTimeSeriesVertex,
    RnnLossLayer,
    RnnOutputLayer,
    ScaleVertex,
    ShiftVertex,
    StackVertex,
    SubsamplingLayer,
    SubsetVertex,
    UnstackVertex,
)
from optimize import Adam

EXAMPLES, STEPS = 4, 4
INPUT_SHAPES = {"rows": [(3,), (4,), (2,)], "series": [(3, STEPS), (2, STEPS)], "images": [(2, 4, 4), (1, 5, 5)]}
INPUT_TYPES = {
    "rows": InputType.feed_forward,
    "series": lambda size, steps: InputType.recurrent(size, steps),
    "images": lambda channels, height, width: InputType.convolutional(height, width, channels),
}
SMOOTH = ("tanh", "sigmoid", "softplus", "swish", "identity")


class Arrival(NamedTuple):
    """What comes out of a vertex or an input: "steps" are series as rows, one of each time step."""

    name: str
    kind: str
    shape: tuple[int, ...]
    examples: int
    masked: bool
    """Whether a mask may come with it."""


class RandomGraph(NamedTuple):
    """A configuration and a minibatch for it."""

    conf: ComputationGraphConfiguration
    features: list[np.ndarray]
    labels: list[np.ndarray]
    features_masks: list[np.ndarray | None]
    labels_masks: list[np.ndarray | None]

    def network(self):
        return ComputationGraph(self.conf).init()


class Drawing:
    """A graph that grows vertex by vertex."""

    def __init__(self, number):
        self.rng, self.numbers = random.Random(number), np.random.default_rng(number)
        self.nodes: dict[str, Any] = {}
        self.known: list[Arrival] = []
        self.unread: list[str] = []
        self.outputs: list[str] = []
        self.labels: list[np.ndarray] = []
        self.labels_masks: list[np.ndarray | None] = []
        self.features_masks: dict[str, np.ndarray | None] = {}
        self.inputs = [self._input(place) for place in range(self.rng.choice([1, 1, 2, 2, 3]))]

    def _input(self, place):
        kind = self.rng.choice(["rows", "rows", "series", "images"])
        shape, name = self.rng.choice(INPUT_SHAPES[kind]), f"in{place}"
        mask = None
        if kind == "series" and self.rng.random() < 0.5:
            mask = (self.numbers.random((EXAMPLES, STEPS)) < 0.6).astype(float)
            mask[:, self.rng.randrange(STEPS)] = 1.0
        self.features_masks[name] = mask
        self._know(Arrival(name, kind, shape, EXAMPLES, mask is not None))
        return self.known[-1]

    def _know(self, arrival):
        self.known.append(arrival)
        self.unread.append(arrival.name)

    def pick(self, *kinds):
        """Return something known of these kinds, rather what nobody reads yet; None where there is none."""
        fitting = [one for one in self.known if one.kind in kinds]
        new = [one for one in fitting if one.name in self.unread]
        return self.rng.choice(new if new and self.rng.random() < 0.6 else fitting) if fitting else None

    def like(self, one, same):
        """Return another arrival for which `same` holds beside one, or that itself."""
        return self.rng.choice([two for two in self.known if two.examples == one.examples and same(one, two)])

    def add(self, vertex, *sources, kind=None, shape=None, examples=None):
        name, first = f"n{len(self.nodes)}", sources[0]
        self.nodes[name] = (vertex, *(source.name for source in sources))
        self.unread = [unread for unread in self.unread if unread not in {source.name for source in sources}]
        shape, examples = first.shape if shape is None else shape, examples or first.examples
        masked = any(source.masked for source in sources) and not isinstance(vertex, GlobalPoolingLayer)
        self._know(Arrival(name, kind or first.kind, shape, examples, masked))
        return self.known[-1]

    def grow(self):
        """Add a vertex, where the one that is drawn fits anything."""
        self.rng.choice(MAKERS)(self)

    # ---- outputs

    def end(self, one):
        """Add an output layer behind something, with its labels."""
        rng, channels = self.rng, one.shape[0]
        classes = rng.choice([2, 3])
        loss, activation = rng.choice(
            [("mcxent", "softmax"), ("mse", "tanh"), ("xent", "sigmoid"), ("mse", "identity")]
        )
        settings = {"loss": loss, "activation": activation}
        if one.kind == "images":
            layer, shape, kind = CnnLossLayer(**settings), one.shape, "images"
        elif one.kind == "series" and rng.random() < 0.3:
            layer, shape, kind = RnnLossLayer(**settings), one.shape, "series"
        elif one.kind in {"series", "steps"}:
            layer, shape, kind = RnnOutputLayer(n_out=classes, **settings), (classes, STEPS), "series"
        elif rng.random() < 0.2 and channels > 1:
            layer, shape, kind = LossLayer(**settings), one.shape, "rows"
        else:
            made = rng.choice([OutputLayer, OutputLayer, CenterLossOutputLayer])
            layer, shape, kind = made(n_out=classes, **settings), (classes,), "rows"
        arrival = self.add(layer, one, kind=kind, shape=shape)
        self.outputs.append(arrival.name)
        self.unread.remove(arrival.name)
        self.labels.append(self._labels(loss, (one.examples, *shape)))
        self.labels_masks.append(self._labels_mask((one.examples, *shape)))

    def _labels(self, loss, shape):
        if loss == "mse":
            return self.numbers.normal(size=shape)
        if loss == "xent":
            return (self.numbers.random(shape) < 0.5).astype(float)
        classes = self.numbers.integers(0, shape[1], (shape[0], 1, *shape[2:]))
        axes = np.arange(shape[1]).reshape(1, -1, *(1 for _ in shape[2:]))
        return (classes == axes).astype(float)

    def _labels_mask(self, shape):
        if self.rng.random() < 0.7:
            return None
        sizes = {2: (shape[0], 1), 3: (shape[0], *shape[2:]), 4: (shape[0], 1, *shape[2:])}[len(shape)]
        mask = (self.numbers.random(sizes) < 0.6).astype(float)
        mask[0] = 1.0
        return mask

    def finished(self, number):
        """Return the graph, with outputs behind everything that nobody reads."""
        for name in list(self.unread):
            self.end(next(one for one in self.known if one.name == name))
        settings = {"weight_init": "xavier", "updater": Adam(0.01), "dtype": "float64"}
        conf = NeuralNetConfiguration(seed=number + 1, **settings).graph(
            inputs={one.name: INPUT_TYPES[one.kind](*one.shape) for one in self.inputs},
            nodes=self.nodes,
            outputs=self.outputs,
        )
        features = [self.numbers.normal(0.0, 0.5, size=(EXAMPLES, *one.shape)) for one in self.inputs]
        masks = list(self.features_masks.values())
        return RandomGraph(conf, features, self.labels, masks, self.labels_masks)


# ---- what a graph grows by: each adds a vertex, or leaves it where nothing fits


def _dense(drawing):
    one = drawing.pick("rows", "steps", "series", "images")
    n_out, activation = drawing.rng.choice([2, 3, 8]), drawing.rng.choice(SMOOTH)
    layer = DenseLayer(n_out=n_out, activation=activation, has_bias=drawing.rng.random() < 0.8)
    frozen = drawing.rng.random()
    layer = FrozenLayer(layer) if frozen < 0.08 else FrozenLayerWithBackprop(layer) if frozen < 0.15 else layer
    kind = "steps" if one.kind == "series" else "rows" if one.kind == "images" else None
    drawing.add(layer, one, kind=kind, shape=(n_out,))


def _same_size(drawing):
    one = drawing.pick("rows", "series", "images", "steps")
    made = [ActivationLayer(activation=drawing.rng.choice(SMOOTH)), ScaleVertex(0.7), ShiftVertex(0.3)]
    made += [FrozenVertex(ScaleVertex(-1.3))] if one.kind != "steps" else []
    made += [L2NormalizeVertex()] if one.kind != "steps" else []
    made += [BatchNormalization()] if one.kind in {"rows", "images"} and not one.masked else []
    made += [ElementWiseMultiplicationLayer(n_out=one.shape[0], activation="tanh")] if one.kind == "rows" else []
    drawing.add(drawing.rng.choice(made), one)


def _convolution(drawing):
    one = drawing.pick("series", "images")
    if one is None:
        return
    n_out, activation = drawing.rng.choice([1, 2, 3]), drawing.rng.choice(SMOOTH)
    settings = {"n_out": n_out, "activation": activation, "convolution_mode": "same"}
    made = Convolution1DLayer(kernel_size=3, **settings) if one.kind == "series" else None
    drawing.add(made or ConvolutionLayer(kernel_size=(3, 2), **settings), one, shape=(n_out, *one.shape[1:]))


def _pooling(drawing):
    one = drawing.pick("series", "images")
    if one is None:
        return
    kind = drawing.rng.choice(["max", "avg", "pnorm", "sum"])
    if one.kind == "images" and drawing.rng.random() < 0.5 and min(one.shape[1:]) >= 4:
        shape = (one.shape[0], one.shape[1] // 2, one.shape[2] // 2)
        kind = "avg" if kind == "sum" else kind
        drawing.add(SubsamplingLayer(kind, kernel_size=(2, 2), stride=(2, 2), pnorm=2), one, shape=shape)
    else:
        drawing.add(GlobalPoolingLayer(kind), one, kind="rows", shape=one.shape[:1])


def _crossing(drawing):
    """Go to another kind by a vertex."""
    one, rng = drawing.pick("rows", "series", "images"), drawing.rng
    series = [each.name for each in drawing.inputs if each.kind == "series"]
    if one.kind == "series" and one.examples == EXAMPLES:
        named = rng.choice(series) if series else None
        made = [ReverseTimeSeriesVertex(named)] + [LastTimeStepVertex(named)] * 2 * bool(series)
        vertex = rng.choice(made)
        last = isinstance(vertex, LastTimeStepVertex)
        drawing.add(vertex, one, kind="rows" if last else "series", shape=one.shape[:1] if last else one.shape)
    elif one.kind == "rows" and one.shape == (8,) and not one.masked:
        drawing.add(ReshapeVertex((-1, 2, 2, 2)), one, kind="images", shape=(2, 2, 2))
    elif one.kind == "rows" and series and one.examples == EXAMPLES:
        vertex = DuplicateToTimeSeriesVertex(rng.choice(series))
        drawing.add(vertex, one, kind="series", shape=(one.shape[0], STEPS))
    elif one.kind == "images" and one.shape[1] == one.shape[2] > 2 and rng.random() < 0.5:
        drawing.add(PoolHelperVertex(), one, shape=(one.shape[0], one.shape[1] - 1, one.shape[2] - 1))
    elif one.kind == "images":
        c, h, w = one.shape
        drawing.add(PreprocessorVertex(CnnToFeedForwardPreProcessor(h, w, c)), one, kind="rows", shape=(c * h * w,))


def _subset(drawing):
    one = drawing.pick("rows", "series", "images")
    if one.shape[0] > 1:
        first = drawing.rng.randrange(one.shape[0] - 1)
        last = drawing.rng.randrange(first, one.shape[0] - 1)
        drawing.add(SubsetVertex(first, last), one, shape=(last - first + 1, *one.shape[1:]))


def _merge(drawing):
    one = drawing.pick("rows", "series", "images", "steps")
    count = drawing.rng.choice([1, 2, 2, 3])
    sources = [one, *(drawing.like(one, _same_places) for _ in range(count - 1))]
    drawing.add(MergeVertex(), *sources, shape=(sum(source.shape[0] for source in sources), *one.shape[1:]))


def _merged_dense(drawing):
    """A layer with several inputs, which gets them merged."""
    one = drawing.pick("rows")
    if one is not None:
        drawing.add(DenseLayer(n_out=3, activation="tanh"), one, drawing.like(one, _same_places), shape=(3,))


def _element_wise(drawing):
    one, op = drawing.pick("rows", "series", "images", "steps"), drawing.rng.choice(ELEMENT_WISE)
    count = 2 if op == "subtract" else drawing.rng.choice([1, 2, 2, 3])
    drawing.add(ElementWiseVertex(op), one, *(drawing.like(one, _same_shape) for _ in range(count - 1)))


def _broadcast(drawing):
    one = drawing.pick("rows")
    if one is not None:
        two = drawing.like(one, lambda one, two: _same_places(one, two) and (two.shape in {one.shape, (1,)}))
        drawing.add(ElementWiseVertex(drawing.rng.choice(["add", "product", "subtract"])), one, two)


def _distance(drawing):
    one = drawing.pick("rows", "series", "images")
    two = drawing.like(one, _same_shape)
    if two.name != one.name:
        drawing.add(L2Vertex(), one, two, kind="rows", shape=(1,))


def _stack(drawing):
    one = drawing.pick("rows", "images")
    if one is not None and not one.masked:
        sources = [one, drawing.like(one, lambda one, two: _same_shape(one, two) and not two.masked)]
        drawing.add(StackVertex(), *sources, examples=2 * one.examples)


def _unstack(drawing):
    one = drawing.pick("rows", "images")
    if one is not None and not one.masked and one.examples >= EXAMPLES:
        drawing.add(UnstackVertex(drawing.rng.randrange(2), 2), one, examples=one.examples // 2)


def _attention(drawing):
    one, heads = drawing.pick("series"), drawing.rng.choice([1, 2])
    if one is not None:
        sources = [one] + [drawing.like(one, _same_places) for _ in range(2)]
        drawing.add(AttentionVertex(n_out=4, n_heads=heads, project_input=True), *sources, shape=(4, one.shape[1]))


def _output_in_the_middle(drawing):
    drawing.end(drawing.pick("rows", "series", "images", "steps"))


def _same_places(one, two):
    return one.kind == two.kind and one.shape[1:] == two.shape[1:]


def _same_shape(one, two):
    return one.kind == two.kind and one.shape == two.shape


ELEMENT_WISE = ("add", "average", "max", "product", "subtract")
MAKERS = (
    _dense, _dense, _dense, _same_size, _same_size, _convolution, _convolution, _pooling, _pooling, _crossing,
    _crossing, _subset, _merge, _merged_dense, _element_wise, _element_wise, _broadcast, _distance, _stack, _unstack,
    _attention, _output_in_the_middle, _output_in_the_middle,
)  # fmt: skip


def draw(number):
    """Return the graph of that number."""
    drawing = Drawing(number)
    for _ in range(drawing.rng.randrange(2, 12)):
        drawing.grow()
    return drawing.finished(number)
