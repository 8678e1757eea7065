"""Split layers behind tops with several uses: Caffe's cases, written anew."""

import pytest

import nd
from nn.caffe import insert_splits, parse_text
from tests.cells import every_row

DATA = 'layer { name: "data" type: "Data" top: "data" top: "label" }'


def ip(name, bottom, top=None, more=""):
    return f'layer {{ name: "{name}" type: "InnerProduct" bottom: "{bottom}" top: "{top or name}" {more} }}'


def relu(name, blob, top=None):
    return f'layer {{ name: "{name}" type: "ReLU" bottom: "{blob}" top: "{top or blob}" }}'


def loss(name, first, second, top=None):
    written = f'top: "{top}"' if top else ""
    return f'layer {{ name: "{name}" type: "EuclideanLoss" bottom: "{first}" bottom: "{second}" {written} }}'


def split(blob, layer, index, count, more=""):
    name = f"{blob}_{layer}_{index}_split"
    tops = " ".join(f'top: "{name}_{k}"' for k in range(count))
    return f'layer {{ name: "{name}" type: "Split" bottom: "{blob}" {tops} {more} }}'


CASES = {  # name -> layers, layers with splits
    "every blob is used once": ([DATA, ip("ip", "data"), loss("loss", "ip", "label")],) * 2,
    "a Split is there already": (
        [
            DATA, split("data", "data", 0, 2), ip("ip1", "data_data_0_split_0"), ip("ip2", "data_data_0_split_1"),
            loss("loss", "ip1", "ip2"),
        ],
    ) * 2,
    "in place": ([DATA, ip("ip", "data"), relu("relu", "ip"), loss("loss", "ip", "label")],) * 2,
    "a long chain, in place": (
        [
            DATA, ip("ip1", "data"), relu("relu1", "ip1"), ip("ip2", "ip1"), relu("relu2", "ip2"),
            'layer { name: "drop2" type: "Dropout" bottom: "ip2" top: "ip2" }', ip("ip3", "ip2"),
            loss("loss", "ip3", "label"),
        ],
    ) * 2,
    "a loss weight is a use": (
        [
            DATA, ip("ip1", "data", more="loss_weight: 2.5"), ip("ip2", "data"), loss("loss1", "ip1", "ip2"),
        ],
        [
            DATA, split("data", "data", 0, 2), ip("ip1", "data_data_0_split_0"),
            split("ip1", "ip1", 0, 2, "loss_weight: 2.5 loss_weight: 0"), ip("ip2", "data_data_0_split_1"),
            loss("loss1", "ip1_ip1_0_split_1", "ip2"),
        ],
    ),
    "three uses and two": (
        [
            DATA, ip("ip1", "data"), ip("ip2", "data"), ip("ip3", "data"), loss("loss1", "ip1", "ip2"),
            loss("loss2", "ip2", "ip3"),
        ],
        [
            DATA, split("data", "data", 0, 3), ip("ip1", "data_data_0_split_0"), ip("ip2", "data_data_0_split_1"),
            split("ip2", "ip2", 0, 2), ip("ip3", "data_data_0_split_2"), loss("loss1", "ip1", "ip2_ip2_0_split_0"),
            loss("loss2", "ip2_ip2_0_split_1", "ip3"),
        ],
    ),
    "both tops of a layer": (
        [
            DATA, ip("ip1", "data"), ip("ip2", "data"), loss("loss1", "ip1", "label"), loss("loss2", "ip2", "label"),
        ],
        [
            DATA, split("data", "data", 0, 2), split("label", "data", 1, 2), ip("ip1", "data_data_0_split_0"),
            ip("ip2", "data_data_0_split_1"), loss("loss1", "ip1", "label_data_1_split_0"),
            loss("loss2", "ip2", "label_data_1_split_1"),
        ],
    ),
    "behind what is changed in place": (
        [
            DATA, ip("ip1", "data"), relu("relu1", "ip1"), ip("ip2", "ip1"), loss("loss1", "ip1", "label"),
            loss("loss2", "ip2", "data"),
        ],
        [
            DATA, split("data", "data", 0, 2), ip("ip1", "data_data_0_split_0"), relu("relu1", "ip1"),
            split("ip1", "relu1", 0, 2), ip("ip2", "ip1_relu1_0_split_0"),
            loss("loss1", "ip1_relu1_0_split_1", "label"), loss("loss2", "ip2", "data_data_0_split_1"),
        ],
    ),
    "a loss weight of 0 is no use": ([DATA, ip("ip", "data", more="loss_weight: 0"), loss("loss", "ip", "label")],) * 2,
    "the weight of the other top stays": (
        [
            'layer { name: "two" type: "Slice" bottom: "x" top: "a" top: "b" loss_weight: 3 loss_weight: 4 }',
            ip("ip", "a"),
        ],
        [
            'layer { name: "two" type: "Slice" bottom: "x" top: "a" top: "b" loss_weight: 0 loss_weight: 4 }',
            split("a", "two", 0, 2, "loss_weight: 3 loss_weight: 0"), ip("ip", "a_two_0_split_1"),
        ],
    ),
    "a loss layer says that its weight has moved": (
        [
            'layer { name: "l" type: "SoftmaxWithLoss" bottom: "x" top: "l" loss_weight: 3 }', relu("again", "l", "m"),
        ],
        [
            'layer { name: "l" type: "SoftmaxWithLoss" bottom: "x" top: "l" loss_weight: 0 }',
            split("l", "l", 0, 2, "loss_weight: 3 loss_weight: 0"), relu("again", "l_l_0_split_1", "m"),
        ],
    ),
}  # fmt: skip
X = 'layer { name: "x" type: "Input" top: "x" }'


@every_row("name", sorted(CASES))
def test_splits_stand_behind_what_is_used_again(name):
    given, expected = (parse_text("\n".join(["name: 'net'", X, *layers]), "NetParameter") for layers in CASES[name])
    before = given.SerializeToString()
    got = insert_splits(given)
    assert got == expected
    assert insert_splits(got) == got
    assert given.SerializeToString() == before


def test_a_bottom_without_a_layer_is_named():
    net = parse_text(DATA + ip("ip", "dta"), "NetParameter")
    with pytest.raises(
        nd.ConfigurationError,
        match=r"^insert_splits: layer 1 'ip' \(InnerProduct\): bottom 0 'dta' must be a top of an earlier layer, got "
        r"one of none\. Earlier tops are 'data', 'label'\.",
    ):
        insert_splits(net)


def test_a_blob_is_that_of_the_layer_that_wrote_it_last():
    """Whoever comes between uses it as it was then."""
    layers = [X, relu("first", "x"), ip("ip", "x"), relu("second", "x"), loss("loss", "x", "ip")]
    got = insert_splits(parse_text("\n".join(layers), "NetParameter"))
    assert [layer.name for layer in got.layer] == ["x", "first", "x_first_0_split", "ip", "second", "loss"]
    assert list(got.layer[4].bottom) == ["x_first_0_split_1"]
