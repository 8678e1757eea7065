"""A `cupy` made of NumPy and g++, so that CupyBackend and its CUDA kernels run on a machine without a GPU.

Arrays are a subclass of numpy.ndarray that refuses to be mixed with plain numpy arrays, as cupy.ndarray does.
`RawModule` compiles the same CUDA text as NVRTC would, behind a few definitions, and a launch is a loop over blocks and
threads. Three things are stricter than CUDA: arguments are compared with the kernel's parameters, memory is all ones
(NaN, -1) until somebody writes it, and writing outside of an array is noticed.
"""

import ctypes
import functools
import types

import numpy as np

from tests.cuda_on_cpu import SANITIZED, compile_for_cpu
from tests.fake_graphs import Event, MemoryPool, recording, stream_class, using_allocator

MARGIN = 0 if SANITIZED else 64  # bytes before and after every array that nobody may write
UNWRITTEN = 0xFF


class OutOfMemoryError(MemoryError):
    """As cupy.cuda.memory.OutOfMemoryError."""


class DeviceArray(np.ndarray):
    """Stands in for cupy.ndarray: never mixes with numpy.ndarray, and has arrays of rank 0 instead of scalars."""

    guard = None

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self.ctypes.data)

    def __array_finalize__(self, source):
        self.guard = getattr(source, "guard", None)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **keywords):
        if out is not None:
            keywords["out"] = tuple(host(array) for array in out)
        return computed(getattr(ufunc, method), tuple(map(host, inputs)), keywords, None if out is None else out[0])

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        if not copy and self.dtype == dtype:
            return self
        return computed(np.positive, (host(self),), {"dtype": dtype, "casting": casting}, None)

    def copy(self, order="C"):
        return computed(np.array, (host(self),), {"order": order}, None)

    def reshape(self, *shape, order="C"):
        view = super().reshape(*shape, order=order)
        if recording.calls is not None and not np.may_share_memory(self.view(np.ndarray), view.view(np.ndarray)):
            return computed(lambda x: x.reshape(*shape, order=order), (host(self),), {}, None)
        return view

    def fill(self, value):
        recording.do(lambda: self.view(np.ndarray).fill(value))

    def item(self, *arguments):
        recording.refuse("item")
        return super().item(*arguments)

    def max(self, axis=None, out=None, keepdims=False):
        return computed(np.max, (host(self),), {"axis": axis, "keepdims": keepdims}, out)

    def set(self, arr, stream=None):
        assert type(arr) is np.ndarray
        assert arr.flags.c_contiguous
        assert self.flags.c_contiguous
        recording.refuse("a copy from the host")
        np.copyto(self.view(np.ndarray), arr)

    def sum(self, axis=None, dtype=None, out=None, keepdims=False):
        return computed(np.sum, (host(self),), {"axis": axis, "dtype": dtype, "keepdims": keepdims}, out)

    def __array_function__(self, function, types, arguments, keywords):
        raise TypeError(f"numpy.{function.__name__} was called with an array of the device")

    def __getitem__(self, key):
        return on_device(super().__getitem__(key))

    def __setitem__(self, key, value):
        value = host(value)
        recording.do(lambda: self.view(np.ndarray).__setitem__(key, value))


def host(x):
    """See device memory as a numpy array; refuse numpy arrays, which cupy does not take for arguments."""
    if isinstance(x, DeviceArray):
        return x.view(np.ndarray)
    if isinstance(x, np.ndarray):
        raise TypeError(f"Unsupported type {type(x)}")
    return x


def computed(function, inputs, keywords, out):
    """Run a function of NumPy; in a graph, run it again into the same memory."""
    if out is not None:
        if function in (np.max, np.sum):
            keywords = {**keywords, "out": host(out)}
        recording.do(lambda: function(*inputs, **keywords))
        return out
    result = on_device(function(*inputs, **keywords))
    if recording.calls is not None:
        recording.do(lambda: np.copyto(result.view(np.ndarray), function(*inputs, **keywords)))
    return result


def on_device(result):
    return result if isinstance(result, DeviceArray) else np.asarray(result).view(DeviceArray)


