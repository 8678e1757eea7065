"""Memory for the host CUDA's tight mode: no pool, each array ends where a page ends that nobody may touch."""

import ctypes
import os


class Freed:
    """Gives memory back when CuPy no longer knows it."""

    def __init__(self, pool, address, stream):
        self._pool, self._address, self._stream = pool, address, stream

    def __del__(self):
        self._pool.free(self._address, self._stream)


class Pool:
    """In the place of cupy.cuda.MemoryPool."""

    def __init__(self, allocator=None):
        self._library = ctypes.CDLL("libcudart.so.13")
        self._library.host_cuda_tight_malloc.restype = ctypes.c_void_p
        self._library.host_cuda_tight_malloc.argtypes = [ctypes.c_size_t]
        self._sizes = {}  # by address

    def malloc(self, size):
        import cupy

        address = self._library.host_cuda_tight_malloc(max(size, 1)) or 0
        if not address:
            raise cupy.cuda.memory.OutOfMemoryError(size, 0, 0)
        self._sizes[address] = size
        owner = Freed(self, address, cupy.cuda.get_current_stream().ptr)
        memory = cupy.cuda.UnownedMemory(address, size, owner)
        return cupy.cuda.MemoryPointer(memory, 0)

    def free(self, address, stream):
        """Give memory back that this pool handed out, when the stream has come so far."""
        del self._sizes[address]
        self._library.host_cuda_tight_free(ctypes.c_void_p(address), ctypes.c_void_p(stream))

    def total_bytes(self):
        """Return the bytes that belong to the pool: those in use, because it keeps none."""
        return sum(self._sizes.copy().values())


def install():
    """Let CuPy take all memory from such a pool."""
    import cupy

    cupy.cuda.MemoryPool = Pool
    cupy.cuda.set_allocator(Pool().malloc)


def install_if_asked_for():
    """As `install`, where HOST_CUDA says so."""
    if "tight" in os.environ.get("HOST_CUDA", "").split(","):
        install()
