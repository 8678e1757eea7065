"""Yolo2OutputLayer: boxes around objects, how sure they are, and the classes of what is inside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import nd
from nd.activations import Identity, Softmax
from nd.arguments import Fraction, Natural, NonNegative, checked
from nd.checks import describe_shape
from nd.losses import Loss, get_loss
from nd.typing import Array

from ...terms import data_formats
from ...terms.input_type import ConvolutionalType, InputType
from ...terms.java_form import PARAMETERLESS, Codec, JavaForm
from ...terms.preprocessors import InputPreProcessor, to_images
from ..base import LayerConf
from ..losses.losses_of_places import OfPlacesMixin
from ..runtime import Context, Kept, LayerRuntime, Params
from .boxes import Priors, activate, check_boxes, check_channels, split_boxes
from .boxes_json import boxes_from_json, boxes_to_json
from .detected import DetectedObject, YoloUtils, channel_of
from .targets import Targets, from_rows_of_boxes, rows_of_boxes, targets_of

_IDENTITY, _SOFTMAX = Identity(), Softmax()


class YoloCache(NamedTuple):
    """Results of forward that the loss and backward need."""

    z: Array
    """``[N, B, 5 + C, H, W]``: x, y, width, height, confidence, classes of every box, before the activation."""
    a: Array
    """The same after it."""


class YoloRuntime(OfPlacesMixin, LayerRuntime):
    """Activations of boxes, and their loss."""

    pure = splits = True
    masks_activations = masks_output = takes_dropout = False
    axes = ("H", "W")

    # ---- forward

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, YoloCache]:
        """Return ``[N, B * (5 + C), H, W]``; see `Yolo2OutputLayer`."""
        z = split_boxes(self.label, x, len(self.conf.bounding_boxes))
        if not ctx.activates:
            return x, YoloCache(z, z)
        out = ctx.buffer("a", tuple(x.shape))
        a = nd.reshape_view(out, tuple(z.shape))
        activate(z, a, self.conf.bounding_boxes)
        return out, YoloCache(z, a)

    # ---- loss

    def summed_loss(self, labels: Array, kept: Kept, mask: Array | None) -> Array:
        """Return the loss summed over the minibatch, a scalar array; see `Yolo2OutputLayer` for its formula.

        Parameters
        ----------
        labels : array ``[N, 4 + C, H, W]``
        kept : Kept
        mask : array ``[N, 1]`` or ``[N, 1, H, W]``, optional
            0 for examples or cells that do not count.

        Raises
        ------
        ShapeError
            The labels or the mask do not fit the output.
        """
        with self.naming_errors(labels, kept.cache.a):
            return self._sum(self._targets(labels, kept, mask), kept)

    def _sum(self, targets: Targets, kept: Kept) -> Array:
        centers, roots, classes, p = self._predictions(kept)
        conf, mask = self.conf, targets.mask
        places, kinds = conf.loss_position_scale, conf.loss_class_predictions
        of_places = places.score(targets.centers, centers, centers, _IDENTITY, mask)
        of_sizes = places.score(targets.roots, roots, roots, _IDENTITY, mask)
        of_classes = kinds.score(targets.classes, classes, p, _SOFTMAX, mask)
        of_confidence = nd.sum(self._confidence_errors(targets, kept))
        return conf.lambda_coord * (of_places + of_sizes) + of_confidence + of_classes

    def score_array(self, labels: Array, kept: Kept, mask: Array | None) -> Array:
        """Return the loss of each example, ``[N]``. Parameters and errors as for `summed_loss`."""
        with self.naming_errors(labels, kept.cache.a):
            targets = self._targets(labels, kept, mask)
        centers, roots, classes, p = self._predictions(kept)
        conf, counted = self.conf, targets.mask
        places, kinds = conf.loss_position_scale, conf.loss_class_predictions
        scores = places.score_array(targets.centers, centers, centers, _IDENTITY, counted)
        scores = scores + places.score_array(targets.roots, roots, roots, _IDENTITY, counted)
        of_classes = kinds.score_array(targets.classes, classes, p, _SOFTMAX, counted)
        of_boxes = nd.reshape(conf.lambda_coord * scores + of_classes, (-1, labels.shape[0]))
        of_confidence = nd.reshape(self._confidence_errors(targets, kept), (labels.shape[0], -1))
        return nd.sum(of_boxes, 0) + nd.sum(of_confidence, 1)

    def _confidence_errors(self, targets: Targets, kept: Kept) -> Array:
        """Return weight * (confidence - label)², ``[N, B, H, W]``."""
        return targets.weights * nd.square(kept.cache.a[:, :, 4, :, :] - targets.confidence)

    def _predictions(self, kept: Kept) -> tuple[Array, Array, Array, Array]:
        """Return, as rows, centers, roots of sizes, and classes before and after the softmax."""
        z, a, ctx = kept.cache.z, kept.cache.a, kept.context
        boxes = a.shape[1]
        roots = rows_of_boxes("roots", a[:, :, 2:4, :, :], boxes, ctx.buffer)
        return (
            rows_of_boxes("centers", a[:, :, 0:2, :, :], boxes, ctx.buffer),
            nd.sqrt(roots, roots),
            rows_of_boxes("classes", z[:, :, 5:, :, :], boxes, ctx.buffer),
            rows_of_boxes("probabilities", a[:, :, 5:, :, :], boxes, ctx.buffer),
        )

    def _targets(self, labels: Array, kept: Kept, mask: Array | None) -> Targets:
        a, ctx = kept.cache.a, kept.context
        n, _, size, *places = a.shape
        expected = (n, size - 1, *places)
        if tuple(labels.shape) != expected:
            raise nd.ShapeError(
                f"{self.label}: labels must be {describe_shape(('N', '4 + C', 'H', 'W'))}, here "
                f"{describe_shape(expected)}, got {describe_shape(labels.shape)}. nd.dataset.box_labels makes them."
            )
        counted = None if mask is None else self.over_places(mask, (n, 1, *places))
        return targets_of(labels, a, self.conf.lambda_no_obj, counted, ctx.buffer)

    # ---- backward

    def loss_and_delta(self, labels: Array, kept: Kept, mask: Array | None) -> tuple[Array, Array]:
        """Return the summed loss and its gradient ``dL/dz [N, B * (5 + C), H, W]``; parameters as for `summed_loss`."""
        with self.naming_errors(labels, kept.cache.a):
            targets = self._targets(labels, kept, mask)
            loss = self._sum(targets, kept)
            return loss, self._delta(targets, kept)

    def _delta(self, targets: Targets, kept: Kept) -> Array:
        (_, a), ctx, conf = kept.cache, kept.context, self.conf
        n, boxes, size, height, width = a.shape
        out = ctx.buffer("delta", (n, boxes * size, height, width))
        delta = nd.reshape_view(out, tuple(a.shape))
        centers, roots, classes, p = self._predictions(kept)
        mask, places = targets.mask, conf.loss_position_scale

        of_classes = conf.loss_class_predictions.gradient(
            targets.classes, classes, p, _SOFTMAX, mask, ctx.buffer("of_classes", tuple(p.shape))
        )
        nd.assign(delta[:, :, 5:, :, :], from_rows_of_boxes(of_classes, tuple(a.shape)))
        wrong = nd.subtract(a[:, :, 4, :, :], targets.confidence)
        slope = nd.multiply(nd.muli(wrong, 2.0), targets.weights)
        self._through(delta[:, :, 4, :, :], slope, a[:, :, 4, :, :])
        slope = nd.multiply(nd.multiply(nd.subtract(targets.overlap.iou, a[:, :, 4, :, :]), 2.0), targets.responsible)
        of_iou = nd.reshape(slope, (n, boxes, 1, height, width))

        rows = ctx.buffer("of_places", tuple(centers.shape))
        of_centers = places.gradient(targets.centers, centers, centers, _IDENTITY, mask, rows)
        of_centers = from_rows_of_boxes(of_centers, tuple(a.shape))
        nd.muli(of_centers, conf.lambda_coord)
        nd.addi(of_centers, nd.multiply(targets.overlap.of_centers, of_iou))
        self._through(delta[:, :, 0:2, :, :], of_centers, a[:, :, 0:2, :, :])

        rows = ctx.buffer("of_sizes", tuple(roots.shape))
        of_roots = places.gradient(targets.roots, roots, roots, _IDENTITY, mask, rows)
        nd.muli(of_roots, 0.5 * conf.lambda_coord)
        of_sizes = from_rows_of_boxes(nd.muli(of_roots, roots), tuple(a.shape))  # dL/d(ln w) = dL/d√w √w / 2
        of_overlap = nd.muli(nd.multiply(targets.overlap.of_sizes, of_iou), a[:, :, 2:4, :, :])
        nd.assign(delta[:, :, 2:4, :, :], nd.add(of_sizes, of_overlap))
        return out

    def _through(self, out: Array, slope: Array, a: Array) -> None:
        """Write slope * a * (1 - a), the way back through a sigmoid."""
        nd.assign(out, nd.multiply(slope, nd.multiply(nd.subtract(1.0, a), a)))

    def with_epsilon(self, delta: Any, epsilon: Array, kept: Kept) -> Array:
        """Do as every layer with a loss."""
        return nd.addi(delta, self._before(epsilon, kept.cache, kept.context))

    def backward_delta(
        self, delta: Array, cache: YoloCache, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        """Hand dL/dz on."""
        return delta if ctx.needs_epsilon else None

    def backward(self, epsilon: Array, cache: YoloCache, params: Params, grads: Params, ctx: Context) -> Array | None:
        return self._before(epsilon, cache, ctx) if ctx.needs_epsilon else None

    def _before(self, epsilon: Array, cache: YoloCache, ctx: Context) -> Array:
        """Return dL/dz for ``epsilon = dL/da``."""
        a = cache.a
        out = ctx.buffer("below", tuple(epsilon.shape))
        below, given = nd.reshape_view(out, tuple(a.shape)), nd.reshape(epsilon, tuple(a.shape))
        for sigmoids in (slice(0, 2), slice(4, 5)):
            self._through(below[:, :, sigmoids, :, :], given[:, :, sigmoids, :, :], a[:, :, sigmoids, :, :])
        nd.assign(below[:, :, 2:4, :, :], nd.multiply(given[:, :, 2:4, :, :], a[:, :, 2:4, :, :]))
        p, of_p = a[:, :, 5:, :, :], given[:, :, 5:, :, :]
        inner = nd.sum(nd.multiply(of_p, p), 2, True)
        nd.assign(below[:, :, 5:, :, :], nd.multiply(nd.subtract(of_p, inner), p))
        return out

    # ---- for programs that look inside

    @checked
    def get_predicted_objects(
        self, output: Array, threshold: Fraction = 0.5, nms_threshold: NonNegative = 0.0
    ) -> list[DetectedObject]:
        """Return the objects in the network's output, which is in its format; else as `YoloUtils`'."""
        priors = self.conf.bounding_boxes
        return YoloUtils.get_predicted_objects(priors, self._channels_first(output), threshold, nms_threshold)

    @checked
    def get_confidence_matrix(self, output: Array, example: Natural, box: Natural) -> Array:
        """Return how sure the network is that a box of each cell has an object, ``[H, W]``.

        Parameters
        ----------
        output : array ``[N, B * (5 + C), H, W]``
            Of the network, in its format.
        example, box : int

        Raises
        ------
        ArgumentError
            There is no such example or box.

        Notes
        -----
        Source: DL4J ``Yolo2OutputLayer.getConfidenceMatrix``. Differs: Java looks at channel ``4 + 5 box``, which is
        another number for every box but the first.
        """
        return self._channel("get_confidence_matrix", output, example, box, 4)

    @checked
    def get_probability_matrix(self, output: Array, example: Natural, class_number: Natural, box: Natural = 0) -> Array:
        """Return the probability of a class, if there is an object, in every cell, ``[H, W]``.

        Parameters
        ----------
        output : array ``[N, B * (5 + C), H, W]``
            Of the network, in its format.
        example, class_number : int
        box : int
            Whose: every box of a cell has probabilities of its own.

        Raises
        ------
        ArgumentError
            There is no such example, class or box.

        Notes
        -----
        Source: DL4J ``Yolo2OutputLayer.getProbabilityMatrix``. Differs: Java looks at channel ``5 B + class_number``,
        which is another number unless there is one box.
        """
        return self._channel("get_probability_matrix", output, example, box, 5 + class_number)

    def _channel(self, who: str, output: Array, example: int, box: int, number: int) -> Array:
        boxes = len(self.conf.bounding_boxes)
        return channel_of(f"{self.label}: {who}", self._channels_first(output), boxes, example, box, number)

    def _channels_first(self, output: Array) -> Array:
        return data_formats.inward(output, self.conf.data_format)


@dataclass(frozen=True, kw_only=True)
class Yolo2OutputLayer(LayerConf):
    """Detects objects: B boxes in every cell of a grid, each with a confidence and C classes. The last layer.

    Parameters
    ----------
    bounding_boxes : array ``[B, 2]``, or pairs of numbers
        Width and height, in cells, that the boxes start from: typical sizes of what there is to detect.
    lambda_coord : float
        Weight of errors of position and size.
    lambda_no_obj : float
        Weight of errors of confidence where no object is.
    loss_position_scale : str or Loss
        Of positions, and of roots of width and height.
    loss_class_predictions : str or Loss
        Of classes, behind a softmax: "l2" as in the paper, or "mcxent".
    data_format : {"NCHW", "NHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Kept for Java's files, and not applied.

    Raises
    ------
    ArgumentError
        `bounding_boxes` are no ``[B, 2]``, or not all > 0.
    ConfigurationError
        `bounding_boxes` are missing, or the input is not of images with ``B * (5 + C)`` channels.

    Notes
    -----
    Input and output ``[N, B * (5 + C), H, W]``. The numbers of a box are ``x, y = sigmoid(z)`` from the top left of
    the cell, ``width, height = prior * exp(z)``, ``confidence = sigmoid(z)``, ``classes = softmax(z)``. Labels are
    ``[N, 4 + C, H, W]``: x1, y1, x2, y2 in cells from the top left of the picture, and the class one-hot, in the cell
    of the box's center, else zeros: `nd.dataset.box_labels`. A mask of the labels is ``[N, 1]`` or ``[N, 1, H, W]``.

    In a cell with a label the box that overlaps it most is responsible. Over the responsible boxes the loss sums
    ``lambda_coord * (position(x, y) + position(√width, √height)) + (confidence - iou)² + class(classes)``, over all
    others ``lambda_no_obj * confidence²``. The overlap is differentiated too. The score is the sum divided by N.
    Source: DL4J ``Yolo2OutputLayer``; Redmon and Farhadi 2017.

    Differs: the scores of examples sum to the score; Java weighs confidence where no object is with lambda_no_obj²
    there. Java takes no notice of masks. A label of several classes is one object; Java multiplies areas by their
    number. Without classes to tell apart, C = 1.
    """

    bounding_boxes: Priors | None = field(default=None, kw_only=False)
    lambda_coord: NonNegative = 5.0
    lambda_no_obj: NonNegative = 0.5
    loss_position_scale: str | Loss = "l2"
    loss_class_predictions: str | Loss = "l2"
    data_format: str | None = None
    runtime: ClassVar = YoloRuntime
    loss: ClassVar[None] = None
    """Of its own; that there is one tells that the layer is the last."""
    formats: ClassVar[tuple[str, ...]] = data_formats.IMAGES
    positional: ClassVar[tuple[str, ...]] = ()
    builder_names: ClassVar[dict[str, str]] = {**LayerConf.builder_names, "bounding_box_priors": "bounding_boxes"}
    form: ClassVar[JavaForm] = LayerConf.form.more(
        {
            "boundingBoxes": ("bounding_boxes", Codec(boxes_to_json, boxes_from_json)),
            "lambdaCoord": ("lambda_coord", "number"),
            "lambdaNoObj": ("lambda_no_obj", "number"),
            "lossClassPredictions": ("loss_class_predictions", "loss"),
            "lossPositionScale": ("loss_position_scale", "loss"),
        },
        {**PARAMETERLESS, "gradientNormalizationThreshold": 1.0},
        package="objdetect.",
    ).formatted("format")

    def __post_init__(self) -> None:
        super().__post_init__()
        who = type(self).__name__
        if self.bounding_boxes is None:
            raise nd.ConfigurationError(
                f"{who}: bounding_boxes must be pairs of numbers > 0, got none. Give [[width, height], ...] in cells."
            )
        check_boxes(who, self.bounding_boxes)
        for name in ("loss_position_scale", "loss_class_predictions"):
            object.__setattr__(self, name, get_loss(getattr(self, name)))

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_images(input_type)

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        if not isinstance(input_type, ConvolutionalType):
            raise nd.ConfigurationError(
                f"{label}: expected images {describe_shape(('N', 'B * (5 + C)', 'H', 'W'))}, got {input_type!r}. Put a "
                "ConvolutionLayer below."
            )
        check_channels(label, input_type.channels, len(self.bounding_boxes or ()))
        return self
