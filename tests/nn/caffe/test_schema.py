"""The messages: by name, with their defaults; the .proto files that they are made of."""

import subprocess
import sys

import pytest
from google.protobuf import descriptor_pb2

import nd
from nn.caffe import print_text, proto
from nn.caffe.schema import definitions, message_class, submessages
from tests.cells import every_row
from tests.source_files import ROOT
from tests.test_import_cost import ALONE, run

DEFAULTS = {  # by hand
    "ArgMaxParameter": {"out_max_val": False, "top_k": 1, "axis": 0},
    "BatchNormParameter": {"moving_average_fraction": 0.999, "eps": 1e-5, "use_global_stats": False},
    "ConcatParameter": {"axis": 1, "concat_dim": 1},
    "ConvolutionParameter": {"bias_term": True, "group": 1, "axis": 1, "pad_h": 0, "force_nd_im2col": False},
    "CropParameter": {"axis": 2},
    "DataParameter": {"backend": 0, "prefetch": 4, "rand_skip": 0, "scale": 1.0},
    "EltwiseParameter": {"operation": 1, "stable_prod_grad": True},
    "FillerParameter": {"type": "constant", "max": 1.0, "std": 1.0, "sparse": -1, "variance_norm": 0},
    "FlattenParameter": {"axis": 1, "end_axis": -1},
    "HingeLossParameter": {"norm": 1},
    "ImageDataParameter": {"batch_size": 1, "is_color": True, "root_folder": ""},
    "LRNParameter": {"local_size": 5, "alpha": 1.0, "beta": 0.75, "k": 1.0, "norm_region": 0},
    "LossParameter": {"normalization": 1, "ignore_label": 0},
    "MVNParameter": {"normalize_variance": True, "across_channels": False, "eps": 1e-9},
    "NetState": {"phase": 1, "level": 0},
    "ParamSpec": {"lr_mult": 1.0, "decay_mult": 1.0, "share_mode": 0},
    "PoolingParameter": {"pool": 0, "stride": 1, "pad": 0, "round_mode": 0, "global_pooling": False},
    "ReductionParameter": {"operation": 1, "axis": 0, "coeff": 1.0},
    "ReshapeParameter": {"axis": 0, "num_axes": -1},
    "ScaleParameter": {"axis": 1, "num_axes": 1, "bias_term": False},
    "SolverParameter": {"type": "SGD", "snapshot_format": 1, "solver_mode": 1, "average_loss": 1, "test_interval": 0},
    "NormalizeParameter": {"across_spatial": True, "channel_shared": True, "eps": 1e-10},
    "PriorBoxParameter": {"flip": True, "clip": False, "offset": 0.5},
    "ROIPoolingParameter": {"pooled_h": 0, "spatial_scale": 1.0},
    "UpsampleParameter": {"scale": 2, "pad_out_h": False, "upsample_h": 0},
    "V0LayerParameter": {"stride": 1, "det_crop_mode": "warp", "dropout_ratio": 0.5, "local_size": 5},
}  # fmt: skip


@every_row("kind", sorted(DEFAULTS))
def test_defaults(kind):
    message = message_class(kind)()
    for name, value in DEFAULTS[kind].items():
        assert getattr(message, name) == (pytest.approx(value) if isinstance(value, float) else value), name
        assert not message.HasField(name)


def test_how_many_messages_and_fields_caffe_has():
    """As in Caffe's own schema, all of whose 597 definitions these were compared with when they were written."""
    messages, enums = content(definitions.file_descriptor("caffe", definitions.OF_CAFFE))
    fields = sum(map(len, messages.values()))
    values = sum(len(enum) for enum in enums.values())
    assert (len(messages), len(messages) + fields + values) == (63, 597)


def content(description):
    """Return message -> fields with type and number, and enumeration -> values."""
    messages = {
        message.name: {(field.name, field.type_name or field.type, field.number) for field in message.field}
        for message in description.message_type
    }
    holders = [(description, ""), *((message, f"{message.name}.") for message in description.message_type)]
    enums = {
        f"{inside}{enum.name}": {(value.name, value.number) for value in enum.value}
        for holder, inside in holders
        for enum in holder.enum_type
    }
    return messages, enums


FORKS = {  # by hand
    "UpsampleParameter": ("upsample_param", 149), "ShuffleChannelParameter": ("shuffle_channel_param", 164),
    "PermuteParameter": ("permute_param", 202), "PriorBoxParameter": ("prior_box_param", 203),
    "DetectionOutputParameter": ("detection_output_param", 204), "NormalizeParameter": ("norm_param", 206),
    "InterpParameter": ("interp_param", 2143), "ROIPoolingParameter": ("roi_pooling_param", 8266711),
    "ReorgParameter": ("reorg_param", 159),
}  # fmt: skip


def test_what_is_of_forks_is_added_and_changes_nothing_of_caffes():
    caffes, enums = content(definitions.file_descriptor("caffe", definitions.OF_CAFFE))
    messages, all_enums = content(definitions.file_descriptor("caffe"))
    added = messages["LayerParameter"] - caffes["LayerParameter"]
    assert added == {(name, f".caffe.{kind}", number) for kind, (name, number) in FORKS.items()}
    assert {name: messages[name] for name in caffes} == caffes | {"LayerParameter": messages["LayerParameter"]}
    assert caffes["LayerParameter"] < messages["LayerParameter"]
    assert set(messages) - set(caffes) == {*FORKS, "NonMaximumSuppressionParameter", "SaveOutputParameter"}
    assert set(all_enums) - set(enums) == {"PriorBoxParameter.CodeType"}


