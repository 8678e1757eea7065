"""Every public name stands in a test or on a page: what nobody mentions is documented and tested, or gone."""

import enum
import functools
import importlib
import re

from nn import MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from tests.cases.architecture import REGISTRIES
from tests.fuzz.api.left_out import EXEMPT
from tests.java_census.interfaces import all_names
from tests.java_spelling import is_javas
from tests.source_files import ROOT

MODULES = (
    "nd", "nd.activations", "nd.dataset", "nd.dataset.normalizers", "nd.evaluation", "nd.losses", "nd.ops", "nn",
    "nn.caffe", "nn.keras", "nn.layers", "nn.transferlearning", "nn.vertices", "optimize", "optimize.earlystopping",
    "optimize.listeners", "optimize.solvers", "optimize.updaters",
)  # fmt: skip
OURS = ("nd", "nn", "optimize")
LISTS = ("tests/fuzz/api/left_out.py", "tests/java_census/", "tests/dl4j_stubs/", "tests/test_names_in_use.py")
"""Files of tests that list names, and test nothing about them."""

_LAYER = "a layer or vertex says it of itself to the network that runs it: documented in the bases of nn/layers"
_DATA = "between data sets, iterators and normalizers: for classes that build on theirs"
_CONF = "a configuration says it of itself to the network that is made of it"
_BUILDER = "a configuration says it of itself to its Builder: documented there"
_NET = "between a net of Caffe's, its blobs and a solver's steps"
_OPTIMIZER = "between fit, its optimizer and the updaters"
INNER: dict[str, str] = {
    **dict.fromkeys(("abandon", "belong_to_model", "post_updater", "resting", "set_updaters"), _OPTIMIZER),
    **dict.fromkeys(
        ("builder_fields", "builder_ignored", "builder_names", "builder_unused", "builder_verbs"), _BUILDER
    ),
    **dict.fromkeys(
        ("aligned_examples", "check_has_next", "column_counts", "given_class_names", "named_source"), _DATA
    ),
    **dict.fromkeys(
        (
            "check_training", "needs_series", "output_nodes", "rows_are_series", "scores_penalties",
            "ways_back",
        ), _CONF,
    ),
    **dict.fromkeys(("check_there", "forget_passes", "given_attributes", "is_asked", "set_up"), _NET),
    **dict.fromkeys(
        (
            "activates_parts", "ascends_since_1", "check_rows", "draw_axes", "drop_numbers", "drops_in_pretraining",
            "fans_since_m2", "gives_columns", "gives_steps", "joined_with",
            "makes_axes", "mask_behind", "mask_over", "masks_activations", "masks_output", "role",
            "scheduled_numbers", "takes_dropout", "takes_indices",
        ), _LAYER,
    ),
}  # fmt: skip
"""A name that the library calls from folder to folder, and no user -> between whom."""


@functools.cache
def pages():
    return "\n".join(
        path.read_text() for path in (*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md")
    )


@functools.cache
def words():
    """Return the words of all pages and tests."""
    paths = [path for path in (ROOT / "tests").rglob("*.py") if not path.relative_to(ROOT).as_posix().startswith(LISTS)]
    return {word for text in (pages(), *(path.read_text() for path in paths)) for word in re.findall(r"\w+", text)}


@functools.cache
def spellings(name):
    """Return the ways to write a name: ours, and Java's with its verbs."""
    first, *rest = name.split("_")
    java = first + "".join(map(str.capitalize, rest))
    return frozenset({name, java, *(verb + java[:1].upper() + java[1:] for verb in ("get", "is", "set"))})


@functools.cache
def exports():
    """Return ``module.name`` -> class or function, each once."""
    found = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            thing = getattr(module, name)
            found.setdefault(id(thing), (f"{module_name}.{name}", thing))
    return dict(found.values())


@functools.cache
def members():
    """Return name -> classes that have it, of all public attributes of exported classes in our spelling.

    Constants and values of enumerations are Java's.
    """
    found = {}
    for kind in exports().values():
        if not isinstance(kind, type) or issubclass(kind, enum.Enum):
            continue
        for base in kind.__mro__:
            if base.__module__.partition(".")[0] in OURS:
                for name in vars(base):
                    if name[0] != "_" and name == name.lower():
                        found.setdefault(name, set()).add(base)
    return found


def in_tables():
    """Return the names of classes in registries, each of which has rows of cases: tests/test_registries.py."""
    tables = [
        getattr(importlib.import_module(path.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".")), name)
        for name, (path, *_) in REGISTRIES.items()
    ]
    return {getattr(kind, "__name__", "") for table in tables for kind in table.values()}


def nowhere():
    """Return the names that stand in no test and on no page."""
    explained = {*EXEMPT, *(name.rpartition(".")[2] for name in EXEMPT if name.startswith("*."))}
    tables = in_tables()
    names = {
        name.rpartition(".")[2]
        for name in exports()
        if name not in explained and name.rpartition(".")[2] not in words() | tables
    }
    return names | {
        name
        for name, kinds in members().items()
        if not spellings(name) & words() and name not in explained and not all(is_javas(kind, name) for kind in kinds)
    }


def test_every_public_name_stands_in_a_test_or_on_a_page():
    assert sorted(nowhere() - set(INNER)) == []


def test_the_list_of_inner_names_is_not_stale():
    assert sorted(set(INNER) - nowhere()) == []


def test_networks_show_names_of_deeplearning4j_and_of_the_pages():
    chain = MultiLayerNetwork(NeuralNetConfiguration().list(OutputLayer(n_in=2, n_out=2))).init()
    kinds = ("multilayer.MultiLayerNetwork", "graph.ComputationGraph")  # of either, for both
    javas = {name.lower() for kind in kinds for name in all_names(f"org.deeplearning4j.nn.{kind}")}
    known = set(re.findall(r"\w+", pages()))
    for network in (chain, chain.to_computation_graph()):
        shown = {name for name in dir(network) if name[0] != "_" and name == name.lower()}
        assert {"engine", "fit", "random"} < shown
        strange = [name for name in shown - known if not javas & {spelling.lower() for spelling in spellings(name)}]
        assert sorted(strange) == []
