"""What Java's files and builders say that means nothing here: taken, kept, written again; and lists of penalties."""

import json
import zipfile

import numpy as np
import pytest

import nd
from nn import (
    ConvolutionLayer,
    DenseLayer,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    TransferLearning,
)
from nn.dl4j import AlgoMode, BackpropType, CacheMode, CNN2DFormat, DataType, WorkspaceMode
from nn.files import own_settings
from optimize import L1Regularization, L2Regularization, Sgd, StepSchedule, WeightDecay

X, Y = np.random.default_rng(1).normal(size=(5, 4)), np.eye(2)[[0, 1, 1, 0, 1]]


def images():
    return (
        NeuralNetConfiguration.Builder().seed(3).trainingWorkspaceMode(WorkspaceMode.NONE).cacheMode(CacheMode.DEVICE)
        .dataType(DataType.DOUBLE).cudnnAlgoMode(AlgoMode.NO_WORKSPACE).list()
        .layer(ConvolutionLayer.Builder(2, 2).nOut(2).dataFormat(CNN2DFormat.NCHW).cudnnAlgoMode(AlgoMode.NO_WORKSPACE)
               .build())
        .layer(OutputLayer.Builder().lossFunction("mcxent").units(2).build())
        .inferenceWorkspaceMode(WorkspaceMode.SINGLE).backpropType(BackpropType.Standard).tBPTTLength(7)
        .setInputType(InputType.convolutional(3, 3, 1)).build()
    )  # fmt: skip


def test_what_builders_take_is_written_and_read_again():
    conf = images()
    document = json.loads(conf.to_json())
    assert {key: document[key] for key in conf.base.unused} == {
        "trainingWorkspaceMode": "NONE", "cacheMode": "DEVICE", "inferenceWorkspaceMode": "SINGLE",
    }  # fmt: skip
    assert [document[key] for key in ("backpropType", "tbpttFwdLength", "tbpttBackLength")] == ["Standard", 7, 7]
    assert (conf.backprop_type, conf.tbptt_fwd_length, conf.tbptt_back_length) == ("standard", 7, 7)
    assert document["confs"][0]["layer"]["cudnnAlgoMode"] == "NO_WORKSPACE"
    again = MultiLayerConfiguration.from_json(conf.to_json())
    assert (again.layers, again.base.unused) == (conf.layers, conf.base.unused)
    assert conf.base.dtype == "float64"


@pytest.mark.parametrize("kind", [BackpropType.TruncatedBPTT, "TruncatedBPTT", "truncated_bptt"])
def test_truncated_backprop_of_builders_is_that_of_the_configuration_and_of_its_json(kind):
    layers = DenseLayer(n_in=2, n_out=3), OutputLayer(n_in=3, n_out=2)
    builder = NeuralNetConfiguration.Builder().seed(3).list(*layers).backpropType(kind)
    conf = builder.tBPTTForwardLength(5).tBPTTBackwardLength(4).build()
    series = {"backprop_type": "truncated_bptt", "tbptt_fwd_length": 5, "tbptt_back_length": 4}
    assert conf == NeuralNetConfiguration(seed=3).list(*layers, **series)
    assert conf != NeuralNetConfiguration(seed=3).list(*layers)
    document = json.loads(conf.to_json())
    found = [document[key] for key in ("backpropType", "tbpttFwdLength", "tbpttBackLength")]
    assert found == ["TruncatedBPTT", 5, 4]
    assert not conf.base.unused
    assert MultiLayerConfiguration.from_json(conf.to_json()) == conf


def test_exact_truncated_backprop_is_kept_where_java_does_not_look(tmp_path):
    layers = DenseLayer(n_in=2, n_out=3), OutputLayer(n_in=3, n_out=2)
    builder = NeuralNetConfiguration.Builder().seed(3).list(*layers).backpropType("TruncatedBPTT").tbpttExact(True)
    conf, plain = builder.build(), builder.tbpttExact(False).build()
    assert (conf.tbptt_exact, plain.tbptt_exact) == (True, False)
    assert conf != plain
    with pytest.raises(nd.ConfigurationError, match=r"to_json: DL4J 1\.0 has no place for tbptt_exact True"):
        conf.to_json()
    net = MultiLayerNetwork(conf).init()
    net.save(tmp_path / "net.zip")
    with zipfile.ZipFile(tmp_path / "net.zip") as archive:
        assert archive.read("configuration.json").decode() == plain.to_json()
        assert json.loads(archive.read("ndwright.json"))["tbptt_exact"] is True
    assert MultiLayerNetwork.load(tmp_path / "net.zip").conf == net.clone().conf == conf
    assert net.to_computation_graph().conf.tbptt_exact
    assert TransferLearning(net).build().conf.tbptt_exact


def test_only_true_and_false_are_read():
    conf = NeuralNetConfiguration(seed=3).list(DenseLayer(n_in=2, n_out=3), OutputLayer(n_in=3, n_out=2))
    text, document, needed = own_settings.written(conf, [])
    assert not needed
    assert not own_settings.read(text, document)[0].tbptt_exact
    with pytest.raises(nd.FormatError, match=r"ndwright\.json: tbptt_exact must be true or false, got 'yes'"):
        own_settings.read(text, {**document, "tbptt_exact": "yes"})


