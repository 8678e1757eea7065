"""Puts the host CUDA in the place of NVIDIA's, before CuPy is imported.

A copy of this file lies in the environment of `make cupy-check`, beside a .pth file that imports it in every process.
FOLDER there is where the libraries lie.
"""

import ctypes
import importlib.abc
import importlib.metadata
import importlib.util
import os
import pathlib
import sys
import zlib

FOLDER = pathlib.Path("@FOLDER@")
VERSION = "@VERSION@"
LIBRARIES = "@LIBRARIES@"
PLACES = {"cupy_backends.cuda.api.runtime": "runtime.so", "cupy.cuda.thrust": "thrust.py"}


class Finder(importlib.abc.MetaPathFinder):
    """Finds CuPy's runtime module where it is linked to our libcudart, and sorting where NumPy does it."""

    def __init__(self):
        self._loaded = []

    def find_spec(self, name, path=None, target=None):
        if name == "cupy_backends.cuda":
            self._load()
        location = PLACES.get(name)
        return None if location is None else importlib.util.spec_from_file_location(name, FOLDER / location)

    def _load(self):
        if self._loaded:
            return
        installed = importlib.metadata.version("cupy-cuda13x")
        if installed != VERSION:
            raise ImportError(
                f"the host CUDA was built for CuPy {VERSION}, got {installed}: run make cupy-check CUPY={installed}"
            )
        if not FOLDER.is_dir():
            raise ImportError(f"the host CUDA must be in {FOLDER}, where it was built: run make cupy-check")
        kernels = FOLDER.parent / "kernels"
        kernels.mkdir(exist_ok=True)
        os.environ.setdefault("HOST_CUDA_KERNELS", str(kernels))
        os.environ.setdefault("HOST_CUDA_HEADERS", str(FOLDER / "headers"))
        # CuPy's own cache does not know with which options g++ compiles what it keeps.
        flags = zlib.crc32(os.environ.get("HOST_CUDA_FLAGS", "").encode())
        chosen = os.environ.get("CUPY_CACHE_DIR")
        if not chosen or chosen.startswith(str(FOLDER)):  # by nobody, or by the process that started this one
            os.environ["CUPY_CACHE_DIR"] = str(FOLDER / f"cupy-{flags:08x}")
        os.environ.setdefault("CUPY_ACCELERATORS", "")  # CUB's kernels are compiled already, for a GPU
        for library in LIBRARIES.split():
            self._loaded.append(ctypes.CDLL(str(FOLDER / library), mode=ctypes.RTLD_GLOBAL))


sys.meta_path.insert(0, Finder())
