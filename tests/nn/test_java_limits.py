"""What the newest Java cannot do with a network is said when it is saved for Java."""

import copy
import io
import re
import warnings
from types import SimpleNamespace

import pytest

import nn
from nn import InputType, NeuralNetConfiguration
from nn.files.java_limits import LIMITS
from nn.layers import LAYERS
from nn.vertices import VERTICES
from optimize import AdaBelief, MaxNormConstraint, MinMaxNormConstraint
from tests.java_census.interfaces import kept
from tests.java_check.faults import FAULTS

ROWS, SERIES = InputType.feed_forward(4), InputType.recurrent(3, 4)
IMAGES, VOLUMES = InputType.convolutional(4, 4, 2), InputType.convolutional3d(3, 3, 3, 2)
NWC = InputType.recurrent(3, 4, "NWC")
NHWC, NDHWC = InputType.convolutional(4, 4, 2, "NHWC"), InputType.convolutional3d(3, 3, 3, 2, "NDHWC")
WIDE = InputType.convolutional(4, 6, 2)
OUTPUT, EVERY_STEP, LAST = nn.OutputLayer(n_out=2), nn.RnnOutputLayer(n_out=2), nn.GlobalPoolingLayer()


def of(input_type, *layers):
    return NeuralNetConfiguration(seed=1).list(*layers, input_type=input_type)


def over_images(layer):
    return of(IMAGES, nn.ConvolutionLayer(n_out=2, kernel_size=1), layer, OUTPUT)


def behind(input_type, vertex, two=False, dtype="float32"):
    """A graph with a vertex behind one convolution, or two."""
    volumes = input_type.format in ("NCDHW", "NDHWC")
    kind = nn.Convolution3D if volumes else nn.ConvolutionLayer
    nodes = {name: (kind(n_out=2, kernel_size=1), "x") for name in ("one", "other")[: 1 + two]}
    nodes |= {"vertex": (vertex, *nodes), "flat": (LAST, "vertex"), "out": (OUTPUT, "flat")}
    conf = NeuralNetConfiguration(seed=1, dtype=dtype)
    return conf.graph(inputs={"x": input_type}, nodes=nodes, outputs="out")


def with_norm(*params):
    norm = MaxNormConstraint(1.0, params=params, dimensions=(1,))
    return {"constraints": (norm,)}


