"""Files of 2013: padding is folded away, and every field lands where its type of layer has it."""

import pytest

import nd
from nn import ModelFileWarning
from nn.caffe import parse_text, upgrade_net
from nn.caffe.schema import message_class
from nn.caffe.upgrade.v0 import FIELDS, TYPES, upgrade_v0
from nn.caffe.upgrade.v1 import TYPES as V1_TYPES
from tests.cases.caffe_nets import V0
from tests.cells import every_row

UPGRADED = """
name: "oldest"
layer { name: "input" type: "Input" top: "data" input_param { shape { dim: [1, 3, 8, 8] } } }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1" param { lr_mult: 1 decay_mult: 0 }
  convolution_param { num_output: 4 pad: 2 kernel_size: 5 group: 1 stride: 2 bias_term: false
    weight_filler { type: "gaussian" std: 0.01 } } }
layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1"
  pooling_param { pool: AVE kernel_size: 3 stride: 2 } }
layer { name: "norm1" type: "LRN" bottom: "pool1" top: "norm1"
  lrn_param { local_size: 3 alpha: 0.0001 beta: 0.5 } }
"""

ALL = {  # fields of a V0 layer -> layer of V1
    "type: 'conv' num_output: 3 biasterm: false pad: 1 kernelsize: 2 group: 3 stride: 4 weight_filler { value: 5 }"
    "bias_filler { value: 6 } blobs_lr: 7 blobs_lr: 8 weight_decay: 9 blobs { num: 1 }":
    "type: CONVOLUTION blobs { num: 1 } blobs_lr: 7 blobs_lr: 8 weight_decay: 9 convolution_param { num_output: 3"
    " bias_term: false pad: 1 kernel_size: 2 group: 3 stride: 4 weight_filler { value: 5 } bias_filler { value: 6 } }",
    "type: 'innerproduct' num_output: 3 biasterm: false weight_filler { value: 5 } bias_filler { value: 6 }":
    "type: INNER_PRODUCT inner_product_param { num_output: 3 bias_term: false weight_filler { value: 5 }"
    " bias_filler { value: 6 } }",
    "type: 'pool' pool: STOCHASTIC kernelsize: 2 stride: 3 pad: 1":
    "type: POOLING pooling_param { pool: STOCHASTIC kernel_size: 2 stride: 3 pad: 1 }",
    "type: 'dropout' dropout_ratio: 0.25": "type: DROPOUT dropout_param { dropout_ratio: 0.25 }",
    "type: 'lrn' local_size: 7 alpha: 2 beta: 3 k: 4": "type: LRN lrn_param { local_size: 7 alpha: 2 beta: 3 k: 4 }",
    "type: 'data' source: 'db' scale: 2 meanfile: 'm' batchsize: 3 cropsize: 4 mirror: true rand_skip: 5":
    "type: DATA data_param { source: 'db' batch_size: 3 rand_skip: 5 }"
    " transform_param { scale: 2 mean_file: 'm' crop_size: 4 mirror: true }",
    "type: 'images' source: 'l' batchsize: 3 rand_skip: 5 shuffle_images: true new_height: 6 new_width: 7":
    "type: IMAGE_DATA image_data_param { source: 'l' batch_size: 3 rand_skip: 5 shuffle: true new_height: 6"
    " new_width: 7 }",
    "type: 'window_data' source: 'w' batchsize: 3 det_fg_threshold: 0.75 det_bg_threshold: 0.125 det_fg_fraction: 0.5"
    " det_context_pad: 6 det_crop_mode: 'square'":
    "type: WINDOW_DATA window_data_param { source: 'w' batch_size: 3 fg_threshold: 0.75 bg_threshold: 0.125"
    " fg_fraction: 0.5 context_pad: 6 crop_mode: 'square' }",
    "type: 'hdf5_data' source: 'h' batchsize: 3": "type: HDF5_DATA hdf5_data_param { source: 'h' batch_size: 3 }",
    "type: 'hdf5_output' hdf5_output_param { file_name: 'o' }":
    "type: HDF5_OUTPUT hdf5_output_param { file_name: 'o' }",
    "type: 'infogain_loss' source: 'i'": "type: INFOGAIN_LOSS infogain_loss_param { source: 'i' }",
    "type: 'concat' concat_dim: 0": "type: CONCAT concat_param { concat_dim: 0 }",
    "type: 'relu'": "type: RELU",
}  # fmt: skip


