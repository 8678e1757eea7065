"""Normalizers in ND4J's binary form, against bytes put together by hand from specs/dl4j.md, 2.1."""

import struct
import tracemalloc

import numpy as np
import pytest

from nd import ConfigurationError, DataError, FormatError
from nd.dataset import (
    DataSet,
    ImagePreProcessingScaler,
    Normalizer,
    NormalizerMinMaxScaler,
    NormalizerStandardize,
    VGG16ImagePreProcessor,
)
from nd.dataset.normalizers import NORMALIZERS, normalizer_from_bytes, normalizer_to_bytes
from tests.cells import every_row

RNG = np.random.default_rng(8)


def utf(text):
    return struct.pack(">H", len(text)) + text.encode()


def row(*values, dtype="FLOAT", bits=8192, code=">f4", legacy=False):
    """A row vector [1, n], in the newest form or in that of ND4J 0.x."""
    n, data = len(values), np.array(values, code).tobytes()
    if legacy:
        info = struct.pack(">8i", 2, 1, n, 1, 1, 0, 1, ord("c"))
        head = utf("JAVACPP") + struct.pack(">i", 8) + utf("INT") + info
        return head + utf("JAVACPP") + struct.pack(">i", n) + utf(dtype) + data
    info = struct.pack(">8q", 2, 1, n, 1, 1, bits, 1, ord("c"))
    head = utf("MIXED_DATA_TYPES") + struct.pack(">q", 8) + utf("LONG") + info
    return head + utf("MIXED_DATA_TYPES") + struct.pack(">q", n) + utf(dtype) + data


def header(kind, version=1):
    return utf("NORMALIZER") + struct.pack(">i", version) + utf(kind)


STANDARDIZE = header("STANDARDIZE") + b"\0" + row(1, -2) + row(0.5, 4)
WITH_LABELS = header("STANDARDIZE") + b"\1" + row(1, -2) + row(0.5, 4) + row(7) + row(3)
MIN_MAX = header("MIN_MAX") + b"\1" + struct.pack(">2d", -1, 2) + row(0, 1) + row(5, 6) + row(-3) + row(3)
IMAGES = header("IMAGE_MIN_MAX") + struct.pack(">3d", -1, 1, 255)
VGG16 = header("IMAGE_VGG16")


def test_standardize():
    found = normalizer_from_bytes(STANDARDIZE)
    assert isinstance(found, NormalizerStandardize)
    assert (found.mean.tolist(), found.std.tolist(), found.is_fit_label()) == ([1, -2], [0.5, 4], False)
    found = normalizer_from_bytes(WITH_LABELS)
    assert (found.label_mean.tolist(), found.label_std.tolist(), found.is_fit_label()) == ([7], [3], True)
    assert found.transform(DataSet([[2.0, 6.0]], [[1.0]])).labels.tolist() == [[-2]]


def test_min_max():
    found = normalizer_from_bytes(MIN_MAX)
    assert isinstance(found, NormalizerMinMaxScaler)
    assert (found.target_min, found.target_max) == (-1, 2)
    assert (found.min.tolist(), found.max.tolist()) == ([0, 1], [5, 6])
    assert (found.label_min.tolist(), found.label_max.tolist()) == ([-3], [3])


def test_images():
    found = normalizer_from_bytes(IMAGES)
    assert isinstance(found, ImagePreProcessingScaler)
    assert (found.min, found.max, found.max_pixel) == (-1, 1, 255)
    assert isinstance(normalizer_from_bytes(VGG16), VGG16ImagePreProcessor)


@pytest.mark.parametrize("content", [STANDARDIZE, WITH_LABELS, MIN_MAX, IMAGES, VGG16])
def test_what_java_wrote_is_written_byte_for_byte(content):
    assert normalizer_to_bytes(normalizer_from_bytes(content)) == content


def test_arrays_of_any_version():
    old = {"legacy": True}
    found = normalizer_from_bytes(header("STANDARDIZE") + b"\0" + row(1, -2, **old) + row(0.5, 0, **old))
    assert (found.mean.tolist(), found.std.tolist()) == ([1, -2], [0.5, 1e-5])


