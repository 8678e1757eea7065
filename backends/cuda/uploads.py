"""Minibatches on their way to the device, while the step before is still computed there."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.typing import CupyArray

from . import REALS, Kernels

if TYPE_CHECKING:
    from types import ModuleType

    from ..typing import HostArray


SLOTS = 3
"""Copies of one shape that may be under way: the step that runs, the one that waits, the one that is being filled."""
MOST_SHAPES = 16
MOST_BYTES = 1 << 26
"""Of an array; larger ones are not worth the memory that the slots keep."""
FEW_BYTES = 1 << 14
"""Of an array that the host transposes itself, labels say: a launch costs more."""
SQUARE, THREADS = 32, 256  # as transpose.cu

_KERNELS = {"u1": "turn_over_bytes", "f4": "turn_over_floats", "f8": "turn_over_doubles"}


class Uploads:
    """Copies from the host by pinned memory and a stream of their own, for which neither host nor device waits.

    Parameters
    ----------
    cupy : module
    kernels : Kernels
    """

    def __init__(self, cupy: ModuleType, kernels: Kernels) -> None:
        self._cupy, self._kernels = cupy, kernels
        self._stream = None
        self._lock = threading.Lock()
        self._rings: dict[tuple[object, ...], _Ring] = {}

    def serves(self, array: HostArray, out: CupyArray) -> bool:
        """Tell whether `copy` takes such arrays: bytes or reals, into reals."""
        known = array.dtype.isnative and array.dtype.str[1:] in _KERNELS
        return known and 0 < array.nbytes <= MOST_BYTES and out.dtype.char in REALS

    def copy(self, array: HostArray, out: CupyArray) -> None:
        """Copy a numpy array ``[N, ...]`` into ``out [N, ...]``, whose first axis is innermost in memory, without gaps.

        Operations issued afterwards on the current stream see the numbers; `array` may be overwritten at once.
        """
        with self._lock:
            self._copy(array, out)

    def _copy(self, array: HostArray, out: CupyArray) -> None:
        current = self._cupy.cuda.get_current_stream()
        if self._stream is None:
            self._stream = self._cupy.cuda.Stream(non_blocking=True)
        examples, numbers = array.shape[0], math.prod(array.shape[1:])
        few = array.size * out.itemsize <= FEW_BYTES
        if few:
            array = array.reshape(examples, numbers).T.astype(out.dtype)
        slot = self._ring(array).next()
        slot.fill(array, self._stream)
        current.wait_event(slot.copied)
        if few:
            self._cupy.copyto(out.transpose((*range(1, out.ndim), 0)).reshape(numbers, examples), slot.device)
        else:
            blocks = -(-examples // SQUARE) * -(-numbers // SQUARE)
            name = _KERNELS[array.dtype.str[1:]]
            self._kernels.launch(name, out.dtype.char, blocks * THREADS, (slot.device, out, examples, numbers), THREADS)
        slot.consumed.record(current)

    def _ring(self, array: HostArray) -> _Ring:
        key = (array.shape, array.dtype)
        ring = self._rings.pop(key, None)
        if ring is None:
            if len(self._rings) >= MOST_SHAPES:
                self._rings.pop(next(iter(self._rings))).wait()
            ring = _Ring(self._cupy, array)
        self._rings[key] = ring  # the last to go
        return ring


class _Ring:
    """The slots of one shape and dtype, in turn."""

    def __init__(self, cupy: ModuleType, like: Any) -> None:
        self._cupy, self._shape, self._dtype = cupy, like.shape, like.dtype
        self._slots: list[_Slot] = []
        self._turn = -1

    def next(self) -> _Slot:
        self._turn = (self._turn + 1) % SLOTS
        if self._turn >= len(self._slots):
            self._slots.append(_Slot(self._cupy, self._shape, self._dtype))
            self._turn = len(self._slots) - 1
        return self._slots[self._turn]

    def wait(self) -> None:
        """Wait until no copy is under way and every copy has been read, so that the memory may go."""
        for slot in self._slots:
            slot.copied.synchronize()
            slot.consumed.synchronize()


class _Slot:
    """Pinned memory, its copy on the device, and events: the copy is there, the copy has been read."""

    def __init__(self, cupy: ModuleType, shape: tuple[int, ...], dtype: Any) -> None:
        size = math.prod(shape)
        memory = cupy.cuda.alloc_pinned_memory(size * dtype.itemsize)
        self.pinned = np.frombuffer(memory, dtype, size).reshape(shape)
        self.device = cupy.empty(shape, dtype)
        self.copied, self.consumed = (cupy.cuda.Event(disable_timing=True) for _ in range(2))
        self.consumed.record(cupy.cuda.get_current_stream())  # until then others may still use this memory

    def fill(self, array: Any, stream: Any) -> None:
        """Start the copy of an array to the device."""
        self.copied.synchronize()  # the pinned memory is free: its copy three minibatches ago is through
        np.copyto(self.pinned, array)
        stream.wait_event(self.consumed)
        self.device.set(self.pinned, stream)
        self.copied.record(stream)
