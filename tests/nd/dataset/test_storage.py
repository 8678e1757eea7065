"""DataSet files that somebody damaged, or built to do harm; the sound ones are in test_dataset.py."""

import io
import struct
import tracemalloc

import numpy as np
import pytest

from nd import FormatError, serde
from nd.dataset import DataSet
from nd.dataset.storage import read_data_set, write_data_set

MODES = {"JAVACPP": ">i", "LONG_SHAPE": ">q", "MIXED_DATA_TYPES": ">q"}


def utf(text):
    return struct.pack(">H", len(text)) + text.encode()


def java_array(values, mode):
    """An array as the ND4J of each era wrote it, specs/dl4j.md, 1.1 and 1.2."""
    values = np.asarray(values, ">f4")
    strides = [stride // 4 for stride in values.strides]
    length, number = MODES[mode], "i" if mode == "JAVACPP" else "q"
    extras = 8192 if mode == "MIXED_DATA_TYPES" else 0
    info = [values.ndim, *values.shape, *strides, extras, 1, ord("c")]
    shape = utf(mode) + struct.pack(length, len(info)) + utf("INT" if number == "i" else "LONG")
    shape += struct.pack(f">{len(info)}{number}", *info)
    return shape + utf(mode) + struct.pack(length, values.size) + utf("FLOAT") + values.tobytes()


@pytest.mark.parametrize("mode", MODES)
def test_a_file_of_every_era(tmp_path, mode):
    """Like dl4j-test-resources' mnist-train-0.bin: mask byte 3, features and one-hot labels."""
    x, y = np.arange(12.0).reshape(4, 3) / 255, np.eye(4)[:, :2]
    path = tmp_path / "mnist-train-0.bin"
    path.write_bytes(b"\x03" + java_array(x, mode) + java_array(y, mode))
    found = DataSet.load(path)
    np.testing.assert_array_equal(found.features, x.astype(np.float32))
    np.testing.assert_array_equal(found.labels, y)
    assert found.features.dtype == np.float32


def test_series_with_masks_of_every_era_in_one_file():
    x, mask = np.arange(24.0).reshape(2, 3, 4), np.ones((2, 4))
    content = b"\x1b" + b"".join(
        java_array(a, mode) for a, mode in zip((x, x, mask, mask), (*MODES, "JAVACPP"), strict=True)
    )
    found = read_data_set(io.BytesIO(content))
    np.testing.assert_array_equal(found.labels, x)
    np.testing.assert_array_equal(found.labels_mask, mask)


def written(data_set):
    stream = io.BytesIO()
    write_data_set(stream, data_set)
    return stream.getvalue()


def test_bytes_as_the_format_says():
    x, y = np.array([[1.0, 2.0]], np.float32), np.array([[3.0]], np.float32)
    assert written(DataSet(x, y, labels_mask=y)) == b"\x13" + serde.to_bytes(x) + serde.to_bytes(y) * 2
    assert written(DataSet(x, x)) == b"\x05" + serde.to_bytes(x)
    assert written(DataSet(x, features_mask=y)) == b"\x09" + serde.to_bytes(x) + serde.to_bytes(y)


def test_every_truncation_is_found():
    x = np.arange(4, dtype=np.float32).reshape(2, 2)
    content = written(DataSet(x, x * 2, x[:, :1], x[:, :1]))
    for length in range(len(content)):
        with pytest.raises(FormatError, match="expected"):
            read_data_set(io.BytesIO(content[:length]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x02" + java_array(np.ones((2, 2)), "JAVACPP"), r"bit 0 \(features\) set, got 2"),
        (b"\x41" + java_array(np.ones((2, 2)), "JAVACPP"), "a first byte of 1 to 63 .*got 65"),
        (
            b"\x03" + java_array(np.ones((2, 2)), "JAVACPP") + java_array(np.ones((3, 2)), "JAVACPP"),
            r"as many labels as features, got labels \[3, 2\] and features \[2, 2\]. The file is corrupt",
        ),
        (b"\x01" + java_array(np.ones(()), "MIXED_DATA_TYPES"), "got the scalar .*The file is corrupt"),
    ],
)
def test_what_contradicts_itself(tmp_path, content, message):
    path = tmp_path / "set.bin"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=rf"DataSet.load: '.*set.bin': .*{message}"):
        DataSet.load(path)


def test_lengths_that_lie_allocate_nothing():
    content = java_array(np.ones((1, 2)), "MIXED_DATA_TYPES").replace(struct.pack(">q", 2), struct.pack(">q", 1 << 40))
    content = content.replace(struct.pack(">2q", 1 << 40, 1), struct.pack(">2q", 2, 1), 1)  # the rank
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match="read_array"):
            read_data_set(io.BytesIO(b"\x01" + content))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_missing_folder_is_said(tmp_path):
    with pytest.raises(OSError, match=r"DataSet.save: the folder must exist, got none"):
        DataSet([[1.0]]).save(tmp_path / "none" / "set.bin")
