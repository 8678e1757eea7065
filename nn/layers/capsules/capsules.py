"""CapsuleLayer and CapsuleStrengthLayer: groups of numbers that agree on where to go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import nd
from nd.arguments import Count
from nd.checks import describe_shape
from nd.typing import Array
from optimize.builder import Builder

from ...terms.distributions import Distribution
from ...terms.input_type import FeedForwardType, InputType, RecurrentType
from ...terms.java_form import JavaForm
from ...terms.params import ParamSpec
from ..runtime import Context, LayerRuntime, Params
from ..same_diff import SameDiffConf

EPSILON = 1e-5  # below the root of `squash`


def squash(s: Array, axis: int, out: Array) -> Array:
    """Write ``s q / ((1 + q) sqrt(q + EPSILON))``, q the sum of squares along an axis, into `out`; return it."""
    q = nd.sum(nd.square(s, out), axis, True)
    return nd.multiply(s, q / ((1.0 + q) * nd.sqrt(q + EPSILON)), out)


def squash_backward(s: Array, epsilon: Array, axis: int, out: Array) -> Array:
    """Write the gradient of s into `out`, which shares memory with neither; return it."""
    q = nd.sum(nd.square(s, out), axis, True)
    along = nd.sum(nd.multiply(s, epsilon, out), axis, True)
    below = 1.0 / ((1.0 + q) * nd.sqrt(q + EPSILON))
    slope = below * (1.0 - q / (1.0 + q) - q / (2.0 * (q + EPSILON)))
    nd.multiply(s, 2.0 * slope * along, out)
    return nd.addi(out, epsilon * (q * below))


def capsules_of(label: str, input_type: InputType) -> tuple[int, int]:
    """Return number and length of the capsules below; raise ConfigurationError if there are none."""
    if not isinstance(input_type, RecurrentType) or input_type.time_series_length is None:
        raise nd.ConfigurationError(
            f"{label}: expected capsules, got {input_type!r}. Put a PrimaryCapsules layer before it, or use "
            "InputType.recurrent(capsules, numbers in each)."
        )
    return input_type.n, input_type.time_series_length


def check_capsules(label: str, x: Array, expected: tuple[object, object]) -> None:
    """Raise unless x is ``[N, capsules, numbers in each]``."""
    if not nd.is_array(x):
        raise nd.DTypeError(f"{label}: expected an array, got {type(x).__name__}. Make one with nd.create.")
    if x.ndim != 3 or any(size not in (length, "D", "I") for length, size in zip(x.shape[1:], expected, strict=True)):
        raise nd.ShapeError(
            f"{label}: expected input {describe_shape(('N', *expected))}, got {describe_shape(x.shape)}. "
            "Put a PrimaryCapsules layer before it."
        )


class Routed(NamedTuple):
    """One iteration of the routing."""

    coupling: Array | None
    """``[N, I, J]``, None for the first one's 1 / J."""
    s: Array
    v: Array


class CapsuleCache(NamedTuple):
    """Results of forward that backward needs."""

    x: Array
    predictions: Array
    """``[N, I, J, D]``."""
    iterations: list[Routed]


