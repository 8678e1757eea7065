"""Pictures, lists of files, mean files, data in HDF5."""

import io
import struct
import zlib

import h5py
import numpy as np
import pytest
from PIL import Image

import nd
from nn.caffe import (
    array_to_blobproto,
    datum_to_array,
    proto,
    read_hdf5_data,
    read_hdf5_list,
    read_mean,
    read_picture,
    read_picture_list,
    write_mean,
    write_message,
)
from tests.cells import every_row

RED_GREEN = [[(255, 0, 0), (0, 255, 0)], [(1, 2, 3), (10, 20, 30)]]  # red, green, blue


def png(pixels, mode="RGB"):
    content = io.BytesIO()
    Image.fromarray(np.array(pixels, "uint8"), mode).save(content, "png") if mode == "L" else Image.fromarray(
        np.array(pixels, "uint8")
    ).save(content, "png")
    return content.getvalue()


def png_by_hand(width, height, rows):
    """A file of grey pixels, written after the format's description."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_blue_comes_first(backend):
    picture = read_picture(io.BytesIO(png(RED_GREEN)))
    assert nd.to_host(picture).tolist() == [
        [[0, 0], [3, 30]], [[0, 255], [2, 20]], [[255, 0], [1, 10]],
    ]  # fmt: skip
    assert nd.dtype_name(picture) == "float32"


def test_grey_and_what_the_file_has():
    grey = png_by_hand(3, 2, b"\0\x01\x02\x03\0\x04\x05\xff")
    expected = [[1.0, 2.0, 3.0], [4.0, 5.0, 255.0]]
    assert read_picture(io.BytesIO(grey), color=None).tolist() == [expected]
    assert read_picture(io.BytesIO(grey)).tolist() == [expected] * 3
    assert read_picture(io.BytesIO(png(RED_GREEN)), color=None).shape == (3, 2, 2)
    luminance = np.array(RED_GREEN, "float64") @ (0.299, 0.587, 0.114)
    np.testing.assert_allclose(read_picture(io.BytesIO(png(RED_GREEN)), color=False)[0], luminance, atol=1.0)


def bilinear(plane, height, width):
    """Pixels at (i + 1/2) * scale - 1/2, between the four around them; beyond the border those of the border."""
    out = np.zeros((height, width))
    for row in range(height):
        for column in range(width):
            y = min(max((row + 0.5) * plane.shape[0] / height - 0.5, 0), plane.shape[0] - 1)
            x = min(max((column + 0.5) * plane.shape[1] / width - 0.5, 0), plane.shape[1] - 1)
            top, left = int(y), int(x)
            down, right = min(top + 1, plane.shape[0] - 1), min(left + 1, plane.shape[1] - 1)
            a, b = y - top, x - left
            upper = plane[top, left] * (1 - b) + plane[top, right] * b
            out[row, column] = upper * (1 - a) + (plane[down, left] * (1 - b) + plane[down, right] * b) * a
    return out


@every_row(("height", "width"), [(4, 6), (2, 3), (9, 5), (3, 11)])
def test_another_size(height, width):
    pixels = np.random.default_rng(1).integers(0, 256, (7, 9), "uint8")
    content = png_by_hand(9, 7, b"".join(b"\0" + row.tobytes() for row in pixels))
    got = read_picture(io.BytesIO(content), color=False, height=height, width=width)
    assert got.shape == (1, height, width)
    np.testing.assert_allclose(got[0], bilinear(pixels.astype(float), height, width), atol=1.01)


@every_row(
    ("content", "said"),
    [
        (b"", r"expected the file of a picture"),
        (b"no picture", r"expected the file of a picture"),
        (png_by_hand(3, 2, b"")[:40], r"expected the file of a picture"),
        (png_by_hand(60_000, 60_000, b"\0"), r"expected the file of a picture, got .*(pixels|decompression)"),
    ],
)
def test_what_is_no_picture(content, said):
    with pytest.raises(nd.FormatError, match=said):
        read_picture(io.BytesIO(content))


def test_both_sides_or_none():
    with pytest.raises(nd.ConfigurationError, match=r"expected height and width, or 0 for both, got 3 and 0"):
        read_picture(io.BytesIO(png(RED_GREEN)), height=3)


def test_an_example_may_be_a_picture():
    datum = proto.Datum(encoded=True, data=png(RED_GREEN), label=1)
    assert datum_to_array(datum).tolist() == read_picture(io.BytesIO(png(RED_GREEN))).tolist()
    assert datum_to_array(datum, color=False).shape == (1, 2, 2)


def test_reference_pictures(caffe_reference):
    """The mean of a photograph's blue, green and red, by Pillow itself."""
    path = caffe_reference / "cifar10_quick" / "dog10.png"
    with Image.open(path) as picture:
        expected = np.asarray(picture.convert("RGB"), "float64").mean((0, 1))[::-1]
    np.testing.assert_allclose(read_picture(path).mean((1, 2)), expected, rtol=1e-6)


