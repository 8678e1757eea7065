"""Every kernel compiles for every GPU generation that we name. NVRTC does that without a GPU."""

import ctypes
import os
import re
import types
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata, resources

import numpy as np
import pytest

import nd
from backends.cuda import FILES, REALS, options, source
from backends.cuda.arguments import plan_of
from backends.cuda.elementwise import OPTIONS
from backends.cuda.kernel_text import KernelText
from nd.activations import ACTIVATIONS
from optimize.updaters import UPDATERS

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
QUICKLY = ("--Ofast-compile=max",)
"""The same errors and warnings, and slower code, in a quarter of the time."""
PACKAGE = "nvidia-cuda-nvrtc"


@pytest.fixture(scope="module")
def nvrtc():
    """The library of the pip package."""
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        files = []
    libraries = [file.locate() for file in files if file.name.startswith("libnvrtc.so")]
    if not libraries:
        absent = f"the kernels cannot be compiled: {PACKAGE} is not installed (pip install 'ndwright[test]')"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(absent)
    return ctypes.CDLL(str(libraries[0]))


def compile_to_cubin(nvrtc, text, flags):
    """Return NVRTC's status (0 is success), its log, and the machine code."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None) == 0
    status = nvrtc.nvrtcCompileProgram(program, len(flags), (ctypes.c_char_p * len(flags))(*map(str.encode, flags)))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    code = ctypes.create_string_buffer(0)
    if status == 0:
        assert nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)) == 0
        code = ctypes.create_string_buffer(size.value)
        assert nvrtc.nvrtcGetCUBIN(program, code) == 0
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return status, log.value.decode(), code.raw


def kernel_names():
    return [
        re.sub(r"__launch_bounds__\(\d+\)", "", line).split("(")[0].split()[-1]
        for line in source().splitlines()
        if line.startswith('extern "C" __global__')
    ]


def test_every_file_is_part_of_the_text():
    folder = resources.files("backends.cuda")
    assert sorted(FILES) == sorted(file.name for file in folder.iterdir() if file.name.endswith(".cu"))
    for name in FILES:
        assert folder.joinpath(name).read_text("utf-8") in source()


for_architectures = pytest.mark.parametrize(
    ("architectures", "how"),
    [
        pytest.param(ARCHITECTURES[-1:], QUICKLY, id="newest"),
        pytest.param(ARCHITECTURES, (), id="every", marks=pytest.mark.slow),
    ],
)


@for_architectures
def test_every_kernel_compiles(nvrtc, architectures, how):
    cases = [(real, architecture) for real in REALS.values() for architecture in architectures]

    def compiled(case):
        real, architecture = case
        added_by_cupy = "--device-as-default-execution-space", f"--gpu-architecture={architecture}"
        return compile_to_cubin(nvrtc, source(), (*options(real), *added_by_cupy, *how))

    with ThreadPoolExecutor(2) as pool:
        results = dict(zip(cases, pool.map(compiled, cases), strict=True))
    for case, (status, log, code) in results.items():
        assert (case, status, log) == (case, 0, "")  # no warnings either
        assert code.startswith(b"\x7fELF"), case
        assert [name for name in kernel_names() if name.encode() not in code] == [], case
    assert len({code for _, _, code in results.values()}) == len(cases)


def formulas():
    """Yield every activation and updater as a formula, with how many arrays and numbers it takes."""
    for name in sorted(ACTIVATIONS.keys() - {"softmax"}):
        activation = ACTIVATIONS[name]()
        yield lambda z, a, f=activation: f.value(z, a), 2, 0
        yield lambda z, a, e, f=activation: nd.muli(f.backprop(z, a, e, e), 2.0), 3, 0
    for kind in UPDATERS.values():
        updater = kind()
        states, numbers = len(updater.state_names), len(updater.coefficients(0, 0))

        def update(params, gradient, scratch, *rest, updater=updater, states=states):
            updater.apply(gradient, rest[:states], scratch, rest[states:])
            nd.subi(params, gradient)

        yield update, 3 + states, numbers


def memory_like(x):
    """Return as much of a cupy.ndarray as the text of a kernel depends on."""
    data = types.SimpleNamespace(ptr=x.ctypes.data)
    return types.SimpleNamespace(
        ndim=x.ndim, dtype=x.dtype, shape=x.shape, strides=x.strides, itemsize=x.itemsize, data=data
    )


def formula_kernels(dtype):
    """Return the text of a kernel for each formula, over arrays that lie along two axes."""
    texts = []
    for formula, arrays, numbers in formulas():
        memory = [np.ones((3, 4, 5), dtype)[:, ::2] for _ in range(arrays)]
        arguments = [*map(memory_like, memory), *[0.5] * numbers]
        text = KernelText(formula, arguments, (), plan_of(arguments, ()), nd.use_backend).elementwise()
        body = text[text.index('#line 1 "formula"') :].replace(" formula(", f" formula_{len(texts)}(")
        texts.append(f"namespace k{len(texts)} {{\n{body}}}\n")
    return texts


@for_architectures
def test_every_formula_compiles(nvrtc, architectures, how):
    texts = {dtype: formula_kernels(dtype) for dtype in ("float32", "float64")}
    assert len(texts["float32"]) == 2 * (len(ACTIVATIONS) - 1) + len(UPDATERS)

    def compiled(case):
        dtype, architecture = case
        flags = (*options(REALS[np.dtype(dtype).char]), *OPTIONS, f"--gpu-architecture={architecture}", *how)
        return compile_to_cubin(nvrtc, source(("real.cu",)) + "".join(texts[dtype]), flags)

    cases = [(dtype, architecture) for dtype in texts for architecture in architectures]
    with ThreadPoolExecutor(2) as pool:
        for case, (status, log, code) in zip(cases, pool.map(compiled, cases), strict=True):
            assert (case, status, log) == (case, 0, "")
            names = [f"formula_{number}".encode() for number in range(len(texts[case[0]]))]
            assert [name for name in names if name not in code] == []


@pytest.mark.parametrize("real", list(REALS.values()))
def test_broken_kernels_are_noticed_and_their_files_are_named(nvrtc, real):
    text = source()
    for number, file in enumerate(FILES):
        text += (
            f'#line 5 "{file}"\nextern "C" __global__ void broken_{number}(real *x) {{ x[0] = nothing_{number}; }}\n'
        )
    status, log, code = compile_to_cubin(nvrtc, text, (*options(real), "--gpu-architecture=sm_75"))
    assert status != 0
    for number, file in enumerate(FILES):
        assert f'{file}(5): error: identifier "nothing_{number}" is undefined' in log
    assert code == b""
