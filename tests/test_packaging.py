"""What is distributed: every file that the packages and their tests need, and types that a type checker sees."""

import ast
import email
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile

import numpy
import pytest

import ndwright
from tests.source_files import FLOORS as PACKAGES

ROOT = pathlib.Path(__file__).parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())

USER = """
import nd
from nd.dataset import DataSet, IrisDataSetIterator
from nd.evaluation import Evaluation
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.layers import LAYERS
from optimize import Adam, ScoreIterationListener

conf = NeuralNetConfiguration(seed=1, updater=Adam(0.01)).list(
    DenseLayer(n_in=4, n_out=8, activation="tanh"), OutputLayer(n_in=8, n_out=3, activation="softmax")
)
net = MultiLayerNetwork(conf).init()
net.set_listeners(ScoreIterationListener(10))
net.fit(IrisDataSetIterator(50), epochs=2)
evaluation: Evaluation = net.evaluate(IrisDataSetIterator(150))
accuracy: float = evaluation.accuracy()
layer = LAYERS["dense"]
"""
FAULTS = {  # a line that is wrong -> what mypy says of it
    "from nn import DenseLayr": 'Module "nn" has no attribute "DenseLayr"',
    "nd.zeroes(3)": 'Module has no attribute "zeroes"',
    "net.fitt(3)": '"MultiLayerNetwork" has no attribute "fitt"',
    'net.fit(nd.zeros(2), epochs="3")': 'Argument "epochs" to "fit" of "Trainable" has incompatible type "str"',
    "Adam(rate=1)": 'Unexpected keyword argument "rate" for "Adam"',
    'DenseLayer(n_out="3")': 'Argument "n_out" to "DenseLayer" has incompatible type "str"',
    'accuracy = evaluation.stats()': "Incompatible types in assignment",
    'LAYERS["dense"] = DenseLayer': "Unsupported target for indexed assignment",
}  # fmt: skip


NOT_DISTRIBUTED = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist", "target", "target-*", "*.pyc")
HIDDEN = {".ci", ".gitignore"}
"""What is distributed though its name begins with a point: caches and environments are not."""


def not_distributed(folder, names):
    """Return which names of a folder of the tree no distribution has, for `shutil.copytree`."""
    return NOT_DISTRIBUTED(folder, names) | {name for name in names if name[:1] == "." and name not in HIDDEN}


def data_files():
    """Return all files of the packages that are not Python's."""
    paths = [path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file()]
    return [pathlib.PurePosixPath(path.relative_to(ROOT)) for path in paths if path.suffix not in (".py", ".pyc")]


def test_all_files_of_the_packages_are_installed():
    patterns = SETTINGS["tool"]["setuptools"]["package-data"]

    def is_installed(path):
        """Whether a pattern of a package that is a folder above holds for the rest of the path."""
        above = [folder for folder in path.parents if ".".join(folder.parts) in patterns]
        return any(
            fnmatch.fnmatch(str(path.relative_to(folder)), pattern)
            for folder in above
            for pattern in patterns[".".join(folder.parts)]
        )

    paths = data_files()
    assert len(paths) > 10
    assert [str(path) for path in paths if not is_installed(path)] == []


def test_every_package_says_that_it_is_typed():
    assert [name for name in PACKAGES if not (ROOT / name / "py.typed").is_file()] == []


def test_the_licences_of_the_data_are_among_the_licences():
    listed = SETTINGS["project"]["license-files"]
    assert [name for name in listed if not (ROOT / name).is_file()] == []
    assert {str(path) for path in data_files() if path.suffix == ".md"} <= set(listed)