def upgraded(text):
    net = parse_text(text, "NetParameter")
    upgrade_v0(net, "net")
    return net


def test_a_net_in_both_steps():
    assert upgrade_net(parse_text(V0, "NetParameter")) == parse_text(UPGRADED, "NetParameter")


@every_row("old", sorted(ALL))
def test_every_field_lands_in_its_message(old):
    got = upgraded(f"layers {{ layer {{ name: 'it' {old} }} top: 'a' top: 'b' }}")
    assert got == parse_text(f"layers {{ name: 'it' {ALL[old]} top: 'a' top: 'b' }}", "NetParameter")


def test_every_field_has_a_place_or_is_known_to_have_none():
    fields = {field.name for field in message_class("V0LayerParameter").DESCRIPTOR.fields}
    of_layer = {"name", "type", "blobs", "blobs_lr", "weight_decay"}
    assert fields - set(FIELDS) - of_layer == {"new_channels", "new_num"}
    assert set(FIELDS) <= fields
    assert set(TYPES.values()) <= set(V1_TYPES)
    assert {name for places in FIELDS.values() for name in places} - {""} <= set(TYPES)


def test_what_a_type_has_no_field_for_is_left_out_with_a_warning():
    with pytest.warns(
        ModelFileWarning,
        match=r"net: layer 0 'it' \(relu\): num_output, pool: nothing of a layer of type 'relu', left out as in Caffe",
    ):
        net = upgraded("layers { layer { name: 'it' type: 'relu' num_output: 3 pool: AVE } }")
    assert net == parse_text("layers { name: 'it' type: RELU }", "NetParameter")


def test_two_convolutions_behind_one_padding():
    net = upgraded(
        """
        input: "data"
        layers { layer { name: "pad" type: "padding" pad: 3 } bottom: "data" top: "wide" }
        layers { layer { name: "a" type: "conv" } bottom: "wide" top: "a" }
        layers { layer { name: "b" type: "pool" } bottom: "wide" top: "b" }
        layers { layer { name: "c" type: "conv" } bottom: "data" top: "c" }
        """
    )
    assert net == parse_text(
        """
        input: "data"
        layers { name: "a" type: CONVOLUTION bottom: "data" top: "a" convolution_param { pad: 3 } }
        layers { name: "b" type: POOLING bottom: "data" top: "b" pooling_param { pad: 3 } }
        layers { name: "c" type: CONVOLUTION bottom: "data" top: "c" }
        """,
        "NetParameter",
    )


PADDING = 'layers { layer { name: "pad" type: "padding" pad: 3 } bottom: "data" top: "wide" } '


@every_row(
    ("text", "said"),
    [
        (
            PADDING + "layers { layer { name: 'r' type: 'relu' } bottom: 'wide' }",
            r"layer 1 'r' \(relu\): what the padding 'pad' makes must go into a layer of type conv or pool, got 'relu'",
        ),
        (
            PADDING + "layers { layer { name: 'c' type: 'conv' } bottom: 'wide' bottom: 'data' }",
            r"behind the padding 'pad', expected 1 of bottoms of the layer, got \['wide', 'data'\]",
        ),
        (
            "layers { layer { name: 'c' type: 'conv' } bottom: 'nothing' }",
            r"layer 0 'c' \(conv\): bottom 0 'nothing' must be a top of an earlier layer or an input of .*'data'",
        ),
        ("layers { layer { name: 'c' type: 'cnov' } }", r"layer 0 'c' \(cnov\): unknown type 'cnov', .*'conv'"),
    ],
)  # fmt: skip
def test_what_cannot_be_upgraded(text, said):
    with pytest.raises((nd.ConfigurationError, nd.ChoiceError), match=said):
        upgraded(f"input: 'data' {text}")


def test_a_layer_of_v1_among_those_of_v0_is_kept():
    net = upgraded("layers { layer { name: 'a' type: 'relu' } } layers { name: 'b' type: TANH }")
    assert net == parse_text("layers { name: 'a' type: RELU } layers { name: 'b' type: TANH }", "NetParameter")


def test_of_the_net_five_things_are_kept():
    net = upgraded(
        "name: 'n' input: 'x' input_dim: 1 force_backward: true debug_info: true state { level: 3 } "
        "layers { layer { name: 'a' type: 'relu' } }"
    )
    assert net == parse_text(
        "name: 'n' input: 'x' input_dim: 1 force_backward: true layers { name: 'a' type: RELU }", "NetParameter"
    )
