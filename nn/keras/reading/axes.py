"""Weights in Keras 3's order and axes: what Theano, Keras 1 and CuDNN stored in others is turned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import nd
from nd import FormatError
from nd.typing import HostArray

from ...files.hdf5_tree import StoredArray
from ..model import Weight
from .names import expected, wrapped
from .structure import Entry, Part, layers_of

Named = Sequence[tuple[str, StoredArray]]
_CONVOLUTIONS = ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "Conv3DTranspose", "ConvLSTM2D")
_ORDERS = {"ConvLSTM2D": (0, 2, 1, 3), "GRU": (0, 1, 2), "LSTM": (0, 2, 1, 3)}
"""Class -> where Keras 1 has the gates of Keras 3's order: it wrote input, cell, forget, output."""
_CUDNN_GATES = {"GRU": 3, "LSTM": 4}
_FLIPPED = slice(None, None, -1)


class Origin(NamedTuple):
    """What wrote the weights.

    Attributes
    ----------
    version : int
        Of Keras.
    is_theano : bool
        Theano convolves: its kernels are turned by 180 degrees; those of others correlate.
    """

    version: int
    is_theano: bool


class _Turned(NamedTuple):
    """An array on its way: its shape, and how it is read."""

    shape: tuple[int, ...]
    read: Callable[[], HostArray]


def weights_of(entry: Entry, stored: Named, origin: Origin) -> tuple[Weight, ...]:
    """Return the weights of a layer in Keras 3's axes.

    Raises
    ------
    FormatError
        They are not those that such a layer has.

    Notes
    -----
    Source: Keras 2.2, engine/saving.py, ``preprocess_weights_for_loading``.
    """
    arrays = [_Turned(array.shape, array.read) for _, array in stored]
    turned = _turned(entry.class_name, entry.config, arrays, origin)
    known = expected(entry.class_name, entry.config)
    names = [name.rpartition("/")[2].partition(":")[0] for name, _ in stored]
    if known is not None:
        if len(known.names) != len(turned):
            raise FormatError(
                f"layer {entry.name!r} ({entry.class_name}) must have the weights {', '.join(known.names) or 'none'}, "
                f"got {len(turned)} arrays."
            )
        names = list(known.names)
    return tuple(Weight(name, shape, read) for name, (shape, read) in zip(names, turned, strict=True))


def _turned(class_name: str, config: Mapping[str, Any], arrays: list[_Turned], origin: Origin) -> list[_Turned]:
    if class_name in ("Bidirectional", "TimeDistributed") and isinstance(config.get("layer"), dict):
        name, settings = wrapped(config["layer"])
        half = len(arrays) // 2 if class_name == "Bidirectional" else len(arrays)
        parts = [arrays[:half], arrays[half:]] if class_name == "Bidirectional" else [arrays]
        return [one for part in parts for one in _turned(name, settings, part, origin)]
    if origin.version == 1:
        arrays = _of_keras_1(class_name, config, arrays)
    if origin.is_theano and class_name in _CONVOLUTIONS:
        count = 2 if class_name == "ConvLSTM2D" else 1
        arrays = [*map(_flipped, arrays[:count]), *arrays[count:]]
    if _is_cudnn(class_name, arrays):
        arrays = _of_cudnn(class_name, arrays)
    return arrays


def is_theano(version: int, backend: str, part: Part) -> bool:
    """Tell whether Theano computed the weights, which Keras 1 does not say: its order of axes tells."""
    if backend or version > 1:
        return backend == "theano"
    return any(
        config.get("data_format") == "channels_first"
        for entry in layers_of(part)
        for config in (entry.config, wrapped(entry.config.get("layer"))[1])
    )


# ---- Keras 1


def _of_keras_1(class_name: str, config: Mapping[str, Any], arrays: list[_Turned]) -> list[_Turned]:
    is_first = config.get("data_format") == "channels_first"
    if class_name in _ORDERS and len(arrays) == 3 * len(_ORDERS[class_name]):  # kernel, recurrent kernel, bias of each
        order = _ORDERS[class_name]
        arrays = [_joined([arrays[3 * gate + part] for gate in order], is_first and part < 2) for part in range(3)]
    if not arrays:
        return arrays
    kernel, *rest = arrays
    if class_name == "Conv1D":
        return [_series(kernel, config), *rest]
    if class_name in ("Conv2D", "Conv3D") and is_first:
        return [_moved(kernel, [*range(2, len(kernel.shape)), 1, 0]), *rest]
    if class_name == "Conv2DTranspose":
        return [_moved(kernel, [2, 3, 0, 1] if is_first else [0, 1, 3, 2]), *rest]
    if class_name == "SeparableConv2D" and is_first:
        return [*(_moved(one, [2, 3, 1, 0]) for one in arrays[:2]), *arrays[2:]]
    if class_name == "ConvLSTM2D" and is_first:
        return [*(_moved(one, [2, 3, 1, 0]) for one in arrays[:2]), *arrays[2:]]
    return arrays