class CapsuleRuntime(LayerRuntime):
    """Dynamic routing, and the way back through all of its iterations."""

    pure = splits = True
    takes_dropout = False

    def setup(self) -> None:
        conf = self.conf
        self.I, self.J, self.D = conf.input_capsules, conf.capsules, conf.capsule_dimensions
        self.shape = (self.I, self.J * self.D, conf.input_capsule_dimensions)  # of W as matrices

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, CapsuleCache | None]:
        check_capsules(self.label, x, (self.I, self.conf.input_capsule_dimensions))
        if not ctx.activates:
            return x, None
        predictions = ctx.buffer("predictions", (x.shape[0], self.I, self.J, self.D))
        W = nd.reshape_view(params["W"], self.shape)
        nd.batched_gemm(W, nd.permute(x, (1, 2, 0)), self._matrices(predictions))
        iterations = self._iterations(predictions, params, ctx)
        return iterations[-1].v, CapsuleCache(x, predictions, iterations)

    def backward(
        self, epsilon: Array, cache: CapsuleCache, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        x = cache.x
        matrices = self._matrices(self._back_through_iterations(epsilon, cache, grads, ctx))
        nd.batched_gemm(matrices, nd.permute(x, (1, 0, 2)), nd.reshape_view(grads["W"], self.shape))
        if not ctx.needs_epsilon:
            return None
        W, below = nd.reshape_view(params["W"], self.shape), ctx.buffer("epsilon", tuple(x.shape))
        nd.batched_gemm(nd.permute(W, (0, 2, 1)), matrices, nd.permute(below, (1, 2, 0)))
        return below

    def _matrices(self, predictions: Array) -> Array:
        """View ``[N, I, J, D]`` in the preferred memory order as ``[I, J * D, N]``."""
        return nd.reshape_view(nd.permute(predictions, (1, 2, 3, 0)), (self.I, self.J * self.D, predictions.shape[0]))

    def _iterations(self, predictions: Array, params: Params, ctx: Context) -> list[Routed]:
        """Return all iterations of the routing."""
        b = nd.reshape_view(params["b"], (1, self.J, self.D)) if "b" in params else None
        iterations: list[Routed] = []
        logits = None
        for number in range(self.conf.routings):
            coupling = None
            if logits is not None:  # their softmax, [N, I, J]
                coupling = ctx.buffer(f"coupling{number}", tuple(logits.shape))
                nd.exp(nd.subtract(logits, nd.max(logits, 2, True), coupling), coupling)
                coupling = nd.divi(coupling, nd.sum(coupling, 2, True))
            routed = self._route(predictions, coupling, b, number, ctx)
            iterations.append(routed)
            if number < self.conf.routings - 1:
                product = ctx.buffer("product", tuple(predictions.shape))
                nd.multiply(predictions, routed.v[:, None, ...], product)
                agreement = nd.sum(product, 3)
                logits = agreement if logits is None else nd.addi(agreement, logits)
        return iterations

    def _route(self, predictions: Array, coupling: Array | None, b: Array | None, number: int, ctx: Context) -> Routed:
        """Return one iteration: the sums s that reach the capsules above, and their outputs v."""
        shape = (predictions.shape[0], self.J, self.D)
        s, v = ctx.buffer(f"s{number}", shape), ctx.buffer(f"v{number}", shape)
        if coupling is None:
            nd.divi(nd.sum_into(predictions, 1, s), self.J)
        else:
            product = ctx.buffer("product", tuple(predictions.shape))
            nd.sum_into(nd.multiply(predictions, coupling[..., None], product), 1, s)
        if b is not None:
            nd.addi(s, b)
        return Routed(coupling, s, squash(s, 2, v))

    def _back_through_iterations(self, epsilon: Array, cache: CapsuleCache, grads: Params, ctx: Context) -> Array:
        """Return dL/d(predictions); write dL/db."""
        predictions = cache.predictions
        delta = nd.fill(ctx.buffer("delta", tuple(predictions.shape)), 0.0)
        b = nd.fill(nd.reshape_view(grads["b"], (self.J, self.D)), 0.0) if "b" in grads else None
        dlogits = None
        for coupling, s, v in reversed(cache.iterations):
            if dlogits is not None:
                # This iteration's v has changed the logits by its agreement with the predictions.
                spread, product = dlogits[..., None], ctx.buffer("product", tuple(predictions.shape))
                nd.addi(delta, nd.multiply(spread, v[:, None, ...], product))
                epsilon = nd.sum(nd.multiply(spread, predictions, product), 1)
            ds = squash_backward(s, epsilon, 2, ctx.buffer("ds", tuple(s.shape)))
            if b is not None:
                nd.addi(b, nd.sum(ds, 0))
            if coupling is None:
                nd.addi(delta, (ds / self.J)[:, None, ...])
            else:
                dlogits = self._back_through_coupling(ds, coupling, predictions, delta, dlogits, ctx)
        return delta

    def _back_through_coupling(
        self, ds: Array, coupling: Array, predictions: Array, delta: Array, dlogits: Array | None, ctx: Context
    ) -> Array:
        """Return dL/d(logits) before an iteration; add to dL/d(predictions)."""
        spread, product = ds[:, None, ...], ctx.buffer("product", tuple(predictions.shape))
        nd.addi(delta, nd.multiply(coupling[..., None], spread, product))
        dcoupling = nd.sum(nd.multiply(predictions, spread, product), 3)
        nd.subi(dcoupling, nd.sum(dcoupling * coupling, 2, True))
        nd.muli(dcoupling, coupling)
        return dcoupling if dlogits is None else nd.addi(dcoupling, dlogits)

    def feed_forward_mask(self, mask: Array) -> None:
        """Return no mask: capsules are no time steps."""
        return


@dataclass(frozen=True, kw_only=True)
class CapsuleLayer(SameDiffConf):
    """Capsules above capsules, with dynamic routing between them.

    Parameters
    ----------
    capsules, capsule_dimensions : int
        Number of capsules above, and the numbers in each.
    routings : int
        Iterations.
    has_bias : bool
    input_capsules, input_capsule_dimensions : int, optional
        Inferred when the network has an input type.

    Notes
    -----
    Input ``[N, I, K]``, output ``[N, J, D]``. Every capsule i below predicts ``u_ij = W_ij x_i`` for every j above;
    with logits l = 0 an iteration is ``c = softmax(l)`` over j, ``s_j = Σ_i c_ij u_ij + b_j``, ``v_j = squash(s_j)``,
    ``l_ij += u_ij · v_j``; the last v is the output. Squash is ``s q / ((1 + q) sqrt(q + 1e-5))`` with q = ``|s|²``.
    Gradients go back through all iterations. Vector: W ``[1, I, J * D, K, 1]``, then b ``[1, 1, J, D, 1]``, in c
    order. Masks are not used, and go no further. Source: DL4J ``CapsuleLayer``; Sabour, Frosst and Hinton 2017.

    Examples
    --------
    >>> CapsuleLayer(capsules=10, capsule_dimensions=16, input_capsules=72, input_capsule_dimensions=8).param_shapes()
    {'W': (1, 72, 160, 8, 1)}
    """

    capsules: Count | None = None
    capsule_dimensions: Count | None = None
    routings: Count = 3
    has_bias: bool = False
    input_capsules: Count | None = None
    input_capsule_dimensions: Count | None = None
    runtime: ClassVar = CapsuleRuntime
    positional: ClassVar[tuple[str, ...]] = ("capsules", "capsule_dimensions", "routings")
    builder_verbs: ClassVar[dict[str, Callable[..., Builder]]] = {
        **SameDiffConf.builder_verbs,
        "input_shape": lambda builder, capsules, dimensions: builder.input_capsules(capsules).input_capsule_dimensions(
            dimensions
        ),
    }
    form: ClassVar[JavaForm] = SameDiffConf.form.more(
        {
            "capsules": ("capsules", "size"),
            "capsuleDimensions": ("capsule_dimensions", "size"),
            "hasBias": ("has_bias", "plain"),
            "inputCapsules": ("input_capsules", "size"),
            "inputCapsuleDimensions": ("input_capsule_dimensions", "size"),
            "routings": ("routings", "plain"),
        },
        {"paramWeightInit": None},
    )
    shape_fields: ClassVar[Mapping[str, object]] = {
        "capsules": None, "capsule_dimensions": None, "input_capsules": None, "input_capsule_dimensions": None,
        "has_bias": False,
    }  # fmt: skip

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        n, numbers = capsules_of(label, input_type)
        return replace(
            self,
            input_capsules=self.fixed(label, "input_capsules", n),
            input_capsule_dimensions=self.fixed(label, "input_capsule_dimensions", numbers),
        )

    def output_type(self, label: str, input_type: InputType) -> InputType:
        self.check(label)
        return RecurrentType(self.capsules, self.capsule_dimensions)  # type: ignore[arg-type]

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        return self, None

    def check(self, label: str) -> None:
        super().check(label)
        self.check_given(label, ("capsules", "capsule_dimensions"), "Give it.")
        inputs = ("input_capsules", "input_capsule_dimensions")
        self.check_given(label, inputs, "Give it, or pass input_type to list(...).")

    def param_specs(self) -> tuple[ParamSpec, ...]:
        above, below = (self.capsules or 0, self.capsule_dimensions or 0), self.input_capsules or 0
        numbers = self.input_capsule_dimensions or 0
        out = above[0] * above[1]
        W = ParamSpec("W", (1, below, out, numbers, 1), "c", fan_in=below * numbers, fan_out=out)
        return (W, ParamSpec("b", (1, 1, *above, 1), "c", bias=True)) if self.has_bias else (W,)


class CapsuleStrengthRuntime(LayerRuntime):
    """Lengths of capsules."""

    pure = splits = True
    takes_dropout = False

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, object]:
        check_capsules(self.label, x, ("I", "D"))
        if not ctx.activates:
            return x, None
        squares = nd.square(x, ctx.buffer("squares", tuple(x.shape)))
        a = nd.sum_into(squares, 2, ctx.buffer("a", tuple(x.shape[:2])))
        nd.sqrt(a, a)
        return a, (x, a)

    def backward(self, epsilon: Array, cache: Any, params: Params, grads: Params, ctx: Context) -> Array | None:
        if not ctx.needs_epsilon:
            return None
        x, a = cache
        factor = nd.divide(epsilon, nd.where(nd.greater(a, 0.0), a, 1.0), epsilon)
        return nd.multiply(x, factor[..., None], ctx.buffer("epsilon", tuple(x.shape)))

    def feed_forward_mask(self, mask: Array) -> None:
        """Return no mask: capsules are no time steps."""
        return


@dataclass(frozen=True, kw_only=True)
class CapsuleStrengthLayer(SameDiffConf):
    """The length of every capsule, which is its certainty.

    Notes
    -----
    Input ``[N, capsules, numbers in each]``, output ``[N, capsules]``. Masks go no further. Source: DL4J
    ``CapsuleStrengthLayer``. Differs: a capsule of zeros has the gradient 0, not NaN.
    """

    weight_init: str | Distribution | None = None  # type: ignore[assignment]  # it has no weights; Java writes none either
    runtime: ClassVar = CapsuleStrengthRuntime
    needed: ClassVar[tuple[str, ...]] = ("updater",)
    form: ClassVar[JavaForm] = SameDiffConf.form.more(constants={"paramWeightInit": None})

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        capsules_of(label, input_type)
        return self

    def output_type(self, label: str, input_type: InputType) -> InputType:
        return FeedForwardType(capsules_of(label, input_type)[0])

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        return self, None
