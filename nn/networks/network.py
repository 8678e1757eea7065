"""Network: what all kinds of networks are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from nd.arguments import answer_calls, checked, shown
from nd.files.writing import Target

from ..terms import late
from ..terms.input_type import InputType
from .inside import Inside
from .pretrainable import Pretrainable
from .saving import Saved
from .streaming import Streaming

if TYPE_CHECKING:
    from ..conf.nodes import NetworkConfiguration


INNER = frozenset({"check_saveable", "compute_gradient_and_score", "fit_batch"})
"""Methods that the library itself calls, in every step: they are not looked at when a call fails."""


class Network(Pretrainable, Inside, Streaming, Saved):
    """Shared by all networks: training, prediction, a look inside, files and copies, a picture.

    Whatever a class of networks calls a method, a call that does not fit it is refused with what is meant.
    """

    def __init_subclass__(cls, **settings: object) -> None:
        super().__init_subclass__(**settings)
        answer_calls(cls, INNER)

    def __init__(self, conf: NetworkConfiguration, params: object = None) -> None:
        super().__init__(conf)
        if params is not None:
            self.init(params)

    @checked
    def layer_size(self, layer: int | str) -> int:
        """Return the n_out of a layer, by its number, in a graph by its name; 0 for one that has none."""
        return self._size_of(self._checked_layer("layer_size", layer), "n_out")

    @checked
    def layer_input_size(self, layer: int | str) -> int:
        """Return the n_in of a layer, by its number, in a graph by its name; 0 for one that has none."""
        return self._size_of(self._checked_layer("layer_input_size", layer), "n_in")

    def _size_of(self, node: int, name: str) -> int:
        return getattr(self.conf.nodes[node].conf, name, None) or 0

    __iter__: ClassVar[None] = None

    def __getitem__(self, key: object) -> Any:
        from nd.calls import not_indexed  # which programs without mistakes do not need

        raise not_indexed(self, "layers must be asked for by get_layer", key, f"Write net.get_layer({shown(key)}).")

    def summary(self, *input_types: InputType | None) -> str:
        """Return a table of the network: what it consists of, shapes, parameters."""
        raise NotImplementedError

    @checked
    def picture(self, target: Target, kind: str | None = None) -> None:
        """Draw the network: a box for every input, layer and vertex, with its type, shape and parameters.

        Parameters
        ----------
        target : path or binary file object
            Ends in ``.svg``, which any browser shows, or in ``.dot`` or ``.gv``, which Graphviz reads.
        kind : {"svg", "dot", "gv"}, optional
            In the place of the ending; of a file object "svg" without it.

        Raises
        ------
        ChoiceError
            The ending is another one.
        OSError
            The file cannot be written.

        Notes
        -----
        Arrows go from top to bottom, and behind no box. Shapes are there where the configuration has input types.
        Neither parameters nor another program are needed. Differs: Java has no such method.
        """
        late("write_picture")(self.conf, target, kind)
