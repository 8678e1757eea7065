"""The shapes of features that a network takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import nd
from nd.arrays.rows import check_indices
from nd.checks import describe_shape

from ..conf.data_formats import SERIES, arranged, channels_last
from ..conf.input_type import RecurrentType
from ..layers.base import LayerConf

if TYPE_CHECKING:
    from ..conf.nodes import NetworkConfiguration, NodeConf


class FeaturesCheck:
    """The shapes of features that an input of a network takes.

    Parameters
    ----------
    conf : NetworkConfiguration
        With input types; without them the layers alone say what fits them.
    number : int
        Of the input.
    any_length : bool
        Whether series may be of another length than the input type's.
    """

    def __init__(self, conf: NetworkConfiguration, number: int, any_length: bool = False) -> None:
        readers = [node for node in conf.nodes if -1 - number in node.inputs]
        first = readers[0] if len(readers) == 1 else None
        layer: Any = None if first is None else first.conf.innermost
        self._type = conf.network_input_types()[number]
        if any_length and isinstance(self._type, RecurrentType):
            self._type = replace(self._type, time_series_length=None)
        self._label = f"input {conf.input_names[number]!r}" if first is None else first.label
        data_format = conf.formats.inputs[number]
        self.last = data_format if channels_last(data_format) else None
        """The format of the features where they have the channels last."""
        self.series = isinstance(self._type, RecurrentType) or any(_takes_series(node) for node in readers)
        """Whether the features are series."""
        self._allowed: list[tuple[int | None, ...]] = []
        self.rows_are_series = (
            first is not None and first.preprocessor is None and getattr(first.conf, "takes", None) == "series"
        )
        """Whether features ``[N, T]`` are series of T time steps, as an EmbeddingSequenceLayer reads them."""
        self.rows: int | None = layer.n_in if getattr(layer, "takes_indices", False) else None
        """Of an embedding that the features are indices into."""
        if self._type is not None and self.rows is None:
            self._allowed = [self._type.shape]
            if first is not None and first.preprocessor is not None:  # features in the form that it gives them pass it
                self._allowed.append(arranged(first.preprocessor.output_type(self._type.computed).shape, self.last))
        self.fitting: tuple[int, ...] | None = None
        """The shape of an example that was checked last, and fits: such a minibatch is not checked again."""

    def check(self, shape: tuple[int, ...]) -> None:
        """Raise ShapeError where features of that shape do not fit the input type."""
        if self._allowed and not any(_fits(shape[1:], allowed) for allowed in self._allowed):
            axes = [("N", *("T" if size is None else size for size in allowed)) for allowed in self._allowed]
            raise nd.ShapeError(
                f"{self._label}: expected input {' or '.join(map(describe_shape, axes))}, got {describe_shape(shape)}. "
                f"The network's input type is {self._type!r}: make the features fit, or set another input type."
            )
        self.fitting = shape[1:]

    def check_indices(self, x: Any) -> None:
        """Raise DataError where features of the host are not numbers of an embedding's rows, and a device is next."""
        if self.rows is not None:
            check_indices(x, self.rows, self._label)

    @property
    def doubt(self) -> str:
        """A sentence for errors: possible faults of features of the device, which nobody has looked at."""
        return "" if self.rows is None else f" An index that is no row of {self._label} gives NaN on a GPU."


def _takes_series(node: NodeConf) -> bool:
    """Tell whether what comes into a layer, or its preprocessor, is series."""
    if node.preprocessor is not None:
        return node.preprocessor.takes == SERIES
    return isinstance(node.conf, LayerConf) and getattr(node.conf.innermost, "takes", None) == "series"


def _fits(sizes: tuple[int, ...], allowed: tuple[int | None, ...]) -> bool:
    return len(sizes) == len(allowed) and all(a in (None, s) for s, a in zip(sizes, allowed, strict=True))