ONE = {
    "AdaBelief": lambda: of(ROWS, nn.DenseLayer(n_out=2, updater=AdaBelief()), OUTPUT),
    "BatchNormalization over volumes": lambda: of(VOLUMES, nn.BatchNormalization(), OUTPUT),
    "Bidirectional in Bidirectional": lambda: of(
        SERIES, nn.Bidirectional(nn.Bidirectional(nn.LSTM(n_out=2))), EVERY_STEP
    ),
    "Bidirectional of LastTimeStep": lambda: of(SERIES, nn.Bidirectional(nn.LastTimeStep(nn.LSTM(n_out=2))), OUTPUT),
    "CnnLossLayer of class numbers": lambda: of(
        IMAGES, nn.ConvolutionLayer(n_out=2, kernel_size=1), nn.CnnLossLayer(loss="sparse_mcxent", activation="softmax")
    ),
    "Convolution1DLayer of series NWC": lambda: of(NWC, nn.Convolution1DLayer(n_out=2, kernel_size=2), EVERY_STEP),
    "FrozenLayerWithBackprop": lambda: of(
        ROWS, nn.FrozenLayerWithBackprop(nn.DenseLayer(n_out=2, weight_noise=nn.DropConnect(0.5))), OUTPUT
    ),
    "IdentityLayer at the input": lambda: of(ROWS, nn.IdentityLayer(), OUTPUT),
    "L2NormalizeVertex in double precision": lambda: behind(IMAGES, nn.L2NormalizeVertex(), dtype="float64"),
    "L2NormalizeVertex over some axes": lambda: behind(IMAGES, nn.L2NormalizeVertex(dimension=(1,))),
    "LBFGS above frozen layers": lambda: NeuralNetConfiguration(seed=1, optimization_algo="lbfgs").list(
        nn.FrozenLayerWithBackprop(nn.DenseLayer(n_out=2)), OUTPUT, input_type=ROWS
    ),
    "LearnedSelfAttentionLayer": lambda: of(
        SERIES, nn.LearnedSelfAttentionLayer(n_out=2, n_heads=1, n_queries=2, project_input=True), LAST, OUTPUT
    ),
    "MaskLayer at the input": lambda: of(IMAGES, nn.MaskLayer(), OUTPUT),
    "MergeVertex of volumes NDHWC": lambda: behind(NDHWC, nn.MergeVertex(), two=True),
    "OCNNOutputLayer with dropout": lambda: of(ROWS, nn.OCNNOutputLayer(hidden_size=2, drop_out=0.5)),
    "PReLULayer with shared axes": lambda: over_images(nn.PReLULayer(shared_axes=(2, 3))),
    "PoolHelperVertex": lambda: behind(WIDE, nn.PoolHelperVertex()),
    "PoolHelperVertex, channels last": lambda: behind(NHWC, nn.PoolHelperVertex()),
    "RBM": lambda: of(ROWS, nn.RBM(n_out=2), OUTPUT),
    "RnnLossLayer of series NWC": lambda: of(NWC, nn.LSTM(n_out=2), nn.RnnLossLayer(activation="softmax")),
    "RnnOutputLayer without a bias": lambda: of(SERIES, nn.RnnOutputLayer(n_out=2, has_bias=False)),
    "SimpleRnn of series NWC with dropout": lambda: of(NWC, nn.SimpleRnn(n_out=2, drop_out=0.5), EVERY_STEP),
    "SimpleRnn with layer normalisation": lambda: of(SERIES, nn.SimpleRnn(n_out=2, has_layer_norm=True), EVERY_STEP),
    "SpaceToBatchLayer with dropout": lambda: over_images(nn.SpaceToBatchLayer(blocks=2, drop_out=0.5)),
    "SpatialDropout of RnnOutputLayer": lambda: of(SERIES, nn.RnnOutputLayer(n_out=2, drop_out=nn.SpatialDropout(0.5))),
    "SubsetVertex, channels last": lambda: behind(NHWC, nn.SubsetVertex(0, 0)),
    "VariationalAutoencoder with weight noise": lambda: of(
        ROWS, nn.VariationalAutoencoder(n_out=2, weight_noise=nn.DropConnect(0.5)), OUTPUT
    ),
    "activations of SameDiff layers": lambda: of(
        IMAGES, nn.LocallyConnected2D(n_out=2, kernel_size=2, activation="selu"), OUTPUT
    ),
    "equal norms": lambda: of(
        ROWS, nn.DenseLayer(n_out=2, constraints=(MinMaxNormConstraint(1.0, 1.0, params=("W",)),)), OUTPUT
    ),
    "first layer of images": lambda: of(IMAGES, nn.ActivationLayer("relu"), OUTPUT),
    "layers that are not recurrent": lambda: of(
        SERIES, nn.LastTimeStep(nn.Convolution1DLayer(n_out=2, kernel_size=2)), OUTPUT
    ),
    "noise of no bias": lambda: of(
        ROWS,
        nn.DenseLayer(n_out=2, has_bias=False, weight_noise=nn.DropConnect(0.5, apply_to_biases=True)),
        OUTPUT,
    ),
    "norm of a bias": lambda: of(ROWS, nn.DenseLayer(n_out=2, **with_norm("b")), OUTPUT),
    "norm of a bias of LocallyConnected": lambda: of(
        IMAGES, nn.LocallyConnected2D(n_out=2, kernel_size=2, **with_norm("b")), OUTPUT
    ),
    "norm of a scalar": lambda: of(ROWS, nn.OCNNOutputLayer(hidden_size=2, **with_norm("r"))),
    "norm of factors": lambda: of(ROWS, nn.ElementWiseMultiplicationLayer(n_out=4, **with_norm("W")), OUTPUT),
    "output that is read": lambda: NeuralNetConfiguration(seed=1).graph(
        inputs={"x": ROWS}, nodes={"one": (OUTPUT, "x"), "out": (OUTPUT, "one")}, outputs=["one", "out"]
    ),
    "wide response normalisation": lambda: over_images(nn.LocalResponseNormalization(n=5)),
}
"""Name -> a configuration that meets with it."""
BESIDE = {
    "norm of a bias of LocallyConnected": {"norm of a bias"},
    "SpaceToBatchLayer with dropout": set(),
}
"""What else a configuration meets with."""
NONE = {
    "images": lambda: over_images(nn.LocalResponseNormalization(n=3)),
    "normalised images": lambda: over_images(nn.BatchNormalization()),
    "norm of weights": lambda: of(ROWS, nn.DenseLayer(n_out=2, **with_norm("W")), OUTPUT),
    "merged volumes": lambda: behind(VOLUMES, nn.MergeVertex(), two=True),
    "merged images, channels last": lambda: behind(NHWC, nn.MergeVertex(), two=True),
    "norms of images": lambda: behind(IMAGES, nn.L2NormalizeVertex()),
    "square images": lambda: behind(IMAGES, nn.PoolHelperVertex()),
    "subset of images": lambda: behind(IMAGES, nn.SubsetVertex(0, 0)),
    "masked rows": lambda: of(ROWS, nn.MaskLayer(), OUTPUT),
    "no layer at the input": lambda: over_images(nn.MaskLayer()),
    "rows": lambda: of(ROWS, nn.DenseLayer(n_out=2, drop_out=0.5), OUTPUT),
    "series": lambda: of(SERIES, nn.Bidirectional(nn.LSTM(n_out=2)), EVERY_STEP),
    "the first is no layer of images": lambda: of(ROWS, nn.ActivationLayer("relu"), OUTPUT),
}


