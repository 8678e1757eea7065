"""A short file cannot ask for any amount of memory."""

import time

import pytest

import nd
from nn.caffe import parse_text
from nn.caffe.binary import parse_binary
from nn.caffe.schema import counting
from tests.cells import every_row

LAYER, BLOB, RELU = b"\xa2\x06\x00", b"\x3a\x00", b"\xda\x07\x00"  # empty ones: of a net, of a layer
FEW = 100


def nested(content, tag=b"\xa2\x06"):
    return tag + bytes([len(content) & 0x7F | 0x80, len(content) >> 7]) + content


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(counting, "MOST_MESSAGES", FEW)


@every_row(
    ("content", "kind"),
    [
        (LAYER * (FEW + 1), "NetParameter"), (nested(BLOB * FEW), "NetParameter"), (nested(RELU * FEW), "NetParameter"),
        (BLOB * (FEW + 1), "LayerParameter"), (b"\x1a\x00" * (FEW + 1), "SolverState"),
        (nested(LAYER * FEW, b"\xca\x01"), "SolverParameter"),
    ],
)  # fmt: skip
def test_too_many_messages(content, kind, few):
    with pytest.raises(nd.FormatError, match=rf"^x: expected at most {FEW} messages in one another, got more"):
        parse_binary(content, kind, "x")


@every_row(
    ("content", "kind"),
    [
        (LAYER * FEW, "NetParameter"), (nested(BLOB * (FEW - 1)), "NetParameter"), (b"\x1a\x00" * 1000, "NetState"),
        (b"\x35\0\0\0\0" * 1000, "Datum"), (b"\x2d\0\0\0\0" * 1000, "BlobProto"), (b"\x28\x01" * 500, "NetParameter"),
        (b"\x22\x00" * 500, "LayerParameter"), (b"\x2d\0\0\0\0" * 500, "LayerParameter"),
    ],
)  # fmt: skip
def test_as_many_as_may_be(content, kind, few):
    assert parse_binary(content, kind).ByteSize() > 0


@every_row("mark", ["{}", "<>"])
def test_texts(mark, few):
    text = f"layer {mark} "
    assert len(parse_text(text * FEW, "NetParameter").layer) == FEW
    with pytest.raises(nd.FormatError, match=r"^x: expected at most 100 messages in one another"):
        parse_text(text * (FEW + 1), "NetParameter", who="x")


@pytest.mark.slow
def test_a_long_file_is_refused_at_once():
    started = time.process_time()
    with pytest.raises(nd.FormatError, match=r"at most 250,000 messages"):
        parse_binary(LAYER * 2_000_000, "NetParameter")
    assert time.process_time() - started < 5.0
