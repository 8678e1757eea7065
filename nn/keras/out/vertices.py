"""Vertices."""

from __future__ import annotations

import math
from functools import reduce

from ...terms.data_formats import axes_outward, channels_last
from .draft import Value
from .node import Node
from .recurrent import last_step
from .windows import cropped

_OPERATIONS = {"add": "Add", "average": "Average", "max": "Maximum", "product": "Multiply", "subtract": "Subtract"}


def element_wise(node: Node) -> Value:
    """ElementWiseVertex: Add, Average, Maximum, Multiply, Subtract."""
    if len(node.inputs) == 1:
        return node.x
    name = _OPERATIONS[str(node.conf.op)]
    if name != "Subtract" or len(node.inputs) == 2:
        return node.add(name)
    return reduce(lambda first, second: node.add(name, first, second), node.inputs)


def merge(node: Node) -> Value:
    """MergeVertex: Concatenate."""
    if len(node.inputs) == 1:
        return node.x
    axis = int(node.conf.merge_axis)
    if axis > 1 or node.conf.data_format is not None:
        axis = axes_outward(node.conf.data_format, node.x.own_rank)[axis]
    return node.add("Concatenate", axis=keras_axis(node, axis))


def keras_axis(node: Node, axis: int) -> int:
    """Return Keras' number of an axis of arrays with the channels first."""
    if axis == 0:
        node.refuse("no layer of Keras works along the axis of examples")
    return -1 if axis == 1 else axis - 1 + node.x.of_steps


def subset(node: Node) -> Value:
    """SubsetVertex: Cropping, of an axis that is a place then."""
    conf, axis, x = node.conf, 1, node.x
    if conf.data_format is not None:
        axis = axes_outward(conf.data_format, x.own_rank)[1]
    size = node.sizes()[axis - 1]
    if size is None:
        node.refuse("the length of the axis that it takes a part of must be known")
    before, after = int(conf.from_), int(size) - 1 - int(conf.to)
    if axis > 1:
        places = x.own_rank - 2
        ends = [(end if number == axis - 2 else 0) for end in (before, after) for number in range(places)]
        return cropped(node, x, ends[:places], ends[places:], "")
    return _channels(node, x, int(size), before, after)


def _channels(node: Node, x: Value, size: int, before: int, after: int) -> Value:
    """Return a value without its first and last channels."""
    if not before and not after:
        return x
    if x.own_rank == 2:
        series = node.add("Reshape", x, part="series", axes=1, target_shape=[size, 1])
        return node.add("Flatten", cropped(node, series, [before], [after]), axes=-1)
    first = node.channels_first(x)
    others = [0] * (x.own_rank - 3)
    return node.channels_last(cropped(node, first, [before, *others], [after, *others], ""))


def scale(node: Node) -> Value:
    """ScaleVertex: Rescaling."""
    return node.add("Rescaling", scale=float(node.conf.scale_factor), offset=0.0)


def shift(node: Node) -> Value:
    """ShiftVertex: Rescaling."""
    return node.add("Rescaling", scale=1.0, offset=float(node.conf.shift_factor))


def l2_normalize(node: Node) -> Value:
    """L2NormalizeVertex: UnitNormalization, which has another epsilon."""
    axes = [keras_axis(node, axis) for axis in node.conf.axes_of(node.name, node.x.own_rank)]
    whole = [axis % node.x.rank for axis in axes]
    node.lose("its epsilon: Keras has its own for arrays that are nearly 0")
    return node.add("UnitNormalization", axis=whole if len(whole) > 1 else whole[0])


def pool_helper(node: Node) -> Value:
    """PoolHelperVertex: Cropping2D of the first row and the first column."""
    return cropped(node, node.x, (1, 1), (0, 0), "")


def preprocessor(node: Node) -> Value:
    """PreprocessorVertex: what it has inside."""
    from . import PREPROCESSORS, part_writer

    inside = node.conf.preprocessor
    value: Value = part_writer(PREPROCESSORS, inside)(node.around(inside, {}))
    return value


def reshape(node: Node) -> Value:
    """ReshapeVertex: Reshape, of axes in the order in which users see them."""
    conf, x = node.conf, node.x
    size, *shape = (int(number) for number in conf.new_shape)
    if size != -1 or x.of_steps or conf.reshape_order == "f":
        node.refuse("no layer of Keras changes the number of examples, or reads axes from the last one on")
    known = node.sizes()
    if None not in known and -1 not in shape and math.prod(shape) != math.prod(known):  # type: ignore[arg-type]
        node.refuse("no layer of Keras changes the number of examples")
    turned = channels_last(conf.data_format) and x.rank == len(conf.data_format or "")
    seen = x if turned else node.channels_first(x)
    out = node.add("Reshape", seen, axes=1 + len(shape) - x.rank, target_shape=shape)
    given = conf.output_format
    return out if channels_last(given) and out.rank == len(given or "") else node.channels_last(out)


def last_time_step(node: Node) -> Value:
    """LastTimeStepVertex, without a mask."""
    return last_step(node, node.x)


def duplicate_to_time_series(node: Node) -> Value:
    """DuplicateToTimeSeriesVertex: RepeatVector, where the number of steps is known."""
    steps = node.steps_of.get(node.conf.input_name)
    if steps is None:
        node.refuse("Keras repeats rows a number of times that must be known: give the input's type its length")
    return node.add("RepeatVector", axes=1, n=int(steps))
