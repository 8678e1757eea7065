"""FrozenVertex and LayerVertex: a vertex that is not trained, and a layer as a vertex."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import nd
from nd.typing import Array
from optimize import NoOp, Regularization, Updater

from ..layers.base import LayerConf
from ..layers.runtime import Params
from ..terms.input_type import InputType
from ..terms.java_form import JavaForm
from ..terms.params import ParamSpec
from ..terms.preprocessors import InputPreProcessor
from .base import VertexConf
from .runtime import VertexContext, VertexRuntime

if TYPE_CHECKING:
    from ..conf.network import NeuralNetConfiguration


class FrozenVertexRuntime(VertexRuntime):
    """The other vertex; gradients of its parameters are zeros."""

    pure = splits = True

    def setup(self) -> None:
        conf = self.conf.underlying
        self.vertex: VertexRuntime = conf.runtime(conf, self.label, self.dtype)
        self.ends_backprop = self.vertex.ends_backprop

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Any, object]:
        return self.vertex.forward(xs, params, ctx)

    def backward(
        self, epsilon: Array, cache: Any, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        below = self.vertex.backward(epsilon, cache, params, grads, ctx)
        for view in grads.values():
            nd.fill(view, 0.0)  # vertices write theirs on the way
        return below

    def feed_forward_mask(self, masks: Sequence[Array | None], ctx: VertexContext) -> Array | None:
        return self.vertex.feed_forward_mask(masks, ctx)

    def examples(self, counts: Sequence[int]) -> int:
        return self.vertex.examples(counts)

    def may_split(self, training: bool) -> bool:
        return self.vertex.may_split(training)


@dataclass(frozen=True)
class FrozenVertex(VertexConf):
    """A vertex that is not trained.

    Parameters
    ----------
    underlying : VertexConf
        Its parameters get no gradient, penalty or update; its inputs' epsilons go on.

    Raises
    ------
    ConfigurationError
        It is a layer's vertex, or a frozen one.

    Notes
    -----
    Source: DL4J ``FrozenVertex``.
    """

    underlying: VertexConf
    runtime: ClassVar = FrozenVertexRuntime
    form: ClassVar[JavaForm] = VertexConf.form.more({"underlying": ("underlying", "vertex")})

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.underlying, (LayerVertex, FrozenVertex)):
            remedy = (
                "Freeze the layer, with FrozenLayer." if isinstance(self.underlying, LayerVertex) else "Once will do."
            )
            raise nd.ConfigurationError(
                f"FrozenVertex: underlying must be another kind of vertex, got {self.underlying!r}. {remedy}"
            )

    @property
    def innermost(self) -> Any:
        return self.underlying.innermost

    @property
    def network_inputs(self) -> tuple[str, ...]:
        return self.underlying.network_inputs

    @property
    def fewest_inputs(self) -> int:  # type: ignore[override]
        """Those of the underlying vertex."""
        return self.underlying.fewest_inputs

    @property
    def most_inputs(self) -> int | None:  # type: ignore[override]
        """Those of the underlying vertex."""
        return self.underlying.most_inputs

    @property
    def n_out(self) -> int | None:
        """Numbers or channels that go out, where the underlying vertex says it."""
        return getattr(self.underlying, "n_out", None)

    @property
    def said_format(self) -> str | None:
        """The format of the inputs that the underlying vertex says, None where it says none."""
        return getattr(self.underlying, "said_format", None)

    def resolved(self, defaults: NeuralNetConfiguration, index: int) -> Self:
        return replace(self, underlying=self.underlying.resolved(defaults, index))

    def in_format(self, label: str, incoming: str | None, wanted: str | None = None) -> tuple[Self, str | None]:
        underlying, behind = self.underlying.in_format(label, incoming, wanted)
        return replace(self, underlying=underlying), behind

    def inferred(self) -> Self:
        return replace(self, underlying=self.underlying.inferred())

    def with_inputs(self, label: str, input_types: Sequence[InputType]) -> Self:
        return replace(self, underlying=self.underlying.with_inputs(label, input_types))

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        return self.underlying.output_type(label, input_types)

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return tuple(replace(spec, trainable=False) for spec in self.underlying.param_specs())

    def check(self, label: str) -> None:
        self.underlying.check(label)

    def regularization_of(self, bias: bool) -> tuple[Regularization, ...]:
        """Return no penalties."""
        return ()

    def updater_of(self, bias: bool) -> Updater:
        """Return the updater that keeps no state; its gradients are zeros."""
        return NoOp()


@dataclass(frozen=True)
class LayerVertex(VertexConf):
    """A layer and the preprocessor before it, as Java's files have them: a network's configuration takes them apart.

    Parameters
    ----------
    layer : LayerConf or NeuralNetConfiguration
        As in Java, also a configuration of one layer: ``NeuralNetConfiguration.Builder().layer(...).build()``.
    preprocessor : InputPreProcessor, optional

    Raises
    ------
    ArgumentError
        It is no layer.

    Notes
    -----
    It has no runtime. Source: DL4J ``LayerVertex``.
    """

    layer: LayerConf
    preprocessor: InputPreProcessor | None = None
    builder_names: ClassVar[dict[str, str]] = {"layer_conf": "layer", "pre_processor": "preprocessor"}
    form: ClassVar[JavaForm] = VertexConf.form.more(
        {"layerConf": ("layer", "layer conf"), "preProcessor": ("preprocessor", "preprocessor")},
        {"outputVertex": False},
    )

    def __post_init__(self) -> None:
        if not isinstance(self.layer, LayerConf) and isinstance(getattr(self.layer, "layer", None), LayerConf):
            object.__setattr__(self, "layer", self.layer.layer)
        super().__post_init__()

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return self.layer.param_specs()

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        given = input_types[0] if self.preprocessor is None else self.preprocessor.output_type(input_types[0])
        return self.layer.output_type(label, given)
