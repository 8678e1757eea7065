"""Serialized objects that were made to do harm: all are refused, and soon."""

import struct
import zipfile

import pytest

import nd
from nn.dl4j.java_input import MOST_VALUES, from_java
from nn.dl4j.java_output import to_java
from nn.dl4j.serializer import ModelSerializer

START = b"\xac\xed\x00\x05"
LIST = b"r\x00\x13java.util.ArrayList" + bytes(8)  # flags, number of fields, end mark and base follow
FIRST = 0x7E0000


def reference(place):
    return b"q" + struct.pack(">i", FIRST + place)


def array(kind, count, content=b""):
    """Return the stream of an array; its class has the handle 0."""
    name = b"[" + kind
    described = b"r" + struct.pack(">H", len(name)) + name + bytes(8) + b"\x02\x00\x00xp"
    return START + b"u" + described + struct.pack(">i", count) + content


def of_many(item, count):
    """Return the stream of an ArrayList that holds one thing many times."""
    one = to_java([None])
    end = one.rindex(b"\x70\x78")
    return one[:end] + item * count + b"\x78"


def chained(count):
    """Return the stream of a list of lists, the class of each a description with the one before as its base."""
    head = START + b"s" + LIST + b"\x03\x00\x00xpw\x00"  # the block in which Java writes the size, empty
    places = (0, *range(2, 2 * count, 2))  # a description and its object each take a handle
    return head + b"".join(b"s" + LIST + b"\x02\x00\x00x" + reference(place) + b"x" for place in places) + b"x"


def test_bases_that_are_given_by_reference_have_an_end():
    assert from_java(chained(50)) == [[]] * 50
    for count in (150, 900, 3000):
        with pytest.raises(nd.FormatError, match=r"at most 100 bases of Java's class java.util.ArrayList, got more"):
            from_java(chained(count))


def test_objects_with_many_bases_are_counted_with_them():
    again = b"s" + reference(2 * 80) + b"x"
    with pytest.raises(nd.FormatError, match="at most 1,000,000 values"):
        from_java(chained(81)[:-1] + again * (MOST_VALUES // 80) + b"x")


def test_a_reference_to_a_text_where_a_class_must_stand():
    with pytest.raises(nd.FormatError, match=r"reference to the description of a class, got one to 'abc'"):
        from_java(array(b"Ljava.lang.Object;", 2, b"t\x00\x03abc" + b"s" + reference(2)))


def test_a_reference_to_a_class_where_a_value_must_stand():
    with pytest.raises(nd.FormatError, match=r"reference to a value, got one to Java's class \[Ljava.lang.Object;"):
        from_java(array(b"Ljava.lang.Object;", 1, reference(0)))


@pytest.mark.parametrize("kind", [b"I", b"B", b"Z", b"Ljava.lang.Object;", b"[I"])
def test_arrays_of_a_negative_length(kind):
    with pytest.raises(nd.FormatError, match=r"an array of 0 or more elements, got -5 of '\["):
        from_java(array(kind, -5))


def test_arrays_of_a_class_that_is_none_of_an_array():
    with pytest.raises(nd.FormatError, match=r"an array of 0 or more elements, got 0 of 'java.util.ArrayList'"):
        from_java(START + b"u" + LIST + b"\x02\x00\x00xp" + bytes(4))


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        (b"I", struct.pack(">2i", -1, 7), [-1, 7]), (b"J", struct.pack(">2q", -1, 1 << 40), [-1, 1 << 40]),
        (b"S", struct.pack(">2h", -1, 7), [-1, 7]), (b"F", struct.pack(">2f", 0.5, -2), [0.5, -2.0]),
        (b"Z", b"\x01\x00", [True, False]), (b"C", b"\x00a\x20\xac", ["a", "\u20ac"]),
    ],
)  # fmt: skip
def test_arrays_of_numbers(kind, content, expected):
    found = from_java(array(kind, 2, content))
    assert (found, [type(each) for each in found]) == (expected, [type(each) for each in expected])
    with pytest.raises(nd.FormatError, match="truncated"):
        from_java(array(kind, 2, content[:-1]))


@pytest.mark.parametrize(
    "item",
    [b"p", b"w\x00"]
    + [pytest.param(each, marks=pytest.mark.slow) for each in (b"t\x00\x00", reference(0)[:1] + b"\x00\x7e\x00\x02")],
)
@pytest.mark.quick_rows(1)
def test_values_are_counted(item):
    first = b"t\x00\x01a"  # of handle 2
    with pytest.raises(nd.FormatError, match="at most 1,000,000 values, got more"):
        from_java(of_many(first + item * MOST_VALUES, 1))


def test_numbers_and_fields_are_counted():
    with pytest.raises(nd.FormatError, match="at most 1,000,000 values, got more"):
        from_java(array(b"I", MOST_VALUES, bytes(4 * MOST_VALUES)))
    described = b"r\x00\x13java.util.ArrayList" + bytes(8) + b"\x02\xff\xff" + b"B\x00\x00" * 0xFFFF + b"xp"
    objects = b"s" + described + bytes(0xFFFF) + (b"s" + reference(2) + bytes(0xFFFF)) * 20
    with pytest.raises(nd.FormatError, match="at most 1,000,000 values, got more"):
        from_java(of_many(objects, 1))


@pytest.mark.slow
def test_small_zips_of_large_objects(tmp_path):
    path = tmp_path / "net.zip"
    for size, expected in ((8 << 20, "at most 1,000,000 values"), (60 << 20, "at most 16,777,216 bytes")):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("objects/nulls", of_many(b"p", size))
        assert path.stat().st_size < 64 << 10
        with pytest.raises(nd.FormatError, match=expected):
            ModelSerializer.getObjectFromFile(path, "nulls")


@pytest.mark.parametrize(
    ("value", "expected"),
    [([None] * MOST_VALUES, "can be read again: expected at most 1,000,000 values"),
     (bytes(1 << 24), "at most 16,777,216 bytes, got 16,777,2")],
)  # fmt: skip
@pytest.mark.slow
def test_what_could_not_be_read_is_not_written(tmp_path, value, expected):
    path = tmp_path / "net.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("configuration.json", "{}")
    before = path.read_bytes()
    with pytest.raises(nd.DataError, match=f"addObjectToFile: the object must be .*{expected}"):
        ModelSerializer.addObjectToFile(path, "key", value)
    assert path.read_bytes() == before
