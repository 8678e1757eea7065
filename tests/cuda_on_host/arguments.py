"""Refuses arguments that do not fit a kernel's parameters, where CUDA copies as many bytes as the parameter has."""

import ctypes

import numpy as np

ADDRESS, FLOATS = 10000, 1000


class Checked:
    """A kernel of cupy.RawModule whose arguments are looked at before each launch."""

    def __init__(self, name, kernel):
        self._name, self._kernel = name, kernel
        library, kinds = ctypes.CDLL("libcuda.so.1"), ctypes.POINTER(ctypes.c_int)()
        count = library.host_cuda_parameters(ctypes.c_void_p(kernel.kernel.ptr), ctypes.byref(kinds))
        self._expected = list(kinds[:count])

    def __getattr__(self, name):
        return getattr(self._kernel, name)

    def __call__(self, grid, block, arguments, **keywords):
        given = [kind_of(each) for each in arguments]
        if len(given) != len(self._expected):
            raise TypeError(f"kernel {self._name}: expected {len(self._expected)} arguments, got {len(given)}")
        for place, (kind, expected) in enumerate(zip(given, self._expected, strict=True)):
            if kind != expected and not _is_null(arguments[place], expected):
                raise TypeError(
                    f"kernel {self._name}: argument {place} of {given} does not fit the parameter {expected}"
                )
        self._kernel(grid, block, arguments, **keywords)


def kind_of(x):
    """Return what CuPy copies into a launch, in the numbers of launch.h."""
    if hasattr(x, "data") and hasattr(x.data, "ptr"):
        return ADDRESS + FLOATS * (x.dtype.kind == "f") + x.itemsize
    number = np.asarray(x)
    return FLOATS * (number.dtype.kind == "f") + number.itemsize


def _is_null(x, expected):
    return expected >= ADDRESS and isinstance(x, int) and x == 0


def install():
    """Let cupy.RawModule hand out such kernels."""
    import cupy

    class RawModule(cupy.RawModule):
        def get_function(self, name):
            kernel = super().get_function(name)
            return kernel if self.name_expressions else Checked(name, kernel)  # the templates are CuPy's own

    if not getattr(cupy.RawModule, "checked", False):
        RawModule.checked = True
        cupy.RawModule = RawModule