def _series(kernel: _Turned, config: Mapping[str, Any]) -> _Turned:
    """Return the kernel of a Conv1D, which Keras 1 stored as that of pictures one pixel wide."""
    if len(kernel.shape) != 4:
        return kernel
    size = config.get("kernel_size")
    if kernel.shape[:2] != (size, 1) or kernel.shape[3] != config.get("filters"):  # before 1.2: [out, in, length, 1]
        kernel = _moved(kernel, [2, 3, 1, 0])
    shape = (kernel.shape[0], *kernel.shape[2:])
    return _Turned(shape, lambda: kernel.read().reshape(shape))


def _moved(array: _Turned, axes: list[int]) -> _Turned:
    if sorted(axes) != list(range(len(array.shape))):
        raise FormatError(f"a kernel must have {len(axes)} axes, got {list(array.shape)}.")
    return _Turned(tuple(array.shape[axis] for axis in axes), lambda: array.read().transpose(axes))


def _flipped(kernel: _Turned) -> _Turned:
    """Return a kernel ``[..., in, out]`` with its places in the other order."""
    places = tuple(_FLIPPED for _ in kernel.shape[:-2])
    return _Turned(kernel.shape, lambda: kernel.read()[places])


def _joined(arrays: list[_Turned], first: bool = False) -> _Turned:
    """Return arrays side by side: along the first axis, where it has the filters, else along the last."""
    axis = 0 if first else -1
    lengths = {(*array.shape[:axis], *array.shape[axis + 1 :]) if first else array.shape[:-1] for array in arrays}
    if len(lengths) != 1 or not arrays[0].shape:
        raise FormatError(f"weights of gates must have one shape, got {[list(array.shape) for array in arrays]}.")
    shape = list(arrays[0].shape)
    shape[axis] = sum(array.shape[axis] for array in arrays)

    def read() -> HostArray:
        with nd.use_backend("numpy"):
            return nd.to_host(nd.concat([nd.create(array.read()) for array in arrays], axis=axis))

    return _Turned(tuple(shape), read)


# ---- CuDNN


def _is_cudnn(class_name: str, arrays: Sequence[_Turned]) -> bool:
    """Tell whether a bias is CuDNN's, which has one for each of its two products."""
    if class_name not in _CUDNN_GATES or len(arrays) != 3 or not arrays[1].shape:
        return False
    return arrays[2].shape == (2 * _CUDNN_GATES[class_name] * arrays[1].shape[0],)


def _of_cudnn(class_name: str, arrays: list[_Turned]) -> list[_Turned]:
    """Return the weights of Keras' own layer: kernels are turned gate by gate, an LSTM's biases are added."""
    kernel, recurrent, bias = arrays
    units, gates = recurrent.shape[0], _CUDNN_GATES[class_name]
    if (recurrent.shape, kernel.shape[1:]) != ((units, gates * units), (gates * units,)):
        raise FormatError(f"{class_name} of CuDNN must have one size, got {[list(array.shape) for array in arrays]}.")

    def by_gates(array: _Turned, rows: int) -> Callable[[], HostArray]:
        """Return what reads a kernel ``[rows, gates * units]``; CuDNN has ``[units, rows]`` of each gate."""

        def read() -> HostArray:
            parts = [array.read()[:, at * units : (at + 1) * units] for at in range(gates)]
            with nd.use_backend("numpy"):
                turned = [nd.create(part.T.reshape((rows, units), order="F")) for part in parts]
                return nd.to_host(nd.concat(turned, axis=-1))

        return read

    def biases() -> HostArray:
        both = bias.read().reshape(2, gates * units)
        return both.sum(axis=0) if class_name == "LSTM" else both

    shape = (gates * units,) if class_name == "LSTM" else (2, gates * units)
    return [
        _Turned(kernel.shape, by_gates(kernel, kernel.shape[0])),
        _Turned(recurrent.shape, by_gates(recurrent, units)),
        _Turned(shape, biases),
    ]
