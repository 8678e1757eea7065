"""The first tier: what a backend must have of its own."""

from __future__ import annotations

from typing import Any

from backends.typing import Array, HostArray

from .errors import DTypeError, unknown_dtype
from .generic import random_bits
from .memory import host_memory

DTYPES = ("float32", "float64", "int32", "int64", "uint8", "uint32", "uint64", "bool")


class Needed:
    """Arrays of a library: whose they are, how they come and go, in which memory. With the bodies of the array API.

    Parameters
    ----------
    xp : module
        The array namespace.
    device : object, optional
        Of new arrays; None for the namespace's default.
    """

    name = "generic"

    def __init__(self, xp: Any, device: Any = None) -> None:
        self.xp, self.device = xp, device
        self.dtypes = {name: getattr(xp, name) for name in DTYPES if hasattr(xp, name)}
        self.dtype_names = {dtype: name for name, dtype in self.dtypes.items()}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def is_array(self, x: object) -> bool:
        """Tell whether `x` is an array of this backend."""
        return hasattr(x, "__array_namespace__") and x.__array_namespace__() is self.xp

    def dtype(self, name: str) -> Any:
        """Return this backend's dtype object of that name."""
        try:
            return self.dtypes[name if isinstance(name, str) else getattr(name, "name", None) or name.__name__]
        except (AttributeError, KeyError, TypeError):
            raise unknown_dtype(name, tuple(self.dtypes)) from None

    def asarray(self, data: Any, dtype: str) -> Array:
        """Return `data` (nested lists, scalars, or an array of this backend) as an array of this backend."""
        kind = self.dtype(dtype)
        try:
            return self.xp.asarray(data, dtype=kind, device=self.device)
        except (TypeError, ValueError) as error:
            raise DTypeError(f"create: the data must be numbers in a regular nesting, got {error}.") from error

    def from_host(self, array: Any, dtype: str) -> Array:
        """Return a copy of a numpy array on this backend."""
        lists = self.asarray(array.tolist(), dtype)
        return self.xp.reshape(lists, tuple(array.shape))  # nested lists lose a shape like [0, 3]

    def to_host(self, x: Array) -> HostArray:
        """Return `x` as a numpy.ndarray."""
        import numpy

        return numpy.asarray(x)

    def may_share_memory(self, x: Array, y: Array) -> bool:
        """Tell whether the memory of two arrays may overlap; True where a backend cannot tell."""
        return True

    random_raw = random_bits.random_raw

    def memory_size(self) -> int | None:
        """Return the bytes of the memory in which arrays lie, None where nothing tells."""
        return host_memory()

    def synchronize(self) -> None:
        """Wait until every operation issued so far has run."""

    def describe(self) -> dict[str, str]:
        """Return facts for the diagnosis that ``python -m nd`` prints."""
        return {"namespace": getattr(self.xp, "__name__", str(self.xp)), "device": str(self.device)}
