"""A libdnnl of version 3: where it lies, its functions, and the threads that it may use."""

from __future__ import annotations

import ctypes
import logging
import os
import pathlib
import site
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from ..errors import BackendError
from ..extras import install_command
from ..settings import OFF
from ..settings import ONEDNN as SETTING
from .shared_object import check_whole
from .signal_stack import ensure_signal_stack

FILE = "libdnnl.so.3"
MAJOR = 3
SEQUENTIAL, OPENMP = 1, 2
"""Threading of libraries that can be held to one thread (dnnl_version_t.cpu_runtime)."""

POINTERS: dict[str, object] = {
    "m": ctypes.c_void_p, "p": ctypes.c_void_p, "i": ctypes.c_int, "f": ctypes.c_float, "u": ctypes.c_uint,
    "n": ctypes.c_int64, "d": ctypes.c_void_p,
}  # fmt: skip
"""Letters of `DESCRIPTORS`: descriptor of memory, of the forward primitive, int, float, flags, number, sizes."""
DESCRIPTORS = {
    "batch_normalization_backward": "immmfup",
    "batch_normalization_forward": "immfu",
    "convolution_backward_data": "immmddddp",
    "convolution_backward_weights": "immmmddddp",
    "convolution_forward": "iimmmmdddd",
    "deconvolution_backward_data": "immmddddp",
    "deconvolution_backward_weights": "immmmddddp",
    "deconvolution_forward": "iimmmmdddd",
    "eltwise_backward": "immmffp",
    "eltwise_forward": "iimmff",
    "lrn_backward": "immmnfffp",
    "lrn_forward": "iimmnfff",
    "lstm_backward": "ii" + "m" * 22 + "up",
    "lstm_forward": "ii" + "m" * 11 + "u",
    "pooling_backward": "immdddddp",
    "pooling_forward": "iimmddddd",
}
"""Primitive -> arguments of its descriptor between the engine and the attributes, sorted."""

AVX512 = 0x20  # of dnnl_cpu_isa_t

log = logging.getLogger(__name__)


class _Version(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_int), ("minor", ctypes.c_int), ("patch", ctypes.c_int), ("hash", ctypes.c_char_p),
        ("cpu_runtime", ctypes.c_uint), ("gpu_runtime", ctypes.c_uint),
    )  # fmt: skip


