"""A stack of their own for signal handlers: oneDNN's products put the thread's stack pointer where none fits."""

from __future__ import annotations

import ctypes
import sys
import threading

_SIZE = 1 << 16
_DISABLED = 2
_OF_THREAD = threading.local()


class _Stack(ctypes.Structure):
    _fields_ = (("memory", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))


def give_signal_stack() -> None:
    """Have the signals of this thread handled on memory apart, if nothing has seen to that yet.

    While AVX-512 kernels of dnnl_sgemm run, a handler on the thread's own stack would write over the heap. Python's
    handlers take such a stack where there is one (SA_ONSTACK).
    """
    if sys.platform != "linux" or getattr(_OF_THREAD, "stack", None) is not None:  # elsewhere there is no oneDNN
        return
    libc, found = ctypes.CDLL(None), _Stack()
    libc.sigaltstack(None, ctypes.byref(found))
    _OF_THREAD.stack = memory = ctypes.create_string_buffer(_SIZE)
    if found.flags & _DISABLED:
        libc.sigaltstack(ctypes.byref(_Stack(ctypes.addressof(memory), 0, _SIZE)), None)
