"""A vertex at work: from the activations of several nodes to its own, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import nd
from nd.classes import ExplainedType, overridable
from nd.part import Part, named, undefined
from nd.typing import Array

from ..layers.runtime import Buffers, Kept, NumbersInForce, Params, State
from ..terms.params import LayerParams


class NetworkInput(NamedTuple):
    """Features of one of the network's inputs, and their mask."""

    x: Array
    mask: Array | None


class VertexContext:
    """One pass through one vertex.

    Attributes
    ----------
    training : bool
    masks : tuple of array or None
        Of the inputs.
    buffer : callable (name, shape) -> array
        The vertex's memory, as a layer's `Context` has it.
    needs_epsilons : tuple of bool
        For each input whether the backward pass has to return dL/dx.
    network_inputs : mapping of str -> NetworkInput
        By the names that the configuration has for them.
    examples : int or None
        N of the minibatch: rows that are time steps do not tell it. None: that of the first input.
    share : float
        The part of the step's examples that these are: 1 where a minibatch is computed in one piece. What is divided by
        a number of examples, a loss of Caffe's say, is multiplied by it, so that parts add up.
    """

    __slots__ = ("buffer", "examples", "masks", "needs_epsilons", "network_inputs", "share", "training")

    def __init__(
        self,
        training: bool,
        buffer: Buffers,
        masks: tuple[Array | None, ...],
        needs_epsilons: tuple[bool, ...],
        network_inputs: Mapping[str, NetworkInput],
        examples: int | None = None,
        share: float = 1.0,
    ) -> None:
        self.training, self.buffer, self.masks = training, buffer, masks
        self.needs_epsilons, self.network_inputs, self.examples = needs_epsilons, network_inputs, examples
        self.share = share


@overridable
class VertexRuntime(Part, metaclass=ExplainedType):
    """A vertex at work. It keeps no arrays between calls: parameters, gradients and memory are arguments.

    A vertex writes `forward` and `backward`, one that masks differently `feed_forward_mask`, one that changes the
    number of examples `examples`. Whether steps may be recorded and split is said as `Part` has it; a vertex in which
    examples meet or move does not split.

    Parameters
    ----------
    conf : VertexConf
    label : str
        Who raises the errors.
    dtype : str
    """

    ends_backprop: bool = False
    outputs: int = 1
    """How many arrays of activations there are. Of several, forward returns a tuple, and backward gets one of their
    gradients, None for an output that no loss knows of."""

    def __init__(self, conf: Any, label: str, dtype: str) -> None:
        self.conf, self.label, self.dtype = conf, label, dtype
        self.params = LayerParams(conf.param_specs)
        self.setup()

    def setup(self) -> None:
        """Resolve once everything that no call changes."""

    # ---- written by a vertex

    def forward(
        self, xs: Sequence[Array], params: Params, ctx: VertexContext
    ) -> tuple[Array | tuple[Array, ...], object]:
        """Return the activations, and a cache for `backward`.

        Parameters
        ----------
        xs : sequence of array ``[N, ...]``
            Of the inputs, in their order. Not to be changed; what is returned may be a view of one.
        params : dict of name -> array
        ctx : VertexContext
        """
        undefined(self, "forward(xs, params, ctx)", "the activations and a cache for backward")

    def backward(
        self, epsilon: Any, cache: Any, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        """Write dL/d(parameters) into `grads`; return dL/dx of every input, None where nobody needs it.

        Parameters
        ----------
        epsilon : array of the activations' shape
            dL/d(activations), a sum over examples. May be overwritten.
        cache : object
            From `forward`. Used up.
        params, grads : dict of name -> array
        ctx : VertexContext

        Returns
        -------
        sequence of array or None
            Those below may overwrite each of them: no two share memory.
        """
        undefined(self, "backward(epsilon, cache, params, grads, ctx)", "dL/dx of every input")

    def feed_forward_mask(self, masks: Sequence[Array | None], ctx: VertexContext) -> Array | None:
        """Return the mask of the activations, from those of the inputs: by default the only one, or None."""
        return masks[0]

    def examples(self, counts: Sequence[int]) -> int:
        """Return the number of examples of the activations, from those of the inputs."""
        return counts[0]

    # ---- called by a network

    def propagate(
        self, xs: Sequence[Array], state: State, params: Params, ctx: VertexContext
    ) -> tuple[Any, Kept, State]:
        """Return activations, results for `backpropagate`, and the state after it, as layers do."""
        try:
            a, cache = self.forward(xs, params, ctx)
        except (nd.ShapeError, nd.DTypeError) as error:
            raise named(self.label, error) from error
        return a, Kept(cache, params, None, ctx), state  # type: ignore[arg-type]

    def backpropagate(self, epsilon: Array, kept: Kept, grads: Params) -> Sequence[Array | None]:
        """Write the gradients; return dL/dx of every input."""
        try:
            return self.backward(epsilon, kept.cache, kept.params, grads, kept.context)  # type: ignore[arg-type]
        except (nd.ShapeError, nd.DTypeError) as error:
            raise named(self.label, error) from error

    def initial_state(self, examples: int) -> State:
        """Return no state: vertices carry none."""
        return ()

    def may_split(self, training: bool) -> bool:
        """Tell whether parts of a minibatch give the numbers of all of it."""
        return self.splits

    has_noise: bool = False
    """Whether random numbers are drawn around `forward` in training."""

    def scheduled_numbers(self) -> list[NumbersInForce]:
        """Return the numbers of noise that follow schedules: none."""
        return []
