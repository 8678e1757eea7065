"""What layers that are pretrained share, and such a layer as it learns from its input alone."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import nd
from nd.losses import Loss, get_loss
from nd.part import undefined
from nd.typing import Array

from ...terms.input_type import FeedForwardType, InputType
from ...terms.java_form import TIMED, JavaForm
from ...terms.params import ParamSpec
from ...terms.weight_noise import IWeightNoise
from ..base import FeedForwardConf, LayerConf, label_of
from ..draw_order import BY_COLUMNS, comes_by_columns, draw_in
from ..losses.output import OutputMixin
from ..runtime import Context, Kept, LayerRuntime, Params
from ..wrapping import WrappingConf

_LOG = logging.getLogger(__name__)


class PretrainedRuntime(LayerRuntime):
    """A layer that also learns from its input alone.

    A layer writes the three methods below, beside `forward` and `backward`; those leave parameters that only
    pretraining trains alone, and write zeros into their gradients.
    """

    samples: bool = False
    """Whether random numbers are drawn inside: then all examples of a minibatch are computed in one piece."""
    by_columns: bool = False
    """Whether what comes in lies by columns in Java's memory, and what damages it is drawn in that order."""

    def reconstruct(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Any]:
        """Return what the layer makes of its input ``[N, n_in]``, of that shape, and a cache for the other two."""
        undefined(self, "reconstruct(x, params, ctx)", "the reconstruction and a cache")

    def reconstruction_loss(self, cache: Any, params: Params, ctx: Context) -> Array:
        """Return the loss of the reconstruction summed over the examples, ``[]``."""
        undefined(self, "reconstruction_loss(cache, params, ctx)", "the loss, summed")

    def reconstruction_gradients(self, cache: Any, params: Params, grads: Params, ctx: Context) -> None:
        """Write into `grads`, summed over the examples, what the updater subtracts. The cache is used up."""
        undefined(self, "reconstruction_gradients(cache, params, grads, ctx)", "the gradients")

    def outside(self) -> Context:
        """Return what a method works in that a program calls outside of training, with memory of its own."""
        return Context(False, nd.fresh_buffers(self.dtype))

    def rows_of(self, x: Array, width: int) -> Array:
        """Return what a program hands over as an array ``[N, width]`` of the layer's dtype; raise ShapeError."""
        x = nd.as_array(x, self.dtype)
        self.check_rows(x, width)
        return x


