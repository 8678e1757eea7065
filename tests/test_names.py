"""Names of the public modules: one name is one thing, and base classes hold the library's names."""

import copy
import importlib
import inspect
import itertools
import json
import pickle
import subprocess
import sys
from dataclasses import dataclass

import pytest

import nd.activations
import nn
import nn.dl4j
import optimize
from nd.activations import Activation, get_activation
from nd.java_enums import Name
from nn import DenseLayer, MultiLayerConfiguration, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Adam, Sgd, Updater, get_updater

PUBLIC = (
    "nd", "nd.activations", "nd.dataset", "nd.evaluation", "nd.losses", "nn", "nn.dl4j", "nn.layers",
    "nn.transferlearning", "nn.vertices", "optimize", "optimize.earlystopping", "optimize.listeners",
    "optimize.solvers", "optimize.updaters",
)  # fmt: skip
"""Modules whose names are imported with a star. `nd.ops` is none: its classes have ND4J's names for ops, some of which
are those of activations and distributions, and are written `nd.ops.Tanh`."""

JAVA_CALLS = {
    "AsyncDataSetIterator", "AsyncMultiDataSetIterator", "Bidirectional", "CheckpointListener",
    "Cifar10DataSetIterator", "EarlyStoppingTrainer", "EmnistDataSetIterator", "Evaluation",
    "EvaluationBinary", "IDropout", "ImageMultiPreProcessingScaler", "InputType", "ListDataSetIterator",
    "LossMixtureDensity", "MaxNormConstraint", "MinMaxNormConstraint", "MnistDataSetIterator", "MultipleEpochsIterator",
    "Nesterovs", "PerformanceListener", "ROC", "RecordReaderMultiDataSetIterator", "RegressionEvaluation",
    "SamplingDataSetIterator", "SequenceRecordReaderDataSetIterator", "UnitNormConstraint",
}  # fmt: skip
"""What `nn.dl4j` has anew, because Java's arguments or Java's methods are others: a class below ours, or a function
that returns ours."""


def meanings():
    """Return name -> module -> what it is there, for names that several public modules export."""
    found = {}
    for module_name in PUBLIC:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            found.setdefault(name, {})[module_name] = getattr(module, name)
    return {name: places for name, places in found.items() if len(places) > 1}


def test_a_name_of_several_modules_is_one_thing():
    several = meanings()
    assert len(several) > 100
    differing = {name for name, places in several.items() if len({*map(id, places.values())}) > 1}
    assert sorted(differing) == sorted(JAVA_CALLS)
    for name in differing:
        ours = {id(thing) for module, thing in several[name].items() if module != "nn.dl4j"}
        assert len(ours) == 1, f"{name} has two meanings without Java's"


def test_what_java_calls_otherwise_is_a_class_below_ours():
    """So that what is made by either passes for the other."""
    several = meanings()
    for name in JAVA_CALLS:
        java = several[name]["nn.dl4j"]
        ours = next(thing for module, thing in several[name].items() if module != "nn.dl4j")
        assert not isinstance(java, type) or issubclass(java, ours), name


BOTH = """
class Lion(Updater): pass
class Own(Activation): pass
print(Updater.SGD, Activation.RELU, Lion.__mro__[1].__module__, Own.__mro__[1].__module__)
"""


def test_stars_in_any_order():
    """In a child process, where nothing has been imported before."""
    modules = ("optimize", "nn", "nd.activations", "nn.dl4j")
    programs = [
        "".join(f"from {module} import *\n" for module in order) + BOTH for order in itertools.permutations(modules)
    ]
    code = "for program in PROGRAMS: exec(program, {})".replace("PROGRAMS", repr(programs))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "sgd relu optimize.updaters.base nd.activations.base\n" * 24


@pytest.mark.parametrize("base", [Activation, Updater])
def test_names_are_texts(base):
    for name in base:
        assert isinstance(name, str)
        assert type(name.value) is type(str(name)) is str
        assert name == name.value == f"{name}" == json.loads(json.dumps(name))
        assert {name: 1}[name.value] == 1
        assert name in base
        assert name.value in base
        assert base[name.name] is getattr(base, name.name) is base(name) is base(name.name) is base.valueOf(name.name)
        assert pickle.loads(pickle.dumps(name)) is copy.deepcopy(name) is copy.copy(name) is name
        assert repr(name) == f"<{base.__name__}.{name.name}: {name.value!r}>"
    assert base.values() == list(base) == list(base.__members__.values())
    assert len(base) == len(base.values()) > 10
    assert None not in base
    assert "none of these" not in base


def test_names_are_fixed():
    with pytest.raises(AttributeError, match=r"Updater\.SGD is a name of the library's and cannot be assigned to"):
        Updater.SGD = "adam"
    with pytest.raises(AttributeError, match=r"Activation\.RELU is a name of the library's and cannot be deleted"):
        del Activation.RELU
    for attribute in ("name", "value"):
        with pytest.raises(AttributeError, match=attribute):
            setattr(Updater.SGD, attribute, "adam")


def test_a_name_that_is_none_of_them():
    with pytest.raises(ValueError, match=r"Activation: unknown name 'rleu', expected one of .*Did you mean 'relu'"):
        Activation("rleu")
    with pytest.raises(KeyError, match="RLEU"):
        _ = Activation["RLEU"]
    with pytest.raises(AttributeError, match="RLEU"):
        _ = Activation.RLEU


def test_java_spells_them_too():
    assert Activation.LeakyRelu is Activation.LEAKYRELU
    assert Activation.fromString("ReLU").getActivationFunction() == get_activation("relu")
    assert Updater.valueOf("NONE") is Updater.NONE
    assert [name.getIUpdaterWithDefaultConfig() for name in Updater] == [get_updater(str(name)) for name in Updater]


def test_classes_below_have_no_names_and_keep_their_signature():
    assert Adam
    assert not isinstance(Updater.SGD, Updater)
    assert len(Adam) == 0
    assert str(inspect.signature(Adam)).startswith("(learning_rate: 'NonNegative | Schedule' = 0.001, beta1")
    with pytest.raises(TypeError, match="'Adam' is a class without names, and not iterable"):
        iter(Adam)

    @dataclass(frozen=True)
    class Labelled(Updater):
        label: str = ""

    assert Labelled("sgd").label == "sgd"


def test_names_go_where_the_base_goes():
    conf = NeuralNetConfiguration(seed=1, updater=nn.Updater.NESTEROVS, learning_rate=0.2).list(
        DenseLayer(n_in=2, n_out=3, activation=nd.activations.Activation.TANH, updater=nn.dl4j.Updater.SGD),
        OutputLayer(n_out=2, activation=nn.Activation.SOFTMAX),
    )
    assert conf.layers[0].updater == Sgd()
    assert MultiLayerConfiguration.from_json(conf.to_json()) == conf
    assert MultiLayerNetwork(conf).init().output([[1.0, 2.0]]).shape == (1, 2)


def test_names_are_of_their_base():
    for base in (Activation, Updater):
        assert all(type(name).__name__ == f"{base.__name__}Name" and isinstance(name, Name) for name in base)
    assert optimize.Updater is nn.Updater is nn.dl4j.Updater
    assert nd.activations.Activation is nn.Activation is nn.dl4j.Activation
