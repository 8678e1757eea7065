"""Settings of Keras as ours."""

from __future__ import annotations

from typing import Any

from nd.activations import Activation, get_activation


def activation_of(given: Any, version: int) -> Activation:
    """Return the activation that a setting of Keras' means."""
    name = "linear" if given is None else given
    return get_activation({"linear": "identity"}.get(name, name))