class Library:
    """The functions of a libdnnl, and an engine.

    Parameters
    ----------
    path : str
        Of the file, or its name, for the system to find.

    Attributes
    ----------
    version : str
    vector : int
        Floats that its kernels compute at once.
    engine, stream : handles
        Calls in several threads may share them: on a CPU a call has ended when it returns.

    Raises
    ------
    OSError
        There is no such library.
    BackendError
        It is damaged, of another version, or one whose threads cannot be held to one.
    """

    def __init__(self, path: str) -> None:
        check_whole(path)
        self.path = path
        self._library = library = ctypes.CDLL(path)
        library.dnnl_version.restype = ctypes.POINTER(_Version)
        version = library.dnnl_version().contents
        self.version = f"{version.major}.{version.minor}.{version.patch}"
        if version.major != MAJOR or version.cpu_runtime not in (SEQUENTIAL, OPENMP):
            raise BackendError(
                f"oneDNN: expected a libdnnl of version {MAJOR} with OpenMP, got {self.version} with threading "
                f"{version.cpu_runtime} in {path}. Install onednn-cpu-gomp, or set {SETTING}=0."
            )
        self.openmp = version.cpu_runtime == OPENMP
        if self.openmp:
            self.omp_threads, self.set_omp_threads = library.omp_get_max_threads, library.omp_set_num_threads
            self.omp_threads.argtypes, self.omp_threads.restype = (), ctypes.c_int
            self.set_omp_threads.argtypes, self.set_omp_threads.restype = (ctypes.c_int,), None
        self.engine = self.made("dnnl_engine_create", 1, 0)
        self.stream = self.made("dnnl_stream_create", self.engine, 1)
        self.vector = 16 if library.dnnl_get_effective_cpu_isa() & AVX512 else 8
        self._describe = {name: self._describer(name, kinds) for name, kinds in DESCRIPTORS.items()}
        self._declare()
        self.call("dnnl_set_primitive_cache_capacity", 0)  # ours knows which are in use

    def _describer(self, name: str, kinds: str) -> Any:
        function = getattr(self._library, f"dnnl_{name}_primitive_desc_create")
        handle = ctypes.c_void_p
        function.argtypes = [handle, handle, *(POINTERS[kind] for kind in kinds), handle]
        function.restype = ctypes.c_int
        return function

    def _declare(self) -> None:
        """Declare the functions that are called in every step."""
        handle = ctypes.c_void_p
        self.execute = self._library.dnnl_primitive_execute
        self.execute.argtypes = (handle, handle, ctypes.c_int, handle)
        self.execute.restype = self._checked("dnnl_primitive_execute")
        self.destroy = {
            kind: self._library[f"dnnl_{kind}_destroy"]
            for kind in ("memory", "memory_desc", "primitive", "primitive_desc")
        }
        for function in self.destroy.values():
            function.argtypes = (handle,)
        self.sgemm = self._library.dnnl_sgemm
        number, single = ctypes.c_int64, ctypes.c_float
        self.sgemm.argtypes = (
            ctypes.c_char, ctypes.c_char, number, number, number, single, handle, number, handle, number, single,
            handle, number,
        )  # fmt: skip
        self.sgemm.restype = self._checked("dnnl_sgemm")

    def _checked(self, name: str) -> Callable[[int], None]:
        def check(status: int) -> None:
            if status:
                raise BackendError(f"oneDNN: {name} must succeed, got status {status}. {SETTING}=0 does without it.")

        return check

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function that returns a status; handles, addresses and sizes are integers of 64 bits."""
        function = getattr(self._library, name)  # which, unlike an index, makes one object for each name
        given = [ctypes.c_void_p(value) if isinstance(value, int) and value > 1 << 31 else value for value in arguments]
        self._checked(name)(function(*given))

    def made(self, name: str, *arguments: object) -> int:
        """Return the handle that a function makes."""
        handle = ctypes.c_void_p()
        self.call(name, ctypes.byref(handle), *arguments)
        return handle.value or 0

    def described(self, name: str, arguments: tuple[object, ...], attributes: int) -> int | None:
        """Return the descriptor of a primitive; None where the library has none for these arguments."""
        handle = ctypes.c_void_p()
        given = [_sizes(value) if isinstance(value, tuple) else value for value in arguments]
        status = self._describe[name](ctypes.byref(handle), self.engine, *given, attributes)
        return None if status else handle.value

    def reordering(self, source: object, target: object, attributes: int) -> int:
        """Return the descriptor of the copy of one memory order into another."""
        return self.made("dnnl_reorder_primitive_desc_create", source, self.engine, target, self.engine, attributes)

    def text(self, descriptor: int) -> str:
        """Return the name of the implementation that a descriptor has chosen."""
        found = ctypes.c_char_p()
        self.call("dnnl_primitive_desc_query", descriptor, 8, 0, ctypes.byref(found))
        return (found.value or b"").decode()

    def memory_descriptor(self, descriptor: int, query: int, index: int) -> int | None:
        """Return the memory descriptor that a primitive's descriptor has for an argument, which belongs to it."""
        function = self._library.dnnl_primitive_desc_query_md
        function.restype = ctypes.c_void_p
        return function(ctypes.c_void_p(descriptor), query, index)

    def bytes_of(self, memory_descriptor: int | None) -> int:
        """Return how much memory an argument takes."""
        function = self._library.dnnl_memory_desc_get_size
        function.restype = ctypes.c_size_t
        return function(ctypes.c_void_p(memory_descriptor)) if memory_descriptor else 0

    def single_threaded(self, run: Callable[[], object]) -> Any:
        """Run something that calls the library with one thread, this one, and restore the number that OpenMP had."""
        ensure_signal_stack()
        if not self.openmp:
            return run()
        before = self.omp_threads()
        try:
            self.set_omp_threads(1)  # in the block: behind it Ctrl-C may come
            return run()
        finally:
            self.set_omp_threads(before)


@cache
def array_type(element: Any, length: int) -> Any:
    """Return the type of arrays of C: each has cycles that only the collector takes away."""
    return element * length


def _sizes(numbers: tuple[int, ...]) -> Any:
    return array_type(ctypes.c_int64, len(numbers))(*numbers)


def candidates() -> list[str]:
    """Return where a libdnnl may lie, the most wanted first: what ``ND_ONEDNN`` names, the wheel's, the system's."""
    setting = os.environ.get(SETTING, "").strip()
    if setting.lower() not in ("", "1", *OFF):
        return [setting]
    folders = [sys.prefix, *([site.getuserbase()] if site.ENABLE_USER_SITE else [])]
    wheels = [str(path) for folder in folders if (path := pathlib.Path(folder, "lib", FILE)).exists()]
    return [*wheels, FILE]


@cache
def library() -> Library | None:
    """Return the libdnnl that is there, None without one.

    Raises
    ------
    BackendError
        ``ND_ONEDNN`` names a file that is none.
    """
    named = os.environ.get(SETTING, "").strip().lower() not in ("", "1", *OFF)
    for path in candidates():
        try:
            return Library(path)
        except (OSError, AttributeError, BackendError) as error:
            if named:
                raise BackendError(
                    f"{SETTING}: expected the path of a libdnnl {MAJOR}.x, got {path!r}: "
                    f"{str(error).rstrip('.')}. Unset it to use the one that is installed, or set it to 0 to do "
                    "without."
                ) from error
            damaged = isinstance(error, BackendError)
            log.log(logging.WARNING if damaged else logging.INFO, "oneDNN is not used: %s", error)
            refused.extend([str(error)] if damaged else [])
    return None


def library_there() -> Library:
    """Return the libdnnl, for what runs only with one.

    Raises
    ------
    BackendError
        There is none.
    """
    found = library()
    if found is None:
        raise BackendError(f"oneDNN: expected a libdnnl, found none. Run: {install_command('onednn')}.")
    return found


refused: list[str] = []
"""Why libraries that are there are not used."""
