"""ND4J binary arrays, against files of real Java and bytes built by hand."""

import gzip
import io
import struct
import zipfile

import numpy as np
import pytest

from backends.errors import ChoiceError, DTypeError, FormatError, ShapeError
from nd import serde
from tests.cells import every_row
from tests.stand_ins import as_input

LENGTH = {"HEAP": ">i", "DIRECT": ">i", "JAVACPP": ">i", "LONG_SHAPE": ">q", "MIXED_DATA_TYPES": ">q"}
BITS = {"FLOAT": 0x2000, "HALF": 0x1000, "BFLOAT16": 0x800, "DOUBLE": 0x4000, "LONG": 0x40000, "UBYTE": 0x808000}
EMPTY = 8


def utf(text):
    return struct.pack(">H", len(text)) + text.encode()


def buffer(mode, dtype, elements, length=None):
    return utf(mode) + struct.pack(LENGTH[mode], len(elements) if length is None else length) + utf(dtype)


def shape_buffer(shape, strides, extras=0, ews=1, order="c", mode="MIXED_DATA_TYPES", dtype="LONG"):
    numbers = [len(shape), *shape, *strides, extras, ews, ord(order)]
    return buffer(mode, dtype, numbers) + struct.pack(f">{len(numbers)}{'q' if dtype == 'LONG' else 'i'}", *numbers)


def data_buffer(dtype, code, values, mode="MIXED_DATA_TYPES"):
    return buffer(mode, dtype, values) + struct.pack(f">{len(values)}{code}", *values)


def legacy_row(values, mode="JAVACPP"):
    shape = shape_buffer([1, len(values)], [1, 1], mode=mode, dtype="INT")
    return shape + data_buffer("FLOAT", "f", values, mode)


def compressed(algorithm, payload, count, ordinal=1):
    head = buffer("MIXED_DATA_TYPES", "COMPRESSED", payload) + utf(algorithm)
    return head + struct.pack(">qqqi", len(payload), 4 * count, count, ordinal) + payload


def from_zip(path, name="coefficients.bin"):
    with zipfile.ZipFile(path) as archive:
        return archive.read(name)


# ---- files that Java wrote


@every_row("release", ["050", "071"])
@every_row(("model", "n"), [("MLP_1", 41), ("MLP_2", 41), ("CNN_1", 10184)])
@every_row("entry", ["coefficients.bin", "updaterState.bin"])
def test_reads_the_ramp_of_old_releases(reference, release, model, n, entry):
    path = reference / "regression" / release / f"{release}_ModelSerializer_Regression_{model}.zip"
    with zipfile.ZipFile(path) as archive, archive.open(entry) as stream:  # read without seeking
        array = serde.read_array(stream)
        assert stream.read() == b""
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array, np.arange(1, n + 1, dtype=np.float32)[None])


def test_reads_a_legacy_image_batch(reference):
    raw = (reference / "regression/100a/upsampling/in.bin").read_bytes()
    array = serde.load(reference / "regression/100a/upsampling/in.bin")
    assert array.shape == (3, 1, 28, 28)
    tail = np.frombuffer(raw[-array.size * 4 :], ">f4")
    np.testing.assert_array_equal(array.ravel(), tail)
    assert array.min() >= 0
    assert 0 < array.max() <= 1


def test_strides_win_over_the_order_character(reference):
    raw = (reference / "regression/100b4/SyntheticCNN_Output_100b4.bin").read_bytes()
    array = serde.from_bytes(raw)
    assert array.shape == (4, 4, 11, 22)
    flat = np.frombuffer(raw[-array.size * 4 :], ">f4")
    n, c, h, w = np.indices(array.shape)
    np.testing.assert_array_equal(array, flat[n * 968 + c * 1 + h * 88 + w * 4])


def test_rewrites_lenet_byte_for_byte(reference):
    raw = from_zip(reference / "LenetMnist/Model_RANDOM_INIT_UNTRAINED.zip")
    array = serde.from_bytes(raw)
    assert array.shape == (1, 431080)
    assert serde.to_bytes(array) == raw


@pytest.mark.parametrize("case", ["LenetMnist", "MLPMoon"])
def test_rewrites_every_new_file_byte_for_byte(reference, case):
    paths = [*(reference / case / "gradients").iterdir(), *(reference / case / "predictions").iterdir()]
    assert len(paths) >= 6
    for path in [*paths, reference / case / "paramsPostTrain.bin"]:
        assert serde.to_bytes(serde.load(path)) == path.read_bytes(), path.name


def test_flattened_gradients_need_order_f(reference):
    raw = (reference / "LenetMnist/flattenedGradients.bin").read_bytes()
    array = serde.from_bytes(raw)
    assert serde.to_bytes(array, order="f") == raw
    assert serde.to_bytes(array) != raw


# ---- bytes built by hand


