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
from backends.cpu.numpy_backend import NumpyBackend
from backends.cuda import FILES, REALS, options, source
from backends.cuda.arguments import plan_of
from backends.cuda.elementwise import OPTIONS
from backends.cuda.kernel_text import KernelText
from nd.activations import ACTIVATIONS, get_activation
from nd.recurrent.lstm import Lstm, LstmWeights
from nd.recurrent.simple import SimpleRnnLoop, SimpleWeights
from optimize.updaters import UPDATERS
from tests.cells import every_row

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
        absent = f"the kernels cannot be compiled: {PACKAGE} is not installed (it is of the extra test)"
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
@pytest.mark.slow
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


ELEMENTWISE = sorted(name for name, kind in ACTIVATIONS.items() if not kind.over_rows)


def formulas():
    """Yield every activation and updater as a formula, with how many arrays and numbers it takes."""
    for name in ELEMENTWISE:
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
        texts.append(KernelText(formula, arguments, (), plan_of(arguments, ()), nd.use_backend).elementwise())
    return apart(texts)


class Noting(NumpyBackend):
    """NumPy, which takes formulas and lays memory out as CuPy does, and notes what kernels would be made for."""

    compiles = joins_products = True

    def __init__(self):
        super().__init__(threads=1)
        self.calls, self._inside = {}, False

    def run_formula(self, formula, arguments, current):
        outermost, self._inside = not self._inside, True
        if outermost:
            self.calls.setdefault((id(formula), len(arguments)), (formula, arguments))
        super().run_formula(formula, arguments, current)
        self._inside = not outermost


def through_time(backend, dtype, activation, gate, peepholes, masked):
    """Send series through recurrent units and back; return outputs and gradients of an LSTM and of simple units."""
    rng, (n, c, t, h) = np.random.default_rng(3), (3, 4, 5, 6)
    x, epsilon, mask = rng.normal(size=(n, c, t)), rng.normal(size=(n, h, t)), rng.integers(0, 2, (n, t))
    sizes = [(4, c, h), (4, h, h), (4, 1, h), *[(1, h)] * (3 if peepholes else 0)]
    with nd.use_backend(backend):
        x, epsilon = nd.create(x, dtype), nd.create(epsilon, dtype)
        mask = nd.create(mask, dtype) if masked else None
        parts = [nd.create(rng.normal(0.0, 0.3, size), dtype) for size in sizes]
        slopes = [nd.zeros(*size, dtype=dtype) for size in sizes]
        of_lstm = [LstmWeights(*each[:3], tuple(each[3:]) if peepholes else None) for each in (parts, slopes)]
        of_simple = [SimpleWeights(W[0], RW[0], b[0]) for W, RW, b, *_ in (parts, slopes)]
        state, results = [nd.zeros(n, h, dtype=dtype)] * 2, []
        units = (Lstm(get_activation(activation), get_activation(gate)), SimpleRnnLoop(get_activation(activation)))
        for loop, (weights, gradients) in zip(units, (of_lstm, of_simple), strict=True):
            buffer = nd.fresh_buffers(dtype)
            kept = {}
            passed = loop.forward(x, weights, state, mask, lambda *key: kept.setdefault(key, buffer(*key)))  # noqa: B023
            results += [np.array(passed.h)]
            below = loop.backward(epsilon, passed, weights, gradients, buffer, True)
            results += [np.array(each) for each in (below, *slopes)]
        return results


STEPS = {
    f"{activation}, {gate}{', peepholes' * peepholes}{', masked' * masked}": (activation, gate, peepholes, masked)
    for activation, gate in (("tanh", "sigmoid"), ("leakyrelu", "hardsigmoid"), ("swish", "softplus"))
    for peepholes in (False, True)
    for masked in (False, True)
}


@every_row("name", STEPS)
def test_steps_as_formulas_compute_what_steps_compute(name):
    found, expected = (
        through_time(backend, "float64", *STEPS[name]) for backend in (Noting(), NumpyBackend(threads=1))
    )
    for result, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(result, other, rtol=1e-12, atol=1e-12)


COMPILED = [
    STEPS[name] for name in ("tanh, sigmoid", "tanh, sigmoid, masked", "leakyrelu, hardsigmoid, peepholes, masked")
]


def kernels_of_steps(dtype):
    """Return the text of every kernel of recurrent layers."""
    texts = []
    for case in COMPILED:
        noting = Noting()
        through_time(noting, dtype, *case)
        for formula, arguments in noting.calls.values():
            known = [memory_like(x) for x in arguments]
            plan = plan_of(known, formula.scratch)
            texts.append(KernelText(formula.formula, known, formula.scratch, plan, nd.use_backend).elementwise())
    return apart(texts)


def apart(texts):
    """Return kernels in namespaces of their own, without the files that they share."""
    bodies = [text[text.index('#line 1 "formula"') :] for text in texts]
    return [
        f"namespace k{number} {{\n{body.replace(' formula(', f' formula_{number}(')}}}\n"
        for number, body in enumerate(bodies)
    ]


@for_architectures
def test_every_formula_compiles(nvrtc, architectures, how):
    texts = {dtype: formula_kernels(dtype) for dtype in ("float32", "float64")}
    assert len(texts["float32"]) == 2 * len(ELEMENTWISE) + len(UPDATERS)
    assert_compiles(nvrtc, texts, architectures, how)


@for_architectures
@pytest.mark.slow
def test_every_step_of_recurrent_layers_compiles(nvrtc, architectures, how):
    texts = {dtype: kernels_of_steps(dtype) for dtype in ("float32", "float64")}
    # Of both kinds forward, back, and back from the last step; the slopes of all steps of simple units.
    assert len(texts["float32"]) == 7 * len(COMPILED)
    assert_compiles(nvrtc, texts, architectures, how)


def assert_compiles(nvrtc, texts, architectures, how):
    """Compile the kernels of both dtypes for architectures."""

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
