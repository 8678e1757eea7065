"""Network: what all kinds of networks are."""

from __future__ import annotations

from .inside import Inside
from .saving import Saved
from .trainable import Trainable


class Network(Trainable, Inside, Saved):
    """Shared by all networks: training, prediction, a look inside, files and copies."""
