"""A net's layers and blobs by name, and which of them go backward: Caffe's cases, written anew."""

import pytest

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

import nd
from nn.caffe.net import Net
from tests.cases import caffe_small_nets as nets
from tests.cases.caffe_small_nets import data, layer, product

FORCE = "force_backward: true"


def test_blobs_and_layers_by_name():
    net = Net(nets.tiny(), seed=1)
    assert net.blob_names == list(net.blobs) == ["data", "label", "innerproduct", "top_loss"]
    assert net.layer_names == list(net.layer_dict) == net._layer_names == ["data", "innerproduct", "loss"]
    for name in net.blob_names:
        assert net.has_blob(name)
        assert net.blob_by_name(name) is net.blobs[name]
    assert not net.has_blob("loss")
    assert net.blob_by_name("loss") is None
    for number, name in enumerate(net.layer_names):
        assert net.has_layer(name)
        assert net.layer_by_name(name) is net.layers[number] is net.layer_dict[name]
    assert not net.has_layer("label")
    assert net.layer_by_name("label") is None
    assert (net.name, net.phase, net.inputs, net.outputs) == ("tiny", "TEST", [], ["top_loss"])


def test_numbers_of_bottoms_and_tops():
    net = Net(nets.tiny(), seed=1)
    assert [net.bottom_ids(number) for number in range(3)] == [[], [0], [2, 1]]
    assert [net.top_ids(number) for number in range(3)] == [[0, 1], [2], [3]]
    assert net.bottom_names == {"data": [], "innerproduct": ["data"], "loss": ["innerproduct", "label"]}
    assert net.top_names == {"data": ["data", "label"], "innerproduct": ["innerproduct"], "loss": ["top_loss"]}
    assert net.bottom_vecs[2] == [net.blobs["innerproduct"], net.blobs["label"]]
    assert net.top_vecs[2] == net.output_blobs == [net.blobs["top_loss"]]
    assert net.memory_used == 4 * (5 * 2 * 3 * 4 + 5 + 5 * 1000 + 1)
    for ask in (net.bottom_ids, net.top_ids):
        with pytest.raises(nd.ConfigurationError, match=r"_ids: layer must be 0\.\.2 or a layer's name, got 3"):
            ask(3)


def test_of_several_layers_with_one_name_the_last_is_found():
    net = Net(nets.tiny(accuracy=True), seed=1)
    assert net.layer_names[-2:] == ["loss", "loss"]
    assert net.layer_by_name("loss") is net.layers[-1]
    assert net.outputs == ["accuracy", "top_loss"]


def test_outputs_are_sorted_and_inputs_in_their_order():
    text = nets.inputs(z=(2, 3), a=(2, 3)) + layer("one", "ReLU", "z", "y") + layer("two", "ReLU", "a", "b")
    net = Net(text)
    assert net.inputs == ["z", "a"]
    assert net.outputs == ["b", "y"]
    assert net.input_blobs == [net.blobs["z"], net.blobs["a"]]


def test_tops_that_have_no_name_are_no_outputs():
    net = Net(nets.euclidean(), seed=1)
    assert net.blob_names[-1] == "(automatic)"
    assert net.outputs == []
    assert not net.has_blob("(automatic)")
    assert net.forward() == {}
    assert net.loss > 0.0


def test_who_goes_backward():
    assert Net(nets.tiny()).bottom_need_backward == [[], [False], [True, False]]
    assert Net(nets.tiny(FORCE)).bottom_need_backward == [[], [True], [True, False]]
    assert Net(nets.euclidean(FORCE)).bottom_need_backward == [[], [True], [True, True]]
    assert Net(nets.tricky()).bottom_need_backward == [[], [False], [False], [True, True]]


def test_a_label_that_could_be_trained_fails_when_it_should_be():
    net = Net(nets.tricky(), seed=1)
    net.forward()
    with pytest.raises(
        nd.ConfigurationError, match=r"layer 3 'loss'.*: nothing below bottom 1 'fake_labels' can be tra"
    ):
        net.backward()


def test_propagate_down_of_a_loss_cuts_off_what_makes_the_label():
    goes = Net(nets.skipping("true"))
    assert goes.layer_names == [
        "data",
        "data_data_0_split",
        "silence",
        "innerproduct",
        "ip_fake_labels",
        "argmax",
        "loss",
    ]
    assert goes.bottom_need_backward == [[], [False], [False], [False], [False], [True], [True, True]]
    assert dict(zip(goes.layer_names, goes.layer_need_backward, strict=True)) == {
        name: not name.startswith("data") and name != "silence" for name in goes.layer_names
    }
    cut = Net(nets.skipping("false"))
    needing = {name for name, needs in zip(cut.layer_names, cut.layer_need_backward, strict=True) if needs}
    assert needing == {"innerproduct", "loss"}
    assert cut.bottom_need_backward[-1] == [True, False]


def test_propagate_down_of_a_product_goes_back_to_the_data():
    plain, told = Net(nets.forcing()), Net(nets.forcing("propagate_down: true"))
    assert plain.bottom_need_backward == [[], [False], [True], [True, False]]
    assert told.bottom_need_backward == [[], [True], [True], [True, False]]
    assert plain.layer_need_backward == told.layer_need_backward == [False, True, True, True]


def test_propagate_down_is_for_all_bottoms_or_none():
    text = nets.tiny().replace('top: "top_loss"', 'top: "top_loss" propagate_down: true')
    with pytest.raises(
        nd.ConfigurationError, match=r"layer 2 'loss'.*propagate_down must be there for every bottom or "
    ):
        Net(text)


def test_a_loss_of_weight_zero_takes_its_branch_off():
    net = Net(nets.weighed(main=0, head=""))
    assert not any(net.layer_need_backward)
    net = Net(nets.weighed(main=0, middle=1, head=""))
    needing = [name for name, needs in zip(net.layer_names, net.layer_need_backward, strict=True) if needs]
    assert needing == ["innerproduct1", "innerproduct1_innerproduct1_0_split"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (data((2, 3)) + layer("a", "ReLU", "nothing", "b"), "layer 1 'a'.*bottom 0 'nothing' must be a top of an earl"),
        (
            data((2, 3)) + layer("a", "ReLU", "data", "b") + layer("c", "TanH", "b", "data"),
            "layer 3|top 'data' must be",
        ),
        (
            data((2, 3), (2, 3), tops=("a", "b")) + layer("sum", "Eltwise", "a b", "b"),
            "layer 1 'sum'.*top 'b' must be written by one layer",
        ),
        (
            data((2, 3)) + layer("a", "Flatten", "data", "data"),
            "its top must be another blob than its bottom, got 'data'",
        ),
        (data((2, 3)) + layer("a", "Nothing", "data", "b"), r"unknown layer type\. Known are AbsVal, Accuracy,.*Tile"),
        (data((2, 3)) + layer("a", "ReLU", "data data", "b"), "layer 2 'a'.*expected 1 bottom"),
        (data((2, 3)) + product("a", "data", "b", 2, "param { } param { } param { }"), "at most 2 parameter.*got 3"),
        (
            data((2, 3)) + layer("a", "ReLU", "data", "b", "loss_weight: 1 loss_weight: 2"),
            "for each of 1 top.*none, got",
        ),
    ],
)
def test_nets_that_cannot_be(text, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        Net(text)
