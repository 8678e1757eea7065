"""Every kernel compiles for every GPU generation that we name. NVRTC does that without a GPU."""

import ctypes
import os
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata, resources

import pytest

from backends.cuda import FILES, REALS, options, source

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
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
        line.split("(")[0].split()[-1] for line in source().splitlines() if line.startswith('extern "C" __global__')
    ]


def test_every_file_is_part_of_the_text():
    folder = resources.files("backends.cuda")
    assert sorted(FILES) == sorted(file.name for file in folder.iterdir() if file.name.endswith(".cu"))
    for name in FILES:
        assert folder.joinpath(name).read_text("utf-8") in source()


def test_every_kernel_compiles_for_every_architecture(nvrtc):
    cases = [(real, architecture) for real in REALS.values() for architecture in ARCHITECTURES]

    def compiled(case):
        real, architecture = case
        added_by_cupy = "--device-as-default-execution-space", f"--gpu-architecture={architecture}"
        return compile_to_cubin(nvrtc, source(), (*options(real), *added_by_cupy))

    with ThreadPoolExecutor(2) as pool:
        results = dict(zip(cases, pool.map(compiled, cases), strict=True))
    for case, (status, log, code) in results.items():
        assert (case, status, log) == (case, 0, "")  # no warnings either
        assert code.startswith(b"\x7fELF"), case
        assert [name for name in kernel_names() if name.encode() not in code] == [], case
    assert len({code for _, _, code in results.values()}) == len(cases)


@pytest.mark.parametrize("real", list(REALS.values()))
@pytest.mark.parametrize("file", FILES)
def test_a_broken_kernel_is_noticed(nvrtc, real, file):
    text = (
        source() + f'#line 5 "{file}"\nextern "C" __global__ void broken(real *x) {{ x[0] = nothing_of_that_name; }}\n'
    )
    status, log, code = compile_to_cubin(nvrtc, text, (*options(real), "--gpu-architecture=sm_75"))
    assert status != 0
    assert f'{file}(5): error: identifier "nothing_of_that_name" is undefined' in log
    assert code == b""
