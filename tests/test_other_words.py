"""What people type who come from Keras, PyTorch or scikit-learn is answered with what is written here."""

import ast
import copy
import importlib
import inspect
import pickle
import re

import numpy as np
import pytest

import backends.other_words as table
import nd
import nd.dataset
import nd.evaluation
import nn
import optimize
import optimize.earlystopping
from backends import BACKENDS
from backends.base import DTYPES
from backends.errors import CallError, UnknownImportError, UnknownNameError
from backends.other_modules import JAVA_NAMES, MODULES, place_of
from backends.suggestions import meaning, suggestion
from nd.classes import ExplainedType
from nn import (
    ComputationGraph,
    DenseLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)  # fmt: skip
from nn.networks.history import History
from nn.networks.network import INNER
from tests.cases.other_words import WORDS
from tests.cells import every_row
from tests.java_spelling import own_names

CONF = NeuralNetConfiguration(seed=1)
LAYERS = (DenseLayer(n_in=4, n_out=5), OutputLayer(n_out=3, activation="softmax"))
X, Y = np.zeros((4, 4), "f"), np.eye(3, dtype="f")[[0, 1, 2, 0]]
NAMES = {**{name: getattr(nn, name) for name in nn.__all__}, "nn": nn, "nd": nd, "optimize": optimize}
NAMES |= {"CONF": CONF, "LAYERS": LAYERS, "X": X, "Y": Y, "DataSet": nd.dataset.DataSet}
NAMES |= {name: getattr(optimize, name) for name in ("Adam", "Nesterovs", "RmsProp", "StepSchedule", "AdaGrad")}
NAMES |= {"Evaluation": nd.evaluation.Evaluation, "EarlyStopping": optimize.earlystopping}
NAMES |= {"NORMALIZER": nd.dataset.NormalizerStandardize(), "HISTORY": History()}


@pytest.fixture(scope="module")
def network():
    with nd.use_backend("numpy"):
        return MultiLayerNetwork(CONF.list(*LAYERS)).init()


def answer(error):
    """Return the part of a message that says what to do."""
    return (
        re.split("[dD]id you mean|Write", str(error), maxsplit=1)[-1]
        if re.search("id you mean|Write", str(error))
        else ""
    )


@every_row(("typed", "ours"), WORDS, ids=[typed for typed, _ in WORDS])
def test_the_answer_names_what_is_meant(typed, ours, network):
    with pytest.raises(nd.NdError, match=re.escape(ours)) as caught:
        (exec if typed.startswith("from ") else eval)(typed, {**NAMES, "NET": network})
    assert ours in answer(caught.value)
    assert len(str(caught.value)) < 900


# ---- every constructor, every method


PACKAGES = (
    "nd", "nd.activations", "nd.dataset", "nd.evaluation", "nd.losses", "nn", "nn.layers", "nn.vertices",
    "nn.transferlearning", "optimize", "optimize.earlystopping", "optimize.listeners", "optimize.updaters",
)  # fmt: skip
OF_ANYTHING = {"FineTuneConfiguration", "SameDiffConf"}


def constructors():
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", dir(module)):
            one = getattr(module, name)
            if isinstance(one, ExplainedType) and not inspect.isabstract(one):
                yield one


CLASSES = sorted(set(constructors()), key=lambda one: f"{one.__module__}.{one.__name__}")


def takes_anything(one):
    try:
        return any(parameter.kind is parameter.VAR_KEYWORD for parameter in inspect.signature(one).parameters.values())
    except ValueError:
        return True


@every_row("one", [one for one in CLASSES if not takes_anything(one)], ids=lambda one: one.__name__)
def test_every_constructor_refuses_what_it_does_not_know(one):
    with pytest.raises(CallError, match=f"^{one.__name__}: unknown argument 'no_such_thing'") as caught:
        one(no_such_thing=1)
    assert isinstance(caught.value, TypeError)
    for name in inspect.signature(one).parameters:
        assert name in str(caught.value) or name == "unused"


