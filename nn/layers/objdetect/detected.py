"""Objects that a YOLO network has detected, and what is done with them."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import nd
from nd.arguments import EVEN_INFINITE, Checked, Fraction, Natural, NonNegative, checked, refusal
from nd.checks import describe_shape
from nd.typing import Array

from .boxes import Priors, activate, check_boxes, split_boxes

_Number = Annotated[float, EVEN_INFINITE]


@dataclass(frozen=True)
class DetectedObject(Checked):
    """A box around an object, how sure the network is of it, and the probabilities of its classes.

    Parameters
    ----------
    example_number : int
        Of the picture in its minibatch.
    center_x, center_y, width, height : float
        In cells of the grid, from the top left of the picture: with a grid of 13 x 13, x = 13 is the right edge.
    class_predictions : sequence of float, or array ``[C]``
        Probabilities of the classes; kept as a tuple.
    confidence : float
        0..1.

    Notes
    -----
    Source: DL4J ``DetectedObject``.

    Examples
    --------
    >>> cat = DetectedObject(0, 2.5, 1.5, 1.0, 3.0, [0.25, 0.75], 0.9)
    >>> cat.predicted_class, cat.get_top_left_xy(), cat.get_bottom_right_xy()
    (1, (2.0, 0.0), (3.0, 3.0))
    """

    example_number: Natural
    center_x: _Number
    center_y: _Number
    width: _Number
    height: _Number
    class_predictions: Sequence[_Number]
    confidence: _Number

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.class_predictions:
            raise nd.ArgumentError("DetectedObject: class_predictions must be numbers, got none. Give one per class.")

    @cached_property
    def predicted_class(self) -> int:
        """Number of the class that is most probable, the first of equals."""
        numbers = list(self.class_predictions)
        return numbers.index(max(numbers))

    def get_top_left_xy(self) -> tuple[float, float]:
        """Return x and y of the top left corner, in cells."""
        return self.center_x - self.width / 2.0, self.center_y - self.height / 2.0

    def get_bottom_right_xy(self) -> tuple[float, float]:
        """Return x and y of the bottom right corner, in cells."""
        return self.center_x + self.width / 2.0, self.center_y + self.height / 2.0


class YoloUtils:
    """Functions around `Yolo2OutputLayer`: activation, overlap, detection. Source: DL4J ``YoloUtils``."""

    @staticmethod
    @checked
    def activate(bounding_box_priors: Priors, input: Array, nchw: bool = True) -> Array:
        """Return the activations of `Yolo2OutputLayer`, a new array.

        Parameters
        ----------
        bounding_box_priors : array ``[B, 2]``, or pairs of numbers
        input : array ``[N, B * (5 + C), H, W]``
        nchw : bool
            False for input and output ``[N, H, W, B * (5 + C)]``.

        Raises
        ------
        ShapeError
            The priors or the input are no such array.
        """
        priors = check_boxes("YoloUtils.activate", bounding_box_priors)
        x = input if nchw else nd.permute(input, (0, 3, 1, 2))
        z = split_boxes("YoloUtils.activate", nd.copy(x), len(priors))
        a = nd.zeros(*x.shape, dtype=nd.dtype_name(x))
        activate(z, nd.reshape_view(a, tuple(z.shape)), priors)
        return a if nchw else nd.permute(a, (0, 2, 3, 1))

    @staticmethod
    @checked
    def overlap(x1: float, x2: float, x3: float, x4: float) -> float:
        """Return the length that the intervals x1..x2 and x3..x4 have in common."""
        if x3 < x1:
            return 0.0 if x4 < x1 else min(x2, x4) - x1
        return 0.0 if x2 < x3 else min(x2, x4) - x3

    @staticmethod
    @checked
    def iou(first: DetectedObject, second: DetectedObject) -> float:
        """Return the area that two boxes have in common, divided by that of both together: 0..1."""
        (left, top), (right, bottom) = first.get_top_left_xy(), first.get_bottom_right_xy()
        (left2, top2), (right2, bottom2) = second.get_top_left_xy(), second.get_bottom_right_xy()
        common = YoloUtils.overlap(left, right, left2, right2) * YoloUtils.overlap(top, bottom, top2, bottom2)
        union = first.width * first.height + second.width * second.height - common
        return common / union if union else float("nan")

    @staticmethod
    @checked
    def nms(objects: MutableSequence[Any], iou_threshold: float) -> None:
        """Remove, in place, objects that overlap a surer one of the same picture and class: non-maximum suppression.

        Parameters
        ----------
        objects : list of DetectedObject
        iou_threshold : float
            Boxes that overlap more, by `iou`, are of one object.

        Notes
        -----
        An object that was removed suppresses none that comes behind it in the list. Source: DL4J ``YoloUtils.nms``.
        Differs: objects of different pictures do not suppress one another, as they do in Java.
        """
        for each in objects:
            if not isinstance(each, DetectedObject):
                raise refusal("nms", "objects", "DetectedObjects", each)
        kept: list[DetectedObject | None] = list(objects)
        for number, weaker in enumerate(objects):
            if any(other is not None and _suppresses(other, weaker, iou_threshold) for other in kept):
                kept[number] = None
        objects[:] = [each for each in kept if each is not None]

    @staticmethod
    @checked
    def get_predicted_objects(
        bounding_box_priors: Priors, network_output: Array, conf_threshold: Fraction, nms_threshold: NonNegative = 0.0
    ) -> list[DetectedObject]:
        """Return the objects in a network's output, example by example, column by column of cells.

        Parameters
        ----------
        bounding_box_priors : array ``[B, 2]``, or pairs of numbers
            Of the layer.
        network_output : array ``[N, B * (5 + C), H, W]``
        conf_threshold : float
            0..1: boxes of less confidence are left out.
        nms_threshold : float
            For `nms`; 0 for none.

        Raises
        ------
        ShapeError
            The output is no such array.
        """
        who = "YoloUtils.get_predicted_objects"
        boxes = len(check_boxes(who, bounding_box_priors))
        host = nd.to_host(split_boxes(who, network_output, boxes))
        sure = host[:, :, 4, :, :].transpose(0, 3, 2, 1).tolist()  # [N, W, H, B]
        found = []
        for example, columns in enumerate(sure):
            for x, column in enumerate(columns):
                for y, box, confidence in _above(column, conf_threshold):
                    px, py, width, height, _, *classes = host[example, box, :, y, x].tolist()
                    found.append(DetectedObject(example, px + x, py + y, width, height, tuple(classes), confidence))
        if nms_threshold > 0:
            YoloUtils.nms(found, nms_threshold)
        return found


def _above(column: Sequence[Sequence[float]], threshold: float) -> list[tuple[int, int, float]]:
    """Return row, box and confidence of the boxes of a column of cells that reach a threshold."""
    return [
        (y, box, confidence)
        for y, cell in enumerate(column)
        for box, confidence in enumerate(cell)
        if confidence >= threshold
    ]


def _suppresses(surer: DetectedObject, weaker: DetectedObject, threshold: float) -> bool:
    return (
        weaker.confidence < surer.confidence
        and weaker.example_number == surer.example_number
        and weaker.predicted_class == surer.predicted_class
        and YoloUtils.iou(weaker, surer) > threshold
    )


def channel_of(who: str, output: Array, boxes: int, example: int, box: int, number: int) -> Array:
    """Return one number of a box in every cell of an example, ``[H, W]``; raise ArgumentError where there is none."""
    split = split_boxes(who, output, boxes)
    for name, index, count in zip(("example", "box", "class"), (example, box, number), split.shape, strict=False):
        if not 0 <= index < count:
            first, there = (5, count - 5) if name == "class" else (0, count)
            raise nd.ArgumentError(
                f"{who}: {name} must be in 0..{there - 1}, got {index - first}. The output is "
                f"{describe_shape(output.shape)}."
            )
    return nd.copy(split[example, box, number, :, :])
