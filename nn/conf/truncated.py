"""What truncated backprop asks of a network."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from nd import ConfigurationError

from ..terms.enums import BackpropType


def check_truncated(backprop_type: str, layers: Iterable[tuple[str, Any]]) -> None:
    """Refuse layers and vertices, given with their labels, that sum up series, where these come in segments.

    Raises
    ------
    ConfigurationError
        Backprop is truncated, and something makes a row of a whole series.

    Notes
    -----
    Source: DL4J ``MultiLayerConfiguration.Builder.build``. As there, what is read from a file is not looked at.
    """
    for label, conf in layers if str(backprop_type).lower() == BackpropType.TRUNCATED_BPTT else ():
        if conf.of_whole_series:
            raise ConfigurationError(
                f"{label}: must get whole series, of which it makes one row each, got segments of them, by "
                "backprop_type='truncated_bptt'. Set backprop_type='standard', or, to take every segment for a series, "
                "validate_tbptt_config=False."
            )


def refuse_reading_ahead(who: str, label: str) -> NoReturn:
    """Raise ConfigurationError for a layer that looks at later time steps, where series come in pieces."""
    raise ConfigurationError(
        f"{who}: no layer may look at later time steps, as series come in pieces, got {label}. Give whole series: to "
        "output, and to fit with backprop_type='standard'; or take a layer that goes forward only."
    )
