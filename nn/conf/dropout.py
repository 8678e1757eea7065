"""Dropout of a layer's input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import nd

Array = Any


@dataclass(frozen=True)
class Dropout:
    """Inverted dropout: an input stays with probability p and is then divided by p, else it is 0.

    Parameters
    ----------
    p : float
        Probability to **retain**, as in DL4J; 1 keeps everything.

    Raises
    ------
    ConfigurationError
        p is not in 0 < p <= 1.

    Notes
    -----
    Source: DL4J ``Dropout``; Srivastava et al. 2014.
    """

    p: float

    def __post_init__(self) -> None:
        if not 0.0 < self.p <= 1.0:
            raise nd.ConfigurationError(
                f"Dropout: p is the probability to retain, 0 < p <= 1, got {self.p}. Leave it out for no dropout."
            )

    def mask(self, shape: tuple[int, ...], dtype: str) -> Array:
        """Draw the factors, 0 or 1 / p, in the c order of the input."""
        return self.mask_into(nd.create_uninitialized(*shape, dtype=dtype))

    def mask_into(self, out: Array) -> Array:
        """Draw the factors into an array of the input's shape; return it. A subclass needs `mask` only."""
        if type(self).mask is not Dropout.mask:
            return nd.assign(out, self.mask(tuple(out.shape), nd.dtype_name(out)))
        return nd.random.get_random().dropout_factors(out, self.p)


def as_dropout(who: str, value: float | Dropout | None) -> Dropout | None:
    """Return a retain probability as a Dropout; None and 0 mean no dropout, as in DL4J.

    Raises
    ------
    ConfigurationError
        It is neither a number nor a Dropout, or out of range.
    """
    if value is None or isinstance(value, Dropout):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise nd.ConfigurationError(f"{who}: drop_out must be a probability to retain or a Dropout, got {value!r}.")
    return Dropout(float(value)) if value else None
