"""`.ci/gpu-check` on a machine without a GPU: what it says at once, and, around a stand-in for Python, what it runs."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
SCRIPT = ROOT / ".ci" / "gpu-check"
FAKE_PYTHON = """#!/bin/bash
# Notes how it was called; fails where the arguments hold what FAIL says.
printf '%s\\n' "ND_BACKEND=$ND_BACKEND $*" >> "$LOG"
[ "$1" = - ] && cat > /dev/null
[ -n "$FAIL" ] && [[ "$*" == *"$FAIL"* ]] && exit 5
exit 0
"""
SANITIZER = """#!/bin/bash
echo "$SAYS"
printf '%s\\n' "compute-sanitizer $*" >> "$LOG"
[[ "$*" == *--tool* ]] && exit "$STATUS"
exit 0
"""


def run(*arguments, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("ND_", "CI", "PYTHON"))}
    return subprocess.run(
        [shutil.which("bash"), SCRIPT, *arguments],
        env={**clean, **environment}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def executable(path, text):
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def check(tmp_path):
    """Returns a function that runs the script with a stand-in for Python: exit code, last lines, calls."""
    executable(tmp_path / "python", FAKE_PYTHON)
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("bash", "cat", "dirname", "sed"):
        (tools / tool).symlink_to(shutil.which(tool) or sys.executable)
    defaults = {"ND_REFERENCE_DIR": tmp_path / "no", "ND_DATA_DIR": tmp_path / "no", "FAIL": ""}

    def checked(*arguments, **settings):
        log = tmp_path / "log"
        log.unlink(missing_ok=True)
        environment = {**defaults, "PYTHON": tmp_path / "python", "PATH": tools, "LOG": log, **settings}
        done = run(*arguments, **{name: str(value) for name, value in environment.items()})
        calls = log.read_text().splitlines() if log.exists() else []
        return done.returncode, done.stdout.split("== gpu-check:")[-1].splitlines()[1:], calls, done.stderr

    checked.tools = tools
    return checked


def suites(calls):
    return [call.split("pytest ")[1] for call in calls if "-m pytest" in call]


# ---- the real one, here


@pytest.fixture
def without_cupy(tmp_path):
    (tmp_path / "cupy.py").write_text("raise ModuleNotFoundError(\"No module named 'cupy'\", name='cupy')")
    return str(tmp_path)


def test_no_test_runs_without_the_backend_that_is_asked_for(without_cupy):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--backend=cupy", "tests/test_readme.py"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": without_cupy}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Exit: --backend=cupy: cupy: CuPy must be installed" in done.stdout


@pytest.mark.parametrize("options", [[], ["--device-only"]])
def test_without_cupy_it_fails_at_once_and_says_why(options, without_cupy):
    done = run(*options, PYTHON=sys.executable, PYTHONPATH=without_cupy)
    assert (done.returncode, done.stdout) == (1, "")
    first, last = done.stderr.splitlines()
    assert first.startswith("cupy: ")
    assert last == "gpu-check: FAILED, nothing was checked: no device to check on (see above)"


@pytest.mark.parametrize(("argument", "status"), [("--help", 0), ("--nonsense", 2)])
def test_it_explains_itself(argument, status):
    done = run(argument, PYTHON="false")
    assert done.returncode == status
    for word in ("--no-bench", "--device-only", "PYTHON", "ND_REFERENCE_DIR", "ND_DATA_DIR"):
        assert word in done.stdout


# ---- around the stand-in for Python


def test_what_it_leaves_out_without_files_and_tools(check):
    status, summary, calls, _ = check("--no-bench")
    assert status == 0
    assert summary[0].startswith("tests on CuPy: passed, ")
    assert summary[1:] == [
        "Java's numbers: left out, their files are neither in ND_REFERENCE_DIR nor in ../shared/reference",
        "MNIST: left out, it is neither in ND_DATA_DIR nor in ../shared/data",
        "compute-sanitizer: left out, it is not on PATH",
        "benchmark: left out, --no-bench",
        "gpu-check: passed",
    ]
    assert suites(calls) == ["--backend=cupy --without=reference --without=mnist_folder"]
    assert all(call.startswith("ND_BACKEND=numpy") for call in calls)


def test_only_the_device(check):
    assert check("--device-only")[0] == 0
    assert [call.split()[1] for call in check("--device-only")[2]] == ["-"]


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        (("reference/dl4j", "data/mnist"), "--needing=reference --needing=mnist_folder -m slow or not slow"),
        (("reference/dl4j",), "--needing=reference --without=mnist_folder -k not Lenet"),
        (("data/mnist",), "--needing=mnist_folder --without=reference -m slow or not slow"),
    ],
)
def test_files_that_are_there_are_used(present, expected, check, tmp_path):
    for folder in present:
        (tmp_path / folder).mkdir(parents=True)
    folders = {"ND_REFERENCE_DIR": tmp_path / "reference", "ND_DATA_DIR": tmp_path / "data"}
    status, summary, calls, _ = check("--no-bench", **folders)
    assert status == 0
    assert suites(calls)[1:] == [f"--backend=cupy {expected}"]
    assert sum(line.startswith(("Java's numbers: left out", "MNIST: left out")) for line in summary) == 2 - len(present)


def test_a_part_that_fails_does_not_keep_the_others_from_running(check):
    status, summary, calls, _ = check(FAIL="pytest --backend")
    assert status == 1
    assert summary[0].startswith("tests on CuPy: FAILED (exit code 5), ")
    assert summary[-2].startswith("benchmark: passed, ")
    assert summary[-1] == "gpu-check: FAILED"
    assert calls[-1].endswith("benchmarks/lenet_gpu.py --rounds 5 --epochs 3 --no-compile")


@pytest.mark.parametrize(
    ("fail", "message"),
    [("-", "no device to check on (see above)"), ("array_api_strict", "needs the packages of ndwright[test]")],
)
def test_what_must_be_there_is_looked_for_first(fail, message, check):
    status, _, calls, error = check(FAIL=fail)
    assert status == 1
    assert message in error
    assert suites(calls) == []


def test_without_pytorch_the_benchmark_is_left_out(check):
    status, summary, calls, _ = check(FAIL="torch")
    assert status == 0
    assert summary[-2].endswith("has no PyTorch that sees the device")
    assert not any("lenet_gpu" in call for call in calls)


@pytest.mark.parametrize(("found", "expected"), [(0, "passed"), (1, "FAILED (exit code 1)")])
def test_the_sanitizers_exit_code_counts(found, expected, check):
    executable(check.tools / "compute-sanitizer", SANITIZER)
    status, summary, calls, _ = check("--no-bench", SAYS="", STATUS=found)
    assert status == found
    for number, tool in enumerate(("memcheck", "racecheck")):
        assert summary[3 + number].startswith(f"compute-sanitizer {tool}: {expected}, ")
    tools = [call for call in calls if "--tool" in call]
    assert len(tools) == 2
    assert all("--error-exitcode 1" in call and call.endswith("tests/backends/test_every_kernel.py") for call in tools)


def test_a_device_that_the_sanitizer_does_not_take(check):
    executable(check.tools / "compute-sanitizer", SANITIZER)
    status, summary, calls, _ = check("--no-bench", SAYS="Error: Device not supported. Please refer to", STATUS=1)
    assert status == 0
    assert "compute-sanitizer: left out, it does not support this device" in summary
    assert not any("--tool" in call for call in calls)
