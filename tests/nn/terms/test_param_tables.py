"""Where the parameters of every layer lie: section by section of DL4J's initializers, with sizes told apart by hand."""

import json

import pytest

import nd
from nn import MultiLayerConfiguration, NeuralNetConfiguration
from nn.files.param_tables import PARAM_TABLES, VERTEX_TABLES, param_specs_of, param_specs_of_vertex
from nn.layers import LAYERS
from tests.cases.layers import LAYER_CASES
from tests.cells import every_row

FF = {"nin": 3, "nout": 5}
DENSE = {"@class": "a.DenseLayer", **FF}
BOUNDS = {"kernelSize": [2, 7], "nin": 3, "nout": 5}
LSTM = (("W", (3, 20), "f"), ("RW", (5, 20), "f"), ("b", (1, 20), "c"))
GRAVES = (("W", (3, 20), "f"), ("RW", (5, 23), "f"), ("b", (1, 20), "c"))
PLAIN = (("W", (3, 5), "f"), ("b", (1, 5), "c"))
HEADS = {**FF, "nheads": 2, "headSize": 7, "projectInput": True}
PROJECTED = (("Wq", (2, 7, 3)), ("Wk", (2, 7, 3)), ("Wv", (2, 7, 3)), ("Wo", (14, 5)))
GAUSSIAN = {"@class": "a.GaussianReconstructionDistribution"}
BERNOULLI = {"@class": "a.BernoulliReconstructionDistribution"}
COMPOSITE = {
    "@class": "a.CompositeReconstructionDistribution", "distributionSizes": [1, 2],
    "reconstructionDistributions": [GAUSSIAN, BERNOULLI],
}  # fmt: skip


def variational(last):
    names = (("e0", 3, 11), ("e1", 11, 13), ("pZXMean", 13, 5), ("pZXLogStd2", 13, 5), ("d0", 5, 17), ("pXZ", 17, last))
    return tuple(row for name, a, b in names for row in ((f"{name}W", (a, b), "f"), (f"{name}b", (1, b), "c")))


