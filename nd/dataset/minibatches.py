"""Minibatches: what listeners and score calculators go over, as it was given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Number
from typing import Any

from backends.errors import ConfigurationError
from nd.dataset.dataset import DataSet
from nd.dataset.examples import Examples
from nd.dataset.iterator import as_minibatch, is_features, is_pair
from nd.dataset.multi_data_set import MultiDataSet
from nd.intake import is_holder


class Minibatches:
    """The minibatches of what is given: a data set, a tuple ``(features, labels)``, or an iterable of those.

    Pairs become DataSets, or MultiDataSets where features or labels are several arrays. Gone over as often as what is
    given can be. ConfigurationError, in the name of `who`, where it is nothing of that.
    """

    def __init__(self, who: str, data: Any) -> None:
        self._who, self._data = who, data
        if isinstance(data, Examples) or is_pair(data, unless=(Number, tuple)):
            self._data = [data]
        elif is_features(data) or isinstance(data, str) or not isinstance(data, Iterable):
            raise ConfigurationError(
                f"{who}: expected a DataSet, (features, labels), or an iterator of them, got {type(data).__name__}. "
                "Wrap arrays as DataSet(x, y)."
            )

    def __iter__(self) -> Iterator[Any]:
        for item in self._data:
            yield item if isinstance(item, Examples) else as_minibatch(f"{self._who}: element", item, _kind_of(item))


def _kind_of(item: Any) -> object:
    """Return the class of the data set that a pair becomes."""
    several = isinstance(item, (list, tuple)) and any(
        isinstance(part, (list, tuple)) and len(part) > 0 and is_holder(part[0]) for part in item
    )
    return MultiDataSet if several else DataSet
