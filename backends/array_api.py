"""Any array library as a backend: a namespace of the array API standard whose arrays can be written in place.

PyTorch, through array-api-compat, brings Apple's, AMD's and Intel's devices. Layers compute their gradients themselves:
nothing here is differentiated by the library.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.typing import Array, HostArray

from . import ARRAY_API, LIBRARIES, get_backend
from .base import Backend
from .errors import BackendError, DTypeError
from .extras import install_command
from .needed import DTYPES

if TYPE_CHECKING:
    from types import ModuleType


NEEDED = {
    "arange": "arange", "asarray": "asarray", "astype": "astype", "concat": "concat", "empty": "empty", "exp": "exp",
    "log": "log", "matmul": "matmul", "max": "max", "permute_dims": "permute", "reshape": "reshape", "sum": "sum",
    "where": "where",
}  # fmt: skip
"""Function that a namespace must have -> the primitive that is made of it."""
ALIASES = {"dask": "dask.array", "jax": "jax.numpy"}
"""What people call libraries -> their namespaces."""
OPERATORS = (
    "abs", "all", "argmax", "argmin", "atan2", "ceil", "cos", "cumulative_sum", "expm1", "flip", "floor", "isfinite",
    "linalg.cross", "linalg.diagonal", "linalg.svd", "log1p", "maximum", "mean", "meshgrid", "min", "minimum", "prod",
    "sign", "sin", "sqrt", "take", "tanh", "tensordot", "tile", "tril", "triu", "trunc",
)  # fmt: skip
"""Functions that `nd` takes beside these, which NumPy computes on the host where a namespace has none."""


class Completed:
    """A namespace with NumPy's functions, computed on the host, in the place of those that it lacks.

    Parameters
    ----------
    namespace : module
    numpy : module
        ``numpy`` itself, or its part of the same name.
    to_host, back : callable
        From an array of the library to NumPy's, and back.
    """

    def __init__(
        self, namespace: Any, numpy: object, to_host: Callable[[Any], HostArray], back: Callable[[HostArray], Array]
    ) -> None:
        self._namespace, self._numpy, self._to_host, self._back = namespace, numpy, to_host, back
        if numpy is np:
            self.linalg = Completed(getattr(namespace, "linalg", None), np.linalg, to_host, back)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._namespace, name, None)
        if found is None:
            function = getattr(self._numpy, name)
            if name[:1] == "_" or not callable(function) or isinstance(function, type):
                raise AttributeError(f"{self._namespace} has no {name!r}")
            found = partial(self._on_host, function)
        setattr(self, name, found)
        return found

    def missing(self) -> list[str]:
        """Return which of the operators are computed on the host."""
        places = {name: self.linalg if "." in name else self for name in OPERATORS}
        return [name for name, place in places.items() if not place.has(name.rpartition(".")[2])]

    def has(self, name: str) -> bool:
        """Tell whether the namespace itself has a function."""
        return hasattr(self._namespace, name)

    def _on_host(self, function: Callable[..., object], *arguments: object, **named: object) -> object:
        given = [self._to_host(x) if hasattr(x, "shape") else x for x in arguments]
        if (dtype := named.get("dtype")) is not None:  # the library's own
            named["dtype"] = next(name for name in DTYPES if getattr(self._namespace, name, None) == dtype)
        results = function(*given, **named)
        if isinstance(results, (list, tuple)):
            arrays = [self._back(np.asarray(result)) for result in results]
            return arrays if isinstance(results, list) else tuple(arrays)
        return self._back(np.asarray(results))


class ArrayApiBackend(Backend):
    """The generic primitives on the arrays of another library.

    Parameters
    ----------
    namespace : str or module
        What array-api-compat knows, ``"torch"``, or any namespace of the array API, ``"array_api_strict"``.
    device : str, optional
        In the library's words, ``"cpu"``, ``"cuda:1"``, ``"mps"``, ``"xpu"``; without it its default.

    Raises
    ------
    BackendError
        The namespace is not there, cannot be written in place, or lacks a function that is needed; or the device is
        none of its.
    """

    known_by_type = False

    def __init__(self, namespace: Any = "torch", device: str | None = None) -> None:
        label = namespace if isinstance(namespace, str) else namespace.__name__
        self.name = f"{ARRAY_API}{label}"
        xp = _namespace(self.name, ALIASES.get(label, label)) if isinstance(namespace, str) else namespace
        self._check_needed(xp)
        probe = self._probe(xp, device)
        self._kinds: tuple[type, ...] = ()
        self._library = type(probe).__module__.partition(".")[0]
        super().__init__(Completed(xp, np, self.to_host, self._from_numpy), getattr(probe, "device", None))
        self.xp.__name__ = self._library  # by which its errors are known
        self._kinds = (type(probe), type(xp.sum(probe)))  # reductions of NumPy's give scalars
        self._check_writes(probe)
        LIBRARIES[type(self), self.name, str(self.device)] = self

    # ---- is it usable?

    def _check_needed(self, xp: object) -> None:
        for function, primitive in NEEDED.items():
            if not hasattr(xp, function):
                raise BackendError(
                    f"{self.name}: the namespace must have {function!r} (tier: needed), of which the primitive "
                    f"{primitive!r} is made, got none. See docs/backends.md."
                )

    def _probe(self, xp: Any, device: str | None) -> Array:
        """Return an array ``[2, 2]`` of zeros on a device."""

        def zeros(place: Any) -> Array:
            return xp.asarray([[0.0, 0.0], [0.0, 0.0]], dtype=xp.float32, device=place)

        try:
            return zeros(device)
        except Exception as error:  # whatever another library raises for a device that it has not
            known = _devices(xp)
            place = next((one for one in known if f"'{device}'" in str(one)), None)  # of those whose names are no text
            if place is not None:
                return zeros(place)
            there = f"; it has {', '.join(sorted(map(str, known)))}" if known else ""
            raise BackendError(
                f"{self.name}: the device must be one of the library's, got {device!r} ({_first_line(error)}{there}). "
                "Choose another with ND_DEVICE."
            ) from error

    def _check_writes(self, probe: Array) -> None:
        """Raise BackendError unless a write into a view reaches the array."""
        why = "a write into a view did not reach the array"
        try:
            self.permute(self.reshape_view(probe[:1, ...], (2, 1)), (1, 0))[...] = 1.0
            written = self._read(probe) == [[1.0, 1.0], [0.0, 0.0]]
        except BackendError:
            raise
        except Exception as error:  # whatever another library raises for a write
            written, why = False, _first_line(error)
        if not written:
            raise BackendError(
                f"{self.name}: arrays must be written in place, also through views of them, got {why}. Libraries whose "
                "arrays never change, as JAX's and dask's, cannot be a backend."
            )

    def _read(self, probe: Array) -> object:
        try:
            return self.to_host(probe).tolist()
        except Exception as error:  # whatever another library raises
            raise BackendError(
                f"{self.name}: arrays of the device {self.device} must be readable, got {_first_line(error)}. Choose "
                "another with ND_DEVICE."
            ) from error

    def describe(self) -> dict[str, str]:
        facts = {"namespace": self.name.removeprefix(ARRAY_API), "device": str(self.device)}
        try:
            facts["version"] = version(self._library.replace("_", "-"))
        except PackageNotFoundError:
            facts["version"] = "unknown"
        if missing := self.xp.missing():
            facts["on the host"] = f"{', '.join(missing)}: the namespace has none"
        return facts

    # ---- needed

    def is_array(self, x: object) -> bool:
        """Tell whether `x` is an array of the library on this device, of which it keeps no gradients."""
        return isinstance(x, self._kinds) and self._obstacle(x) == ""

    def _obstacle(self, x: Any) -> str:
        """Say why an array of the library is not one to compute with; empty where it is."""
        if getattr(x, "device", None) != self.device:
            return f"on the device {x.device}"
        if getattr(x, "requires_grad", False):
            return "with requires_grad"
        return "that is sparse" if getattr(x, "is_sparse", False) else ""

    def origin_of(self, array: object) -> str:
        own = isinstance(array, self._kinds)
        return super().origin_of(array) + (f" {self._obstacle(array)}" if own else "")

    def is_ready(self, x: object, dtype: str) -> bool:
        known: Any = x
        return type(x) in self._kinds and self.is_array(x) and known.dtype == self.dtypes.get(dtype)

    def astype(self, x: Array, dtype: str) -> Array:
        if "complex" in str(x.dtype):
            raise DTypeError(
                f"astype: expected an array of real numbers, got dtype {x.dtype}. Convert it, with x.real, say."
            )
        return super().astype(x, dtype)

    def from_host(self, array: Array, dtype: str) -> Array:
        return self._from_numpy(np.array(array, dtype=dtype, order="C"))

    def _from_numpy(self, array: HostArray) -> Array:
        try:
            return self.xp.asarray(array, device=self.device)
        except (TypeError, ValueError, RuntimeError):  # a library that does not take NumPy's arrays
            return self.reshape(self.asarray(array.tolist(), str(array.dtype)), array.shape)

    def to_host(self, x: object) -> HostArray:
        if isinstance(x, np.ndarray | np.generic):
            return np.asarray(x)
        x = _readable(x)
        try:
            return np.asarray(x)
        except (TypeError, ValueError, RuntimeError):
            return np.asarray(_moved(x))

    def may_share_memory(self, x: object, y: object) -> bool:
        if hasattr(x, "data_ptr"):  # PyTorch's
            (low, high), (first, last) = _addresses(x), _addresses(y)
            return low < last and first < high
        if isinstance(x, np.ndarray):
            return np.may_share_memory(x, y)
        return True

    def random_raw(self, root: int, node: int, n: int) -> Array:
        bits: Any = _host().random_raw(root, node, n)
        return self._from_numpy(bits.astype(np.int64))  # of 32 bits each: PyTorch does not shift its unsigned numbers

    def rounded(self, name: str, x: Array) -> Array:
        return self.from_host(_host().rounded(name, self.to_host(x)), "float32")  # some devices have no float64

    def random_uniform(self, root: int, node: int, n: int, dtype: str) -> Array:
        return self.from_host(_host().random_uniform(root, node, n, "float32"), dtype)

    # ---- where the standard leaves more open than is needed

    def reshape_view(self, x: Array, shape: Any) -> Array:
        empty = 0 in x.shape  # of which array_api_strict takes every reshaping for a copy
        try:
            return self.xp.reshape(x, tuple(shape), copy=None if empty else False)
        except (AttributeError, RuntimeError, ValueError) as error:
            raise ValueError(f"{list(shape)} must not need a copy, got {_first_line(error)}") from error


def _host() -> Backend:
    return get_backend("numpy")


def _namespace(who: str, label: str) -> ModuleType:
    """Return a namespace by its name: array-api-compat's, or the module itself."""
    try:
        importlib.import_module(label)
    except Exception as error:  # a broken installation raises ImportError, OSError, ...
        raise BackendError(
            f"{who}: the module {label!r} must be installed, got {_first_line(error)}. Install it"
            f"{', ' + install_command('torch') if label == 'torch' else ''}."
        ) from error
    try:
        return importlib.import_module(f"array_api_compat.{label}")
    except ImportError as error:
        namespace = importlib.import_module(label)
        if hasattr(namespace, "__array_api_version__") or hasattr(namespace, "__array_namespace_info__"):
            return namespace
        raise BackendError(
            f"{who}: {label!r} must be a namespace of the array API, or one that array-api-compat knows, got neither "
            f"({_first_line(error)}). Install array-api-compat: {install_command('torch')}."
        ) from error


def _addresses(x: Any) -> tuple[int, int]:
    """Return where the memory of one of PyTorch's arrays begins and ends."""
    start, last = x.data_ptr(), sum((n - 1) * step for n, step in zip(x.shape, x.stride(), strict=True))
    return start, start + (last + 1) * x.element_size() if x.numel() else start


def _devices(xp: Any) -> list[object]:
    """Return the devices of a namespace that says which it has."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # array-api-compat tries every name that PyTorch has ever had
            return list(xp.__array_namespace_info__().devices())
    except Exception:  # says nothing of them
        return []


def _moved(x: Any) -> object:
    """Return an array of a device on the host, as the library does it."""
    if hasattr(x, "cpu"):  # PyTorch's
        return x.cpu()
    xp = x.__array_namespace__()
    host = next(device for device in _devices(xp) if "cpu" in str(device).lower())
    return xp.asarray(x, device=host, copy=True)


def _readable(x: Any) -> object:
    """Return one of PyTorch's arrays as NumPy can read it: without its gradient, its marks and types of its own."""
    if not hasattr(x, "resolve_neg"):
        return x
    x = x.detach().resolve_conj().resolve_neg()
    return x.float() if "bfloat16" in str(x.dtype) else x


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