def test_the_bytes_of_a_050_model():
    raw = bytes.fromhex(
        "0007" + b"JAVACPP".hex() + "00000008" + "0003" + b"INT".hex()
        + "00000002 00000001 00000003 00000001 00000001 00000000 00000001 00000063"
        + "0007" + b"JAVACPP".hex() + "00000003" + "0005" + b"FLOAT".hex() + "3f800000 40000000 40400000"
    )  # fmt: skip
    np.testing.assert_array_equal(serde.from_bytes(raw), np.array([[1, 2, 3]], np.float32))


def test_the_bytes_that_are_written():
    raw = bytes.fromhex(
        "0010" + b"MIXED_DATA_TYPES".hex() + "0000000000000008" + "0004" + b"LONG".hex()
        + "0000000000000002 0000000000000001 0000000000000002 0000000000000001 0000000000000001"
        + "0000000000001000 0000000000000001 0000000000000063"
        + "0010" + b"MIXED_DATA_TYPES".hex() + "0000000000000002" + "0004" + b"HALF".hex() + "3c00 c000"
    )  # fmt: skip
    assert serde.to_bytes(np.array([[1, -2]], np.float16)) == raw


@pytest.mark.parametrize("mode", ["HEAP", "DIRECT", "JAVACPP"])
def test_reads_int32_modes(mode):
    np.testing.assert_array_equal(serde.from_bytes(legacy_row([4.0, 5.0], mode)), [[4, 5]])


def test_reads_long_shape_without_type_bits():
    raw = shape_buffer([2, 3], [1, 2], mode="LONG_SHAPE", order="f")
    raw += data_buffer("DOUBLE", "d", [0, 1, 2, 3, 4, 5], "LONG_SHAPE")
    array = serde.from_bytes(raw)
    assert array.dtype == np.float64
    np.testing.assert_array_equal(array, [[0, 2, 4], [1, 3, 5]])


def test_widens_bfloat16():
    raw = shape_buffer([3], [1], BITS["BFLOAT16"]) + data_buffer("BFLOAT16", "H", [0x3F80, 0xC049, 0x7F80])
    array = serde.from_bytes(raw)
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array, np.array([1.0, -3.140625, np.inf], np.float32))


@every_row(
    ("name", "code", "dtype", "values"),
    [
        ("DOUBLE", "d", "float64", [1.5, -2.5]),
        ("FLOAT", "f", "float32", [1.5, -2.5]),
        ("HALF", "e", "float16", [1.5, -2.5]),
        ("LONG", "q", "int64", [-(2**62), 7]),
        ("INT", "i", "int32", [-(2**31), 7]),
        ("SHORT", "h", "int16", [-(2**15), 7]),
        ("BYTE", "b", "int8", [-128, 7]),
        ("UINT64", "Q", "uint64", [2**64 - 1, 7]),
        ("UINT32", "I", "uint32", [2**32 - 1, 7]),
        ("UINT16", "H", "uint16", [2**16 - 1, 7]),
        ("UBYTE", "B", "uint8", [255, 7]),
        ("BOOL", "B", "bool", [1, 0]),
    ],
)
def test_every_element_type(name, code, dtype, values):
    array = serde.from_bytes(shape_buffer([2], [1]) + data_buffer(name, code, values))
    assert array.dtype == np.dtype(dtype)
    assert array.tolist() == values
    array[0] = array[1]  # owned and writable
    written = serde.to_bytes(np.array(values, dtype))
    assert written.endswith(data_buffer(name, code, values))
    assert serde.from_bytes(written).tolist() == values
    assert serde.array_from_json(serde.array_to_json(np.array(values, dtype))).tolist() == values


def test_scalar():
    raw = shape_buffer([], [], BITS["DOUBLE"]) + data_buffer("DOUBLE", "d", [2.5])
    array = serde.from_bytes(raw)
    assert array.shape == ()
    assert array == 2.5
    assert serde.to_bytes(array) == raw


def test_empty():
    scalar = shape_buffer([], [], BITS["FLOAT"] | EMPTY) + data_buffer("FLOAT", "f", [])
    assert serde.from_bytes(scalar).shape == (0,)
    raw = shape_buffer([2, 0, 3], [0, 3, 1], BITS["FLOAT"] | EMPTY) + data_buffer("FLOAT", "f", [])
    array = serde.from_bytes(raw)
    assert array.shape == (2, 0, 3)
    assert array.dtype == np.float32
    assert serde.to_bytes(array) == raw


def test_rank_32():
    shape = [1] * 30 + [2, 3]
    array = serde.from_bytes(serde.to_bytes(np.arange(6.0).reshape(shape)))
    np.testing.assert_array_equal(array, np.arange(6.0).reshape(shape))


