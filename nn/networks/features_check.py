"""The shapes of features that a network takes."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import nd
from nd.arrays.rows import check_indices
from nd.checks import describe_shape

from ..conf.nodes import sources_of
from ..layers.base import LayerConf
from ..terms.data_formats import SERIES, arranged, channels_last, fits
from ..terms.input_type import RecurrentType

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
        readers = [node for node in conf.nodes if -1 - number in sources_of(node)]
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
        """Raise ShapeError where features of that shape are empty, or do not fit the input type."""
        if 0 in shape[1:]:
            raise nd.ShapeError(
                f"{self._label}: expected features with numbers in them, got {describe_shape(shape)}. Leave out series "
                "without time steps, and images without pixels."
            )
        if self._allowed and not any(fits(shape[1:], allowed) for allowed in self._allowed):
            axes = [("N", *("T" if size is None else size for size in allowed)) for allowed in self._allowed]
            raise nd.ShapeError(
                f"{self._label}: expected input {' or '.join(map(describe_shape, axes))}, got {describe_shape(shape)}. "
                f"The network's input type is {self._type!r}: {self._remedy(shape)}"
            )
        self.fitting = shape[1:]

    def _remedy(self, shape: tuple[int, ...]) -> str:
        from ..terms.axis_order import remedy, turned  # which data that fit do not need

        for allowed in self._allowed:
            sentence = remedy("x", shape, allowed)
            if sentence and turned(shape, allowed):
                return f"{sentence[0].lower()}{sentence[1:-1]}, or {self._another_type()}."
            if sentence:
                return f"{sentence[0].lower()}{sentence[1:]}"
        return "make the features fit, or set another input type."

    def _another_type(self) -> str:
        """Return the words for the input type whose channels are where those of this one are not."""
        kind: Any = self._type
        formats = getattr(kind, "formats", ())
        if len(formats) != 2:
            return "set another input type"
        other = replace(kind, data_format=formats[1 - formats.index(kind.data_format)])
        settings = ", ".join(repr(getattr(other, field.name)) for field in fields(other))
        return f"set InputType.{repr(other).partition('(')[0]}({settings})"

    def check_indices(self, x: object) -> None:
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