def wrapped(function):
    """Make a NumPy function take and return device arrays."""

    @functools.wraps(function)
    def on_arrays(*arguments, **keywords):
        if isinstance(arguments[0], list):
            arguments = ([host(x) for x in arguments[0]], *arguments[1:])
        inputs = tuple(host(x) for x in arguments)
        result = function(*inputs, **keywords)
        if isinstance(result, tuple):
            return tuple(map(on_device, result))
        made = on_device(result)
        if recording.calls is not None:
            recording.do(lambda: np.copyto(made.view(np.ndarray), function(*inputs, **keywords)))
        return made

    return on_arrays


def device_ufunc(ufunc):
    """Give a NumPy ufunc the signature of CuPy's, out as a keyword or the last positional argument."""

    def call(*arguments, out=None, dtype=None, casting="same_kind"):
        if len(arguments) > ufunc.nin:
            *arguments, out = arguments
        keywords = {"dtype": dtype, "casting": casting}
        if out is not None:
            keywords["out"] = host(out)
        return computed(ufunc, tuple(map(host, arguments)), keywords, out)

    return call


def empty(shape, dtype=float, order="C"):
    dtype = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if size > 1 << 34:
        raise OutOfMemoryError(f"Out of memory allocating {size} bytes")
    memory = np.full(size + 2 * MARGIN, UNWRITTEN, np.uint8)
    array = memory[MARGIN : MARGIN + size].view(dtype).reshape(shape, order=order).view(DeviceArray)
    array.guard = memory
    return array


def empty_like(a):
    array = empty(a.size, a.dtype)
    strides = np.empty_like(host(a)).strides
    view = np.lib.stride_tricks.as_strided(array.view(np.ndarray), a.shape, strides).view(DeviceArray)
    view.guard = array.guard
    return view


def asarray(a, dtype=None, order=None, *, copy=None, blocking=False):
    if isinstance(a, DeviceArray):
        return a if dtype is None else a.astype(dtype, copy=False)
    recording.refuse("a copy from the host")
    source = np.array(a, dtype)
    if source.dtype.kind not in "fiub":
        raise ValueError(f"Unsupported dtype {source.dtype}")
    array = source.copy(order="K").view(DeviceArray)
    array.guard = None
    return array


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
    recording.refuse("asnumpy")
    return np.array(a.view(np.ndarray) if isinstance(a, DeviceArray) else a, order=order)


def copyto(dst, src, casting="same_kind", where=None):
    if isinstance(src, np.ndarray) and not isinstance(src, DeviceArray) and src.size != 1:
        raise ValueError("non-scalar numpy.ndarray cannot be used for copyto")
    source, target = src.view(np.ndarray) if isinstance(src, DeviceArray) else src, host(dst)
    recording.do(lambda: np.copyto(target, source, casting=casting))


def dot(a, b, out=None):
    recording.refuse("cuBLAS")
    if out is not None and not (out.flags.c_contiguous and out.dtype == np.result_type(a.dtype, b.dtype)):
        raise ValueError("Output array must be C-contiguous")
    result = np.dot(host(a), host(b), out=host(out))
    return on_device(result) if out is None else out


def matmul(a, b, out=None):
    recording.refuse("cuBLAS")
    result = np.matmul(host(a), host(b), out=host(out))
    return on_device(result) if out is None else out


def margins_are_whole(array):
    memory = array.guard
    if memory is None or not MARGIN:
        return True
    return bool((memory[:MARGIN] == UNWRITTEN).all() and (memory[-MARGIN:] == UNWRITTEN).all())