def test_two_arrays_in_one_stream():
    stream = io.BytesIO()
    serde.write_array(stream, np.arange(3))
    serde.write_array(stream, np.ones((2, 2), np.float32))
    stream.seek(0)
    assert serde.read_array(stream).tolist() == [0, 1, 2]
    assert serde.read_array(stream).tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("nested", [True, False])
def test_gzip(nested):
    content = data_buffer("FLOAT", "f", [1, 2, 3, 4]) if nested else struct.pack(">4f", 1, 2, 3, 4)
    raw = shape_buffer([2, 2], [2, 1], 4) + compressed("GZIP", gzip.compress(content), 4)
    array = serde.from_bytes(raw)
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array, [[1, 2], [3, 4]])


@pytest.mark.parametrize(("ordinal", "layout", "dtype"), [(1, "<2f", "float32"), (6, "<2B", "uint8")])
def test_noop_keeps_the_memory_of_a_little_endian_machine(ordinal, layout, dtype):
    raw = shape_buffer([2], [1], 4) + compressed("NOOP", struct.pack(layout, 1, 200), 2, ordinal)
    array = serde.from_bytes(raw)
    assert array.dtype == np.dtype(dtype)
    assert array.tolist() == [1, 200]


def test_a_gzip_bomb_is_cut_off():
    bomb = gzip.compress(bytes(1 << 26))
    with pytest.raises(FormatError, match="at most 80 bytes of decompressed data, got more"):
        serde.from_bytes(shape_buffer([4], [1], 4) + compressed("GZIP", bomb, 4))


@every_row(
    ("algorithm", "payload", "ordinal", "message"),
    [
        ("FLOAT16", b"", 1, "must be GZIP or NOOP, got 'FLOAT16'.*Decompress the array in Java"),
        ("GZIP", b"no gzip", 1, "must be GZIP, got"),
        ("GZIP", gzip.compress(bytes(8))[:-9], 1, "ended after"),
        ("GZIP", gzip.compress(data_buffer("FLOAT", "f", [1, 2]) + b"x"), 1, "got more"),
        ("GZIP", gzip.compress(data_buffer("FLOAT", "f", [1, 2, 3])), 1, "asks for 2 elements, the data buffer has 3"),
        ("GZIP", gzip.compress(data_buffer("INT", "i", [1, 2])), 1, "must be FLOAT, got 'INT'"),
        ("NOOP", bytes(7), 1, "asks for 8 elements, the data buffer has 7"),
        ("NOOP", bytes(8), 99, "element type 99"),
        ("NOOP", bytes(8), 9, "got 'UTF8'"),
    ],
)
def test_bad_compressed_buffers(algorithm, payload, ordinal, message):
    with pytest.raises(FormatError, match=message):
        serde.from_bytes(shape_buffer([2], [1], 4) + compressed(algorithm, payload, 2, ordinal))


# ---- what is written


def test_order_follows_the_memory():
    a = np.arange(6.0).reshape(2, 3)
    assert serde.to_bytes(a) == shape_buffer([2, 3], [3, 1], 0x4000) + data_buffer("DOUBLE", "d", [0, 1, 2, 3, 4, 5])
    f = shape_buffer([2, 3], [1, 2], 0x4000, order="f") + data_buffer("DOUBLE", "d", [0, 3, 1, 4, 2, 5])
    assert serde.to_bytes(np.asfortranarray(a)) == f
    assert serde.to_bytes(a, order="f") == f
    assert serde.to_bytes(np.asfortranarray(a), order="c") == serde.to_bytes(a)
    assert serde.to_bytes(a.astype(">f8")) == serde.to_bytes(a)
    assert serde.from_bytes(f).flags.f_contiguous
    np.testing.assert_array_equal(serde.from_bytes(f), a)


@pytest.mark.parametrize("shape", [(1, 3), (3, 1)])
@pytest.mark.parametrize("order", ["c", "f"])
def test_vectors_have_unit_strides(shape, order):
    written = serde.to_bytes(np.ones(shape), order)
    assert written.startswith(shape_buffer(shape, [1, 1], 0x4000, order=order))


def test_writes_every_memory_order_of_every_backend(backend, order, tmp_path):
    host = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    serde.save(tmp_path / "a.bin", as_input(backend, host, order))
    np.testing.assert_array_equal(serde.load(tmp_path / "a.bin"), host)


def test_writing_errors():
    with pytest.raises(DTypeError, match="got complex128"):
        serde.to_bytes(np.ones(2, complex))
    with pytest.raises(DTypeError, match="got object"):
        serde.to_bytes(np.array([None]))
    with pytest.raises(ChoiceError, match=r"unknown order 'C'.*Did you mean 'c'"):
        serde.to_bytes(np.ones(2), order="C")
    with pytest.raises(ShapeError, match="at most 32 axes, got 33"):
        serde.to_bytes(np.ones([1] * 33))


# ---- bad input


