"""Deeplearning4j's interface, as its own jar has it, against ours: nothing is missing that is not declined."""

import gzip
import inspect
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

import nd
import nn.dl4j
from nn.dl4j import DenseLayer
from nn.dl4j.names import NAMES
from optimize.builder import Builder
from tests.cells import every_row
from tests.java_census import census, layer_classes
from tests.java_census.declined_classes import DECLINED_CLASSES
from tests.java_census.declined_methods import DECLINED_METHODS
from tests.java_census.interfaces import KEPT, all_names, keep, kept, lineage, parsed
from tests.java_census.other_names import OTHER_NAMES
from tests.java_census.twins import twin

PAGE = Path(nd.__file__).parents[1] / "docs" / "java.md"
NOT_KEPT = {"nd.dataset.java_random", "nd.ops.base", "nd.ops.random"}
"""Modules whose classes are Java's own or ND4J's ops, which the interfaces leave out."""
LAYERS = "org.deeplearning4j.nn.conf.layers"
MOST = ("multilayer.MultiLayerNetwork", "graph.ComputationGraph", "DataSet", "Evaluation")

SETTERS = [
    pytest.param(module, kind, words, id=f"{module}:{kind}")
    for module, kinds in NAMES.items() if module not in NOT_KEPT
    for kind, words in kinds.items()
]  # fmt: skip


def test_nothing_is_missing():
    assert census.missing() == []


@pytest.mark.parametrize("name", MOST)
def test_the_classes_that_programs_use_most_are_counted(name):
    (java,) = [java for java in census.counted() if java.endswith(f".{name}") and ".api." not in java]
    assert twin(java).__name__ == name.rpartition(".")[2]
    assert len(all_names(java)) > 60


def test_every_layer_of_java_is_ours_or_has_a_reason():
    """By class: 82 configurations of layers, the same ones in 1.0.0-M1.1 and 1.0.0-M2.1."""
    found = {java for java in kept() if f"{LAYERS}.Layer" in lineage(java)}
    assert found == {*layer_classes.ours(), *layer_classes.DECLINED_LAYERS, *layer_classes.BASES}
    assert len(found) == 82
    for java, name in layer_classes.ours().items():
        assert issubclass(getattr(nn.dl4j, name), nn.LayerConf), java
    named = {part.__name__: part.form.java_class(part.__name__) for part in nn.layers.LAYERS.values()}
    assert set(named.values()) - set(layer_classes.ours()) == {f"{LAYERS}.RBM"}  # of 0.x alone
    for java, reason in layer_classes.DECLINED_LAYERS.items():
        assert not hasattr(nn.dl4j, java.rpartition(".")[2]), f"{java} is there: {reason}"
        assert f"`{java.rpartition('.')[2]}`" in PAGE.read_text()


def test_every_builder_of_java_is_counted_or_declined_with_its_class():
    without = [
        java for java in census.counted()
        if java.endswith("Builder") and not isinstance(twin(java), (Builder, type))
    ]  # fmt: skip
    assert set(without) <= set(census.declined_classes())


@every_row("table", [pytest.param(DECLINED_CLASSES, id="classes"), pytest.param(DECLINED_METHODS, id="methods")])
def test_the_declined_tables_are_sorted_and_have_reasons(table):
    assert list(table) == sorted(table)
    assert all(reason.strip() and reason.endswith(".") and len(reason) < 100 for reason in table.values())


def test_what_is_declined_is_not_there():
    """Every pattern declines something: what has come since is counted as present, and its pattern goes."""
    assert set(DECLINED_CLASSES) == set(census.declined_classes().values())
    assert set(DECLINED_METHODS) == set(census.declined_methods().values())


def test_a_method_that_is_declined_everywhere_is_nowhere():
    names = {pattern.removeprefix("*.") for pattern in DECLINED_METHODS if pattern.startswith("*.")}
    declined = {method.name for method in census.declined_methods()}
    assert names <= declined
    there = {
        f"{java}.{name}" for java in census.counted() if twin(java) is not None for name in names & all_names(java)
    } - {str(method) if str(method).startswith("org.") else f"org.{method}" for method in census.absent()}
    assert there == set()


def test_the_table_of_other_names_is_sorted_and_needed():
    assert list(OTHER_NAMES) == sorted(OTHER_NAMES)
    assert {f"org.{java}" for java in OTHER_NAMES} <= set(kept())


NOT_COUNTED = {
    "MemoryManager": {"setAutoGcWindow", "setOccasionalGcFrequency"},
    "PipelineImageTransform.Builder": {"setSeed"},
}
"""Classes of Java's that no census counts -> their setters: org.nd4j.linalg.api.memory, org.datavec.image.transform."""


@every_row(("module", "kind", "words"), SETTERS)
def test_a_setter_is_there_only_where_java_has_it(module, kind, words):
    owner = attrgetter(kind)(import_module(module))
    theirs = [java for java in kept() if owner in getattr(twin(java), "__mro__", ())]
    allowed = frozenset().union(*map(all_names, theirs))
    setters = {word.partition("=")[0] for word in words.split() if word.startswith("set")}
    assert setters <= allowed | NOT_COUNTED.get(kind, frozenset())


def test_a_setter_of_a_configuration_says_what_to_do_instead():
    with pytest.raises(nd.ConfigurationError, match=r"DenseLayer: a configuration must stay as it is, got a new n_in"):
        DenseLayer(n_in=3, n_out=2).setNIn(4)


def test_the_page_has_the_counts():
    assert census.table() in PAGE.read_text()


def test_interfaces_are_read_and_kept(tmp_path, monkeypatch):
    text = "a.B: >a.C *LIMIT *make[1] size[0,2]\na.C: size[0] name[0]"
    classes = parsed(text)
    assert classes["a.B"] == (("a.C",), frozenset({"LIMIT"}), frozenset({"make", "size"}))
    assert classes["a.C"].names == {"size", "name"}
    monkeypatch.setattr("tests.java_census.interfaces.KEPT", tmp_path / "kept.gz")
    keep(text)
    assert gzip.decompress((tmp_path / "kept.gz").read_bytes()).decode() == text
    assert KEPT.exists()


def test_a_class_has_what_it_inherits():
    java = "org.deeplearning4j.nn.conf.layers.DenseLayer"
    assert "org.deeplearning4j.nn.conf.layers.Layer" in lineage(java)
    assert {"getNIn", "hasBias", "getLayerName"} <= all_names(java)


def test_reading_needs_no_java():
    assert "maven" not in inspect.getsource(census)