class Kernel:
    """A compiled kernel: called with grid, block and arguments, as cupy.RawKernel."""

    def __init__(self, name, function, launches):
        self.name = name
        self.function = function
        self.launches = launches

    def __call__(self, grid, block, arguments):
        recording.do(lambda: self._run(grid, block, arguments))

    def _run(self, grid, block, arguments):
        values = [self._value(x) for x in arguments]
        kinds = [kind for kind, _ in values]
        pointers = (ctypes.c_void_p * len(values))(*(value.ctypes.data for _, value in values))
        wrong = self.function(max(1, *grid), max(1, *block), pointers, (ctypes.c_int * len(kinds))(*kinds), len(kinds))
        if wrong == -2:
            raise RuntimeError(f"kernel {self.name}: some threads wait for others that have ended")
        if wrong:
            raise TypeError(f"kernel {self.name}: argument {wrong - 1} of {kinds} does not fit the parameter")
        for x in arguments:
            if isinstance(x, DeviceArray) and not margins_are_whole(x):
                raise MemoryError(f"kernel {self.name} wrote outside of an array {x.shape}")
        self.launches.append(self.name)

    @staticmethod
    def _value(x):
        """What CuPy copies into the launch: an address, a number of 8 bytes, or a numpy array of size one."""
        if isinstance(x, DeviceArray):
            return 10000 + 1000 * (x.dtype.kind == "f") + x.itemsize, np.array(x.ctypes.data, np.uint64)
        if isinstance(x, np.ndarray):
            if x.size != 1:
                raise TypeError("Only numpy.ndarrays of size one can be passed by value")
            return x.itemsize, x
        number = np.array(x, np.int64 if isinstance(x, int) else None)  # OverflowError beyond 64 bits, as there
        return 1000 * (number.dtype.kind == "f") + number.itemsize, number


UFUNCS = (
    "absolute", "add", "cos", "divide", "equal", "exp", "greater", "greater_equal", "isfinite", "log", "maximum",
    "minimum", "multiply", "power", "sign", "sin", "sqrt", "square", "subtract", "tanh",
)  # fmt: skip


def make_cupy(folder):
    """Return a module like cupy that keeps compiled kernels in `folder` and lists its `launches`."""
    cupy = types.ModuleType("cupy")
    cupy.__version__ = "14.0.0"
    cupy.launches = []
    cupy.modules = []
    cupy.ndarray = DeviceArray
    for name in UFUNCS:
        setattr(cupy, name, device_ufunc(getattr(np, name)))
    for function in (asarray, asnumpy, copyto, dot, empty, empty_like, matmul):
        setattr(cupy, function.__name__, function)

    class RawModule:
        def __init__(self, *, code, options=()):
            recording.refuse("cuModuleLoad")
            self.library = compile_for_cpu(code, options, folder)
            cupy.modules.append(options)

        def get_function(self, name):
            return Kernel(name, getattr(self.library, f"launch_{name}"), cupy.launches)

    class Device:
        id = 0
        compute_capability = "75"
        mem_info = (3 << 30, 4 << 30)
        attributes = {"MultiProcessorCount": 2}

        def synchronize(self):
            recording.refuse("synchronize")
            cupy.launches.append("synchronize")

    class Pool:
        def free_all_blocks(self):
            cupy.launches.append("free_all_blocks")

        def used_bytes(self):
            return 5 << 28

        def total_bytes(self):
            return 6 << 28

    cupy.get_default_memory_pool = Pool
    cupy.RawModule = RawModule
    stream = stream_class(cupy.launches)
    current = stream()
    cupy.cuda = types.SimpleNamespace(
        Device=Device,
        Event=Event,
        alloc_pinned_memory=bytearray,
        get_current_stream=lambda: current,
        MemoryPool=MemoryPool,
        Stream=stream,
        using_allocator=using_allocator,
        get_local_runtime_version=lambda: 13020,
        is_available=lambda: True,
        memory=types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        runtime=types.SimpleNamespace(
            driverGetVersion=lambda: 13010,
            getDeviceCount=lambda: 1,
            getDeviceProperties=lambda device: {"name": b"NumPy in disguise"},
            runtimeGetVersion=lambda: 13020,
        ),
    )
    return cupy


class Namespace(types.ModuleType):
    """As array_api_compat.cupy: NumPy's main namespace follows the same standard."""

    def __getattr__(self, name):
        found = getattr(np, name)
        return wrapped(found) if callable(found) and not isinstance(found, type) else found


def make_namespace(cupy):
    """Return a module like array_api_compat.cupy."""
    xp = Namespace("array_api_compat.cupy")
    xp.linalg = types.SimpleNamespace(svd=wrapped(np.linalg.svd))
    xp.asarray = lambda data, dtype=None, device=None: asarray(data, dtype)
    xp.astype = lambda x, dtype, copy=True: x.astype(dtype, copy=copy)
    return xp
