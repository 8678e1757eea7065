"""A graph of vertices as it grows from the layers of a net, and one layer on its way into it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from nd import ConfigurationError
from nd.typing import Array

from ...conf.growing import GrowingGraph
from ...conf.nodes import Source
from ...layers import FrozenLayerWithBackprop
from ...vertices import ReshapeVertex
from ..layers.base import Shape

if TYPE_CHECKING:
    from ..assembly import LayerPlan
    from ..net import Net


REPORTING = ("Accuracy", "HDF5Output")
"""Types that say how their bottoms are, or write them: what nothing else reads is still an output."""


class Part(NamedTuple):
    """A blob of a net in its graph."""

    node: str
    """The input, or the vertex, whose activations it is."""
    shape: Shape


class GraphDraft(GrowingGraph):
    """Vertices, what comes into them, and their parameters.

    Parameters
    ----------
    net : Net

    Attributes
    ----------
    inputs : dict of str -> shape
        Tops of layers that bring data.
    nodes : dict of str -> (layer or vertex, input, ...)
        In the order in which they run.
    arrays : dict of str -> dict of str -> array
        Vertex -> its parameters, by their names there.
    refused : dict of str -> str
        Vertices that stand for a layer that has no counterpart, and why.
    losses, notes : list of str
        Vertices with a loss; and what is not in the graph as it is in the net.
    joined : set of int
        Nodes of the net that an earlier one has taken in.
    """

    def __init__(self, net: Net) -> None:
        super().__init__()
        self.net = net
        self.refused: dict[str, str] = {}
        self.losses: list[str] = []
        self.notes: list[str] = []
        self.joined: set[int] = set()
        self._readers: dict[Source, list[LayerPlan]] = {}
        for plan in net.assembly.layers:
            for source in plan.inputs:
                self._readers.setdefault(source, []).append(plan)

    def readers(self, plan: LayerPlan, top: int = 0) -> list[LayerPlan]:
        """Return the layers that read a top."""
        return self._readers.get(Source(plan.node or 0, top), [])

    def is_read(self, plan: LayerPlan, top: int = 0) -> bool:
        """Tell whether a layer reads a top, but for those that say or write how it is."""
        for reader in self.readers(plan, top):
            if reader.message.type == "Split":
                if any(self.is_read(reader, number) for number in range(len(reader.shapes))):
                    return True
            elif reader.message.type not in REPORTING:
                return True
        return False

    def is_input(self, node: str) -> bool:
        """Tell whether a node has the numbers of an input, in its own or in another shape."""
        while node in self.nodes and isinstance(self.nodes[node][0], ReshapeVertex):
            node = self.nodes[node][1]
        return node in self.inputs


class LayerDraft:
    """A layer of a net, as what puts its type into a graph sees it.

    Parameters
    ----------
    draft : GraphDraft
    plan : LayerPlan
    bottoms : sequence of Part

    Attributes
    ----------
    tops : list of shapes
    blobs : dict of str -> array
        Of its parameters, by the layer's names for them.
    frozen : bool
        Whether it has parameters that could be trained, but none that are.
    """

    def __init__(self, draft: GraphDraft, plan: LayerPlan, bottoms: Sequence[Part]) -> None:
        self.draft, self.plan, self.bottoms = draft, plan, list(bottoms)
        self.message, self.name, self.tops = plan.message, plan.name, list(plan.shapes)
        net = draft.net
        params = [net.assembly.params[index] for index in plan.params]
        self.blobs = {
            param.spec.name: net.param_blobs[index].read("data")
            for param, index in zip(params, plan.params, strict=True)
        }
        learned = [param for param in params if param.spec.learned]
        self.frozen = bool(learned) and all(param.lr_mult == 0.0 for param in learned)

    @property
    def runtime(self) -> Any:
        """The layer at work."""
        return self.draft.net.network.layers[self.plan.node or 0]

    @property
    def shape(self) -> Shape:
        """Of bottom 0."""
        return self.bottoms[0].shape

    @property
    def nodes(self) -> list[str]:
        """Of the bottoms."""
        return [part.node for part in self.bottoms]

    def refuse(self, why: str) -> NoReturn:
        """Raise ConfigurationError: the layer has no counterpart."""
        raise ConfigurationError(why)

    def need(self, holds: object, why: str) -> None:
        """Raise ConfigurationError unless something holds."""
        if not holds:
            self.refuse(why)

    def need_axes(self, *counts: int) -> None:
        """Raise ConfigurationError unless bottom 0 has one of these numbers of axes."""
        self.need(len(self.shape) in counts, f"bottoms of {len(self.shape)} axes")

    def note(self, text: str) -> None:
        """Say what is not in the graph as it is in the net."""
        self.draft.notes.append(f"{self.plan.label}: {text}")

    def add(
        self,
        conf: Any,
        *inputs: str,
        part: str = "",
        arrays: dict[str, Array] | None = None,
        frozen: bool | None = None,
    ) -> str:
        """Add a vertex of the layer's name, or for a part of it; return its name.

        Parameters
        ----------
        conf : LayerConf or VertexConf
        *inputs : str
            By default the bottoms.
        part : str
        arrays : dict of str -> array, optional
            Its parameters.
        frozen : bool, optional
            Whether it is not trained; by default that depends on the layer's multipliers.
        """
        still = (self.frozen and bool(arrays)) if frozen is None else frozen
        name = f"{self.name}/{part}" if part else self.name
        return self.draft.add(
            name, FrozenLayerWithBackprop(layer=conf) if still else conf, inputs or self.nodes, arrays
        )

    def chain(self, *confs: Any, start: str = "") -> str:
        """Add vertices one after the other, the last under the layer's name; return that, without any the start's."""
        node = start or self.nodes[0]
        for number, conf in enumerate(confs, 1):
            node = self.add(conf, node, part="" if number == len(confs) else str(number))
        return node


__all__ = ["GraphDraft", "LayerDraft", "Part", "Shape"]
