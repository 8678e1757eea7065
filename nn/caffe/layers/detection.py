"""PriorBox and DetectionOutput of SSD: boxes in every place of a picture, and those that are found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import nd
from nd import ConfigurationError, DataError, ShapeError
from nd.checks import describe_shape
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from .base import CaffeLayer, Shape, count
from .spatial import image_shape

NUMBERS = 7
"""Of a detection: number of the picture, class, confidence, box."""
BLOCK = 256
"""Boxes that are compared with all others in one go."""
SAME = 1e-6
"""Aspect ratios that differ by less are one."""


class PriorBox(CaffeLayer):
    """Boxes of several sizes and aspect ratios around every place of bottom 0, and the variances of their coordinates.

    Notes
    -----
    Bottoms: ``[N, C, H, W]``, and the picture ``[N, c, h, w]``, whose size counts where there is no img_size, img_h and
    img_w. Top ``[1, 2, H * W * boxes * 4]``: coordinates x1, y1, x2, y2 by the picture's size, then their variances.
    For each min_size there is a square of it, one of ``sqrt(min_size * max_size)`` where there are max_sizes, and boxes
    of the other aspect ratios a, ``min_size * sqrt(a)`` wide and ``min_size / sqrt(a)`` high; with flip 1 / a is one
    too. Sizes are cut to integers, as by SSD. Centers are ``(column + offset) * step``, where the step is that of the
    picture by default. It has no gradient. Source: SSD (Liu and others 2016), prior_box_layer.cpp.
    """

    pure = True
    bottoms = (2, 2)

    def setup(self) -> None:
        self.settings = settings = self.message.prior_box_param
        lows, highs = list(settings.min_size), list(settings.max_size)
        if not lows or min(lows) <= 0.0:
            raise ConfigurationError(f"{self.label}: expected a min_size or more, all > 0, got {lows}.")
        if highs and (len(highs) != len(lows) or any(high <= low for low, high in zip(lows, highs, strict=True))):
            raise ConfigurationError(
                f"{self.label}: expected a larger max_size for each min_size, got {highs} for {lows}."
            )
        self.variances = list(settings.variance) or [0.1]
        if len(self.variances) not in (1, 4) or min(self.variances) <= 0.0:
            raise ConfigurationError(f"{self.label}: expected 1 or 4 variances > 0, got {self.variances}.")
        self.picture = self._pair("img_size", "img_h", "img_w")
        self.step = self._pair("step", "step_h", "step_w")
        self.sizes = [size for number in range(len(lows)) for size in self._sizes_of(number)]

    def _pair(self, both: str, down: str, across: str) -> tuple[Any, Any] | None:
        """Return a setting for rows and columns, None where there is none.

        Raises
        ------
        ConfigurationError
            It is there in both ways, or not above 0.
        """
        settings = self.settings
        each = settings.HasField(down) or settings.HasField(across)
        if not each and not settings.HasField(both):
            return None
        pair = (getattr(settings, down), getattr(settings, across)) if each else (getattr(settings, both),) * 2
        if (each and settings.HasField(both)) or min(pair) <= 0:
            raise ConfigurationError(
                f"{self.label}: expected {both}, or {down} and {across}, > 0, got {pair}"
                f"{f' and {both}' if each and settings.HasField(both) else ''}."
            )
        return pair

    def _sizes_of(self, number: int) -> list[tuple[float, float]]:
        """Return width and height of the boxes of one min_size, in pixels."""
        low = int(self.settings.min_size[number])
        squares = [float(low)]
        if self.settings.max_size:
            squares.append(math.sqrt(low * int(self.settings.max_size[number])))
        ratios = [math.sqrt(ratio) for ratio in self._ratios()]
        return [*((side, side) for side in squares), *((low * ratio, low / ratio) for ratio in ratios)]

    def _ratios(self) -> list[float]:
        """Return the aspect ratios beside 1."""
        ratios = [1.0]
        for ratio in self.settings.aspect_ratio:
            if all(abs(ratio - other) >= SAME for other in ratios):
                ratios += [ratio, 1.0 / ratio] if self.settings.flip else [ratio]
        return [ratio for ratio in ratios if abs(ratio - 1.0) >= SAME]

    def examples(self, counts: Sequence[int]) -> int:
        return 1

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        shape, _ = (image_shape(self, bottom) for bottom in bottoms)
        return [(1, 2, shape[2] * shape[3] * len(self.sizes) * 4)]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, None]:
        (shape,) = self.top_shapes([tuple(x.shape) for x in xs])
        places, picture = tuple(xs[0].shape[2:]), self.picture or tuple(xs[1].shape[2:])
        y = ctx.buffer("y", (1, 2, *places, len(self.sizes), 4))
        for axis, name in enumerate(("height", "width")):
            step = self.step[axis] if self.step else picture[axis] / places[axis]
            centers = nd.multiply(nd.add(nd.arange(places[axis], dtype="float64"), self.settings.offset), step)
            centers = nd.reshape(centers, (-1, 1) if name == "height" else (1, -1))
            for number, (width, height) in enumerate(self.sizes):
                half = (width if name == "width" else height) / 2.0
                for place, edge in ((1 - axis, -half), (3 - axis, half)):
                    nd.assign(y[0, 0, :, :, number, place], nd.divide(nd.add(centers, edge), float(picture[axis])))
        if self.settings.clip:
            boxes = y[0, 0, ...]
            nd.minimum(nd.maximum(boxes, 0.0, boxes), 1.0, boxes)
        for place in range(4):
            nd.fill(y[0, 1, :, :, :, place], self.variances[place % len(self.variances)])
        return nd.reshape(y, shape), None

    def backward(
        self, epsilon: Array, cache: None, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        return [None, None]


class DetectionOutput(CaffeLayer):
    """Boxes of every class that are left of predictions: decoded, sure enough, and not on a surer one.

    Notes
    -----
    Bottoms: predicted coordinates ``[N, boxes * 4]``, without share_location ``[N, boxes * classes * 4]``; confidences
    ``[N, boxes * classes]``; and the boxes of PriorBox ``[1, 2, boxes * 4]``. Top ``[1, 1, K, 7]``: number of the
    picture, class, confidence, x1, y1, x2, y2. Where nothing is left, a row for each picture, -1 but for its number.

    Of every class but the background those above confidence_threshold are taken, the surest top_k of them, and one that
    overlaps a surer one by more than nms_threshold is left out. The threshold falls by the factor eta with each box
    kept, while it is above 0.5. Of all classes of a picture the surest keep_top_k remain. It is forward only. Source:
    SSD (Liu and others 2016), detection_output_layer.cpp. Differs: save_output_param and visualize do nothing.
    """

    bottoms = (3, 3)

    def setup(self) -> None:
        self.settings = settings = self.message.detection_output_param
        suppression = settings.nms_param
        if settings.num_classes < 1:
            raise ConfigurationError(f"{self.label}: num_classes must be >= 1, got {settings.num_classes}.")
        if suppression.nms_threshold < 0.0 or not 0.0 < suppression.eta <= 1.0:
            raise ConfigurationError(
                f"{self.label}: nms_threshold must be >= 0 and eta in 0..1, got {suppression.nms_threshold:g} and "
                f"{suppression.eta:g}."
            )
        self.threshold = settings.confidence_threshold if settings.HasField("confidence_threshold") else -math.inf
        self.most = suppression.top_k if suppression.HasField("top_k") and suppression.top_k > -1 else None
        self.kinds = 1 if settings.share_location else settings.num_classes

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        """Return the shape for one detection; how many there are is known with the data."""
        places, classes, priors = bottoms
        boxes = count(priors, 2) // 4
        expected = boxes * self.kinds * 4, boxes * self.settings.num_classes
        fit = len(places) > 0 and places[:1] == classes[:1] and priors[1:2] == (2,)
        if not fit or expected != (count(places, 1), count(classes, 1)):
            raise ShapeError(
                f"{self.label}: for priors {describe_shape(priors)} the bottoms must be [N, {expected[0]}] and "
                f"[N, {expected[1]}], got {describe_shape(places)} and {describe_shape(classes)}."
            )
        return [(1, 1, 1, NUMBERS)]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, None]:
        places, confidences, priors = xs
        self.top_shapes([tuple(x.shape) for x in xs])
        examples, boxes = places.shape[0], count(tuple(priors.shape), 2) // 4
        decoded = self._decoded(nd.reshape(places, (examples, boxes, self.kinds, 4)), nd.reshape(priors, (2, boxes, 4)))
        columns = nd.permute(nd.reshape(confidences, (examples, boxes, self.settings.num_classes)), (0, 2, 1))
        scores = nd.to_host(columns).tolist()
        rows = [
            [number, *row]
            for number in range(examples)
            for row in self._detections(decoded[number, ...], scores[number])
        ]
        rows = rows or [[number, *[-1] * (NUMBERS - 1)] for number in range(examples)]
        return nd.create([[rows]], nd.dtype_name(places)), None

    def backward(
        self, epsilon: Array, cache: None, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        return self.without_gradients(ctx)

    def _decoded(self, x: Array, priors: Array) -> Array:
        """Return boxes ``[N, boxes, kinds, 4]`` from predictions of that shape and priors ``[2, boxes, 4]``.

        Raises
        ------
        DataError
            A prior has no width or height.
        """
        settings, kind = self.settings, type(self.message.prior_box_param)
        if not settings.variance_encoded_in_target:
            x = nd.multiply(x, priors[1:2, :, None, :])
        low, high = priors[0:1, :, None, 0:2], priors[0:1, :, None, 2:4]
        if settings.code_type == kind.CORNER:
            return nd.add(x, priors[0:1, :, None, :])
        size = nd.subtract(high, low)
        if not nd.item(nd.max(nd.multiply(size, -1.0))) < 0.0:
            raise DataError(f"{self.label}: every prior must have a width and a height above 0. Check bottom 2.")
        if settings.code_type == kind.CORNER_SIZE:
            return nd.add(nd.multiply(x, nd.concat([size, size], 3)), priors[0:1, :, None, :])
        centers = nd.add(nd.multiply(x[..., 0:2], size), nd.multiply(nd.add(low, high), 0.5))
        halves = nd.multiply(nd.multiply(nd.exp(x[..., 2:4]), size), 0.5)
        return nd.concat([nd.subtract(centers, halves), nd.add(centers, halves)], 3)

    def _detections(self, boxes: Array, scores: list[list[float]]) -> list[list[float]]:
        """Return class, confidence and box of what is left of a picture; of every class the surest first.

        Parameters
        ----------
        boxes : array ``[boxes, kinds, 4]``
        scores : list
            Of every class and box.
        """
        kept: list[tuple[int, int]] = []
        for label, confidences in enumerate(scores):
            if label != self.settings.background_label_id:
                own = boxes[:, 0 if self.kinds == 1 else label, :]
                kept += [(label, number) for number in self._suppressed(own, confidences)]
        if -1 < self.settings.keep_top_k < len(kept):
            kept.sort(key=lambda one: -scores[one[0]][one[1]])
            kept = sorted(kept[: self.settings.keep_top_k], key=lambda one: one[0])
        host = nd.to_host(boxes)
        kinds = (0 if self.kinds == 1 else label for label, _ in kept)
        places = [host[number, kind].tolist() for kind, (_, number) in zip(kinds, kept, strict=True)]
        return [[label, scores[label][number], *box] for box, (label, number) in zip(places, kept, strict=True)]

    def _suppressed(self, boxes: Array, confidences: list[float]) -> list[int]:
        """Return the numbers of the boxes of a class that are left, the surest first."""
        sure = [number for number, confidence in enumerate(confidences) if confidence > self.threshold]
        sure.sort(key=lambda number: -confidences[number])
        sure = sure[: self.most]
        kept: list[int] = []
        limit, eta = self.settings.nms_param.nms_threshold, self.settings.nms_param.eta
        for start in range(0, len(sure), BLOCK):
            block, columns = sure[start : start + BLOCK], list(range(len(kept)))
            rows = nd.pull_rows(boxes, nd.create([*kept, *block], "int64"), self.label)
            first = len(kept)
            table = nd.to_host(overlaps(rows[first:, :], rows)).tolist()
            for column, (number, shares) in enumerate(zip(block, table, strict=True), first):
                if all(shares[other] <= limit for other in columns):
                    kept.append(number)
                    columns.append(column)
                    limit *= eta if limit > 0.5 else 1.0
        return kept


def overlaps(first: Array, second: Array) -> Array:
    """Return the area that each of some boxes has in common with each of others, by that of both together.

    Parameters
    ----------
    first, second : array ``[A, 4]``, ``[B, 4]``
        x1, y1, x2, y2; a box whose second corner is before its first has no area.

    Returns
    -------
    array ``[A, B]`` of 0..1
    """
    low = nd.maximum(first[:, None, 0:2], second[None, :, 0:2])
    high = nd.minimum(first[:, None, 2:4], second[None, :, 2:4])
    common = _area(low, high)
    both = nd.add(_area(first[:, None, 0:2], first[:, None, 2:4]), _area(second[None, :, 0:2], second[None, :, 2:4]))
    met = nd.greater(common, 0.0)
    return nd.divide(common, nd.where(met, nd.subtract(both, common), 1.0))


def _area(low: Array, high: Array) -> Array:
    """Return the areas of boxes between corners ``[..., 2]``."""
    sides = nd.maximum(nd.subtract(high, low), 0.0)
    return nd.multiply(sides[..., 0], sides[..., 1])
