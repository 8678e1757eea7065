"""What the host CUDA was asked to do, for tests that count."""

import ctypes

THEIRS = ("cupy_",)
"""How the names of CuPy's own kernels begin."""


class Launches:
    """The kernels and graphs that were launched since the last look; what a graph runs is not launched."""

    def __init__(self):
        self._take = ctypes.CDLL("libcudart.so.13").host_cuda_calls  # which is loaded
        self._take.restype = ctypes.c_char_p
        self.clear()

    def clear(self):
        """Forget what was called so far."""
        self.calls()

    def calls(self):
        """Return all calls since the last look, as the host CUDA notes them: ``launch NAME``, ``copy``, ..."""
        return self._take().decode().splitlines()

    def all(self):
        """Return the names of all kernels, CuPy's own and ``cublas`` too, and ``graph`` for every graph."""
        words = [call.split() for call in self.calls()]
        return [call[-1] for call in words if call[0] in ("launch", "graph", "cublas")]

    def taken(self):
        """Return the names of our own kernels, and ``graph`` for every graph, since the last look."""
        return [name for name in self.all() if name != "cublas" and not name.startswith(THEIRS)]


def on_host():
    """Tell whether CuPy runs on the host CUDA here, and not on a device."""
    try:
        import host_cuda  # noqa: F401
    except ImportError:
        return False
    return True
