"""Messages as texts: the rules of the text format, errors with line and column, fields of forks."""

import math

import pytest

import nd
from nn import ModelFileWarning
from nn.caffe import parse_text, print_text, proto, read_net
from tests.cases.caffe_nets import LENET, SOLVER, V0, V1
from tests.cells import every_row

FORK = """# of a fork
name: "ssd"
layer {
  name: "norm"
  type: "Normalize"
  bn_param {
    across_spatial: false  # { not a bracket
    scale_filler { type: "constant" value: 20 }
  }
  bottom: "conv"
  permute: [ { order: 0 }, { order: 2 } ];
}
loss_scale: -1.5, debug_info: true
comment: "a } and \\" b" 'and { more'
force_backward: true
"""


def one(text, field, kind="FillerParameter"):
    return getattr(parse_text(text, kind), field)


@every_row(
    ("text", "value"),
    [
        ("value: 0.", 0.0), ("value: .5", 0.5), ("value: 1e-4", 1e-4), ("value: 1f", 1.0), ("value: 2.5f", 2.5),
        ("value: -3", -3.0), ("value: inf", math.inf), ("value: -inf", -math.inf), ("value: 1E2", 100.0),
        ("value:7", 7.0), ("value : 7;", 7.0), ("value: 7,", 7.0), ("# before\nvalue: 7 # behind", 7.0),
    ],
)  # fmt: skip
def test_numbers(text, value):
    assert one(text, "value") == pytest.approx(value, rel=1e-7)


def test_a_number_that_is_none():
    assert math.isnan(one("value: nan", "value"))


@every_row(
    ("text", "value"),
    [("true", True), ("false", False), ("t", True), ("f", False), ("1", True), ("0", False)],
)
def test_bools(text, value):
    assert one(f"bias_term: {text}", "bias_term", "ConvolutionParameter") is value


@every_row(
    ("text", "value"),
    [
        ('"a"', "a"), ("'a'", "a"), ('"a" "b"', "ab"), ("'a'\n  \"b\"", "ab"), (r'"\t\"\\\x41\101"', '\t"\\AA'),
        ('"# no comment"', "# no comment"), ('""', ""), ('"Grüße"', "Grüße"),
    ],
)  # fmt: skip
def test_strings(text, value):
    assert one(f"type: {text}", "type") == value


@every_row(
    "text",
    [
        "pad: 1 pad: 2", "pad: [1, 2]", "pad: [1] pad: [2]", "pad: 0x1, pad: 02;", "pad: [\n1,\n2\n]",
    ],
)  # fmt: skip
def test_repeated_fields(text):
    assert list(one(text, "pad", "ConvolutionParameter")) == [1, 2]


@every_row("brackets", ["{}", "<>"])
@every_row("colon", ["", ":"])
def test_messages_in_messages(brackets, colon):
    text = f"weight_filler {colon} {brackets[0]} value: 3 {brackets[1]}"
    assert one(text, "weight_filler", "ConvolutionParameter").value == 3.0


@every_row(("text", "number"), [("MAX", 0), ("AVE", 1), ("2", 2)])
def test_enumerations_by_name_and_by_number(text, number):
    assert one(f"pool: {text}", "pool", "PoolingParameter") == number


def test_what_is_not_there_is_told_from_its_default():
    bare, given = (parse_text(text, "PoolingParameter") for text in ("", "stride: 1"))
    assert (bare.stride, bare.HasField("stride")) == (1, False)
    assert (given.stride, given.HasField("stride")) == (1, True)


@every_row(
    ("text", "place", "said"),
    [
        ("name: 3", "1:7", "Expected string"),
        ("layer {\n  name: 'a'\n  name: 'b'\n}", "3:9", 'should not have multiple "name" fields'),
        ("layer {\n  type: 'a'", "2:9", 'Expected "}"'),
        ("layer { phase: TRIAL }", "1:16", "TRIAL"),
        ("layer { type: 'a", "1:15", ""),
        ("layer { pooling_param { stride: -1 } }", "1:33", ""),
        ("layer { pooling_param { stride: 4294967296 } }", "1:33", ""),
        ("layer [ ", "1:9", 'Expected "{"'),
        ("}", "1:1", ""),
        ("force_backward: maybe", "1:17", ""),
        ("[a.b]: 3", "1:4", "does not have extensions"),
        ("?", "1:1", ""),
    ],
)
def test_an_error_has_line_and_column(text, place, said):
    with pytest.raises(nd.FormatError, match=rf"^x\.prototxt:{place}: expected the text of a NetParameter, got") as it:
        parse_text(text, "NetParameter", who="x.prototxt")
    assert said in str(it.value)


def test_a_field_that_must_be_there():
    with pytest.raises(nd.FormatError, match=r"got none of layer\[0\]\.clip_param\.max\. Add it"):
        parse_text("layer { clip_param { min: 1 } }", "NetParameter")


# ---- fields that Caffe does not have


