"""Importing the library costs little more than importing numpy, and brings in nothing that is optional."""

import os
import subprocess
import sys
import time

EXTRA_SECONDS = 0.5
ROUNDS = 3
STAYS_OUT = {
    "array_api_compat", "cupy", "matplotlib", "onnx", "pandas", "pooch", "pyarrow", "requests", "scipy", "sklearn",
    "tensorboardX", "torch", "tqdm",
}  # fmt: skip


def seconds(code, cache):
    """Time a program whose modules' bytecode is in a folder, as that of installed packages is beside them."""
    written = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env={**written, "PYTHONPYCACHEPREFIX": str(cache)})
    return time.perf_counter() - start


def top_level_modules(code):
    """Names of what `code` imports at the top level, its own interpreter's startup included."""
    code = f"import sys; {code}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    return set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())


def test_imports_bring_in_nothing_optional():
    loaded = top_level_modules("import nd, nn, optimize, nd.dataset, nd.evaluation, nd.serde")
    assert {"nd", "nn", "optimize", "numpy"} <= loaded
    assert loaded & STAYS_OUT == set()


def test_the_look_into_the_modules_finds_what_is_there():
    assert "array_api_compat" in top_level_modules("import array_api_compat")


def test_imports_take_little_longer_than_numpy(tmp_path):
    codes = ("import numpy", "import nd, nn, optimize")
    first, *rounds = [[seconds(code, tmp_path) for code in codes] for _ in range(1 + ROUNDS)]
    assert first[1] > min(times[1] for times in rounds)  # it wrote the bytecode
    numpy_alone, library = (min(times) for times in zip(*rounds, strict=True))
    assert library - numpy_alone <= EXTRA_SECONDS
