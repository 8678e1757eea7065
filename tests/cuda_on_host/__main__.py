"""``make cupy-check``: the whole suite on the real CuPy, on a machine without a GPU.

    python -m tests.cuda_on_host FOLDER [--quick] [arguments of pytest]

It builds the host CUDA into FOLDER, which keeps it and every kernel for the next time, and runs every test on CuPy;
then those of networks and graphs again with work that waits, tight memory and threads in the opposite order. --quick
leaves out, of the first part, what asks for no backend.
"""

import os
import pathlib
import subprocess
import sys
import time

from .build import HostCudaError, cupy_version
from .install import install

HARD = "late,tight,reverse"
AGAIN = (
    "tests/backends", "tests/cuda_on_host", "tests/nn/layers", "tests/nn/transferlearning",
    "tests/nn/step/test_recorded.py", "tests/nn/networks/test_training.py", "tests/nn/files/test_resume.py",
    "tests/optimize/earlystopping", "tests/optimize/test_listeners.py",
)  # fmt: skip
"""What runs in the hard modes too."""


def run(what, modes, arguments):
    """Run tests; return whether they passed."""
    print(f"\n== {what}", flush=True)
    started = time.monotonic()
    environment = {
        **os.environ,
        "HOST_CUDA": modes,
        "ND_BACKEND": "numpy",
    }  # for tests that do not say on which backend
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist=worksteal", "--backend=cupy", *arguments]
    status = subprocess.run(command, env=environment, check=False).returncode
    print(f"== {what}: {'passed' if status == 0 else 'FAILED'}, {time.monotonic() - started:.0f} s", flush=True)
    return status == 0


def main(folder, *arguments):
    """Check; return the exit status."""
    quick = "--quick" in arguments
    arguments = [each for each in arguments if each != "--quick"]
    install(pathlib.Path(folder).resolve())
    print(f"CuPy {cupy_version()} on the host CUDA", flush=True)
    if arguments:
        return 0 if run("tests on CuPy", os.environ.get("HOST_CUDA", ""), arguments) else 1
    chosen = ["--needing=backend", "--needing=cupy", "--needing=any_backend"] if quick else []
    passed = run("tests on CuPy", "", chosen)
    return 0 if run(f"networks and graphs, {HARD}", HARD, AGAIN) and passed else 1


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except HostCudaError as error:
        sys.exit(f"cupy-check: {error}")
