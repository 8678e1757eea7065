"""CUDA text, one .cu file per kernel family in plain CUDA C, and its compilation and launches."""

from __future__ import annotations

import functools
import logging
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.errors import DTypeError
from backends.generic.window import Window

if TYPE_CHECKING:
    from types import ModuleType


logger = logging.getLogger("nd")

FILES = (
    "real.cu", "window.cu", "convolution.cu", "embedding.cu", "gemm.cu", "implicit.cu", "pooling.cu", "random.cu",
    "reductions.cu", "transpose.cu",
)  # fmt: skip
"""The files in the order in which they are joined: the first one holds the functions that the others share."""

REALS = {"d": "double", "f": "float"}
"""Character of a dtype -> the C type that `real` stands for."""

BLOCK = 256  # threads: enough to hide latency, few enough that registers never limit it

PATIENCE = 1.0
"""Seconds that kernels may take to be compiled without a word."""

_GEOMETRY = struct.Struct("=12i6q")  # `struct Geometry` of window.cu, which has no gaps
_GEOMETRY_DTYPE = np.dtype((np.void, _GEOMETRY.size))


def source(files: Sequence[str] = FILES) -> str:
    """Return the text of files, by default of all kernels; errors of the compiler name the file."""
    texts = ((name, resources.files(__name__).joinpath(name).read_text("utf-8")) for name in files)
    return "\n".join(f'#line 1 "{name}"\n{text}' for name, text in texts)


def options(real: str) -> tuple[str, ...]:
    """Return the compiler's options for one meaning of `real`."""
    return (f"-DREAL={real}", "--std=c++17")


def geometry(window: Window, batch: int, total: int, strides: Sequence[int]) -> np.ndarray:
    """Return the kernels' argument of type Geometry; CuPy passes a numpy array of size one by value."""
    return np.frombuffer(packed_geometry(window, batch, total, strides), _GEOMETRY_DTYPE)


def packed_geometry(window: Window, batch: int, total: int, strides: Sequence[int]) -> bytes:
    """Pack a Geometry.

    Parameters
    ----------
    total : int
        Elements to compute, one per thread.
    strides : at least four ints
        Of the array ``[N, C, H, W]`` that is read, in bytes.
    """
    return _GEOMETRY.pack(
        *window.size, *window.kernel, *window.stride, *window.dilation, *window.pad_before, *window.out,
        batch, total, *strides[:4],
    )  # fmt: skip


@functools.cache
def _say_it_compiles() -> None:
    logger.warning("cupy: compiling kernels for this device; CuPy keeps them (in CUPY_CACHE_DIR) for the next time")


@contextmanager
def saying_so_if_slow() -> Iterator[None]:
    """Warn once that kernels are compiled, if that takes long: the first use looks as if nothing went on."""
    said = threading.Timer(PATIENCE, _say_it_compiles)
    said.daemon = True
    said.start()
    try:
        yield
    finally:
        said.cancel()
        said.join()  # so that no thread is left that is about to end


class Kernels:
    """The compiled kernels of one process; a type's module is compiled when one of its kernels first runs.

    Parameters
    ----------
    cupy : module
    """

    def __init__(self, cupy: ModuleType) -> None:
        self._cupy = cupy
        self._modules: dict[str, Any] = {}
        self._functions: dict[tuple[str, str], Any] = {}

    def launch(self, name: str, kind: str, total: int, arguments: tuple[object, ...], block: int = BLOCK) -> None:
        """Run a kernel with at least `total` threads, `block` of them in every block.

        Parameters
        ----------
        kind : {"f", "d"}
            Character of the dtype that `real` stands for.

        Raises
        ------
        DTypeError
            Any other kind.
        """
        function = self._functions.get((name, kind)) or self._load(name, kind)
        function((-(-total // block),), (block,), arguments)

    def _load(self, name: str, kind: str) -> Any:
        if kind not in REALS:
            raise DTypeError(
                f"kernel {name}: expected float32 or float64, got {np.dtype(kind)}. Convert the array with nd.astype."
            )
        with saying_so_if_slow():
            module = self._modules.get(kind)
            if module is None:
                module = self._modules[kind] = self._cupy.RawModule(code=source(), options=options(REALS[kind]))
            function = self._functions[name, kind] = module.get_function(name)
        return function
