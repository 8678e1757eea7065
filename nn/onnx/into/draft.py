"""A graph of layers and vertices as it grows from the nodes of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from nd import ConfigurationError
from nd.typing import HostArray

from ...conf.growing import GrowingGraph
from ...terms.data_formats import IMAGES, SERIES, VOLUMES, axes_inward, channels_last
from ...vertices import ReshapeVertex
from ..vertices import OnnxVertex
from .known import Size
from .layout import Axes, Factors, Step, Value

Arrays = dict[str, Callable[[], HostArray]]
"""Parameter -> what reads it from the file."""
FORMATS = {3: SERIES, 4: IMAGES, 5: VOLUMES}


class NotSaid(ConfigurationError):
    """No layer says a node; an OnnxVertex may."""


class GraphDraft(GrowingGraph):
    """Vertices, what comes into them, and their parameters.

    Parameters
    ----------
    inputs : dict of str -> tuple of Size
        Shapes of the inputs in the file.
    turned : set of str
        Inputs that have the channels last, whose arrays are computed with the channels first.

    Attributes
    ----------
    factors : Factors
    inputs : dict of str -> Value
    nodes : dict of str -> (layer or vertex, input, ...)
        In the order in which they run.
    arrays : dict of str -> Arrays
    wanted : set of str
        Inputs that something wants with the channels last, beside those of `turned`.
    has_types : bool
        Whether the first axis of all arrays is that of the examples, as input types have it.
    """

    def __init__(self, inputs: dict[str, tuple[Size, ...]], turned: set[str]) -> None:
        super().__init__()
        self.factors, self.turned = Factors(), turned
        self.inputs: dict[str, Value] = {name: self._input(name, shape) for name, shape in inputs.items()}
        self.wanted: set[str] = set()
        self.has_types = True

    def _input(self, name: str, shape: tuple[Size, ...]) -> Value:
        value = self.factors.fresh(name, shape)
        first, last = FORMATS.get(value.rank, (None, None))
        if name not in self.turned:
            return value._replace(tag=first)  # said, so that no layer behind it says another for the input
        tag = last
        return value._replace(inner=tuple(value.inner[axis] for axis in axes_inward(tag, value.rank)), tag=tag)

    def readers(self) -> Counter[str]:
        """Count the vertices that read each one."""
        return Counter(source for _, *sources in self.nodes.values() for source in sources)

    def are_examples(self, axis: Sequence[int], value: Value) -> bool:
        """Tell whether an axis of a tensor is that of the examples, the first one of an input.

        Where none of the tensor's axes comes from there, as behind vertices, the length tells.
        """
        firsts = {known.axes[0] for known in self.inputs.values()}
        if any((factor,) in firsts for group in value.axes for factor in group):
            return tuple(axis) in firsts
        others = {factor for known in self.inputs.values() for group in known.axes[1:] for factor in group}
        return others.isdisjoint(axis) and self.factors.size(axis) in {self.factors.size(first) for first in firsts}

    # ---- the order of axes

    def arranged(self, value: Value, groups: Axes) -> Value:
        """Return a tensor whose array has these axes, behind vertices that bring it into that order where it has not.

        Parameters
        ----------
        value : Value
        groups : tuple of tuple of int
            The factors of every axis that is wanted.
        """
        if value.node in self.inputs and self._takes_turned(value, groups):
            return value._replace(inner=groups)
        for step in self.factors.steps(value, groups):
            value = self._stepped(value, step)
        return value._replace(inner=groups)

    def in_file_order(self, value: Value) -> Value:
        """Return a tensor whose array has the axes that it has in the file."""
        return self.arranged(value, value.axes)

    def _takes_turned(self, value: Value, groups: Axes) -> bool:
        """Note that an input is wanted with the channels first, and has them last."""
        rank = len(value.inner)
        if value.node in self.turned or len(groups) != rank or rank not in FORMATS:
            return False
        order = axes_inward(FORMATS[rank][1], rank)
        if tuple(value.inner[axis] for axis in order) != groups or self.factors.is_arranged(value, groups):
            return False
        self.wanted.add(value.node)
        return True

    def _stepped(self, value: Value, step: Step) -> Value:
        if step.axes is not None:
            value = self._reshaped(value, step.axes)
        if step.perm is not None:
            inner = tuple(value.inner[axis] for axis in step.perm)
            self.has_types &= step.perm[0] == 0
            node = self.add(f"{value.node}/order", OnnxVertex("Transpose", {"perm": list(step.perm)}), [value.node])
            value = value._replace(node=node, inner=inner, tag=None)
        return value

    def _reshaped(self, value: Value, axes: Axes) -> Value:
        """Return a tensor whose array has other axes, in the same order."""
        before, shape = self.factors.shape(value.inner), self.factors.shape(axes)
        examples = bool(before) and before[0] == shape[0] and 2 <= len(shape) <= 5
        plain = all(size[0] == size[1] for size in shape[1:]) and self.are_examples(axes[0], value)
        if examples and plain and not channels_last(value.tag) and (len(shape) == 2 or not self.turned):
            tag = None if len(shape) == 2 else FORMATS[len(shape)][0]
            conf: Any = ReshapeVertex(-1, *(size[0] for size in shape[1:]))
        else:
            open_axes = [at for at, axis in enumerate(axes) if self._has_examples(axis, value)]
            target = target_of(before, shape, open_axes)
            self.has_types &= before[:1] == shape[:1]
            if target.count(-1) > 1:
                raise NotSaid("several sizes of its array are open")
            tag, conf = None, OnnxVertex("Reshape", {}, {1: target})
        return value._replace(node=self.add(f"{value.node}/shape", conf, [value.node]), inner=axes, tag=tag)

    def _has_examples(self, axis: Sequence[int], value: Value) -> bool:
        """Tell whether an axis is that of the examples, or has them in it."""
        return any(self.are_examples((factor,), value) for factor in axis)


def target_of(before: Sequence[Size], shape: Sequence[Size], examples: Sequence[int] = ()) -> list[int]:
    """Return the numbers that tell a Reshape its shape: 0 for an axis that stays, -1 for one that is open.

    Parameters
    ----------
    before, shape : sequence of Size
    examples : sequence of int
        Axes of the new shape whose length follows the number of examples, whatever it was in the file.
    """
    stays = [axis < len(before) and before[axis] == size for axis, size in enumerate(shape)]
    is_open = [size[0] != size[1] or axis in examples for axis, size in enumerate(shape)]
    opened = [axis for axis in range(len(shape)) if is_open[axis] and not stays[axis]]
    if len(opened) > 1:
        opened = [axis for axis in opened if shape[axis][0] != shape[axis][1]]
    return [
        -1 if axis in opened else 0 if stays[axis] and (is_open[axis] or axis == 0) else size[0]
        for axis, size in enumerate(shape)
    ]


__all__ = ["FORMATS", "Arrays", "GraphDraft", "NotSaid", "target_of"]