VAE = {**FF, "encoderLayerSizes": [11, 13], "decoderLayerSizes": [17]}
CASES = {
    "AutoEncoder": [(FF, (*PLAIN, ("vb", (1, 3))))],
    "BatchNormalization": [
        ({"nin": 5, "nout": 5, "useLogStd": True},
         (("gamma", (1, 5)), ("beta", (1, 5)), ("mean", (1, 5)), ("log10stdev", (1, 5)))),
        ({"nin": 5, "nout": 5, "useLogStd": False, "lockGammaBeta": True}, (("mean", (1, 5)), ("var", (1, 5)))),
    ],
    "Bidirectional": [
        ({"fwd": {"@class": "a.LSTM", **FF}, "bwd": {"@class": "a.LSTM", **FF}},
         tuple((side + name, shape, order) for side in "fb" for name, shape, order in LSTM)),
    ],
    "CapsuleLayer": [
        ({"capsules": 2, "capsuleDimensions": 5, "inputCapsules": 7, "inputCapsuleDimensions": 3, "hasBias": True},
         (("W", (1, 7, 10, 3, 1)), ("b", (1, 1, 2, 5, 1)))),
    ],
    "CenterLossOutputLayer": [(FF, (*PLAIN, ("cL", (5, 3))))],
    "Convolution1DLayer": [({**FF, "kernelSize": [2, 1]}, (("b", (1, 5)), ("W", (5, 3, 2, 1))))],
    "Convolution3D": [({**FF, "kernelSize": [2, 7, 4]}, (("b", (1, 5)), ("W", (5, 3, 2, 7, 4))))],
    "ConvolutionLayer": [
        (BOUNDS, (("b", (1, 5)), ("W", (5, 3, 2, 7)))), ({**BOUNDS, "hasBias": False}, (("W", (5, 3, 2, 7)),)),
    ],
    "Deconvolution2D": [(BOUNDS, (("b", (1, 5)), ("W", (3, 5, 2, 7))))],
    "Deconvolution3D": [({**FF, "kernelSize": [2, 7, 4]}, (("b", (1, 5)), ("W", (2, 7, 4, 5, 3))))],
    "DenseLayer": [
        (FF, PLAIN), ({**FF, "hasBias": False}, PLAIN[:1]), ({"nIn": 3, "nOut": 5}, PLAIN),
        ({**FF, "hasLayerNorm": True}, (*PLAIN, ("g", (1, 5)))),
    ],
    "DepthwiseConvolution2D": [({**BOUNDS, "depthMultiplier": 4}, (("b", (1, 12)), ("W", (2, 7, 3, 4))))],
    "ElementWiseMultiplicationLayer": [({"nin": 5, "nout": 5}, (("W", (1, 5)), ("b", (1, 5))))],
    "EmbeddingLayer": [(FF, PLAIN)],
    "EmbeddingSequenceLayer": [({**FF, "hasBias": False}, PLAIN[:1])],
    "FrozenLayer": [({"layer": DENSE}, PLAIN)],
    "FrozenLayerWithBackprop": [({"underlying": DENSE}, PLAIN)],
    "GravesBidirectionalLSTM": [(FF, tuple((name + side, *rest) for side in "FB" for name, *rest in GRAVES))],
    "GravesLSTM": [(FF, GRAVES)],
    "LSTM": [(FF, LSTM)],
    "LastTimeStep": [({"underlying": {"@class": "a.LSTM", **FF}}, LSTM)],
    "LearnedSelfAttentionLayer": [({**HEADS, "nqueries": 6}, (("Q", (1, 3, 6)), *PROJECTED))],
    "LocallyConnected1D": [({**FF, "kernel": 2, "outputSize": 9}, (("W", (9, 6, 5)), ("b", (1, 5))))],
    "LocallyConnected2D": [
        ({**FF, "kernel": [2, 7], "outputSize": [4, 6]}, (("W", (24, 42, 5)), ("b", (1, 5)))),
    ],
    "MaskZeroLayer": [({"underlying": {"@class": "a.LSTM", **FF}}, LSTM)],
    "OCNNOutputLayer": [({"nin": 3, "hiddenSize": 7}, (("w", (1, 7)), ("v", (3, 7), "f"), ("r", (1, 1))))],
    "OutputLayer": [(FF, PLAIN)],
    "PReLULayer": [
        ({"inputShape": [2, 3, 5], "sharedAxes": None}, (("W", (2, 3, 5), "f"),)),
        ({"inputShape": [2, 3, 5], "sharedAxes": [2, 3]}, (("W", (2, 1, 1), "f"),)),
    ],
    "PrimaryCapsules": [
        ({"kernelSize": [2, 7], "inputChannels": 3, "channels": 4, "capsuleDimensions": 5, "hasBias": True},
         (("W", (2, 7, 3, 20)), ("b", (20,)))),
    ],
    "RecurrentAttentionLayer": [
        (HEADS, (("W", (3, 5)), ("RW", (5, 5)), ("Wq", (2, 7, 5)), ("Wk", (2, 7, 3)), ("Wv", (2, 7, 3)),
                 ("Wo", (14, 5)), ("b", (5,)))),
    ],
    "RnnOutputLayer": [(FF, PLAIN)],
    "SelfAttentionLayer": [(HEADS, PROJECTED), ({**HEADS, "projectInput": False}, ())],
    "SeparableConvolution2D": [
        ({**BOUNDS, "depthMultiplier": 4}, (("b", (1, 5)), ("W", (4, 3, 2, 7)), ("pW", (5, 12, 1, 1)))),
    ],
    "SimpleRnn": [
        (FF, (("W", (3, 5), "f"), ("RW", (5, 5), "f"), ("b", (1, 5)))),
        ({**FF, "hasLayerNorm": True}, (("W", (3, 5), "f"), ("RW", (5, 5), "f"), ("b", (1, 5)), ("g", (1, 10)))),
    ],
    "TimeDistributed": [({"underlying": DENSE}, PLAIN)],
    "VariationalAutoencoder": [
        ({**VAE, "outputDistribution": GAUSSIAN}, variational(6)),
        ({**VAE, "outputDistribution": BERNOULLI}, variational(3)),
        ({**VAE, "outputDistribution": COMPOSITE}, variational(2 + 2)),
    ],
}  # fmt: skip
WITHOUT = {
    "ActivationLayer", "CapsuleStrengthLayer", "Cnn3DLossLayer", "CnnLossLayer", "Cropping1D", "Cropping2D",
    "Cropping3D", "DropoutLayer", "GlobalPoolingLayer", "LocalResponseNormalization", "LossLayer", "MaskLayer",
    "RepeatVector", "RnnLossLayer", "SpaceToBatchLayer", "SpaceToDepthLayer", "Subsampling1DLayer",
    "Subsampling3DLayer", "SubsamplingLayer", "Upsampling1D", "Upsampling2D", "Upsampling3D", "Yolo2OutputLayer",
    "ZeroPadding1DLayer", "ZeroPadding3DLayer", "ZeroPaddingLayer",
}  # fmt: skip


def rows(specs):
    return [(spec.name, spec.shape, spec.order) for spec in specs]


