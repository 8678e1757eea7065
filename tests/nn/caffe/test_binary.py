"""Messages as bytes, written by hand: a field is its number times 8 plus its kind, then what it holds."""

import struct

import pytest

import nd
from nn import ModelFileWarning
from nn.caffe import (
    DatumDatabase,
    filter_net,
    parse_text,
    proto,
    read_hdf5_list,
    read_mean,
    read_message,
    read_net,
    read_picture_list,
    read_solver,
    read_state,
    read_weights,
    unknown_fields,
    write_message,
)
from nn.caffe.binary import parse_binary, to_bytes
from tests.cases.caffe_nets import LENET
from tests.cells import every_row

NUMBERS = struct.pack("<3f", 1.0, -2.0, 0.5)
BYTES = {  # text of a message -> kind, bytes
    "name: 'net'": ("NetParameter", b"\x0a\x03net"),
    "force_backward: true": ("NetParameter", b"\x28\x01"),
    "layer { name: 'a' }": ("NetParameter", b"\xa2\x06\x03\x0a\x01a"),  # 100 * 8 + 2 = 802 = 6 * 128 + 0x22
    "layers { name: 'a' type: RELU }": ("NetParameter", b"\x12\x05\x22\x01a\x28\x12"),
    "data: [1, -2, 0.5]": ("BlobProto", b"\x2a\x0c" + NUMBERS),
    "shape { dim: [2, 300] }": ("BlobProto", b"\x3a\x05\x0a\x03\x02\xac\x02"),
    "double_data: 1": ("BlobProto", b"\x42\x08" + struct.pack("<d", 1.0)),
    "num: 1 channels: -1": ("BlobProto", b"\x08\x01\x10" + b"\xff" * 9 + b"\x01"),
    "relu_param { negative_slope: 0.5 }": ("LayerParameter", b"\xda\x07\x05\x0d" + struct.pack("<f", 0.5)),  # 123
    "clip_param { min: 0 max: 1 }": ("LayerParameter", b"\xa2\x09\x0a\x0d\0\0\0\0\x15" + struct.pack("<f", 1.0)),  # 148
    "iter: 5 learned_net: 'w' current_step: 2": ("SolverState", b"\x08\x05\x12\x01w\x20\x02"),
    "channels: 1 data: 'ab' label: 7 encoded: true": ("Datum", b"\x08\x01\x22\x02ab\x28\x07\x38\x01"),
    "clip_gradients: 35 random_seed: -1": (
        "SolverParameter", b"\xa0\x01" + b"\xff" * 9 + b"\x01" + b"\x9d\x02" + struct.pack("<f", 35.0),
    ),
    "weights: 'a'": ("SolverParameter", b"\xd2\x02\x01a"),
    "phase: TEST level: 3 stage: 'a'": ("NetState", b"\x08\x01\x10\x03\x1a\x01a"),
}  # fmt: skip


@every_row("text", sorted(BYTES))
def test_bytes_by_hand(text):
    kind, content = BYTES[text]
    assert parse_binary(content, kind) == parse_text(text, kind)
    assert to_bytes(parse_text(text, kind)) == content


def test_numbers_may_stand_in_fields_of_their_own():
    """Where the schema packs them, and the other way about."""
    apart = b"".join(b"\x2d" + NUMBERS[at : at + 4] for at in (0, 4, 8))
    assert list(parse_binary(apart, "BlobProto").data) == [1.0, -2.0, 0.5]
    assert list(parse_binary(b"\x2a\x0c" + NUMBERS, "LayerParameter").loss_weight) == [1.0, -2.0, 0.5]


@every_row(
    ("content", "kind"),
    [
        (b"\x0a\x05net", "NetParameter"), (b"\x0a", "NetParameter"), (b"\xff" * 12, "NetParameter"),
        (b"\xa2\x06\x03\x0a\x09a", "NetParameter"), (b"\x2a\x03abc", "BlobProto"), (b"\x00\x01", "BlobProto"),
    ],
)  # fmt: skip
def test_damaged_bytes(content, kind):
    with pytest.raises(nd.FormatError, match=rf"^x: expected the bytes of a {kind}, got "):
        parse_binary(content, kind, "x")


@every_row("content", [b"\x0a\x02\xff\xfe", b"\xa2\x06\x04\x0a\x02\xff\xfe", b"\xa2\x06\x04\x1a\x02\xff\xfe"])
def test_texts_that_are_no_texts(content):
    """At once, where the library says so when a text is first asked for."""
    with pytest.raises(nd.FormatError, match=r"^x: (texts must be UTF-8|expected the bytes of a NetParameter)"):
        parse_binary(content, "NetParameter", "x")