def test_there_are_constructors_to_try():
    names = {one.__name__ for one in CLASSES}
    assert {"DenseLayer", "MergeVertex", "Adam", "StepSchedule", "Evaluation", "ListDataSetIterator"} <= names
    assert len(CLASSES) > 200


def methods():
    for kind in (MultiLayerNetwork, ComputationGraph):
        for name in own_names(kind):
            method = inspect.getattr_static(kind, name)
            if name[:1] != "_" and name not in INNER and inspect.isfunction(method):
                yield pytest.param(kind, name, id=f"{kind.__name__}.{name}")


@every_row(("kind", "name"), [*methods()])
def test_every_method_of_a_network_refuses_what_it_does_not_know(kind, name):
    network = kind.__new__(kind)
    with pytest.raises(nd.NdError, match=f"{name}: unknown argument 'no_such_thing'"):
        getattr(network, name)(no_such_thing=1)


OF_THE_STEP = {
    "backend", "buffer_like", "cells", "default_dtype", "deferred_memory", "elementwise", "exec", "execRandom",
    "get_memory_manager", "is_array", "is_eager", "meeting", "plan_shards", "plan_update", "plan_work",
    "run_tasks", "staged", "summed", "to_activation_order", "to_image_order", "to_input_order",
}  # fmt: skip
"""Functions that cost less than looking at their calls would, or that networks alone call."""
FUNCTIONS = [name for name in nd.__all__ if inspect.isfunction(getattr(nd, name)) and name not in OF_THE_STEP]


@every_row("name", FUNCTIONS)
def test_every_function_of_the_facade_refuses_what_it_does_not_know(name):
    with pytest.raises(CallError, match=f"^{name}: unknown argument 'no_such_thing'"):
        getattr(nd, name)(no_such_thing=1)


def test_what_a_method_does_itself_stays_its_own_error(network):
    class Own(MultiLayerNetwork):
        def note(self, count):
            raise TypeError("of its own") from ValueError("cause")

    with pytest.raises(TypeError, match="of its own") as caught:
        Own(CONF.list(*LAYERS)).note(1)
    assert not isinstance(caught.value, nd.NdError)
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(CallError, match="note: count must be given, got none"):
        Own(CONF.list(*LAYERS)).note()


# ---- Python's protocols


def test_names_that_are_not_there_keep_pythons_protocols(network):
    assert not hasattr(nn, "Dense")
    assert not hasattr(network, "predict_proba")
    assert getattr(nd, "array", None) is None
    with pytest.raises(AttributeError, match=r"Did you mean nn\.DenseLayer") as caught:
        _ = nn.Dense
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again)) == (UnknownNameError, str(caught.value))
    with pytest.raises(ImportError, match=r"'Dense' from 'nn'\. Did you mean nn\.DenseLayer") as caught:
        from nn import Dense  # noqa: F401
    assert isinstance(caught.value, UnknownImportError)


def test_classes_keep_their_signature_and_copies():
    signature = inspect.signature(DenseLayer)
    assert "n_out" in signature.parameters
    assert "self" not in signature.parameters
    layer = DenseLayer(n_in=2, n_out=3)
    assert copy.copy(layer) == copy.deepcopy(layer) == pickle.loads(pickle.dumps(layer)) == layer


def test_an_own_layers_unknown_parameter_is_named():
    views = MultiLayerNetwork(CONF.list(*LAYERS)).init().engine.propagation.params[0]
    with pytest.raises(KeyError, match=r"unknown parameter 'w', expected one of W, b\. Did you mean 'W'"):
        _ = views["w"]


# ---- the table