@every_row(
    ("java", "fields", "expected"),
    [pytest.param(java, *case, id=f"{java}-{n}") for java, cases in CASES.items() for n, case in enumerate(cases)],
)
def test_the_parameters_of_a_layer(java, fields, expected):
    assert rows(param_specs_of({"@class": f"org.a.{java}", **fields})) == [
        (name, shape, *(order or ["c"])) for name, shape, *order in expected
    ]


@every_row("java", sorted(WITHOUT))
def test_a_layer_without_parameters(java):
    assert param_specs_of({"@class": f"org.a.{java}", **FF}) == []


def test_every_class_has_a_row_here():
    """Those that ndwright runs have rows in tests/cases/layers too, whose parameters are compared below."""
    assert set(PARAM_TABLES) == {*CASES, *WITHOUT, *LAYERS.class_names}
    assert not WITHOUT & CASES.keys()
    assert list(PARAM_TABLES) == sorted(PARAM_TABLES)
    assert list(VERTEX_TABLES) == sorted(VERTEX_TABLES)


def test_vertices():
    sizes = {"nInQueries": 3, "nInKeys": 4, "nInValues": 6, "nOut": 5, "nHeads": 2, "headSize": 7, "projectInput": True}
    attention = {"@class": "a.AttentionVertex", **sizes}
    assert [spec.shape for spec in param_specs_of_vertex(attention)] == [(2, 7, 3), (2, 7, 4), (2, 7, 6), (14, 5)]
    lowered = {"@class": "a.AttentionVertex", **{key.replace("nI", "ni"): size for key, size in sizes.items()}}
    assert rows(param_specs_of_vertex(lowered)) == rows(param_specs_of_vertex(attention))
    layer = {"@class": "a.LayerVertex", "layerConf": {"layer": DENSE}}
    assert rows(param_specs_of_vertex(layer)) == [*PLAIN]
    assert rows(param_specs_of_vertex({"@class": "a.FrozenVertex", "underlying": layer})) == [*PLAIN]
    assert param_specs_of_vertex({"@class": "a.MergeVertex"}) == []


@every_row(
    "case", [pytest.param(row, id=f"{kind}-{row.variant}") for kind, found in LAYER_CASES.items() for row in found]
)
def test_layers_that_run_have_the_same_parameters(case):
    """Two descriptions of one layout: by the configuration at work, and by its JSON alone."""
    base = NeuralNetConfiguration(seed=1, validate_output_layer_config=False)
    conf = base.list(case.layer, *case.tail, input_type=case.input_type)
    again = MultiLayerConfiguration.from_json(conf.to_json())
    for layer, written in zip(again.layers, json.loads(conf.to_json())["confs"], strict=True):
        ours, tables = layer.param_specs(), param_specs_of(written["layer"])
        assert [(spec.name, spec.shape) for spec in ours] == [(spec.name, spec.shape) for spec in tables]
        by_order = [sum(axis > 1 for axis in spec.shape) > 1 for spec in ours]
        assert [spec.order for spec, counts in zip(ours, by_order, strict=True) if counts] == [
            spec.order for spec, counts in zip(tables, by_order, strict=True) if counts
        ]


@every_row(("fields", "message"), [
    ({"@class": "a.DenseLayer", "nin": 3}, "nOut must be an integer >= 0, got None"),
    ({"@class": "a.DenseLayer", "nin": -1, "nout": 2}, "nIn must be an integer >= 0, got -1"),
    ({"@class": "a.DenseLayer", "nin": True, "nout": 2}, "nIn must be an integer >= 0, got True"),
    ({"@class": "a.DenseLayer", **FF, "hasBias": 3}, "hasBias must be true or false, got 3"),
    ({"@class": "a.ConvolutionLayer", **FF, "kernelSize": [3]}, r"kernelSize must have 2 sizes, got \[3\]"),
    ({"@class": "a.ConvolutionLayer", **FF, "kernelSize": "x"}, "kernelSize must be a list of integers >= 0, got x"),
    ({"@class": "a.FrozenLayer"}, "expected a layer as 'layer', got none"),
    ({"@class": "a.PReLULayer", "inputShape": [2], "sharedAxes": [2]}, r"sharedAxes must be 1\.\.1, got 2"),
    ({"@class": "a.VariationalAutoencoder", **VAE}, "expected an object with '@class', got None"),
    ({"@class": 3}, "expected an object with '@class'"), ([], "expected an object with '@class'"),
])  # fmt: skip
def test_fields_that_say_no_size(fields, message):
    with pytest.raises(nd.FormatError, match=message):
        param_specs_of(fields)


def test_a_class_of_ones_own():
    with pytest.raises(nd.ConfigurationError, match=r"layer: the parameters of class 'com\.Mine' are not known"):
        param_specs_of({"@class": "com.Mine"})
