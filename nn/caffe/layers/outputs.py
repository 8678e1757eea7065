"""HDF5Output: what passes bring, into a file."""

from __future__ import annotations

from collections.abc import Sequence

from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from ..data.hdf5_output import HDF5Output as Writer
from .copies import Silence


class HDF5Output(Silence):
    """Writes its bottoms, data and label, into a file of HDF5 with every pass, behind those of the passes before.

    Notes
    -----
    Has no tops; zeros go back. Source: BVLC Caffe, hdf5_output_layer.cpp. Differs: as the writer says.
    """

    pure = splits = False
    bottoms = (2, 2)
    computes_again = False

    def setup(self) -> None:
        self._writer = Writer(self.message, self.label)

    def forward(
        self, xs: Sequence[Array], params: Params, ctx: VertexContext
    ) -> tuple[tuple[Array, ...], Sequence[Array]]:
        self._writer.write(*xs)
        return super().forward(xs, params, ctx)