WORDS_OF_ARGUMENTS = {place: words for place, words in table.OTHER_WORDS.items() if place.startswith("argument")}
WHERE = {
    "fit": MultiLayerNetwork.fit, "NeuralNetConfiguration": NeuralNetConfiguration, "OutputLayer": OutputLayer,
    ".list": NeuralNetConfiguration.list, "the layer": nn.ConvolutionLayer, "nd.dataset": nd.dataset,
    "nd.activations": nd.activations, "optimize.earlystopping": optimize.earlystopping,
}  # fmt: skip
"""Where an explanation says that something is -> a function with this argument, or a module with this name."""


class Own(nn.LayerConf):
    """A layer of one's own."""


def code_names(network):
    """Return what answers call things, so that they can be run."""
    names = {}
    for module in (nn, optimize, nd.dataset, nd.activations):
        names |= {name: getattr(module, name) for name in module.__all__}
    net = MultiLayerNetwork(network.conf).init()
    names |= {"nd": nd, "nn": nn, "optimize": optimize, "x": X, "y": Y, "labels": Y, "net": net, "layer": LAYERS[0]}
    return names | {"mask": Y[:, :1], "weights": Y[:, :1], "Own": Own, "height": 8, "width": 8, "channels": 1}


def check_code(code, names):
    """Run what is answered; of calls that change or need more than objects look at the arguments alone."""
    tree = ast.parse(code, mode="eval").body
    if code.startswith(("nd.set_backend", "nn.load", "nn.register")):
        function = eval(ast.unparse(tree.func), names)
        inspect.signature(function).bind(*tree.args, **{one.arg: one.value for one in tree.keywords})
    else:
        eval(code, names)


def parameters(one):
    return [name for name in inspect.signature(one).parameters if name not in ("self", "cls", "unused")]


def check_place(option, network, names):
    """Check an option that says itself where it belongs; return whether it is such a one."""
    ours, _, explanation = option.partition(": ")
    found = re.match(r"(?:in|of) (the \w+|\.?[\w.]*\w)", explanation)
    if found is None or found.group(1) not in {*WHERE, "the network"}:
        if re.match(r"'|[a-z]\w*($|=)", ours):  # a choice, an argument, an attribute: where there is one
            assert found is None, option
            return False
        check_code(ours, names)
        return True
    name = re.match(r"\w+", ours).group()
    if found.group(1) == "the network":
        assert hasattr(network, name), option
    elif inspect.ismodule(WHERE[found.group(1)]):
        assert hasattr(WHERE[found.group(1)], name), option
    else:
        assert name in parameters(WHERE[found.group(1)]), option
        if "=" in ours and "..." not in ours:
            check_code(f"dict({ours})", names)
    return True


@pytest.mark.parametrize("place", sorted(set(table.OTHER_WORDS) - {"name"}))
def test_what_says_where_it_belongs_is_there(place, network):
    names = code_names(network)
    for option in table.OTHER_WORDS[place]:
        check_place(option, network, names)


def test_the_table_is_sorted_and_names_what_is_there(network):
    assert list(table.OTHER_WORDS) == sorted(table.OTHER_WORDS)
    for place, words in table.OTHER_WORDS.items():
        assert list(words) == sorted(words), place
    names = code_names(network)
    for option in table.OTHER_WORDS["name"]:
        ours, _, explanation = option.partition(": ")
        path = ours.partition("(")[0].split(".")
        assert hasattr(importlib.import_module(".".join(path[:-1])), path[-1]), option
        if explanation.startswith("with "):
            check_code(f"{ours}({explanation.removeprefix('with ').replace(' and ', ', ')})", names)
        for setting in re.findall(r"(\w+)=\S+ in NeuralNetConfiguration", explanation):
            assert setting in parameters(NeuralNetConfiguration), option


