"""Arrays in messages."""

import numpy as np
import pytest

import nd
from nn.caffe import array_to_blobproto, blobproto_to_array, parse_text, proto, shape_equals
from nn.caffe.blobs import blob_shape
from tests.cells import every_row


def blob(text):
    return parse_text(text, "BlobProto")


def test_numbers_by_hand(backend):
    array = blobproto_to_array(blob("shape { dim: [2, 3] } data: [1, 2, 3, 4, 5, 6]"))
    assert nd.to_host(array).tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert nd.dtype_name(array) == "float32"


@every_row(
    ("text", "shape"),
    [
        ("num: 1 channels: 2 height: 1 width: 3 data: [1, 2, 3, 4, 5, 6]", (1, 2, 1, 3)),
        ("num: 6 channels: 1 height: 1 width: 1 shape { dim: 6 } data: [1, 2, 3, 4, 5, 6]", (6, 1, 1, 1)),
        ("shape { dim: [6, 1] } data: [1, 2, 3, 4, 5, 6]", (6, 1)),
        ("shape { dim: 0 }", (0,)),
        ("width: 3", (0, 0, 0, 3)),
        ("data: 7", ()),
        ("shape { } data: 7", ()),
    ],
)
def test_shapes(text, shape):
    assert blobproto_to_array(blob(text)).shape == shape


@every_row(
    ("text", "said"),
    [
        ("shape { dim: [2, 3] } data: [1, 2, 3]", r"the shape \[2, 3\] needs 6 numbers, got 3 in data"),
        ("data: [1, 2]", r"the shape \[\] needs 1 numbers, got 2 in data"),
        ("", r"the shape \[\] needs 1 numbers, got 0 in data"),
        ("shape { dim: -1 }", r".*no negative length .*, got \[-1\]"),
        ("num: -1", r".*no negative length .*, got \[-1, 0, 0, 0\]"),
        ("shape { dim: [65536, 32768] }", r".*at most 2,147,483,647 elements, got \[65536, 32768\]"),
        ("shape { dim: [" + ", ".join("1" * 33) + "] }", r".*at most 32 axes"),
    ],
)
def test_shapes_that_do_not_fit(text, said):
    with pytest.raises(nd.FormatError, match=rf"^layer 1 'ip': {said}"):
        blobproto_to_array(blob(text), who="layer 1 'ip'")


FITS = {  # shape of an old file, shape of an array -> whether it fits, as Caffe's own cases have it
    ((1, 1, 3, 2), (3, 2)): True,
    ((3, 2, 1, 1), (3, 2)): False,
    ((1, 1, 1, 3), (3,)): True,
    ((3, 1, 1, 1), (3,)): False,
    ((1, 3, 1, 1), (1, 3, 1, 1)): True,
    ((1, 3, 1, 1), (3, 1, 1)): True,
    ((1, 1, 1, 1), ()): True,
    ((0, 0, 0, 0), ()): False,
    ((1, 2, 3, 4), (1, 1, 2, 3, 4)): False,
}


@every_row("shapes", sorted(FITS))
def test_an_old_shape_fits_from_the_right(shapes):
    (num, channels, height, width), shape = shapes
    old = proto.BlobProto(num=num, channels=channels, height=height, width=width)
    assert shape_equals(old, shape) is FITS[shapes]


def test_a_new_shape_fits_exactly():
    new = blob("shape { dim: [3, 2] }")
    assert shape_equals(new, (3, 2))
    assert not shape_equals(new, (1, 1, 3, 2))
    assert not shape_equals(new, (3, 2, 1))


@every_row("dtype", ["float32", "float64"])
def test_there_and_back(dtype):
    values = np.arange(24, dtype=dtype).reshape(2, 3, 4) / 7
    got = array_to_blobproto(nd.create(values), nd.create(-values))
    assert list(got.shape.dim) == [2, 3, 4]
    assert blob_shape(got) == (2, 3, 4)
    fields = {field.name for field, _ in got.ListFields()}
    assert fields == ({"shape", "data", "diff"} if dtype == "float32" else {"shape", "double_data", "double_diff"})
    for field, expected in {"data": values, "diff": -values}.items():
        back = blobproto_to_array(got, field)
        assert nd.dtype_name(back) == dtype
        np.testing.assert_array_equal(nd.to_host(back), expected)
        assert list(getattr(got, field if dtype == "float32" else f"double_{field}")) == expected.ravel().tolist()


def test_memory_order_is_no_matter(backend, order):
    values = np.asfortranarray(np.arange(6, dtype="float32").reshape(2, 3))
    assert list(array_to_blobproto(nd.create(values)).data) == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_many_numbers():
    """More bytes than two groups of seven bits can count."""
    values = np.arange(70_000, dtype="float32")
    np.testing.assert_array_equal(blobproto_to_array(array_to_blobproto(values)), values)


def test_other_dtypes_become_single_precision():
    assert list(array_to_blobproto(np.array([1, 2], "int64")).data) == [1.0, 2.0]


def test_data_and_gradient_have_one_shape():
    with pytest.raises(nd.ShapeError, match=r"array_to_blobproto: expected \[2\], got \[3\]"):
        array_to_blobproto(nd.zeros(2), nd.zeros(3))
    with pytest.raises(nd.DTypeError, match=r"expected a message nn\.caffe\.proto\.BlobProto, got \[1\.0\]"):
        blobproto_to_array([1.0])
