"""Network: what all kinds of networks are."""

from __future__ import annotations

from nd.arguments import checked
from nd.files.writing import Target

from .inside import Inside
from .saving import Saved
from .trainable import Trainable


class Network(Trainable, Inside, Saved):
    """Shared by all networks: training, prediction, a look inside, files and copies, a picture."""

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
        from ..pictures.files import write_picture

        write_picture(self.conf, target, kind)
