"""Every type of Caffe's layers as a part of a graph: the same outputs and losses, or refused with the reason."""

import numpy as np
import pytest

import nd
from nn.caffe.graphs import CONVERTERS, LEFT_OUT, MISSING
from nn.caffe.layers import LAYERS, layer_class
from nn.caffe.net import Net
from tests.cases.caffe_layers import CAFFE_CASES

REFUSED = {
    "BatchNorm": {
        "numbers of one channel, in training", "volumes, by the blobs in training", "of the minibatch in testing",
        "with nothing stored",
    },
    "Bias": {"from axis 2 on", "bottom 1 of examples and channels", "bottom 1 that all examples share"},
    "Concat": {"last axis", "examples"},
    "Convolution": {
        "two bottoms", "two bottoms in groups", "series", "series in groups", "volumes", "volumes in groups", "axis 2",
        "axis 0", "no places",
    },
    "Crop": {"examples, without an offset"},
    "Deconvolution": {"two bottoms", "series", "volumes in groups"},
    "Flatten": {"examples too"},
    "HingeLoss": {"images"},
    "InnerProduct": {"transposed from axis 2 without bias"},
    "LRN": {"within a channel, where k counts nothing"},
    "Pooling": {"MAX and its places", "STOCHASTIC in TEST", "STOCHASTIC in TRAIN"},
    "Power": {"root", "inverse", "power 0", "scale 0"},
    "Reduction": {"sum", "magnitudes", "squares", "everything"},
    "Reshape": {"one axis", "another number of examples"},
    "Scale": {
        "two axes from 1 on", "everything, examples too", "bottom 1 of examples and channels",
        "bottom 1 in the middle, with bias", "bottom 1 of one number",
    },
    "SigmoidCrossEntropyLoss": {"NONE", "ignored", "ignored, by examples"},
    "Slice": {"points", "examples"},
    "Softmax": {"the last axis", "examples"},
    "SoftmaxWithLoss": {
        "last axis", "NONE", "ignored and not a class", "ignored class, full", "everything ignored", "one example",
    },
    "Upsample": {
        "with a mask, by default", "with a mask, upsample_h: 5 upsample_w: 7", "with a mask, pad_out_w: false scale: 2",
    },
}  # fmt: skip
"""Type -> its rows that have no counterpart, sorted."""
NO_VERTEX = {
    "Concat": {"one bottom"},
    "Dropout": {"nothing dropped"},
    "Flatten": {"one axis"},
    "Power": {"plain"},
    "Slice": {"one top"},
    "Split": {"one top", "three tops", "a top without a gradient", "one of two", "none of two"},
}
"""Type -> rows whose tops are the bottom, sorted."""
ROWS = [
    pytest.param(kind, case, id=f"{kind}-{case.variant}")
    for kind in CONVERTERS
    for case in CAFFE_CASES[kind]
    if case.variant not in NO_VERTEX.get(kind, ()) and not (kind == "SoftmaxWithLoss" and case.tops == 2)
]


def net_of(kind, case, phase="TEST"):
    """Return a net of one layer, with numbers in its parameters and its bottoms."""
    xs, layers = case.inputs(), ""
    for number, x in enumerate(xs):
        dims = " ".join(f"dim: {size}" for size in x.shape)
        layers += f'layer {{ name: "in{number}" type: "Input" top: "b{number}" input_param {{ shape {{ {dims} }} }} }} '
    ends = " ".join([*(f'bottom: "b{i}"' for i in range(len(xs))), *(f'top: "t{i}"' for i in range(case.tops))])
    net = Net(f'{layers} layer {{ name: "it" type: "{kind}" {ends} {case.text} }}', phase, dtype="float64", seed=3)
    rng = np.random.default_rng(5)
    for blobs in net.params.values():
        for spec, blob in zip(net.layers[-1].conf.blobs, blobs, strict=True):
            blob.data = case.params(rng, spec.name, blob.shape) if case.params else rng.uniform(0.5, 1.5, blob.shape)
    for number, x in enumerate(xs):
        net.blobs[f"b{number}"].data = x
    return net


def test_the_tables_have_types_of_layers_once():
    kinds = [*CONVERTERS, *MISSING, *LEFT_OUT]
    assert len(kinds) == len(set(kinds))
    assert set(kinds) <= set(LAYERS)
    for table in (CONVERTERS, MISSING):
        assert list(table) == sorted(table)


@pytest.mark.parametrize(("kind", "case"), [row for row in ROWS if not layer_class(row.values[0]).is_loss])
@pytest.mark.quick_rows(every=2)
def test_layer(kind, case):
    net = net_of(kind, case)
    if case.variant in REFUSED.get(kind, ()):
        with pytest.raises(nd.ConfigurationError, match=rf"counterpart .*'it' \({kind}\): "):
            net.to_computation_graph()
        return
    net.forward()
    graph = net.to_computation_graph()
    assert set(graph.conf.vertices) >= ({"it"} if len(graph.conf.outputs) == 1 else set())
    given = graph.output(*(net.blobs[name].data for name in graph.conf.inputs))
    for number, array in enumerate(given):
        top = net.blobs[f"t{number}"].data
        assert array.shape == top.shape
        np.testing.assert_allclose(array, top, rtol=1e-10, atol=1e-12)


def labels_of(kind, net):
    """Return the labels of a net's loss as a graph takes them."""
    scores, labels = (np.asarray(net.blobs[name].data) for name in ("b0", "b1"))
    if kind in ("EuclideanLoss", "SigmoidCrossEntropyLoss"):
        return labels.reshape(scores.shape)
    places = np.moveaxis(np.eye(scores.shape[1])[labels.astype(int).reshape(scores.shape[0], *scores.shape[2:])], -1, 1)
    return places * 2.0 - 1.0 if kind == "HingeLoss" else places


@pytest.mark.parametrize(("kind", "case"), [row for row in ROWS if layer_class(row.values[0]).is_loss])
def test_loss(kind, case):
    net = net_of(kind, case, "TRAIN")
    if case.variant in REFUSED.get(kind, ()):
        with pytest.raises(nd.ConfigurationError, match=rf"counterpart .*'it' \({kind}\): "):
            net.to_computation_graph()
        return
    net.forward()
    graph = net.to_computation_graph()
    x, y = net.blobs["b0"].data, labels_of(kind, net)
    score = graph.score(nd.dataset.MultiDataSet([x], [nd.create(y, "float64")]))
    assert score == pytest.approx(net.loss, rel=1e-10)


REFUSED_ROWS = [pytest.param(kind, CAFFE_CASES[kind][0], id=kind) for kind in MISSING]


@pytest.mark.parametrize(("kind", "case"), REFUSED_ROWS)
def test_type_without_a_counterpart(kind, case):
    text = f"'it' \\({kind}\\): {MISSING[kind]}"
    with pytest.raises(nd.ConfigurationError, match=text):
        net_of(kind, case, case.phase).to_computation_graph()
