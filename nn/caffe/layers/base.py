"""Base of Caffe's layers: what one is told, and what it says of itself, computes and takes back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import nd
from nd import ConfigurationError
from nd.checks import describe_shape
from nd.random import Random
from nd.typing import Array

from ...layers.runtime import Kept, Params
from ...terms.params import ParamSpec, ParamView
from ...vertices.base import VertexConf
from ...vertices.runtime import VertexContext, VertexRuntime
from ..fillers import fill_blob
from ..schema import Message, message_class

Shape = tuple[int, ...]
Counts = tuple[int, int | None]
"""Fewest and most bottoms or tops; None for any number."""


class BlobSpec(NamedTuple):
    """A parameter of a layer."""

    name: str
    """In the layer's `forward` and `backward`; nets know parameters by number, or by the name in ``param``."""
    shape: Shape
    filler: Message | None = None
    """A FillerParameter; None for zeros, which is what Caffe's is by default."""
    learned: bool = True
    """Whether the solver trains it. False for statistics that the layer itself writes while it goes forward."""
    values: Array | None = None
    """Numbers with which it begins, in the place of a filler's."""


@dataclass(frozen=True, eq=False)
class CaffeLayerConf(VertexConf):
    """What a layer is told: its message, the net's phase, and the shapes of its bottoms.

    Parameters
    ----------
    message : LayerParameter
    phase : {"TRAIN", "TEST"}
    bottoms : tuple of shapes
        When the net was made: a later pass may come with others.
    blobs : tuple of BlobSpec
    tops : tuple of shapes
    fixed : set of str
        Names of blobs that are not trained: no gradient comes to them.
    """

    message: Any
    phase: str
    bottoms: tuple[Shape, ...]
    blobs: tuple[BlobSpec, ...] = ()
    tops: tuple[Shape, ...] = ()
    fixed: frozenset[str] = frozenset()

    @property
    def runtime(self) -> type[CaffeLayer]:  # type: ignore[override]
        """The class of the layer at work."""
        from . import layer_class

        return layer_class(self.message.type)

    def examples_of(self, arriving: Sequence[int]) -> int:
        return max(arriving, default=1)

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return tuple(
            ParamSpec(spec.name, spec.shape, order="c", trainable=spec.learned and spec.name not in self.fixed)
            for spec in self.blobs
        )

    def draw_own(self, views: Sequence[ParamView], vector: Array, rng: Random, label: str) -> None:
        """Let the blobs that no other layer owns start as their fillers say."""
        blobs = {spec.name: spec for spec in self.blobs}
        for view in views:
            spec = blobs[view.spec.name]
            if spec.values is not None:
                nd.assign(view.of(vector), nd.as_array(spec.values, nd.dtype_name(vector)))
            else:
                fill_blob(view.of(vector), spec.filler, rng, f"{label}: blob {view.spec.name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        blobs = [
            (spec.name, spec.shape, None if spec.filler is None else spec.filler.SerializeToString(), spec.learned)
            for spec in self.blobs
        ]
        return _again, (self.message.SerializeToString(), self.phase, self.bottoms, blobs, self.tops, self.fixed)


def _again(message: bytes, phase: str, bottoms: Any, blobs: Any, tops: Any, fixed: Any) -> CaffeLayerConf:
    """Return the configuration of a pickled layer: pickle cannot write messages."""
    filler, layer = message_class("FillerParameter"), message_class("LayerParameter").FromString(message)
    specs = tuple(
        BlobSpec(name, shape, None if text is None else filler.FromString(text), learned)
        for name, shape, text, learned in blobs
    )
    return CaffeLayerConf(layer, phase, bottoms, specs, tops, fixed)