def network_of(conf):
    kind = nn.MultiLayerNetwork if isinstance(conf, nn.MultiLayerConfiguration) else nn.ComputationGraph
    return kind(conf).init()


def said_by(action):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        action()
    return [str(one.message) for one in said if issubclass(one.category, nn.JavaLimitWarning)]


def test_every_limit_is_asked_for_and_proven():
    assert sorted(ONE) == [limit.name for limit in LIMITS] == sorted(limit.name for limit in LIMITS)
    assert {limit.name for limit in LIMITS} <= {fault.name for fault in FAULTS}


def test_every_layer_and_vertex_that_java_has_not_is_a_limit():
    """One of the library's that has no class of its name in Java needs an entry in nn/files/java_limits.py."""
    javas = {java.rpartition(".")[2].rpartition("$")[2] for java in kept()}
    ours = {part.__name__ for parts in (LAYERS, VERTICES) for part in parts.values()}
    warned_of = {kind for limit in LIMITS if "open" in limit.cannot for kind in limit.kinds}
    assert ours - javas == {"RBM"}
    assert ours - javas <= warned_of


def test_every_fault_by_which_the_newest_java_fails_is_a_limit():
    fails = {
        fault.name
        for fault in FAULTS
        if not fault.quantities.isdisjoint({"opens", "runs", "trains", "saves"}) and "1.0.0-M2.1" in fault.releases
    }
    assert fails == set(ONE)


@pytest.mark.parametrize("name", ONE)
def test_saving_warns_once_of_it(name):
    network = network_of(ONE[name]())
    file = io.BytesIO()
    with pytest.warns(nn.JavaLimitWarning) as warned:
        network.save(file)
    (warning,) = warned
    assert warning.filename == __file__
    text = str(warning.message)
    assert re.match(r"save: Deeplearning4j 1\.0\.0-M2\.1 cannot (open|run|train|save)", text)
    met = {limit.name for limit in LIMITS if f" {limit.name}: {limit.reason}" in text}
    assert met == {name} | BESIDE.get(name, set())
    file.seek(0)
    assert nn.load(file).num_params() == network.num_params()  # what is written is whole


@pytest.mark.parametrize("name", NONE)
def test_saving_says_nothing_where_java_can(name):
    assert said_by(lambda: network_of(NONE[name]()).save(io.BytesIO())) == []


def test_what_is_not_for_java_says_nothing(tmp_path):
    network = network_of(ONE["AdaBelief"]())
    for write in (network.save_checkpoint, network.save):
        assert said_by(lambda write=write: write(tmp_path / "a.npz" if write == network.save else io.BytesIO())) == []
    assert said_by(lambda: (network.clone(), copy.deepcopy(network))) == []


def test_parts_in_a_graph_and_in_other_layers_are_found():
    builder = NeuralNetConfiguration.Builder().graph_builder().add_inputs("in")
    builder.add_layer("dense", nn.FrozenLayer(nn.DenseLayer(n_out=2, updater=AdaBelief())), "in")
    builder.add_layer("norm", nn.BatchNormalization(), "volumes").add_inputs("volumes")
    builder.add_vertex("both", nn.MergeVertex(), "dense", "flat")
    builder.add_layer("flat", nn.DenseLayer(n_out=2), "norm")
    builder.add_layer("out", OUTPUT, "both").set_outputs("out").set_input_types(ROWS, VOLUMES)
    network = nn.ComputationGraph(builder.build()).init()
    (text,) = said_by(lambda: network.save(io.BytesIO()))
    assert "cannot open or train what is saved: AdaBelief" in text
    assert "cannot run or train what is saved: BatchNormalization over volumes" in text


def test_the_proof_applies_where_the_limit_does():
    (fault,) = (fault for fault in FAULTS if fault.name == "AdaBelief")
    assert fault.quantities == {"opens", "trains"}
    assert fault.applies(SimpleNamespace(conf=ONE["AdaBelief"]()))
    assert not fault.applies(SimpleNamespace(conf=NONE["rows"]()))
