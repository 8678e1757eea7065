"""Types of the facade's arguments and results."""

from backends.typing import Array, HostArray

__all__ = ["Array", "HostArray"]
