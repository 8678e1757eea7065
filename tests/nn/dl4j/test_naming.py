"""The table of Java's names, and how classes get them."""

import pathlib
import subprocess
import sys
from importlib import import_module
from operator import attrgetter

import numpy as np
import pytest

import nd
import nn
import nn.dl4j
from nd.dataset import DataSet, NumpyDataSetIterator
from nd.java_names import snake_case
from nn.dl4j.names import NAMES
from nn.dl4j.naming import Default, Renamed, named
from optimize import Adam
from tests.cells import every_row
from tests.java_spelling import fields_of

ROWS = [
    pytest.param(module, kind, words, id=f"{module}:{kind}")
    for module, kinds in NAMES.items() for kind, words in kinds.items()
]  # fmt: skip


def network():
    layers = nn.DenseLayer(n_in=4, n_out=5), nn.OutputLayer(n_out=3, activation="softmax")
    return nn.MultiLayerNetwork(nn.NeuralNetConfiguration(seed=1).list(*layers)).init()


@every_row(("module", "kind", "words"), ROWS)
def test_a_word_of_the_table_means_something(module, kind, words):
    owner = attrgetter(kind)(import_module(module))
    fields = fields_of(owner)
    for word in words.split():
        java, meaning = named(word)
        ours = word.partition("=")[2]
        assert ours != snake_case(java), f"{word}: the same without ="
        if not isinstance(meaning, Renamed):
            assert callable(meaning)
        elif isinstance(meaning, Default):
            assert getattr(owner, java) is not None
        else:
            assert hasattr(owner, meaning.ours) or meaning.ours in fields, word
        assert java not in {known for base in owner.__mro__[1:] for known in of(base)}, f"{word}: a base has it"


def of(base):
    """Return Java's names of a class in the table, as the words say them."""
    return NAMES.get(base.__module__, {}).get(base.__qualname__, "").split()


def test_the_table_is_sorted():
    for kinds in NAMES.values():
        assert list(kinds) == sorted(kinds)
        assert all(words.split() == sorted(words.split()) for words in kinds.values())


def test_methods_fields_constants():
    net = network()
    assert (net.numParams(), net.getEpochCount(), net.getLayer(0) is net.get_layer(0)) == (net.num_params(), 0, True)
    net.setEpochCount(3)
    assert (net.epoch_count, net.getEpochCount()) == (3, 3)
    assert Adam.DEFAULT_ADAM_LEARNING_RATE == Adam(0.5).DEFAULT_ADAM_LEARNING_RATE == 0.001
    assert nn.InputType.convolutionalFlat(28, 28, 1) == nn.InputType.convolutional_flat(28, 28, 1)
    data = DataSet([[1.0]], [[2.0]])
    data.setFeatures(np.array([[3.0]]))
    assert data.getFeatures().tolist() == [[3.0]]
    assert data.equals(data.copy()) is True
    assert data.toString() == str(data)


def test_a_subclass_overrides_by_our_name_or_by_javas():
    class Mine(nn.MultiLayerNetwork):
        def num_params(self, backwards=False):
            return 7

    assert Mine(network().conf).numParams() == 7


def test_overrides_by_javas_name_reach_what_they_override_by_javas_name():
    class Counting(NumpyDataSetIterator):
        asked = 0

        def hasNext(self):
            self.asked += 1
            return super().hasNext()

    class Shorter(Counting):
        def hasNext(self):
            return self.cursor < 2 and super().hasNext()

    class Ours(Counting):
        def has_next(self):
            return super().has_next()

    rows = np.ones((4, 3))
    for kind, count in ((Counting, 4), (Shorter, 2), (Ours, 4)):
        iterator = kind(rows, batch=1)
        assert (len(list(iterator)), iterator.hasNext()) == (count, False)
        assert iterator.asked > count


@pytest.mark.parametrize("name", ["setLock", "setBackend", "setGradients", "setNothing", "getNothing", "numparams"])
def test_what_java_has_not_is_not_there(name):
    with pytest.raises(AttributeError, match=f"'MultiLayerNetwork' object has no attribute '{name}'"):
        getattr(network(), name)


def test_no_class_looks_for_names():
    """But those whose users know other libraries' words, which raises, and a Builder, which has a target's fields.

    An `Unread` refuses everything.
    """
    known = {"Unread", "Builder", "NamesSuggested", "SuggestingType", "JavaEnum", "JavaEnumType", "Name", "NameHolder"}
    owners = set()
    for module in [*sys.modules.values()]:
        name = getattr(module, "__name__", "").partition(".")[0]
        if name in ("nd", "nn", "optimize"):
            owners |= {
                one.__name__
                for one in vars(module).values()
                if isinstance(one, type) and "__getattr__" in vars(one) and one.__module__ == module.__name__
            }
    assert owners - known == {"_FirstUse"}


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=pathlib.Path(nd.__file__).parents[1],
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.split()


def test_names_are_given_by_nn_dl4j_alone():
    program = (
        "import nn\nprint(hasattr(nn.MultiLayerNetwork, 'numParams'), hasattr(nn.DenseLayer, 'getNOut'))\n"
        "import nn.dl4j\nprint(hasattr(nn.MultiLayerNetwork, 'numParams'), hasattr(nn.DenseLayer, 'getNOut'))"
    )
    assert run(program) == ["False", "False", "True", "True"]


def test_an_error_that_is_shown_gives_no_names():
    program = (
        "import sys, nn\ntry:\n    nn.Nd4j\nexcept AttributeError as error:\n    print(str(error).split()[-1])\n"
        "print('nn.dl4j' in sys.modules, hasattr(nn.MultiLayerNetwork, 'numParams'))"
    )
    assert run(program) == ["nn.dl4j.Nd4j?", "False", "False"]


@pytest.mark.slow
def test_a_class_is_named_when_its_module_is_loaded_and_not_loaded_for_its_names():
    program = (
        "import sys\nimport nn.dl4j.naming as naming\nbefore = set(sys.modules)\nnaming.name_classes()\n"
        "naming.name_classes()\nassert set(sys.modules) == before\n"
        "name = next(name for name in naming.NAMES if name not in sys.modules)\n"
        "module = naming.importlib.import_module(name)\n"
        "kind, words = next(iter(naming.NAMES[name].items()))\n"
        "print(words.split()[0].partition('=')[0] in vars(naming.attrgetter(kind)(module)))\n"
        "print(type(module.__loader__).__name__, module.__spec__.loader is module.__loader__)"
    )
    assert run(program) == ["True", "SourceFileLoader", "True"]


@pytest.mark.slow
def test_a_module_that_another_thread_is_loading_is_waited_for():
    program = """
import importlib, sys, threading
from importlib.machinery import PathFinder
import nn.dl4j.naming as naming

class Slow:
    def find_spec(self, name, path, target=None):
        spec = PathFinder.find_spec(name, path, target) if name == "nd.execution.memory_manager" else None
        if spec is not None:
            load = spec.loader.exec_module
            spec.loader.exec_module = lambda module: (begun.set(), threading.Event().wait(0.2), load(module))
        return spec

assert "nd.execution.memory_manager" not in sys.modules  # or nothing loads it
begun = threading.Event()
sys.meta_path[:] = [Slow(), *(finder for finder in sys.meta_path if type(finder).__name__ != "_Naming")]
loading = threading.Thread(target=importlib.import_module, args=["nd.execution.memory_manager"])
loading.start()
begun.wait()
naming.name_classes()
print("invokeGc" in vars(sys.modules["nd.execution.memory_manager"].MemoryManager))
loading.join()
"""
    assert run(program) == ["True"]