@pytest.mark.parametrize("kind", NORMALIZERS)
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_what_is_read_is_what_was_written(tmp_path, kind, offset):
    """Bit for bit, also where float32 could not hold the statistics."""
    x = RNG.normal(size=(20, 3, 2, 2)) + offset
    normalizer = NORMALIZERS[kind]()
    if kind in ("min_max", "standardize"):
        normalizer.fit_label(True)
    normalizer.fit(DataSet(x, x[:, :2] * 2))
    normalizer.save(tmp_path / "normalizer.bin")
    again = Normalizer.load(tmp_path / "normalizer.bin")
    assert type(again) is type(normalizer)
    np.testing.assert_array_equal(again.transform_features(x), normalizer.transform_features(x))
    np.testing.assert_array_equal(again.transform_labels(x[:, :2]), normalizer.transform_labels(x[:, :2]))
    assert again.is_fit_label() == normalizer.is_fit_label()
    assert [path.name for path in tmp_path.iterdir()] == ["normalizer.bin"]


def test_a_normalizer_without_statistics_writes_no_file(tmp_path):
    (tmp_path / "normalizer.bin").write_bytes(b"before")
    with pytest.raises(DataError, match=r"NormalizerStandardize.save: expected features that were fitted"):
        NormalizerStandardize().save(tmp_path / "normalizer.bin")
    assert (tmp_path / "normalizer.bin").read_bytes() == b"before"


def test_normalizers_of_somebodys_own(tmp_path):
    path = tmp_path / "own.bin"
    path.write_bytes(header("CUSTOM") + utf("org.example.MyStrategy") + b"anything")
    with pytest.raises(ConfigurationError, match=r"own.bin': .* a CUSTOM normalizer that org.example.MyStrategy reads"):
        Normalizer.load(path)


@every_row(
    ("content", "message"),
    [
        (b"", "expected 2 bytes of the length of the header, got 0"),
        (b"\xac\xed\x00\x05sr", "got a serialized Java object, which only Java can read"),
        (b"PK\x03\x04" + b"x" * 99_999, "the header"),
        (utf("NORMALISER") + STANDARDIZE[12:], "the header must be 'NORMALIZER', got 'NORMALISER'"),
        (header("STANDARDIZE", 2), "the version must be 1, got 2"),
        (header("ROBUST"), "the type must be one of .*, got 'ROBUST'"),
        (header("STANDARDIZE") + b"\7", "a flag must be 0 or 1, got 7"),
        (STANDARDIZE + b"\0", "expected the end behind the STANDARDIZE normalizer, got more bytes"),
        (header("STANDARDIZE") + b"\0" + row(1, 2) + row(1), "as many numbers each, at least one, got .* corrupt"),
        (header("STANDARDIZE") + b"\0" + row(np.inf) + row(1), "mean must be finite, got inf"),
        (header("STANDARDIZE") + b"\0" + row(1, dtype="INT", bits=1 << 17, code=">i4"), "a row of floats, got"),
        (header("MIN_MAX") + b"\0" + struct.pack(">2d", 1, 1), "from a number to a larger one, got 1.0 to 1.0"),
        (header("IMAGE_MIN_MAX") + struct.pack(">3d", 0, 1, 0), "the largest pixel must be positive, got 0.0"),
        (header("IMAGE_MIN_MAX") + struct.pack(">3d", 0, np.nan, 255), "max must be a number, got nan"),
    ],
)
def test_damage(content, message):
    with pytest.raises(FormatError, match=message):
        normalizer_from_bytes(content)


@pytest.mark.parametrize("content", [WITH_LABELS, MIN_MAX, IMAGES, VGG16])
def test_every_truncation_is_found(content):
    for length in range(len(content)):
        with pytest.raises(FormatError, match="normalizer_from_bytes: "):
            normalizer_from_bytes(content[:length])


def test_lengths_that_lie_allocate_nothing():
    lying = row(1, 2).replace(struct.pack(">q", 2) + utf("FLOAT"), struct.pack(">q", 1 << 40) + utf("FLOAT"))
    lying = lying.replace(struct.pack(">3q", 2, 1, 2), struct.pack(">3q", 2, 1, 1 << 40))
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match="bytes of the data, got 8"):
            normalizer_from_bytes(header("STANDARDIZE") + b"\0" + lying)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