def test_a_field_that_must_be_there():
    with pytest.raises(nd.FormatError, match=r"got none of clip_param\.min, clip_param\.max"):
        parse_binary(b"\xa2\x09\x00", "LayerParameter")
    with pytest.raises(nd.ConfigurationError, match=r"^to_bytes: the message must be complete.* min"):
        to_bytes(proto.ClipParameter())


# ---- fields that Caffe does not have

FORK = b"\xa2\x06\x0f\x0a\x04norm\xba\x09\x02\x08\x00\xfa\x7f\x01a" + b"\xc0\x3e\x01"  # 151, 2047 and 1000


def test_unknown_fields_are_kept_and_named_by_number():
    with pytest.warns(
        ModelFileWarning,
        match=r"^x: fields that Caffe does not have are kept, by their numbers: 1000 of NetParameter, 151 of "
        r"layer\[0\] 'norm', 2047 of layer\[0\] 'norm'\.$",
    ):
        net = parse_binary(FORK, "NetParameter", "x")
    assert to_bytes(net) == FORK
    layer = "layer[0] 'norm'"
    assert unknown_fields(net) == [
        ("", "NetParameter", 1000), (layer, "LayerParameter", 151), (layer, "LayerParameter", 2047),
    ]  # fmt: skip


def test_a_value_that_an_enumeration_lacks_is_an_unknown_field():
    with pytest.warns(ModelFileWarning, match=r"1 of PoolingParameter"):
        pooling = parse_binary(b"\x08\x09", "PoolingParameter")
    assert pooling.pool == 0
    assert to_bytes(pooling) == b"\x08\x09"


@every_row(
    ("kind", "content", "field"),
    [
        ("SolverState", b"\x0a\x01n", "'iter' in field 1"), ("NetState", b"\x0a\x01n", "'phase' in field 1"),
        ("NetParameter", b"\x08\x01", "'name' in field 1"), ("FillerParameter", b"\x10\x01", "'value' in field 2"),
        ("SolverParameter", b"\x28\x01", "'base_lr' in field 5"), ("BlobProto", b"\x38\x01", "'shape' in field 7"),
    ],
)  # fmt: skip
def test_bytes_of_another_kind_of_message(kind, content, field):
    with pytest.raises(
        nd.FormatError, match=rf"^x: expected the bytes of a {kind}, got something else than its {field}"
    ):
        parse_binary(content, kind, "x")


def test_upgrading_keeps_unknown_fields(tmp_path):
    path = tmp_path / "x.caffemodel"
    path.write_bytes(FORK)
    with pytest.warns(ModelFileWarning, match=r"151 of layer\[0\]"):
        assert len(unknown_fields(read_net(path))) == 3


# ---- files


@every_row("ending", [".caffemodel", ".prototxt", ".pbtxt", ".txt", ".binaryproto", ""])
def test_a_net_in_a_file_of_either_kind(ending, tmp_path):
    net = parse_text(LENET, "NetParameter")
    path = tmp_path / f"net{ending}"
    write_message(net, path)
    assert path.read_bytes()[:1] == (b"n" if ending in (".prototxt", ".pbtxt", ".txt") else b"\x0a")
    assert read_net(path) == net
    with open(path, "rb") as file:
        assert read_net(file) == net


def test_the_kind_can_be_said(tmp_path):
    write_message(proto.NetState(level=3), tmp_path / "state", as_text=True)
    assert (tmp_path / "state").read_text() == "level: 3\n"
    assert read_message(tmp_path / "state", "NetState").level == 3


def test_files_that_are_something_else(tmp_path):
    path = tmp_path / "x.caffemodel"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(
        nd.FormatError, match=r"x\.caffemodel: expected a NetParameter, got a file of HDF5\. Read it with"
    ):
        read_net(path)
    path.write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(nd.FormatError, match=r"expected the bytes of a NetParameter"):
        read_net(path)
    with pytest.raises(FileNotFoundError, match=r"none\.prototxt"):
        read_net(tmp_path / "none.prototxt")
    with pytest.raises(
        nd.DTypeError, match=r"filter_net: expected .*NetParameter, got an empty SolverParameter\. Make one"
    ):
        filter_net(proto.SolverParameter())
    with pytest.raises(nd.DTypeError, match=r"write_message: expected a message, nn\.caffe\.proto\..* say, got {}"):
        write_message({}, path)
    assert path.read_bytes().startswith(b"PK")


@every_row(
    "function",
    [DatumDatabase, read_hdf5_list, read_mean, read_net, read_picture_list, read_solver, read_state, read_weights],
)
def test_errors_about_a_source_name_what_was_called(function, tmp_path):
    with pytest.raises(nd.NdError, match=f"^{function.__name__}: .*path"):
        function(None)
    if function is not DatumDatabase:  # which is a folder
        with pytest.raises(IsADirectoryError, match=f"{function.__name__}: expected a file, got a folder"):
            function(tmp_path)