def test_it_survives_files_and_changes_nothing(tmp_path):
    net = MultiLayerNetwork(images()).init()
    net.save(tmp_path / "net.zip")
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    assert again.conf.to_json() == net.conf.to_json()
    x = np.random.default_rng(2).normal(size=(3, 1, 3, 3))
    np.testing.assert_array_equal(again.output(x), net.output(x))


def test_what_java_would_compute_another_way_is_refused():
    with pytest.raises(nd.ConfigurationError, match="data format must be NCHW or NCW or NCDHW, got"):
        DenseLayer.Builder().dataFormat(CNN2DFormat.NHWC)
    assert DenseLayer.Builder().dataFormat(CNN2DFormat.NCHW).nOut(2).build() == DenseLayer(n_out=2)


def test_a_builders_settings_can_be_asked_for_and_copied():
    builder = DenseLayer.Builder().nIn(3).setNOut(4).setIUpdater(Sgd(0.3))
    other = builder.clone().nOut(7)
    assert (builder.getNOut(), builder.getIUpdater(), other.build().n_out, builder.build().n_out) == (4, Sgd(0.3), 7, 4)
    with pytest.raises(nd.ChoiceError, match=r"DenseLayer\.Builder: unknown setting 'n_outs'.*Did you mean 'n_out'"):
        builder.nOuts(3)


def test_a_configuration_of_one_layer():
    conf = NeuralNetConfiguration.Builder().seed(7).layer(DenseLayer.Builder().nIn(2).nOut(3).build()).build()
    assert (conf.getLayer().getNOut(), conf.getSeed()) == (3, 7)
    stacked = NeuralNetConfiguration.Builder().list(DenseLayer(n_in=2, n_out=3), OutputLayer(n_in=3, n_out=2)).build()
    assert [each.getLayer().getLayerName() for each in stacked.getConfs()] == ["layer0", "layer1"]


# ---- lists of penalties


TWICE = [WeightDecay(0.1), WeightDecay(0.1)]
HALVED = StepSchedule("iteration", 0.2, 0.5, 1)


def network(updater, **settings):
    layer = DenseLayer(n_in=4, n_out=3, activation="tanh", **settings)
    conf = NeuralNetConfiguration(seed=2, dtype="float64", updater=updater).list(layer, OutputLayer(n_in=3, n_out=2))
    return MultiLayerNetwork(conf).init()


@pytest.mark.parametrize(
    ("listed", "plain"),
    [
        (TWICE, {"weight_decay": 0.2}),
        ([L2Regularization(0.1), L1Regularization(0.05), L2Regularization(0.2)], {"l1": 0.05, "l2": 0.3}),
        ([L1Regularization(0.05), L2Regularization(0.2)], {"l1": 0.05, "l2": 0.2}),
        ([L2Regularization(HALVED)] * 2, {"l2": StepSchedule("iteration", 0.4, 0.5, 1)}),
        ([], {}),
    ],
    ids=["twice", "another order", "as fields", "schedules", "empty"],
)
def test_a_list_is_the_sum_of_its_penalties(listed, plain):
    one, other = network(Sgd(0.1), regularization=listed), network(Sgd(0.1), **plain)
    for _ in range(3):
        for net in (one, other):
            net.fit(X, Y)
        assert one.score() == pytest.approx(other.score(), rel=1e-12)
    np.testing.assert_allclose(one.params(), other.params(), rtol=1e-12)


def test_lists_keep_their_order_in_files():
    listed = (L2Regularization(0.1), L1Regularization(0.05), L2Regularization(0.1))
    conf = network(Sgd(0.1), regularization=listed, regularization_bias=TWICE).conf
    written = json.loads(conf.to_json())["confs"][0]["layer"]
    assert [each["@class"].rpartition(".")[2] for each in written["regularization"]] == [
        "L2Regularization", "L1Regularization", "L2Regularization",
    ]  # fmt: skip
    again = MultiLayerConfiguration.from_json(conf.to_json())
    assert again.layers == conf.layers
    assert (again.layers[0].regularization, len(again.layers[0].regularization_bias)) == (listed, 2)


def test_l2_beside_weight_decay_in_a_list():
    both = [L2Regularization(0.1), WeightDecay(0.2)]
    net = network(Sgd(0.1), regularization=both)
    assert net.conf.layers[0].regularization == tuple(both)
    with pytest.raises(nd.ConfigurationError, match="give l2 or weight_decay, not both"):
        network(Sgd(0.1), l2=0.1, weight_decay=0.2)
    with pytest.raises(nd.ConfigurationError, match="regularization must be all penalties, got l1 beside it"):
        network(Sgd(0.1), l1=0.1, regularization=both)


def test_a_layers_list_is_its_own_and_the_networks_list_a_default():
    base = NeuralNetConfiguration(regularization=TWICE, l1_bias=0.3)
    first, second, third = base.list(
        DenseLayer(n_in=4, n_out=3), DenseLayer(n_out=3, l2=0.5), OutputLayer(n_out=2, regularization=[])
    ).layers
    assert first.regularization_of(bias=False) == tuple(TWICE)
    assert first.regularization_of(bias=True) == (L1Regularization(0.3),)
    assert second.regularization_of(bias=False) == (L2Regularization(0.5),)
    assert third.regularization_of(bias=False) == tuple(TWICE)  # an empty list says nothing, as in Java
