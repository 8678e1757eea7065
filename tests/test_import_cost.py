"""Importing the library costs little more than importing numpy, and brings in nothing that is optional."""

import subprocess
import sys
import time

EXTRA_SECONDS = 0.5
ROUNDS = 3
STAYS_OUT = {
    "array_api_compat", "cupy", "matplotlib", "onnx", "pandas", "pooch", "pyarrow", "requests", "scipy", "sklearn",
    "tensorboardX", "torch", "tqdm",
}  # fmt: skip


def seconds(code):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
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


def test_imports_take_little_longer_than_numpy():
    rounds = [(seconds("import numpy"), seconds("import nd, nn, optimize")) for _ in range(ROUNDS)]
    numpy_alone, library = (min(times) for times in zip(*rounds, strict=True))
    assert library - numpy_alone <= EXTRA_SECONDS
