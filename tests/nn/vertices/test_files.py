"""Vertices in files: Java's JSON of every release, one's own vertices, and what is refused."""

import json
from dataclasses import dataclass

import pytest

import nd
from nn import (
    AttentionVertex,
    DenseLayer,
    DuplicateToTimeSeriesVertex,
    ElementWiseVertex,
    FeedForwardToCnnPreProcessor,
    FrozenVertex,
    L2NormalizeVertex,
    L2Vertex,
    LastTimeStepVertex,
    LayerVertex,
    MergeVertex,
    NeuralNetConfiguration,
    PoolHelperVertex,
    PreprocessorVertex,
    ReshapeVertex,
    ReverseTimeSeriesVertex,
    ScaleVertex,
    ShiftVertex,
    StackVertex,
    SubsetVertex,
    UnstackVertex,
    VertexConf,
    register,
    unregister,
)
from nn.files.findings import Unsupported
from nn.files.legacy import modernise
from nn.files.param_tables import VERTEX_TABLES, param_specs_of_vertex
from nn.files.vertices_json import vertex_from_json, vertex_to_json
from nn.vertices import VERTICES
from optimize import Adam, WeightDecay
from optimize.schedules import StepSchedule
from tests.cases.own_parts import Tilted
from tests.cells import every_row

GRAPH = "org.deeplearning4j.nn.conf.graph."
TO_IMAGES = {
    "@class": "org.deeplearning4j.nn.conf.preprocessor.FeedForwardToCnnPreProcessor",
    "inputHeight": 2,
    "inputWidth": 3,
    "numChannels": 1,
}
ADAM = {
    "@class": "org.nd4j.linalg.learning.config.Adam",
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "learningRate": 0.01,
}
ATTENTION = {
    "@class": f"{GRAPH}AttentionVertex",
    "biasUpdater": None,
    "dataType": None,
    "gradientNormalization": "None",
    "gradientNormalizationThreshold": 1.0,
    "headSize": 3,
    "layerName": None,
    "name": None,
    "nheads": 2,
    "ninKeys": 6,
    "ninQueries": 5,
    "ninValues": 6,
    "nout": 6,
    "projectInput": True,
    "regularization": [],
    "regularizationBias": [],
    "updater": ADAM,
    "vertexParams": {
        "biasParams": {},
        "inputs": ["queries", "keys", "values"],
        "weightParams": {"Wq": [2, 3, 5], "Wk": [2, 3, 6], "Wv": [2, 3, 6], "Wo": [6, 6]},
    },
    "weightInit": "XAVIER",
}
ATTENDING = AttentionVertex(
    n_in_keys=6,
    n_in_values=6,
    n_in_queries=5,
    n_out=6,
    head_size=3,
    n_heads=2,
    project_input=True,
    updater=Adam(0.01),
    gradient_normalization="none",
    gradient_normalization_threshold=1.0,
)
JAVA = [
    (ATTENTION, ATTENDING),
    ({"@class": f"{GRAPH}rnn.DuplicateToTimeSeriesVertex", "inputName": "in"}, DuplicateToTimeSeriesVertex("in")),
    ({"@class": f"{GRAPH}ElementWiseVertex", "op": "Product"}, ElementWiseVertex("product")),
    (
        {"@class": f"{GRAPH}FrozenVertex", "underlying": {"@class": f"{GRAPH}ElementWiseVertex", "op": "Add"}},
        FrozenVertex(ElementWiseVertex("add")),
    ),
    ({"@class": f"{GRAPH}L2Vertex"}, L2Vertex()),
    ({"@class": f"{GRAPH}L2NormalizeVertex", "dimension": [1, 2], "eps": 1e-8}, L2NormalizeVertex([1, 2])),
    ({"@class": f"{GRAPH}rnn.LastTimeStepVertex", "maskArrayInputName": "in"}, LastTimeStepVertex("in")),
    ({"@class": f"{GRAPH}MergeVertex", "mergeAxis": 1, "modified": False}, MergeVertex()),
    ({"@class": f"{GRAPH}MergeVertex", "mergeAxis": 2, "modified": True}, MergeVertex(2)),
    ({"@class": f"{GRAPH}PoolHelperVertex"}, PoolHelperVertex()),
    (
        {"@class": f"{GRAPH}PreprocessorVertex", "preProcessor": TO_IMAGES},
        PreprocessorVertex(FeedForwardToCnnPreProcessor(2, 3, 1)),
    ),
    (
        {"@class": f"{GRAPH}ReshapeVertex", "maskShape": None, "newShape": [-1, 6], "reshapeOrder": "f"},
        ReshapeVertex("f", [-1, 6]),
    ),
    ({"@class": f"{GRAPH}rnn.ReverseTimeSeriesVertex", "maskArrayInputName": None}, ReverseTimeSeriesVertex()),
    ({"@class": f"{GRAPH}ScaleVertex", "scaleFactor": 0.3}, ScaleVertex(0.3)),
    ({"@class": f"{GRAPH}ShiftVertex", "shiftFactor": 0.3}, ShiftVertex(0.3)),
    ({"@class": f"{GRAPH}StackVertex"}, StackVertex()),
    ({"@class": f"{GRAPH}SubsetVertex", "from": 1, "to": 3}, SubsetVertex(1, 3)),
    ({"@class": f"{GRAPH}UnstackVertex", "from": 1, "stackSize": 3}, UnstackVertex(1, 3)),
]


