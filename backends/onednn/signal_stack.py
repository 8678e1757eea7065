"""A stack of their own for signal handlers: oneDNN's products put the thread's stack pointer where none fits."""

from __future__ import annotations

import ctypes
import sys
import threading

_SIZE = 1 << 16
_DISABLED = 2
_OF_THREAD = threading.local()
_MEMORY: dict[int, ctypes.Array[ctypes.c_char]] = {}
"""Thread -> its stack: kept for the next thread of that number, as a thread that ends may still get a signal."""


class _Stack(ctypes.Structure):
    _fields_ = (("memory", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))


def ensure_signal_stack() -> None:
    """Have the signals of this thread handled on memory apart, if nothing has seen to that yet.

    While AVX-512 kernels of dnnl_sgemm run, a handler on the thread's own stack would write over the heap. Python's
    handlers take such a stack where there is one (SA_ONSTACK).
    """
    if not hasattr(_OF_THREAD, "has_stack"):
        if sys.platform == "linux":  # elsewhere there is no oneDNN
            _give()
        _OF_THREAD.has_stack = True


def _give() -> None:
    libc, found = ctypes.CDLL(None), _Stack()
    libc.sigaltstack(None, ctypes.byref(found))
    if found.flags & _DISABLED:
        memory = _MEMORY.setdefault(threading.get_ident(), ctypes.create_string_buffer(_SIZE))
        libc.sigaltstack(ctypes.byref(_Stack(ctypes.addressof(memory), 0, _SIZE)), None)
