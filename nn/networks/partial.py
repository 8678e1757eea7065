"""Passes from one vertex of a ComputationGraph to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nd.arguments import checked
from nd.java_names import Pair

from .core import NetworkCore

if TYPE_CHECKING:
    from .between import Between


class PartialPasses(NetworkCore):
    """Forward and backward through the vertices between two, on arrays that are given."""

    @checked
    def activate_selected_layers(
        self,
        start: int | str,
        stop: int | str,
        *xs: object,
        others: Mapping[str, Any] | None = None,
        training: bool = False,
    ) -> Any:
        """Return the activations of vertex `stop` for the inputs of vertex `start`; only what lies between runs.

        Parameters
        ----------
        start, stop : str
            Names of vertices or layers; of layers also numbers, as `get_layer` takes them.
        *xs : array ``[N, ...]``
            What comes into `start`, for each of its inputs. Without masks.
        others : dict of str -> array, optional
            Name of an input or vertex -> its activations, which vertices between read besides.
        training : bool
            Compute as in training.

        Returns
        -------
        array, or a tuple of arrays for a vertex with several outputs
            New ones.

        Raises
        ------
        ChoiceError
            There is no such vertex.
        ConfigurationError
            No way leads from `start` to `stop`, or something that comes in is not given.
        ShapeError
            An array does not fit.
        """
        return self._between("activate_selected_layers", start, stop).activations(xs, others, training)

    @checked
    def backprop_selected_layers(
        self,
        start: int | str,
        stop: int | str,
        xs: object,
        epsilon: object,
        others: Mapping[str, Any] | None = None,
        training: bool = False,
    ) -> Pair:
        """Take dL/d(activations of vertex `stop`) back to the inputs of vertex `start`, by themselves.

        The forward pass is that of `activate_selected_layers`, whose arguments and errors these are. The network's own
        gradient stays as it is.

        Parameters
        ----------
        start, stop, others, training
            As there.
        xs : array or list of array
            What comes into `start`.
        epsilon : array of the activations' shape, or a list of them for several outputs

        Returns
        -------
        gradient : DefaultGradient
            Of the vertices between, by the network's names, ``"conv1_W"``: sums over examples, in new memory.
        epsilons : dict of str -> array
            Name of what came in -> dL/d(it), of `others` too; what gets none is left out.
        """
        return self._between("backprop_selected_layers", start, stop).backpropagated((xs,), epsilon, others, training)

    def _between(self, who: str, start: int | str, stop: int | str) -> Between:
        from .between import Between  # which few programs need

        return Between(self, who, self._checked_node(who, start), self._checked_node(who, stop))

    def _checked_node(self, who: str, name: int | str) -> int:
        raise NotImplementedError
