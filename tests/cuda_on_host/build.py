"""Builds the host CUDA for the CuPy that is installed: the libraries, and CuPy's runtime module from its own source.

Everything is kept in a folder by the content that it was made of, so that a second build takes no time.
"""

import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).parent
SOURCES = HERE / "library"
KNOWN = ("14.0.0", "14.2.0")
"""Releases of CuPy that have been tried: with the last one the whole suite passes, with the others at least the tests
of the backends."""

LIBRARIES = {
    "libcudart.so.13": ("streams", "graphs", "memory", "copies", "device", "blocks"),
    "libnvrtc.so.13": ("nvrtc",),
    "libcuda.so.1": ("driver",),
    "libnvJitLink.so.13": (),
    "libcublasLt.so.13": (),
    "libcublas.so.13": ("cublas",),
    "libcusolver.so.12": ("cusolver",),
    "libcusparse.so.12": (),
}
"""In the order in which they are loaded; each knows those before it."""
NEEDING = {
    "libcublas.so.13": "cupy_backends/cuda/libs/cublas",
    "libcusolver.so.12": "cupy_backends/cuda/libs/cusolver",
    "libcusparse.so.12": "cupy_backends/cuda/libs/cusparse",
}
"""The modules of CuPy that name functions of a library: those that we do not have say so when they are called."""
RUNTIME = "cupy_backends/cuda/api/runtime"


class HostCudaError(RuntimeError):
    """The host CUDA cannot be built here."""


def build(folder):
    """Return the folder inside of `folder` that holds the libraries for the installed CuPy; make what is missing."""
    _check_machine()
    version = cupy_version()
    made = folder / f"cupy-{version}-{_key(version)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # of those who build at the same time one does
            if not made.exists():
                _build_into(made, folder, version)
    except OSError as error:
        raise HostCudaError(f"{folder} must be a folder that can be written and has room, got {error}") from error
    return made


def _check_machine():
    """Raise HostCudaError unless what is needed beside the packages is here."""
    if shutil.which("g++") is None:
        raise HostCudaError("the host CUDA needs g++ to be installed")
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise HostCudaError(f"the host CUDA needs Linux on x86-64, got {platform.system()} on {platform.machine()}")
    header = pathlib.Path(sysconfig.get_path("include")) / "Python.h"
    if not header.exists():
        raise HostCudaError(
            f"the host CUDA needs Python's headers, got no {header}; on Debian: apt-get install python3-dev"
        )


def _build_into(made, folder, version):
    work = pathlib.Path(tempfile.mkdtemp(dir=folder))
    try:
        _build_libraries(work)
        _build_runtime(work, version)
        _precompile_headers(work)
        shutil.copy(HERE / "thrust.py", work)
        work.replace(made)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def cupy_version():
    """Return the version of the installed CuPy, which has to be one that is known."""
    try:
        version = importlib.metadata.version("cupy-cuda13x")
    except importlib.metadata.PackageNotFoundError:
        raise HostCudaError("the host CUDA needs the package cupy-cuda13x to be installed") from None
    if version not in KNOWN:
        raise HostCudaError(
            f"the host CUDA is known to fit CuPy {', '.join(KNOWN)}, got {version}. Add it to KNOWN in "
            "tests/cuda_on_host/build.py, and see whether the whole suite passes."
        )
    return version


def _key(version):
    compiler = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    made_of = [version, compiler, sys.version, _headers_version()]
    made_of += [
        path.read_text()
        for path in [*sorted(SOURCES.rglob("*.*")), HERE / "thrust.py", pathlib.Path(__file__)]
        if path.is_file()
    ]
    return hashlib.sha256("\n".join(made_of).encode()).hexdigest()[:16]


def _headers_version():
    try:
        return " ".join(importlib.metadata.version(f"nvidia-cuda-{part}") for part in ("runtime", "crt", "nvrtc"))
    except importlib.metadata.PackageNotFoundError as error:
        raise HostCudaError(f"the host CUDA needs CUDA's headers, got no package {error.name}") from None


def includes():
    """Return the compiler's options for CUDA's headers."""
    package = importlib.util.find_spec("nvidia")
    folders = [pathlib.Path(place) / "cu13" / "include" for place in package.submodule_search_locations]
    found = [f"-I{each}" for each in folders if each.is_dir()]
    if not found:
        raise HostCudaError(
            f"CUDA's headers must be in nvidia/cu13/include, got none in {', '.join(map(str, folders))}"
        )
    return found


def run(command, folder=None):
    """Run a program; what it prints is in the error if it fails."""
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise HostCudaError(
            f"{' '.join(map(str, command[:3]))} ... failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        )
    return done.stdout


def _build_libraries(folder):
    objects = {name: folder / f"{name}.o" for names in LIBRARIES.values() for name in names}
    compiler = ["g++", "-std=c++17", "-O2", "-fPIC", *includes()]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda name: run([*compiler, "-c", SOURCES / f"{name}.cpp", "-o", objects[name]]), objects))
    before = []
    for library, names in LIBRARIES.items():
        own = [objects[name] for name in names]
        missing, version = _missing(library, own, folder)
        options = []
        if missing:
            own.append(_stubs(folder / f"{library}.stubs", missing))
        if version:
            script = folder / f"{library}.map"
            script.write_text(f"{version} {{ global: *; }};\n")
            options.append(f"-Wl,--version-script={script}")
        shared = [
            "-shared",
            "-Wl,--no-undefined",
            f"-Wl,-soname,{library}",
            "-Wl,-rpath,$ORIGIN",
            *options,
            *own,
            *before,
            "-ldl",
        ]
        run(["g++", *shared, "-o", folder / library])
        before.append(folder / library)