def test_an_enumeration_of_another_message():
    message = proto.DetectionOutputParameter(code_type=proto.PriorBoxParameter.CENTER_SIZE)
    assert print_text(message) == "code_type: CENTER_SIZE\n"
    assert proto.DetectionOutputParameter().code_type == proto.PriorBoxParameter.CORNER == 1


def test_names_as_pycaffe_has_them():
    assert (proto.TRAIN, proto.TEST) == (0, 1)
    assert proto.PoolingParameter.AVE == 1
    assert proto.LossParameter.BATCH_SIZE == 2
    assert proto.NetParameter is message_class("NetParameter")
    assert {"BlobProto", "NetParameter", "SolverState", "TEST"} < set(dir(proto))
    with pytest.raises(AttributeError, match=r"has no attribute 'NetParam'.*NetParameter"):
        proto.NetParam
    with pytest.raises(ImportError, match=r"cannot import name 'NetParam'"):
        from nn.caffe.proto import NetParam  # noqa: F401


def test_messages_of_another_set_of_classes_are_told():
    """A program may have pycaffe's own beside ours: they do not mix, and the message says what to do."""
    from google.protobuf import descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(definitions.file_descriptor("caffe").SerializeToString())
    foreign = message_factory.GetMessageClass(pool.FindMessageTypeByName("caffe.NetParameter"))(name="a")
    from nn.caffe import filter_net

    with pytest.raises(nd.DTypeError, match=r"got one of another library\. Give proto\.NetParameter\.FromString\("):
        filter_net(foreign)
    assert filter_net(proto.NetParameter.FromString(foreign.SerializeToString())).name == "a"


def test_the_messages_within_a_message_have_paths():
    net = proto.NetParameter()
    net.state.level = 1
    layer = net.layer.add(name="conv")
    layer.blobs.add().shape.dim.append(1)
    net.layer.add().include.add()
    assert [path for path, _ in submessages(net)] == [
        "", "state", "layer[0] 'conv'", "layer[0] 'conv'.blobs[0]", "layer[0] 'conv'.blobs[0].shape", "layer[1]",
        "layer[1].include[0]",
    ]  # fmt: skip


# ---- .proto files

TEXT = """// a comment
syntax = "proto2";
package p;
import "base.proto";
enum Colour {
  RED = 0;
}
message A {
  enum Kind {
    ONE = 1;
    TWO = 2;  // behind
  }
  required Kind kind = 1 [default = TWO];
  repeated double x = 2 [packed = true];
  optional B b = 3;
  optional Colour c = 4;
  optional string s = 5 [default = "a b"];
}
message B {
}
"""


def test_definitions_are_read():
    got = descriptor_pb2.FileDescriptorProto()
    definitions.add_definitions(got, TEXT, "a.proto")
    a, b = got.message_type
    assert (a.name, b.name, [value.number for value in a.enum_type[0].value]) == ("A", "B", [1, 2])
    assert [(field.name, field.number, field.label, field.default_value) for field in a.field] == [
        ("kind", 1, 2, "TWO"), ("x", 2, 3, ""), ("b", 3, 1, ""), ("c", 4, 1, ""), ("s", 5, 1, "a b"),
    ]  # fmt: skip
    assert [field.type for field in a.field if field.HasField("type")] == [1, 9]
    assert a.field[1].options.packed


@every_row("line", ["optional int32 a", "optional int32 a = b;", "extend A {", "A = 0;", "}"])
def test_a_line_of_another_form_is_named(line):
    with pytest.raises(nd.FormatError, match=r"^a\.proto:3: expected a definition, got "):
        definitions.add_definitions(descriptor_pb2.FileDescriptorProto(), f"\n\n{line}\n", "a.proto")


def test_every_file_of_the_folder_is_read():
    assert {path.stem for path in (ROOT / "nn/caffe/schema").glob("*.proto")} == set(definitions.FILES)


# ---- without the packages


def test_importing_needs_no_package():
    assert run(f"{ALONE}\nimport nn.caffe\nprint(nn.caffe.read_net.__name__, nn.caffe.proto.__name__)") == (
        "read_net nn.caffe.proto\n"
    )


@every_row(
    ("code", "package"),
    [
        ("nn.caffe.parse_text('', 'NetParameter')", "protobuf"),
        ("nn.caffe.proto.NetParameter", "protobuf"),
        ("nn.caffe.read_hdf5_data(__file__, ())", "h5py"),
        ("nn.caffe.read_picture(__file__)", "Pillow"),
        ("nn.caffe.write_database('none', ())", "lmdb"),
    ],
)
def test_the_first_use_names_the_package(code, package, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        f"{ALONE}\nimport nd, nn.caffe\ntry:\n    {code}\nexcept nd.ConfigurationError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, path], cwd=ROOT, capture_output=True, text=True, check=True)
    assert f'needs the package {package}, got none. Install it: pip install "protobuf' in done.stdout