def test_a_word_is_answered_with_what_the_function_has():
    typed = sorted({word for words in WORDS_OF_ARGUMENTS.values() for each in words.values() for word in each.split()})
    functions = {one.__name__: one for one in CLASSES if not takes_anything(one)}
    functions |= {name: getattr(kind, name) for kind, name in (one.values for one in methods())}
    functions |= {name: getattr(nd, name) for name in FUNCTIONS} | {"load": nn.load, "list": CONF.list}
    for who, function in functions.items():
        known = parameters(function)
        for word in typed:
            ours, _, explanation = meaning(f"argument of {who}", word, known).partition(": ")
            if word not in known and re.match(r"[a-z]\w*($|=)", ours) and not explanation.startswith(("in ", "of ")):
                assert re.match(r"\w+", ours).group() in known, (who, word, ours)
                assert ours != word, (who, word)


OBJECTS = {
    "": (nd.dataset.DataSet(X, Y), nd.evaluation.Evaluation(), NAMES["NORMALIZER"], History(), CONF.list(*LAYERS)),
    "InputType": (nn.InputType,),
    "Network": (),
}  # fmt: skip
"""Class whose words they are, or none -> objects that are asked for an attribute."""


@pytest.mark.parametrize("owner", OBJECTS)
def test_attributes_in_the_table_are_attributes(owner, network):
    known = {name for one in (*OBJECTS[owner], *((network,) if owner != "InputType" else ())) for name in dir(one)}
    for option in table.OTHER_WORDS[f"attribute of {owner}" if owner else "attribute"]:
        name = option.partition(": ")[0]
        assert not name.isidentifier() or name in known, option


@every_row("module", [one for one in MODULES if hasattr(importlib.import_module(one), "__all__")])
def test_a_name_of_another_module_is_found(module):
    there = importlib.import_module(module)
    for name in there.__all__:
        found, _, last = place_of(name, "ndwright").rpartition(".")
        assert last == name
        assert getattr(importlib.import_module(found), name) is getattr(there, name), name


def test_a_module_that_is_asked_is_not_the_answer():
    assert place_of("Adam", "optimize") == "optimize.updaters.Adam"
    assert place_of("load", "nd") == "nd.serde.load"
    assert place_of("load", "optimize") == "nn.load"
    assert place_of("adam", "nn") == "optimize.Adam"
    assert place_of("Nd4j", "nn") == f"{JAVA_NAMES}.Nd4j"
    assert place_of("no_such_name", "nn") == ""


def test_every_name_for_java_is_found():
    assert [name for name in importlib.import_module(JAVA_NAMES).__all__ if not place_of(name, "ndwright")] == []


ALLOWED = {
    "activation": nd.activations.ACTIVATIONS, "loss": nd.losses.LOSSES, "updater": optimize.updaters.UPDATERS,
    "weight initialisation": importlib.import_module("nn.terms.weights").WEIGHT_INITS,
    "dtype": DTYPES, "backend": BACKENDS,
    "convolution mode": ("causal", "same", "strict", "truncate"), "pooling type": ("avg", "max", "pnorm", "sum"),
}  # fmt: skip


@pytest.mark.parametrize("place", sorted(ALLOWED))
def test_choices_in_the_table_are_choices(place):
    for ours, words in table.OTHER_WORDS[place].items():
        if ours.startswith("'"):
            assert re.match(r"'([\w:]+)'", ours).group(1) in ALLOWED[place], ours
        for word in words.split():
            if word in ALLOWED[place]:  # there is one of that name by now, which nobody asks for in vain
                continue
            assert suggestion(place, word, ALLOWED[place]).startswith(" Did you mean "), word


def test_arguments_in_the_table_are_arguments_or_say_where_they_belong():
    known = {name for one in CLASSES for name in inspect.signature(one).parameters}
    functions = [CONF.list, CONF.graph, nn.load, nd.zeros, nd.full, nd.sum, nd.arange, nd.evaluation.Evaluation.f1]
    functions += [getattr(*one.values) for one in methods()]
    known |= {name for function in functions for name in inspect.signature(function).parameters}
    for option in table.OTHER_WORDS["argument"]:
        name = option.partition(": ")[0]
        assert not name.isidentifier() or not name.islower() or name in {*known, *dir(MultiLayerNetwork)}, option