def _precompile_headers(folder):
    """Compile what every kernel begins with: the compiler takes it if it is told the same as here and in nvrtc.cpp."""
    headers = folder / "headers"
    shutil.copytree(SOURCES / "headers", headers)
    package = pathlib.Path(importlib.util.find_spec("cupy").submodule_search_locations[0])
    told = ["-O1", "-w", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-fno-gnu-unique", "-std=c++17"]
    compiler = ["g++", *told, f"-I{headers}", f"-I{package / '_core' / 'include'}", "-x", "c++-header"]
    for name in ("kernel.h", "cupy_kernel.h"):
        run([*compiler, headers / name, "-o", headers / f"{name}.gch"])


def _missing(library, own, folder):
    """Return the functions that CuPy names and we do not have, and the version that its symbols carry."""
    if library == "libcudart.so.13":
        wanted, version = _runtime_functions(folder), ""
    elif library in NEEDING:
        lines = run(["nm", "-D", "--undefined-only", _module(NEEDING[library])])
        wanted = set(re.findall(rf"U (\w+)@{re.escape(library)}", lines))
        version = library
    else:
        return [], ""
    have = set()
    if own:
        have = set(re.findall(r" [TDB] (\w+)$", run(["nm", "--defined-only", *own]), re.M))
    return sorted(wanted - have), version


def _runtime_functions(folder):
    """Return what the runtime module may call: every function of CUDA's header that CuPy's source names."""
    text = (_cupy_source(cupy_version(), folder) / "cupy_backends/cuda/api/_runtime_extern.pxi").read_text()
    return set(re.findall(r"\b(cuda[A-Z]\w+)\(", text)) - {"cudaDeviceProp"} | {"cudaProfilerStart", "cudaProfilerStop"}


def _module(name):
    """Return the file of a compiled module of CuPy."""
    package = pathlib.Path(importlib.util.find_spec("cupy_backends").submodule_search_locations[0])
    found = sorted((package.parent / name).parent.glob(f"{pathlib.Path(name).name}.cpython-*.so"))
    if not found:
        raise HostCudaError(f"the installed CuPy has no module {name}: it is not one that the host CUDA knows")
    return found[0]


def _stubs(path, names):
    """Return functions that say what is not implemented."""
    text = "#include <cstdio>\n" + "".join(
        f'extern "C" int {name}() {{ fprintf(stderr, "not implemented: {name}\\n"); return 801; }}\n' for name in names
    )
    source = path.with_suffix(".cpp")
    source.write_text(text)
    run(["g++", "-fPIC", "-c", source, "-o", path.with_suffix(".o")])
    return path.with_suffix(".o")


def _cupy_source(version, folder):
    """Return CuPy's own source of that version, from the package index."""
    source, archive = folder / f"cupy-{version}", folder.parent / f"cupy-{version}.tar.gz"
    if not archive.exists():  # comes whole, by a move
        environment = {**os.environ, "READTHEDOCS": "True"}  # its setup then asks for no CUDA
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
        where = ["--no-binary", "cupy", "--dest", str(folder), f"cupy=={version}"]
        done = subprocess.run([*pip, *where], env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise HostCudaError(f"CuPy's source must be on the package index, got {done.stderr[-2000:]}")
        (folder / archive.name).replace(archive)
    if not source.exists():
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
    return source


def _build_runtime(folder, version):
    """Build CuPy's runtime module against our libcudart."""
    source = _cupy_source(version, folder)
    made = folder / "runtime.cpp"
    settings = "CUPY_CUDA_VERSION=13000,CUPY_HIP_VERSION=0,CUPY_USE_CUDA_PYTHON=0"
    cython = [sys.executable, "-m", "cython", "--cplus", "-3", "-E", settings]
    run([*cython, f"{RUNTIME}.pyx", "-o", made], folder=source)
    python = f"-I{sysconfig.get_path('include')}"
    headers = [f"-I{SOURCES / 'headers'}", python, f"-I{(source / RUNTIME).parent}", *includes()]
    shared = ["-shared", "-O1", "-w", "-fPIC", *headers, made, folder / "libcudart.so.13", "-Wl,-rpath,$ORIGIN"]
    run(["g++", *shared, "-o", folder / "runtime.so"])
    made.unlink()
    shutil.rmtree(source)


if __name__ == "__main__":
    try:
        print(build(pathlib.Path(sys.argv[1]).resolve()))
    except HostCudaError as error:
        sys.exit(f"cupy-check: {error}")
