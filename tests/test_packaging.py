"""What is installed: every file that the packages need, and types that a user's type checker sees."""

import fnmatch
import pathlib
import re
import subprocess
import sys
import sysconfig
import tomllib

import pytest

ROOT = pathlib.Path(__file__).parent.parent
PACKAGES = ("backends", "nd", "nn", "optimize")
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


def data_files():
    """Return all files of the packages that are not Python's."""
    listed = subprocess.run(["git", "ls-files", *PACKAGES], capture_output=True, text=True, cwd=ROOT, check=False)
    if listed.returncode:
        pytest.skip("the files of the packages are known to git only")
    return [path for path in map(pathlib.PurePosixPath, listed.stdout.split()) if path.suffix != ".py"]


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
