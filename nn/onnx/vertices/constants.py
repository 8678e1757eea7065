"""Numbers that an operator of ONNX is given in its file: initialisers, attributes that are tensors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import nd
from nd import ConfigurationError
from nd.arguments import Checked, shown
from nd.checks import check_choice
from nd.typing import Array, HostArray

DTYPES = {
    "bool": 1, "float16": 2, "float32": 4, "float64": 8, "int16": 2, "int32": 4, "int64": 8, "int8": 1, "uint16": 2,
    "uint32": 4, "uint64": 8, "uint8": 1,
}  # fmt: skip
"""dtype -> bytes of an element."""


@dataclass(frozen=True)
class OnnxConstant(Checked):
    """An array in a file, as its bytes.

    Parameters
    ----------
    dtype : str
        "float32", "int64", "bool" ...
    shape : tuple of int
    content : bytes, optional
        The elements in c order; None for a parameter whose numbers are written where the network's are: it begins with
        zeros.

    Raises
    ------
    ConfigurationError
        There are not as many bytes as the shape needs.
    """

    dtype: str
    shape: tuple[int, ...]
    content: bytes | None

    def __post_init__(self) -> None:
        super().__post_init__()
        length = DTYPES[check_choice("OnnxConstant", "dtype", self.dtype, DTYPES)] * math.prod(self.shape)
        if self.content is not None and len(self.content) != length:
            raise ConfigurationError(
                f"OnnxConstant: content must be {length} bytes for {self.dtype} {list(self.shape)}, got "
                f"{len(self.content)}. Mend the shape."
            )

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def host(self) -> HostArray:
        """Return it as an array of the host, read only where its bytes are."""
        content = bytes(DTYPES[self.dtype] * self.size) if self.content is None else self.content
        return HostArray(self.shape, self.dtype, content)

    def array(self, dtype: str) -> Array:
        """Return it as an array of the current backend."""
        return nd.as_array(self.host(), dtype)

    def values(self) -> Any:
        """Return it as Python's numbers: one, or nested lists."""
        return self.host().tolist()

    def __repr__(self) -> str:
        return f"OnnxConstant({self.dtype}, {list(self.shape)})"


def constant(who: str, value: object) -> OnnxConstant:
    """Return numbers, nested sequences of them or an array as a constant.

    Integers become int64, truths bool and other numbers float64; arrays keep their dtype.

    Raises
    ------
    ConfigurationError
        They are no numbers, or make no array.
    """
    if isinstance(value, OnnxConstant):
        return value
    if hasattr(value, "dtype"):
        host = nd.to_host(value)  # type: ignore[arg-type]
        return OnnxConstant(str(host.dtype), tuple(host.shape), host.tobytes())
    kinds = {type(number) for number in _leaves(value)}
    if not kinds <= {bool, int, float}:
        raise ConfigurationError(f"{who}: a constant must be numbers, got {shown(value)}. Give an array.")
    dtype = "bool" if kinds == {bool} else "int64" if kinds <= {int} else "float64"
    with nd.use_backend("numpy"):
        host = nd.to_host(nd.create(value, dtype))
    return OnnxConstant(dtype, tuple(host.shape), host.tobytes())


def _leaves(value: object) -> list[object]:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]