@every_row(("data", "conf"), JAVA, ids=lambda value: None if isinstance(value, dict) else repr(value)[:30])
def test_javas_json_both_ways(data, conf):
    assert vertex_from_json(data) == conf
    assert vertex_to_json(conf) == data


@pytest.mark.parametrize(
    ("data", "conf"),
    [
        ({"@class": f"{GRAPH}MergeVertex"}, MergeVertex()),
        ({"@class": f"{GRAPH}L2NormalizeVertex", "dimension": None}, L2NormalizeVertex()),
        ({"@class": f"{GRAPH}rnn.ReverseTimeSeriesVertex"}, ReverseTimeSeriesVertex()),
        (
            {
                **{key: value for key, value in ATTENTION.items() if not key.startswith("n")},
                "nHeads": 2,
                "nInKeys": 6,
                "nInQueries": 5,
                "nInValues": 6,
                "nOut": 6,
            },
            ATTENDING,
        ),
        ({"@class": f"{GRAPH}AttentionVertex", "ninKeys": 0, "headSize": 0, "weightInit": "RELU"}, None),
    ],
)
def test_fields_that_are_missing_or_spelled_another_way(data, conf):
    assert vertex_from_json(data) == (conf or AttentionVertex(weight_init="relu"))


@pytest.mark.parametrize(
    ("old", "conf"),
    [
        ({"MergeVertex": {}}, MergeVertex()),
        ({"ElementWiseVertex": {"op": "Add"}}, ElementWiseVertex("add")),
        ({"SubsetVertex": {"from": 0, "to": 2}}, SubsetVertex(0, 2)),
        ({"LastTimeStepVertex": {"maskArrayInputName": "in"}}, LastTimeStepVertex("in")),
        ({"DuplicateToTimeSeriesVertex": {"inputName": "in"}}, DuplicateToTimeSeriesVertex("in")),
        (
            {
                "PreprocessorVertex": {
                    "preProcessor": {"feedForwardToCnn": {k: v for k, v in TO_IMAGES.items() if k[0] != "@"}}
                }
            },
            PreprocessorVertex(FeedForwardToCnnPreProcessor(2, 3, 1)),
        ),
        (
            {"FrozenVertex": {"underlying": {"UnstackVertex": {"from": 1, "stackSize": 2}}}},
            FrozenVertex(UnstackVertex(1, 2)),
        ),
    ],
)
def test_the_form_of_older_releases(old, conf):
    modern = modernise({"vertices": {"v": old}}).document["vertices"]["v"]
    assert vertex_from_json(modern) == conf


def test_a_file_alone_says_the_parameters_that_the_configuration_has():
    of_file = [(spec.name, spec.shape, spec.order) for spec in param_specs_of_vertex(ATTENTION)]
    assert of_file == [(spec.name, spec.shape, spec.order) for spec in ATTENDING.param_specs()]
    assert sorted(VERTEX_TABLES) == sorted(VERTICES.class_names)


def test_the_least_distance_is_written_where_it_is_not_javas():
    data = vertex_to_json(L2Vertex(1e-4))
    assert data == {"@class": f"{GRAPH}L2Vertex", "eps": 1e-4}
    assert vertex_from_json(data) == L2Vertex(1e-4)


def test_penalties_of_attention_are_kept():
    defaults = NeuralNetConfiguration(updater=Adam(StepSchedule("epoch", 0.1, 0.5, 2.0)), weight_decay=0.25)
    conf = AttentionVertex(n_out=4).resolved(defaults, 0)
    again = vertex_from_json(json.loads(json.dumps(vertex_to_json(conf))))
    assert again == conf
    assert again.regularization_of(False) == (WeightDecay(0.25),)


@pytest.mark.parametrize("preprocessor", [None, FeedForwardToCnnPreProcessor(2, 3, 1)])
def test_the_vertex_of_a_layer(preprocessor):
    layer = DenseLayer(n_in=3, n_out=2).resolved(NeuralNetConfiguration(), 0)
    data = json.loads(json.dumps(vertex_to_json(LayerVertex(layer, preprocessor))))
    assert data["layerConf"]["layer"]["@class"] == "org.deeplearning4j.nn.conf.layers.DenseLayer"
    assert data["outputVertex"] is False
    assert vertex_from_json(data) == LayerVertex(layer, preprocessor)


