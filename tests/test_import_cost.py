"""Importing costs little beside importing NumPy, and NumPy is all that is needed to train, save and evaluate."""

import os
import pathlib
import statistics
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
FIRST_ROUNDS, MOST_ROUNDS = 5, 20
NEEDED = {"backends", "nd", "ndwright", "nn", "numpy", "optimize"}
PACKAGES = "import nd, nn, optimize"
PROGRAM = """
import nd
from nd.dataset import DigitsDataSetIterator
from nn import (
    ConvolutionLayer, DenseLayer, InputType, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer, SubsamplingLayer
)
from optimize import Nesterovs, PerformanceListener, ScoreIterationListener
nd.zeros(1)
"""


def run(code, *arguments, **environment):
    """Run a program in the library's folder, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True, text=True, cwd=ROOT, env={**os.environ, **environment}, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


# ---- what is imported


def third_party(code):
    """Names of what a program has imported at the top level that is neither Python's own nor needed."""
    report = "print(*{name.partition('.')[0] for name in set(sys.modules) - before if name[:1] != '_'})"
    found = set(run(f"import sys, site; before = set(sys.modules)\n{code}\n{report}").split())
    return found - sys.stdlib_module_names - NEEDED


def test_imports_bring_in_nothing_optional():
    everything = "import nd.serde\nfrom nd.evaluation import *\nfrom nd.dataset import *\nfrom optimize import *\n"
    assert third_party(f"{PROGRAM}\n{everything}\nfrom nn import *\nfrom optimize.earlystopping import *") == set()


def test_the_look_into_the_modules_finds_what_is_there():
    assert "array_api_strict" in third_party("import array_api_strict")


@pytest.mark.parametrize(
    ("code", "most"), [pytest.param(PACKAGES, 40, id="packages"), pytest.param(PROGRAM, 161, id="LeNet")]
)
def test_a_program_imports_what_it_uses(code, most):
    """The count is the same on every machine; the times are below."""
    count = "import sys; print(sum(name.partition('.')[0] in {'nd', 'nn', 'optimize'} for name in sys.modules))"
    assert int(run(f"{code}\n{count}")) <= most


# ---- how long it takes


def ratios(code, base, folder):
    """Yield how many times the processor's time of `base` a program takes: the median of rounds that take turns.

    Their bytecode lies in a folder of its own, as that of installed packages does beside them.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder)

    def seconds(program):
        before = used()
        subprocess.run([sys.executable, "-c", program], check=True, env=environment, cwd=ROOT)
        return used() - before

    seconds(code)  # writes the bytecode
    seconds(base)
    rounds = []
    for number in range(1, MOST_ROUNDS + 1):
        rounds.append(seconds(code) / seconds(base))
        if number >= FIRST_ROUNDS:
            yield statistics.median(rounds)


def used():
    """Seconds that ended child processes have computed; on a busy machine the wall clock counts others, too."""
    resource = pytest.importorskip("resource", reason="the processor's time of child processes is POSIX's")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "most"), [pytest.param(PACKAGES, 3.0, id="packages"), pytest.param(PROGRAM, 4.0, id="LeNet")]
)
def test_imports_take_little_longer_than_numpy(code, most, tmp_path):
    """They took 4.4 and 5.2 times as long when everything was imported at once; now 0.7 and 2.8.

    What costs too much always does; where the first rounds are outliers, there are more.
    """
    assert any(ratio <= most for ratio in ratios(code, "import numpy", tmp_path))


@pytest.mark.slow
def test_the_clock_tells_long_from_short(tmp_path):
    long = "import numpy\nfor number in range(3_000_000): pass"
    assert next(ratios(long, "import numpy", tmp_path)) > next(ratios("pass", "import numpy", tmp_path))


# ---- an environment with NumPy alone


ALONE = f"""
import sys

class Finder:
    # finds Python's own modules and what is needed, as in an environment with NumPy alone
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        known = name.partition(".")[0] in sys.stdlib_module_names | {NEEDED | {"examples"}}
        return self.finder.find_spec(name, path, target) if known else None

sys.meta_path[:] = map(Finder, sys.meta_path)
"""
LIFE = f"""{ALONE}
import numpy as np
from nd.dataset import IrisDataSetIterator
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Adam, CheckpointListener, ScoreIterationListener

class Terminal:
    text = ""
    def isatty(self): return True
    def write(self, text): self.text += text
    def flush(self): pass

conf = NeuralNetConfiguration(seed=1, updater=Adam(0.05)).list(
    DenseLayer(n_in=4, n_out=8, activation="tanh"), OutputLayer(n_in=8, n_out=3, activation="softmax", loss="mcxent")
)
net = MultiLayerNetwork(conf).init()
checkpoints = CheckpointListener(sys.argv[1] + "/checkpoints", save_every_n_epochs=10)
net.set_listeners(ScoreIterationListener(1000), checkpoints)
terminal, normal = Terminal(), sys.stderr
sys.stderr = terminal
net.fit(IrisDataSetIterator(50), epochs=30)
sys.stderr = normal
net.save(sys.argv[1] + "/net.zip")
again = MultiLayerNetwork.load(sys.argv[1] + "/net.zip")
x = IrisDataSetIterator(150).next()
print(np.array_equal(again.output(x.features), net.output(x.features)), again.evaluate(x).accuracy() > 0.9)
print("epoch 30/30: 3/3 batches" in terminal.text)
"""


def test_the_environment_with_numpy_alone_has_no_other_packages():
    names = ["array_api_compat", "cupy", "pooch", "pytest", "tqdm"]
    code = f"{ALONE}\nfrom importlib.util import find_spec\nimport numpy\nprint([find_spec(name) for name in {names}])"
    assert run(code) == "[None, None, None, None, None]\n"


def test_numpy_is_all_that_is_needed(tmp_path):
    score, *_, equal, shown = run(LIFE, tmp_path).splitlines()
    assert "Score at iteration 0 is" in score
    assert (equal, shown) == ("True True", "True")
    command = f"{ALONE}\nfrom nn.cli import main\nsys.exit(main(sys.argv[1:]))"
    assert "DenseLayer" in run(command, "summary", tmp_path / "net.zip")


@pytest.mark.slow
def test_the_example_needs_numpy_alone(tmp_path):
    """What `make lenet` runs, on the digits that come with the library."""
    code = f"{ALONE}\nsys.argv[0] = 'lenet_mnist.py'\nfrom examples.lenet_mnist import main\nmain()"
    said = run(code, "--epochs", "1", ND_DATA_DIR=str(tmp_path))
    assert "training on the bundled digits instead" in said
    assert "Accuracy" in said