def test_unknown_fields_are_all_named_and_refused():
    with pytest.raises(
        nd.FormatError,
        match=r"^ssd:6:3: expected a field of LayerParameter, got 'bn_param', which Caffe does not have and "
        r"'permute' of LayerParameter at 11:3, 'loss_scale' of NetParameter at 13:1, "
        r"'comment' of NetParameter at 14:1\..* "
        r"unknown='drop'",
    ):
        parse_text(FORK, "NetParameter", who="ssd")


def test_unknown_fields_are_dropped_by_choice():
    with pytest.warns(
        ModelFileWarning,
        match=r"^ssd: fields that Caffe does not have are left out: 'bn_param' of LayerParameter at 6:3, "
        r"'permute' of LayerParameter at 11:3, 'loss_scale' of NetParameter at 13:1, "
        r"'comment' of NetParameter at 14:1\.$",
    ):
        net = parse_text(FORK, "NetParameter", "drop", "ssd")
    layer = proto.LayerParameter(name="norm", type="Normalize", bottom=["conv"])
    assert net == proto.NetParameter(name="ssd", layer=[layer], debug_info=True, force_backward=True)


def test_an_error_behind_what_is_dropped_has_its_own_place():
    with (
        pytest.warns(ModelFileWarning, match=r"'bn_param'"),
        pytest.raises(nd.FormatError, match=r"^ssd:15:17: expected the text of a NetParameter"),
    ):
        parse_text(FORK.replace("force_backward: true", "force_backward: maybe"), "NetParameter", "drop", "ssd")


def test_nothing_is_warned_of_where_nothing_is_dropped():
    assert parse_text(LENET, "NetParameter", "drop") == parse_text(LENET, "NetParameter")


def test_a_misspelt_field_gets_a_suggestion():
    with pytest.raises(
        nd.FormatError, match=r"^text:1:9: .*'bottm', which Caffe does not have\. Did you mean 'bottom'\?"
    ):
        parse_text("layer { bottm: 'a' }", "NetParameter")


def test_many_unknown_fields_are_counted():
    text = "\n".join(f"field_{number}: {number}" for number in range(40))
    with pytest.raises(nd.FormatError, match=r"^text:1:1: .*'field_10' of NetParameter at 11:1, and 29 more"):
        parse_text(text, "NetParameter")


@pytest.mark.slow
def test_unknown_fields_deep_inside_of_one_another_take_no_stack():
    depth = 50_000
    text = "a { " * depth + "} " * depth + "name: 'x'"
    with pytest.warns(ModelFileWarning, match=r"'a' of NetParameter at 1:1\."):
        assert parse_text(text, "NetParameter", "drop").name == "x"


# ---- encodings, printing


def test_comments_may_have_any_encoding(tmp_path):
    path = tmp_path / "net.prototxt"
    path.write_bytes("# Grüße\nname: 'x' # déjà\r\n".encode("latin-1"))
    assert read_net(path).name == "x"
    path.write_bytes(b"# a\n  name: 'caf\xe9'")
    with pytest.raises(nd.FormatError, match=r"net\.prototxt:2:13: expected UTF-8, got the byte 0xe9\. Save the file"):
        read_net(path)
    for text in (b'name: "#caf\xe9"', b"name: '#\\'caf\xe9'", b"type: \"'\" name: '# caf\xe9'"):
        path.write_bytes(text)
        with pytest.raises(nd.FormatError, match=r"net\.prototxt:1:\d+: expected UTF-8, got the byte 0xe9"):
            read_net(path)
    path.write_bytes(b'name: "#\'" # d\xe9j\xe0')
    assert read_net(path).name == "#'"


def test_a_mark_of_the_encoding_is_left_out(tmp_path):
    path = tmp_path / "net.prototxt"
    path.write_bytes(b"\xef\xbb\xbfname: 'x'")
    assert read_net(path).name == parse_text(path.read_text("utf-8"), "NetParameter").name == "x"


@every_row(
    ("text", "kind"),
    [(LENET, "NetParameter"), (V1, "NetParameter"), (V0, "NetParameter"), (SOLVER, "SolverParameter")],
)
def test_what_is_printed_is_the_same_message(text, kind):
    message = parse_text(text, kind)
    printed = print_text(message)
    assert parse_text(printed, kind) == message
    assert print_text(parse_text(printed, kind)) == printed


def test_printing_by_hand():
    net = proto.NetParameter(name="Grüße")
    layer = net.layer.add(name="relu")
    layer.relu_param.negative_slope = 0.1
    layer.include.add(phase=proto.TRAIN)
    assert print_text(net) == (
        'name: "Grüße"\nlayer {\n  name: "relu"\n  include {\n    phase: TRAIN\n  }\n  relu_param {\n'
        "    negative_slope: 0.1\n  }\n}\n"
    )


def test_a_message_that_is_not_there():
    with pytest.raises(nd.ChoiceError, match=r"unknown message 'NetParam', expected one of .*NetParameter"):
        parse_text("", "NetParam")