@every_row(
    ("data", "error", "words"),
    [
        (
            {"@class": f"{GRAPH}MergVertex"},
            nd.ChoiceError,
            "vertex: unknown class .*Did you mean 'MergeVertex'.*nn.register",
        ),
        ({"@class": f"{GRAPH}LambdaVertex"}, nd.ChoiceError, "Make a vertex of your own known with nn.register"),
        ({}, nd.FormatError, "vertex: expected an object with '@class', got {}"),
        (None, nd.FormatError, "vertex: expected an object with '@class', got None"),
        ({"@class": 3}, nd.FormatError, "expected an object with '@class'"),
        ({"@class": f"{GRAPH}SubsetVertex", "to": 3}, nd.FormatError, "SubsetVertex must have 'from', got"),
        (
            {"@class": f"{GRAPH}SubsetVertex", "from": "1", "to": 3},
            nd.FormatError,
            "SubsetVertex: .*from_ must be an integer",
        ),
        ({"@class": f"{GRAPH}ElementWiseVertex", "op": "Divide"}, nd.ChoiceError, "op 'divide', expected one of"),
        ({"@class": f"{GRAPH}ElementWiseVertex", "op": None}, nd.ChoiceError, "op 'none', expected one of"),
        ({"@class": f"{GRAPH}ScaleVertex", "scaleFactor": "2"}, nd.FormatError, "expected a number, got '2'"),
        ({"@class": f"{GRAPH}ReshapeVertex", "newShape": 3}, nd.FormatError, "ReshapeVertex: .*new_shape must be"),
        (
            {"@class": f"{GRAPH}FrozenVertex", "underlying": None},
            nd.FormatError,
            "expected an object with '@class', got None",
        ),
        (
            {"@class": f"{GRAPH}LayerVertex", "layerConf": []},
            nd.FormatError,
            "layerConf must be an object with a layer",
        ),
        (
            {"@class": f"{GRAPH}FrozenVertex", "underlying": {"@class": f"{GRAPH}Own"}},
            Unsupported,
            "underlying: vertex: unknown class",
        ),
        (
            {"@class": f"{GRAPH}PreprocessorVertex", "preProcessor": {**TO_IMAGES, "@class": "x.Own"}},
            Unsupported,
            "preProcessor: input preprocessor: unknown class 'Own'",
        ),
    ],
)
def test_what_cannot_be_read(data, error, words):
    with pytest.raises((error, Unsupported), match=words):
        vertex_from_json(data)


# ---- of a user's own


def test_ones_own_vertex_is_written_and_read():
    conf = Tilted(0.25, StepSchedule("epoch", 0.1, 0.5, 2.0))
    data = json.loads(json.dumps(vertex_to_json(conf)))
    assert data["@class"] == "tests.cases.own_parts.Tilted"
    assert vertex_from_json(data) == conf
    assert vertex_from_json({"@class": "x.Tilted"}) == Tilted()
    assert vertex_from_json(vertex_to_json(FrozenVertex(conf))) == FrozenVertex(conf)


@dataclass(frozen=True)
class Leaning(Tilted):
    """A vertex that nobody has registered."""

    more: bool = True


class Plain(VertexConf):
    """A vertex without anything."""


def test_ones_own_vertex_must_be_registered():
    with pytest.raises(nd.ConfigurationError, match=r"vertex Leaning must be the library's or registered.*nn.register"):
        vertex_to_json(Leaning())
    register(Leaning, java_class="com.example.Leaning")
    try:
        data = vertex_to_json(Leaning(0.75))
        assert data == {"@class": "com.example.Leaning", "halfLife": None, "more": True, "share": 0.75}
        assert vertex_from_json(data) == Leaning(0.75)
    finally:
        unregister(Leaning)


@pytest.mark.parametrize(
    ("part", "java_class", "words"),
    [
        (VertexConf, None, "VertexConf is the library's own"),
        (MergeVertex, None, "MergeVertex is the library's own"),
        (Leaning, "com.example.MergeVertex", "'MergeVertex' is the library's own"),
        (Plain, None, "Plain must be a dataclass itself"),
        (
            dataclass(frozen=True)(type("Idle", (VertexConf,), {})),
            None,
            "Idle.runtime must be a class from VertexRuntime, got None",
        ),
    ],
)
def test_what_cannot_be_registered(part, java_class, words):
    with pytest.raises(nd.ConfigurationError, match=words):
        register(part, java_class)