def test_the_version_is_said_once():
    assert "version" in SETTINGS["project"]["dynamic"]
    assert SETTINGS["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "ndwright.__version__"}
    line = next(line for line in (ROOT / "ndwright/__init__.py").read_text().splitlines() if "__version__ =" in line)
    assert ast.literal_eval(line.partition(" = ")[2]) == ndwright.__version__  # which setuptools reads, not runs


def test_each_package_has_the_mark_by_which_it_is_known():
    texts = [(ROOT / name / "__init__.py").read_text() for name in PACKAGES if name != "ndwright"]
    assert [ndwright.origins.MARK in text for text in texts] == [True] * 4


def test_the_long_description_has_no_links_that_lead_nowhere_in_an_index():
    text = (ROOT / SETTINGS["project"]["readme"]).read_text()
    assert [link for link in re.findall(r"\]\(([^)]*)\)", text) if not link.startswith("https://")] == []


def test_numpy_is_the_only_dependency():
    assert [re.match(r"[\w-]+", line).group() for line in SETTINGS["project"]["dependencies"]] == ["numpy"]


@pytest.mark.slow
def test_a_users_type_checker_sees_the_types(tmp_path):
    """As from an installation: mypy reads packages of site-packages only where they say that they are typed."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    site = next((tmp_path / "venv").rglob("site-packages"))
    for name in PACKAGES:
        (site / name).symlink_to(ROOT / name)
    (site / "numpy").symlink_to(pathlib.Path(sysconfig.get_path("purelib")) / "numpy")
    python = tmp_path / "venv" / "bin" / "python"
    program = tmp_path / "program.py"

    def mypy(text):
        program.write_text(text)
        command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(python), str(program)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        return [line.partition(" error: ")[2] for line in done.stdout.splitlines() if " error: " in line]

    assert mypy(USER) == []
    said = mypy(USER + "\n".join(FAULTS))
    assert len(said) == len(FAULTS)
    assert [fault for fault in FAULTS.values() if not any(line.startswith(fault) for line in said)] == []


# ---- the distributions themselves


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A source distribution and a wheel, made from a copy of the tree: their paths."""
    pytest.importorskip("setuptools", minversion="77", reason="an older setuptools does not know licence expressions")
    folder = tmp_path_factory.mktemp("built")
    shutil.copytree(ROOT, folder / "tree", ignore=not_distributed)
    for build in ("build_sdist", "build_wheel"):
        run("-c", f"from setuptools import build_meta as b; b.{build}('..')", cwd=folder / "tree")
    return next(folder.glob("*.tar.gz")), next(folder.glob("*.whl"))


def run(*arguments, cwd, **settings):
    """Run Python without what the tests' own process has on its path; return what it prints."""
    environment = {
        name: text for name, text in os.environ.items() if name not in ("PYTHONPATH", "CI", "PYTEST_ADDOPTS")
    }
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd, env=environment | settings, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


@pytest.mark.slow
def test_the_source_distribution_has_every_file_and_no_other(built, tmp_path):
    with tarfile.open(built[0]) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    tree = built[0].parent / "tree"

    def names(folder):
        paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
        own = {"PKG-INFO", "setup.cfg", "build", "ndwright.egg-info"}  # which the build makes
        return {path for path in paths if path.parts[0] not in own and path.suffix != ".pyc"}

    assert len(names(tree)) > 1000
    assert names(unpacked) == names(tree)
    quick = ("tests/test_packaging.py", "tests/test_ndwright.py", "tests/test_readme.py", "tests/test_docs.py")
    said = run("-m", "pytest", *quick, "tests/nd/test_create.py", cwd=unpacked)
    assert "failed" not in said


@pytest.mark.slow
def test_a_wheel_has_the_packages_and_says_what_it_is(built, tmp_path):
    with zipfile.ZipFile(built[1]) as wheel:
        wheel.extractall(tmp_path / "site")
    files = {path.relative_to(tmp_path / "site") for path in (tmp_path / "site").rglob("*") if path.is_file()}
    expected = {path.relative_to(ROOT) for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file()}
    assert {path for path in files if "dist-info" not in str(path)} == {
        path for path in expected if path.suffix != ".pyc"
    }
    said = email.message_from_string(next((tmp_path / "site").glob("*.dist-info/METADATA")).read_text())
    assert (said["Name"], said["Version"]) == ("ndwright", ndwright.__version__)
    assert said["License-Expression"] == "Apache-2.0 AND CC-BY-4.0"
    assert set(said.get_all("License-File")) == set(SETTINGS["project"]["license-files"])


@pytest.mark.slow
def test_what_another_distribution_does_to_ours_is_undone_by_what_the_message_says(built, tmp_path):
    """A package nn from an index is installed over ours and removed again, in an environment of its own."""
    run("-m", "venv", "--without-pip", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    for folder in pathlib.Path(numpy.__file__).parents[1].glob("numpy*"):
        (site / folder.name).symlink_to(folder)
    theirs = tmp_path / "neural-1.0-py3-none-any.whl"
    with zipfile.ZipFile(theirs, "w") as wheel:
        wheel.writestr("nn/__init__.py", "")
        wheel.writestr("neural-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: neural\nVersion: 1.0\n")
        wheel.writestr("neural-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("neural-1.0.dist-info/RECORD", "nn/__init__.py,,\nneural-1.0.dist-info/RECORD,,\n")

    def pip(*arguments):
        run("-m", "pip", "--python", python, "--disable-pip-version-check", *arguments, cwd=tmp_path)

    def run_as(*command):
        environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    pip("install", "--no-deps", "--no-index", "--force-reinstall", built[1])
    assert run_as(python, "-m", "ndwright")[0] == 0
    pip("install", "--no-deps", "--no-index", theirs)
    status, said = run_as(python, "-m", "ndwright")
    remedy = f"Run: pip uninstall neural, then pip install --force-reinstall --no-deps {built[1]}."
    assert status == 1
    assert said.rstrip().endswith(f"got another one, written over {site}/nn/__init__.py. {remedy}")
    pip("uninstall", "-y", "neural")
    status, said = run_as(python, "-c", "import ndwright")
    assert f"must have {site}/nn/__init__.py, got no such file. Run: pip install --force-reinstall" in said
    pip("install", "--force-reinstall", "--no-deps", built[1])
    assert run_as(python, "-m", "ndwright")[0] == 0
    (site / "nn" / "layers" / "__init__.py").write_text("")
    status, said = run_as(python, "-m", "ndwright")
    assert (status, said.splitlines()[-1]) == (1, "files that are not as they were installed: nn/layers/__init__.py")
