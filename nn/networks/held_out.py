"""`validation_split` of fit: the last rows, which are held out to validate on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.dataset.class_labels import host_labels

if TYPE_CHECKING:
    from .minibatch import FitSettings

_ROUNDING = 1e-9  # rows that a product of a count and a fraction may be off


class HeldOut(NamedTuple):
    """Data to validate on, and the weights of their examples."""

    data: Any
    sample_weight: Any = None


def split_off(data: Any, settings: FitSettings) -> tuple[object, FitSettings, HeldOut]:
    """Cut the last rows off a DataSet or MultiDataSet; return what is left, with its weights in the settings.

    Raises
    ------
    ConfigurationError
        There are validation_data too.
    DataError
        One of the two has no example.
    ShapeError
        There are not as many weights as examples.
    """
    share: Any = settings.validation_split
    if settings.validation_data is not None:
        raise nd.ConfigurationError(
            "fit: validation_split goes without validation_data, got both. Leave one of them out."
        )
    total = data.num_examples()
    first = math.floor(total * (1.0 - share) + _ROUNDING)
    if not 0 < first < total:
        raise nd.DataError(
            f"fit: validation_split={share:g} must leave examples to train on and examples to validate on, got "
            f"{first} and {total - first} of {total}. Give more data, or another share."
        )
    weights = settings.sample_weight
    left, held = data.get_range(0, first), data.get_range(first, total)
    if weights is None:
        return left, settings, HeldOut(held)
    weights = host_labels(weights)
    if not weights.shape or len(weights) != total:
        raise nd.ShapeError(f"fit: sample_weight: expected [{total}], one for each example, got {list(weights.shape)}.")
    return left, settings._replace(sample_weight=weights[:first]), HeldOut(held, weights[first:])
