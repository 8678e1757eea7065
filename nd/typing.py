"""Types of the facade's arguments and results."""

from backends.typing import Array

__all__ = ["Array"]