@dataclass(frozen=True, kw_only=True)
class BasePretrainNetwork(FeedForwardConf):
    """Shared by layers that are pretrained.

    Parameters
    ----------
    reconstruction_loss : str or Loss
        Java's ``lossFunction``: between the input and the reconstruction, to which the activation is applied once more.
    visible_bias_init : float
        Start of the visible bias.

    Notes
    -----
    Source: DL4J ``BasePretrainNetwork``.
    """

    reconstruction_loss: str | Loss = "reconstruction_crossentropy"
    visible_bias_init: float = 0.0
    builder_names: ClassVar[dict[str, str]] = {
        **FeedForwardConf.builder_names, "loss_function": "reconstruction_loss", "loss_fn": "reconstruction_loss",
    }  # fmt: skip
    form: ClassVar[JavaForm] = FeedForwardConf.form.more(
        {"lossFunction": ("reconstruction_loss", "loss name"), "visibleBiasInit": ("visible_bias_init", "number")},
        TIMED,
    )
    ascends_since_1: ClassVar[bool] = False
    """Whether Java's release 1.0 takes the gradient in pretraining with the wrong sign."""
    drops_in_pretraining: ClassVar[bool] = True
    """Whether dropout of the input is applied in pretraining: what is left is the input that is to be restored."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "reconstruction_loss", get_loss(self.reconstruction_loss))

    def say_what_is_ignored(self, index: int) -> None:
        if not self.drops_in_pretraining:
            super().say_what_is_ignored(index)
        elif self.drop_out is not None and not self.runtime.takes_dropout:
            said = (
                "%s: drop_out is not applied, as in Java, when the network is trained on labels: in pretraining alone."
            )
            _LOG.warning(said, label_of(index, self))

    def tied_specs(self, bias: bool) -> tuple[ParamSpec, ...]:
        """Return W ``[n_in, n_out]``, b ``[1, n_out]`` and vb ``[1, n_in]``, which is trained as a bias is or not."""
        visible = ParamSpec(
            "vb", (1, self.n_in or 0), "c", bias, penalised=bias, pretrained=True, initial=self.visible_bias_init
        )
        return (*self.matrix_specs(has_bias=True), visible)


class UnsupervisedRuntime(OutputMixin, LayerRuntime):
    """A layer that is pretrained, as the last one of a network: its input is what it is trained for."""

    pure = splits = True
    masks_output = False

    def setup(self) -> None:
        conf = self.conf.layer
        self.layer: PretrainedRuntime = conf.runtime(conf, self.label, self.dtype)
        self.layer.by_columns = self.conf.by_columns
        if self.layer.by_columns:
            draw_in(self, BY_COLUMNS)

    def may_split(self, training: bool) -> bool:
        return not self.layer.samples and self.layer.may_split(training)

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Any]:
        self.check_rows(x, self.conf.n_in)
        return self.layer.reconstruct(x, params, ctx)

    def summed_loss(self, labels: Array, kept: Kept, mask: Array | None) -> Array:
        """Return the loss of the reconstruction; the labels, which are the input, are not looked at."""
        return self.layer.reconstruction_loss(kept.cache, kept.params, kept.context)

    def loss_and_delta(self, labels: Array, kept: Kept, mask: Array | None) -> tuple[Array, Any]:
        """Return the loss, and the cache: the gradients come from it."""
        return self.summed_loss(labels, kept, mask), kept.cache

    def backward_delta(self, delta: Any, cache: Any, params: Params, grads: Params, ctx: Context) -> None:
        """Write the gradients; nothing below is trained."""
        self.layer.reconstruction_gradients(cache, params, grads, ctx)
        if self.conf.ascends:
            for view in grads.values():
                nd.muli(view, -1.0)

    def backward(self, epsilon: Array, cache: Any, params: Params, grads: Params, ctx: Context) -> None:
        self.backward_delta(None, cache, params, grads, ctx)


@dataclass(frozen=True, kw_only=True)
class _Unsupervised(WrappingConf):
    """A layer around one that is pretrained: the only one of a network that reconstructs its input.

    Parameters
    ----------
    layer : BasePretrainNetwork
    ascends : bool
        Turn the sign of the gradients, as Java's release 1.0 does by mistake.
    by_columns : bool
        Draw in the order of Java's memory, where what comes in lies by columns.
    own_label : str
        What messages call the layer: by its place in the network that it is of.
    """

    ascends: bool = False
    by_columns: bool = False
    own_label: str = ""
    runtime: ClassVar[Any] = UnsupervisedRuntime
    shape_fields: ClassVar[Mapping[str, object]] = {}

    def __post_init__(self) -> None:
        super().__post_init__()
        drops = getattr(self.layer, "drops_in_pretraining", False)
        object.__setattr__(self, "drop_out", self.inside.drop_out if drops else None)

    @property
    def weight_noise(self) -> IWeightNoise | None:
        """Noise on the layer's weights."""
        return getattr(self.layer, "weight_noise", None)

    @property
    def n_out(self) -> int | None:
        """Numbers of the reconstruction: as many as come in."""
        return self.n_in

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return tuple(replace(spec, pretrained=False) for spec in self.inside.param_specs())

    def output_type(self, label: str, input_type: InputType) -> InputType:
        return FeedForwardType(self.n_in)  # type: ignore[arg-type]


def unsupervised(layer: LayerConf, label: str, ascends: bool, source: object = None) -> LayerConf:
    """Return a layer that is pretrained as one that is trained to restore its input, which comes from `source`.

    Messages call it by that label. With `ascends` the signs of its gradients are turned, as in Java's release 1.0 by
    mistake.
    """
    return _Unsupervised(layer, ascends=ascends, by_columns=comes_by_columns(source), own_label=label)


def is_pretrained(conf: LayerConf) -> bool:
    """Tell whether a layer is one that is pretrained."""
    return isinstance(conf, BasePretrainNetwork)
