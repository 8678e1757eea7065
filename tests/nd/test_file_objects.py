"""File objects in the place of paths, and what is neither."""

import gzip
import io
import zipfile

import pytest

import nd
from nd.files.writing import replacing


class Sink:
    """Takes a few bytes at a time, as a socket does, and cannot go back."""

    def __init__(self):
        self.content = bytearray()

    def write(self, data):
        self.content += bytes(data[:1000])
        return len(data[:1000])


def test_what_can_only_be_written_to(tmp_path):
    sink = Sink()
    with replacing("save", sink) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr("entry", b"x" * 10_000)
    with zipfile.ZipFile(io.BytesIO(sink.content)) as archive:
        assert archive.read("entry") == b"x" * 10_000
        assert not archive.getinfo("entry").flag_bits & 8  # the lengths come first, as Java's streams want them


def test_memory_and_open_files(tmp_path):
    memory = io.BytesIO()
    with replacing("save", memory) as file:
        file.write(b"one")
    with open(tmp_path / "f", "wb") as opened:
        opened.write(b"before ")
        with replacing("save", opened) as file:
            file.write(b"two")
        assert not opened.closed
    with gzip.open(tmp_path / "g", "wb") as packed, replacing("save", packed) as file:
        file.write(b"three")
    assert memory.getvalue() == b"one"
    assert (tmp_path / "f").read_bytes() == b"before two"
    assert gzip.decompress((tmp_path / "g").read_bytes()) == b"three"


def test_an_error_in_the_block_leaves_a_file_object_as_it_was():
    memory = io.BytesIO(b"old")
    with pytest.raises(KeyError, match="mine"), replacing("save", memory) as file:
        {}[file.write(b"part") and "mine"]
    assert memory.getvalue() == b"old"


class _Full(io.RawIOBase):
    def write(self, data):
        return None


def test_a_file_object_that_takes_no_more():
    with pytest.raises(BlockingIOError, match=r"the file object takes no more"), replacing("save", _Full()) as file:
        file.write(b"new")


@pytest.mark.parametrize("wrong", [1, True, None, 1.5, b"name", io.StringIO(), io.BytesIO, object()])
def test_what_is_neither_a_path_nor_a_file_object(wrong):
    said = r"save: (expected a path|a path must be a string|the file object must be)"
    with pytest.raises(nd.DTypeError, match=said), replacing("save", wrong):
        raise AssertionError("the block must not be entered")


@pytest.mark.parametrize("wrong", ["", "a\0b"])
def test_what_is_no_name(wrong):
    said = r"save: expected the name of a file, got"
    with pytest.raises(nd.ConfigurationError, match=said), replacing("save", wrong):
        raise AssertionError("the block must not be entered")
