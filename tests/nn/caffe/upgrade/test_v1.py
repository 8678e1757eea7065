"""Files of 2014 and 2015: types, what parameters learn by, transformations of data, inputs, BatchNorm."""

import pytest

import nd
from nn.caffe import parse_text, read_net, upgrade_net
from nn.caffe.schema import message_class
from nn.caffe.upgrade.v1 import TYPES
from tests.cases.caffe_nets import LENET, V1
from tests.cells import every_row

UPGRADED = """
name: "old"
layer { name: "input" type: "Input" top: "data" top: "label"
  input_param { shape { dim: [1, 3, 8, 8] } shape { dim: [1, 1, 1, 1] } } }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1" param { lr_mult: 1 decay_mult: 1 }
  param { lr_mult: 2 decay_mult: 0 } convolution_param { num_output: 4 kernel_size: 3 } }
layer { name: "relu1" type: "ReLU" bottom: "conv1" top: "conv1" }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "conv1" bottom: "label" top: "loss" loss_weight: 1.5 }
"""


def upgraded(text):
    return upgrade_net(parse_text(text, "NetParameter"))


def same(first, second):
    return upgraded(first) == parse_text(second, "NetParameter")


def test_a_net():
    assert same(V1, UPGRADED)
    given = parse_text(V1, "NetParameter")
    upgrade_net(given)
    assert given == parse_text(V1, "NetParameter")


@every_row("text", [UPGRADED, LENET, ""])
def test_a_net_of_the_newest_schema_stays(text):
    assert same(text, text)


def words_of(name):
    """The type by the rule: words in camel case, but for those that are written otherwise."""
    odd = {
        "NONE": "", "SOFTMAX_LOSS": "SoftmaxWithLoss", "RELU": "ReLU", "TANH": "TanH", "BNLL": "BNLL", "LRN": "LRN",
        "MVN": "MVN", "HDF5_DATA": "HDF5Data", "HDF5_OUTPUT": "HDF5Output", "ABSVAL": "AbsVal", "ARGMAX": "ArgMax",
        "IM2COL": "Im2col",
    }  # fmt: skip
    return odd[name] if name in odd else "".join(word.capitalize() for word in name.split("_"))


def test_every_type_has_a_name():
    assert sorted(TYPES) == sorted(message_class("V1LayerParameter").LayerType.keys())
    assert {name: words_of(name) for name in TYPES} == TYPES
    assert list(TYPES) == sorted(TYPES)


def test_lists_of_different_lengths():
    assert same(
        "layers { name: 'a' type: INNER_PRODUCT param: 'w' blob_share_mode: STRICT blob_share_mode: PERMISSIVE "
        "blobs_lr: [1, 2, 3] weight_decay: 4 }",
        "layer { name: 'a' type: 'InnerProduct' param { name: 'w' share_mode: STRICT lr_mult: 1 decay_mult: 4 } "
        "param { share_mode: PERMISSIVE lr_mult: 2 } param { lr_mult: 3 } }",
    )


def test_every_other_field_is_copied():
    fields = message_class("V1LayerParameter").DESCRIPTOR.fields
    own = {"layer", "type", "blobs_lr", "weight_decay", "param", "blob_share_mode"}
    newest = message_class("LayerParameter").DESCRIPTOR.fields_by_name
    for field in fields:
        if field.name in own:
            continue
        value = {"bottom": "'a'", "top": "'a'", "name": "'a'", "loss_weight": "2"}.get(field.name, "{ }")
        colon = ":" if value != "{ }" else ""
        text = f"{field.name}{colon} {value}"
        assert same(f"layers {{ {text} }}", f"layer {{ {text} }}"), field.name
        assert field.name in newest


@every_row(
    ("name", "field"),
    [("DATA", "data_param"), ("IMAGE_DATA", "image_data_param"), ("WINDOW_DATA", "window_data_param")],
)
def test_transformations_move_out_of_data_layers(name, field):
    moved = "scale: 0.5 mean_file: 'm' crop_size: 3 mirror: true"
    assert same(
        f"layers {{ name: 'd' type: {name} {field} {{ source: 's' batch_size: 4 {moved} }} }}",
        f"layer {{ name: 'd' type: '{TYPES[name]}' {field} {{ source: 's' batch_size: 4 }} "
        f"transform_param {{ {moved} }} }}",
    )


def test_transformations_of_other_layers_stay():
    text = "data_param { source: 's' scale: 2 }"
    assert same(f"layers {{ type: RELU {text} }}", f"layer {{ type: 'ReLU' {text} }}")
    assert same(f"layer {{ type: 'Data' {text} }}", f"layer {{ type: 'Data' {text} }}")


def test_layers_of_two_schemas_are_refused():
    with pytest.raises(
        nd.ConfigurationError, match=r"got 1 in the old field 'layers' \(the first is 'a'\) and 2 in 'layer' \('b'\)"
    ):
        upgraded("layers { name: 'a' } layer { name: 'b' } layer { name: 'c' }")


# ---- inputs


def test_inputs_with_shapes_of_any_rank():
    assert same(
        "input: 'a' input: 'b' input_shape { dim: 2 } input_shape { dim: [3, 4] } layer { name: 'l' }",
        "layer { name: 'input' type: 'Input' top: 'a' top: 'b' "
        "input_param { shape { dim: 2 } shape { dim: [3, 4] } } } layer { name: 'l' }",
    )


def test_inputs_without_shapes_are_dropped():
    assert same("input: 'a' input: 'b' layer { name: 'l' }", "layer { name: 'l' }")


@every_row(
    ("text", "said"),
    [
        ("input: 'a' input_dim: [1, 2, 3]", r"input_dim must be 4 numbers for each input, got \[1, 2, 3\]"),
        ("input: 'a' input: 'b' input_dim: [1, 2, 3, 4]", r"inputs \['a', 'b'\] and shapes \[\[1, 2, 3, 4\]\]"),
        ("input: 'a' input_shape { } input_shape { dim: 1 }", r"inputs \['a'\] and shapes \[\[\], \[1\]\]"),
    ],
)
def test_as_many_shapes_as_inputs(text, said):
    with pytest.raises(nd.ConfigurationError, match=said):
        upgraded(text)


# ---- BatchNorm


def test_the_three_parameters_of_batch_norm_do_not_learn():
    assert same(
        "layer { type: 'BatchNorm' param { name: 'm' lr_mult: 3 } param { } param { decay_mult: 2 } }",
        "layer { type: 'BatchNorm' param { name: 'm' lr_mult: 0 decay_mult: 0 } param { lr_mult: 0 decay_mult: 0 } "
        "param { lr_mult: 0 decay_mult: 0 } }",
    )
    for other in ("type: 'BatchNorm' param { lr_mult: 3 }", "type: 'Scale' param { } param { } param { }"):
        assert same(f"layer {{ {other} }}", f"layer {{ {other} }}")


def test_the_message_names_the_file(tmp_path):
    path = tmp_path / "both.prototxt"
    path.write_text("layers { name: 'a' } layer { name: 'b' }")
    with pytest.raises(nd.ConfigurationError, match=r"both\.prototxt: expected layers of one schema"):
        read_net(path)
