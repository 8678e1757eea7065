"""Python: layers that are classes of the user's, and the base that they may have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import Any

import nd
from nd import ConfigurationError
from nd.checks import describe_shape
from nd.part import named, undefined
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from ..blob import Blob
from .base import BlobSpec, CaffeLayer, CaffeLayerConf, Shape

TRAIN, TEST = 0, 1
"""Caffe's phases, which `Layer.phase` is one of."""


class LayerBlobs(list[Blob]):
    """Parameters of a layer of the user's.

    Parameters
    ----------
    dtype : str
    """

    def __init__(self, dtype: str) -> None:
        super().__init__()
        self._dtype = dtype

    def add_blob(self, *shape: int) -> None:
        """Add a parameter of a shape, zeros at first: ``self.blobs.add_blob(3, 4)``, in `setup`."""
        self.append(_blob(f"parameter {len(self)}", shape, self._dtype))


class Layer:
    """Base of layers that users write, as pycaffe has it.

    A class writes `setup`, `reshape`, `forward` and `backward`. Bottoms, tops and parameters are blobs: ``data``,
    ``diff``, ``shape``, ``reshape(...)``. Their arrays are the net's backend's, and are written in place.

    Attributes
    ----------
    blobs : LayerBlobs
    param_str : str
        Of the layer's message: settings.
    phase : int
        `TRAIN` or `TEST`.
    """

    def __init__(self, message: Any, dtype: str) -> None:
        self.param_str, self.phase = str(message.python_param.param_str), TRAIN
        self.blobs = LayerBlobs(dtype)

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read the settings, and add parameters."""

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Give the tops their shapes; called before every `forward` too."""
        undefined(self, "reshape(bottom, top)", "which gives the tops their shapes")

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Write ``top[i].data``."""
        undefined(self, "forward(bottom, top)", "which writes the data of the tops")

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Write ``bottom[i].diff`` where `propagate_down` says so, and add to the diffs of the parameters."""
        undefined(self, "backward(top, propagate_down, bottom)", "which writes the diffs of the bottoms")


class Python(CaffeLayer):
    """Runs a `Layer` that ``python_param`` names by its module and class.

    Notes
    -----
    Source: BVLC Caffe, python_layer.hpp. Differs: `setup` is called twice, once to know the shapes; the diffs of
    parameters are zeros before `backward`, and the net adds what it leaves there; `share_in_parallel` does nothing.
    """

    bottoms = (0, None)
    tops = (0, None)
    computes_again = False

    def setup(self) -> None:
        conf: CaffeLayerConf = self.conf
        self.layer = self._made()
        names, tops = list(self.message.bottom), list(self.message.top)
        self._bottoms = [_blob(name, shape, self.dtype) for name, shape in zip(names, conf.bottoms, strict=True)]
        self._tops = [_blob(name, (), self.dtype) for name in tops]
        with self._named():
            self.layer.setup(self._bottoms, self._tops)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name the layer in errors of the library; those of others are the user's own."""
        try:
            yield
        except (nd.ShapeError, nd.DTypeError) as error:
            raise named(self.label, error) from error

    def _made(self) -> Layer:
        told = self.message.python_param
        if not told.module or not told.layer:
            raise ConfigurationError(
                f"{self.label}: python_param must have a module and a layer, got {told.module!r} and {told.layer!r}."
            )
        try:
            kind = getattr(import_module(told.module), told.layer)
        except (ImportError, AttributeError) as error:
            raise ConfigurationError(
                f"{self.label}: class {told.layer!r} must be there in module {told.module!r}, got: {error}. Is its "
                "folder on Python's path?"
            ) from error
        if not (isinstance(kind, type) and issubclass(kind, Layer)):
            raise ConfigurationError(
                f"{self.label}: {told.module}.{told.layer} must be a class derived from nn.caffe.Layer, got {kind!r}."
            )
        layer = kind(self.message, self.dtype)
        layer.phase = TRAIN if self.phase == "TRAIN" else TEST
        return layer

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        for blob, shape in zip(self._bottoms, bottoms, strict=True):
            blob.resize(tuple(shape))
        with self._named():
            self.layer.reshape(self._bottoms, self._tops)
        return [blob.shape for blob in self._tops]

    def blobs(self, bottoms: Sequence[Shape]) -> tuple[BlobSpec, ...]:
        return tuple(
            BlobSpec(str(number), blob.shape, values=nd.to_host(nd.copy(blob.read("data"))))
            for number, blob in enumerate(self.layer.blobs)
        )

    def forward(
        self, xs: Sequence[Array], params: Params, ctx: VertexContext
    ) -> tuple[Array | tuple[Array, ...], Sequence[Array]]:
        self._hold(xs, params)
        self.layer.reshape(self._bottoms, self._tops)
        self.layer.forward(self._bottoms, self._tops)
        tops = tuple(blob.read("data") for blob in self._tops)
        return tops[0] if len(tops) == 1 else tops, xs

    def backward(
        self, epsilon: Any, cache: Sequence[Array], params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        self._hold(cache, params)
        given = [epsilon] if self.outputs == 1 else epsilon
        for blob, one in zip(self._tops, given, strict=True):
            if one is None:
                blob.forget("diff")
            else:
                blob.hold("diff", one)
        for number, blob in enumerate(self._bottoms):
            blob.hold("diff", nd.fill(ctx.buffer(f"below{number}", blob.shape), 0.0))
        for name, blob in zip(params, self.layer.blobs, strict=True):
            blob.hold("diff", nd.fill(grads[name], 0.0))
        self.layer.backward(self._tops, list(ctx.needs_epsilons), self._bottoms)
        pairs = zip(self._bottoms, ctx.needs_epsilons, strict=True)
        return [blob.read("diff") if needed else None for blob, needed in pairs]

    def _hold(self, xs: Sequence[Array], params: Params) -> None:
        """Show the arrays of a pass in the blobs."""
        for blob, x in zip(self._bottoms, xs, strict=True):
            blob.resize(tuple(x.shape))
            blob.hold("data", x)
        if len(self.layer.blobs) != len(params):
            raise ConfigurationError(
                f"{self.label}: parameters must be added in setup alone, got {len(self.layer.blobs)} for {len(params)}."
            )
        for (name, param), blob in zip(params.items(), self.layer.blobs, strict=True):
            if blob.shape != tuple(param.shape):
                raise nd.ShapeError(f"parameter {name} must stay {describe_shape(param.shape)}, got {blob!r}.")
            blob.hold("data", param)


def _blob(name: str, shape: Sequence[int], dtype: str) -> Blob:
    return Blob(name, tuple(shape), dtype, nullcontext)