# ---- lists


def test_a_list_of_pictures(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("a.png 0\n\nwith space.png 12\r\n/b.png -1\n")
    assert read_picture_list(path) == [("a.png", 0), ("with space.png", 12), ("/b.png", -1)]
    assert read_picture_list(path, "pictures/")[0] == ("pictures/a.png", 0)


@every_row("line", ["a.png", "a.png x", " 3", "a.png 1.5", "a.png ²"])
def test_a_line_without_a_label_is_named(line, tmp_path):
    path = tmp_path / "list.txt"
    path.write_text(f"a.png 0\n{line}\n")
    with pytest.raises(nd.FormatError, match=r"list\.txt:2: expected a path and a whole number, got"):
        read_picture_list(path)


def test_lists_are_texts(tmp_path):
    (tmp_path / "list.txt").write_bytes(b"\xff\xfe a 1")
    with pytest.raises(nd.FormatError, match=r"expected a list of files in UTF-8"):
        read_picture_list(tmp_path / "list.txt")
    (tmp_path / "list.txt").write_text("a.h5\n\nb c.h5\n")
    assert read_hdf5_list(tmp_path / "list.txt") == ["a.h5", "b c.h5"]


# ---- data in HDF5


def test_data_in_hdf5(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["data"] = np.arange(12).reshape(3, 4)
        file["label"] = np.array([1, 0, 1], "int8")
        file["short"] = np.zeros(2)
        file["scalar"] = 1.0
    data, label = read_hdf5_data(path, ("data", "label"))
    assert (data.tolist(), label.tolist()) == ([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [1, 0, 1])
    assert {str(data.dtype), str(label.dtype)} == {"float32"}
    for tops, said in {
        ("data", "lable"): r"got none for \['lable'\]; there are \['data', 'label', 'scalar', 'short'\]",
        ("data", "short"): r"arrays must have equally many rows, got data \[3, 4\], short \[2\]",
        ("scalar",): r"arrays must have equally many rows, got scalar \[\]",
    }.items():
        with pytest.raises(nd.DataError, match=rf"x\.h5: .*{said}"):
            read_hdf5_data(path, tops)


def test_reference_data_in_hdf5(caffe_reference):
    """2,400 numbers that count up, and the next file the next ones."""
    for number, name in enumerate(("sample_data.h5", "sample_data_2_gzip.h5")):
        data, label = read_hdf5_data(caffe_reference / "test_data" / name, ("data", "label"))
        np.testing.assert_array_equal(data.ravel(), 2400 * number + np.arange(2400))
        assert data.shape == (10, 8, 6, 5)
        assert len(label) == 10


# ---- mean files


def test_mean_files(tmp_path, backend):
    path = tmp_path / "mean.binaryproto"
    mean = nd.reshape(nd.arange(24, dtype="float32"), (2, 3, 4))
    write_mean(mean, path)
    content = path.read_bytes()
    assert content.startswith(b"\x08\x01\x10\x02\x18\x03\x20\x04\x2a\x60")  # num, channels, height, width, 96 bytes
    np.testing.assert_array_equal(nd.to_host(read_mean(path)), np.arange(24).reshape(2, 3, 4))


@every_row(("shape", "fits"), [((2, 3, 4), True), ((1, 2, 3, 4), True), ((2, 3, 4, 1), False), ((24,), False)])
def test_a_mean_file_is_one_picture(shape, fits, tmp_path):
    path = tmp_path / "mean.binaryproto"
    write_message(array_to_blobproto(np.zeros(shape, "float32")), path)
    if fits:
        assert read_mean(path).shape == (2, 3, 4)
        return
    with pytest.raises(nd.FormatError, match=r"mean\.binaryproto: expected one picture \[1, C, H, W\], got"):
        read_mean(path)


def test_a_mean_has_three_axes(tmp_path):
    with pytest.raises(nd.ShapeError, match=r"write_mean: expected a picture \[C, H, W\], got \[2, 2\]"):
        write_mean(np.zeros((2, 2)), tmp_path / "mean.binaryproto")