@every_row(
    ("raw", "message"),
    [
        (b"", "expected 2 bytes of the length of the allocation mode of the shape buffer, got 0"),
        (utf("MMAP"), "must be one of DIRECT, HEAP.*got 'MMAP'"),
        (b"\x00\x02\xff\xff", "must be ASCII"),
        (b"PK\x03\x04" + bytes(40), "expected 20555 bytes"),
        (buffer("JAVACPP", "INT", [], -1), "length of the shape buffer must not be negative, got -1"),
        (buffer("MIXED_DATA_TYPES", "LONG", [], 1 << 62), "4 to 68 numbers, got 4611686018427387904"),
        (buffer("MIXED_DATA_TYPES", "FLOAT", [0] * 4), "must be INT or LONG, got 'FLOAT'"),
        (shape_buffer([1] * 33, [1] * 33), "4 to 68 numbers, got 70"),
        (buffer("JAVACPP", "INT", [0] * 8) + struct.pack(">8i", 3, *[1] * 7), "rank 3 needs 10 numbers, got 8"),
        (shape_buffer([2, -3], [1, 1]), r"no axis may be negative, got shape \[2, -3\]"),
        (shape_buffer([2], [1], 5, mode="JAVACPP", dtype="INT"), "offset of the data must be 0, got 5"),
        (shape_buffer([2], [1]) + data_buffer("FLOAT", "f", [1, 2, 3]), "asks for 2 elements, the data buffer has 3"),
        (shape_buffer([2], [1]) + buffer("MIXED_DATA_TYPES", "FLOAT", [], -2), "data buffer must not be negative"),
        (shape_buffer([2], [1]) + data_buffer("UTF8", "f", [1, 2]), "got 'UTF8'. Strings cannot be read"),
        (shape_buffer([2], [1], BITS["UBYTE"]) + data_buffer("FLOAT", "f", [1, 2]), "says UBYTE elements.*FLOAT"),
        (shape_buffer([2], [1], EMPTY) + data_buffer("FLOAT", "f", [1, 2]), "must have an axis of length 0"),
        (shape_buffer([0], [1], EMPTY) + data_buffer("FLOAT", "f", [1]), "asks for 0 elements"),
        (
            shape_buffer([0, 1 << 61, 1 << 61], [0, 0, 0], EMPTY) + data_buffer("FLOAT", "f", []),
            "must fit into memory",
        ),
        (
            shape_buffer([1 << 40], [1]) + buffer("MIXED_DATA_TYPES", "FLOAT", [], 1 << 40),
            "expected 4398046511104 bytes of the data, got 0.*truncated",
        ),
    ],
)
def test_bad_input(raw, message):
    with pytest.raises(FormatError, match=message):
        serde.from_bytes(raw)


@pytest.mark.parametrize("strides", [[3, 2], [4, 1], [-2, 1], [0, 1], [1, 1], [1 << 62, 1], [2, 2]])
def test_strides_must_visit_every_element_once(strides):
    raw = shape_buffer([2, 2], strides, order="c") + data_buffer("FLOAT", "f", [1, 2, 3, 4])
    with pytest.raises(FormatError, match="must visit each of the 4 elements once"):
        serde.from_bytes(raw)


def test_nothing_may_follow(tmp_path):
    raw = serde.to_bytes(np.ones(2)) + b"\x00"
    with pytest.raises(FormatError, match=r"shape \[2\] must be the last thing.*Use read_array"):
        serde.from_bytes(raw)
    (tmp_path / "a.bin").write_bytes(raw)
    with pytest.raises(FormatError, match="must be the last thing"):
        serde.load(tmp_path / "a.bin")


VALID = (
    legacy_row([1.0, 2.0, 3.0]),
    serde.to_bytes(np.asfortranarray(np.arange(12.0).reshape(3, 4))),
    shape_buffer([2, 2], [2, 1], 4) + compressed("GZIP", gzip.compress(data_buffer("FLOAT", "f", [1, 2, 3, 4])), 4),
)


@pytest.mark.parametrize("raw", VALID, ids=["legacy", "newest", "gzip"])
def test_truncated_anywhere(raw):
    serde.from_bytes(raw)
    for size in range(len(raw)):
        with pytest.raises(FormatError, match="read_array: "):
            serde.from_bytes(raw[:size])


@pytest.mark.parametrize("raw", VALID, ids=["legacy", "newest", "gzip"])
def test_flipped_bytes_give_an_array_or_a_format_error(raw):
    draw = np.random.default_rng(7)
    refused = 0
    for _ in range(3000):
        broken = bytearray(raw)
        for place in draw.integers(0, len(raw), draw.integers(1, 4)):
            broken[place] = draw.integers(0, 256)
        try:
            assert serde.from_bytes(broken).size <= len(raw)
        except FormatError:
            refused += 1
    assert 1000 < refused < 3000