class CaffeLayer(VertexRuntime):
    """A layer of Caffe at work, for one type: a vertex whose bottoms are inputs and whose tops are outputs.

    A type writes `setup` where it has settings, `top_shapes`, `blobs` where it has parameters, `forward` and
    `backward`. It keeps no arrays between calls. As every `Part`, each class says ``pure`` and ``splits`` for itself.

    Attributes
    ----------
    message : LayerParameter
        ``self.message.convolution_param`` has the settings.
    phase : {"TRAIN", "TEST"}
    outputs : int
        Tops. With one, `forward` returns its array, and `backward` gets its epsilon; otherwise tuples of them.
    """

    bottoms: ClassVar[Counts] = (1, 1)
    tops: ClassVar[Counts] = (1, 1)
    as_many_tops: ClassVar[bool] = False
    """Whether there must be a top for every bottom."""
    automatic_tops: ClassVar[bool] = False
    """Whether tops that a net does not name are made: those of losses."""
    in_place: ClassVar[bool] = True
    """Whether a top may be a bottom."""
    is_loss: ClassVar[bool] = False
    """Whether the first top has the weight 1 in the net's loss where the message says none."""
    computes_again: ClassVar[bool] = True
    """Whether a second backward pass may compute `forward` once more: the first one has used up what that kept."""
    not_forced: ClassVar[tuple[int, ...]] = ()
    """Bottoms that `force_backward` passes by: labels."""

    def __init__(self, conf: CaffeLayerConf, label: str, dtype: str) -> None:
        self.message, self.phase = conf.message, conf.phase
        self.outputs = len(conf.tops or conf.message.top)
        super().__init__(conf, label, dtype)

    # ---- written by a type

    def setup(self) -> None:
        """Read the settings once, and raise ConfigurationError where they cannot be."""

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        """Return the shapes of the tops for such bottoms: Caffe's Reshape.

        Raises
        ------
        ShapeError
            The bottoms do not fit the layer, or one another.
        """
        return list(bottoms)

    def blobs(self, bottoms: Sequence[Shape]) -> tuple[BlobSpec, ...]:
        """Return the parameters for such bottoms, in Caffe's order."""
        return ()

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Any, Any]:
        """Return the tops, of one its array, otherwise a tuple, and a cache, which `backward` leaves as it is."""
        return super().forward(xs, params, ctx)

    def backward(
        self, epsilon: Any, cache: Any, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        """Write dL/d(blobs) into `grads`; return dL/dx of every bottom, None where nobody needs it."""
        return super().backward(epsilon, cache, params, grads, ctx)

    def examples(self, counts: Sequence[int]) -> int:
        return counts[0] if counts else 1

    def feed_forward_mask(self, masks: Sequence[Array | None], ctx: VertexContext) -> Array | None:
        """Return no mask: Caffe has none."""
        return None

    # ---- called by a net

    def backpropagate(self, epsilon: Array, kept: Kept, grads: Params) -> Sequence[Array | None]:
        for name in self.conf.fixed:  # which the layer computes all the same
            shape = tuple(grads[name].shape)
            grads = {**grads, name: kept.context.buffer(f"gradient that nobody wants.{name}", shape)}
        return super().backpropagate(epsilon, kept, grads)

    # ---- for types

    def below(self, x: Array, number: int, ctx: VertexContext) -> Array | None:
        """Return memory like x for dL/dx of a bottom; None where nobody needs it."""
        return nd.buffer_like(x, ctx.buffer, f"below{number}") if ctx.needs_epsilons[number] else None

    def without_gradients(self, ctx: VertexContext) -> list[Array | None]:
        """Return dL/dx of a layer that has no gradient: None for every bottom.

        Raises
        ------
        ConfigurationError
            Somebody needs one.
        """
        for number in range(len(ctx.needs_epsilons)):
            self.refuse_gradient(number, ctx)
        return [None] * len(ctx.needs_epsilons)

    def refuse_gradient(self, number: int, ctx: VertexContext) -> None:
        """Raise ConfigurationError where somebody needs dL/dx of a bottom that has none: labels, say."""
        if ctx.needs_epsilons[number]:
            named = f" {self.message.bottom[number]!r}" if number < len(self.message.bottom) else ""
            raise ConfigurationError(
                f"{self.label}: nothing below bottom {number}{named} can be trained: {self.message.type} has no "
                "gradient there. Give the layer propagate_down: false for it, or those below lr_mult: 0."
            )

    def axis(self, given: int, shape: Shape, name: str = "axis", more: int = 0) -> int:
        """Return the number of an axis that may be counted from the end, as Caffe's CanonicalAxisIndex.

        Raises
        ------
        ShapeError
            A bottom of that shape has no such axis.
        """
        count = len(shape) + more
        if not -count <= given < count:
            raise nd.ShapeError(
                f"{self.label}: {name} must be an axis of the bottom {describe_shape(shape)}, {-count}..{count - 1}, "
                f"got {given}."
            )
        return given % count if count else 0

    def same_shapes(self, bottoms: Sequence[Shape]) -> Shape:
        """Return the shape that all bottoms have; raise ShapeError where they differ."""
        for number, shape in enumerate(bottoms[1:], 1):
            if shape != bottoms[0]:
                raise nd.ShapeError(
                    f"{self.label}: all bottoms must have the shape of bottom 0, {describe_shape(bottoms[0])}, got "
                    f"{describe_shape(shape)} for bottom {number}."
                )
        return bottoms[0]


def count(shape: Shape, start: int = 0, stop: int | None = None) -> int:
    """Return the number of elements over some of the axes of a shape."""
    return math.prod(shape[start:stop])


def check_counts(layer: CaffeLayer) -> None:
    """Raise ConfigurationError unless a layer has as many bottoms and tops as its type takes."""
    message = layer.message
    for name, given, (fewest, most) in (
        ("bottom", len(message.bottom), layer.bottoms),
        ("top", layer.outputs, layer.tops),
    ):
        if given < fewest or (most is not None and given > most):
            allowed = f"at least {fewest}" if most is None else f"{fewest}" if fewest == most else f"{fewest} to {most}"
            raise ConfigurationError(
                f"{layer.label}: expected {allowed} {name}(s), got {given}: {', '.join(getattr(message, name))}."
            )
    if layer.as_many_tops and len(message.bottom) != layer.outputs:
        raise ConfigurationError(
            f"{layer.label}: expected a top for every bottom, got {len(message.bottom)} bottoms and {layer.outputs} "
            "tops."
        )


__all__ = ["BlobSpec", "CaffeLayer", "CaffeLayerConf", "Params", "Shape", "check_counts", "count"]
