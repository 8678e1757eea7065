import io
import struct
import tracemalloc
import zipfile
from itertools import chain

import numpy as np
import pytest

from nd import ArgumentError, DataError, DTypeError, FormatError, ShapeError
from nd.dataset import NpzDataSetIterator

SIZES = (5, 1, 7)


@pytest.fixture
def paths(tmp_path):
    """Files whose examples all tell their number, 0 to 12."""
    found, start = [], 0
    for i, size in enumerate(SIZES):
        x = np.arange(start, start + size, dtype=np.float32)
        save = np.savez_compressed if i else np.savez
        save(tmp_path / f"{i}.npz", features=np.stack([x, -x], axis=1), labels=x.astype(np.int64) % 3, other=x)
        found.append(tmp_path / f"{i}.npz")
        start += size
    return found


def numbers(iterator):
    found = []
    for data_set in iterator:
        batch = data_set.features[:, 0].astype(int)
        np.testing.assert_array_equal(data_set.features[:, 1], -batch)
        np.testing.assert_array_equal(data_set.labels.argmax(axis=1), batch % 3)
        found.append(batch.tolist())
    return found


def test_files_one_after_the_other(paths):
    iterator = NpzDataSetIterator(paths, 4, num_classes=3)
    assert (len(iterator), iterator.batch(), iterator.input_columns(), iterator.total_outcomes()) == (4, 4, 2, 3)
    for _ in range(2):
        assert numbers(iterator) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12]]
    iterator.reset()
    assert numbers([iterator.next(7)]) == [[0, 1, 2, 3, 4, 5, 6]]
    assert numbers(NpzDataSetIterator(str(paths[1]), 4, num_classes=3)) == [[5]]


def test_shuffled_epochs_hold_everything_once_and_differ(paths):
    iterator, again = (NpzDataSetIterator(paths, 4, num_classes=3, shuffle=True, seed=3) for _ in range(2))
    epochs = [list(chain.from_iterable(numbers(iterator))) for _ in range(6)]
    assert all(sorted(epoch) == list(range(13)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 6
    assert [list(chain.from_iterable(numbers(again))) for _ in range(6)] == epochs
    firsts = {next(i for i, stop in enumerate((5, 6, 13)) if epoch[0] < stop) for epoch in epochs}
    assert len(firsts) > 1  # the files change places too


def test_keys(paths):
    data_set = NpzDataSetIterator(paths[0], 9, features="features", labels=None, features_mask="other").next()
    assert data_set.labels is None
    assert data_set.features_mask.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(DataError, match=r"0.npz': expected an array 'y' for the labels, got \['features', 'labels"):
        NpzDataSetIterator(paths[0], labels="y")
    with pytest.raises(DataError, match="total_outcomes: expected an iterator that knows it"):
        NpzDataSetIterator(paths[0], labels=None).total_outcomes()


def test_one_file_at_a_time_is_in_memory(tmp_path):
    for i in range(6):
        np.savez(tmp_path / f"{i}.npz", features=np.zeros((1000, 250), np.float32), labels=np.zeros((1000, 1)))
    iterator = NpzDataSetIterator(sorted(tmp_path.glob("*.npz")), 100)
    tracemalloc.start()
    try:
        assert sum(data_set.num_examples() for data_set in iterator) == 6000
        assert (
            tracemalloc.get_traced_memory()[1] < 3.5e6
        )  # one file has 1.0e6, and the last minibatch of another is held
    finally:
        tracemalloc.stop()


def test_python_objects_are_never_loaded(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("was loaded",))

    np.savez(tmp_path / "x.npz", features=np.array([[Bomb()]], dtype=object), labels=np.zeros(1))
    with pytest.raises(FormatError, match="array 'features': must not hold Python objects"):
        NpzDataSetIterator(tmp_path / "x.npz")


def npy(dtype, shape, data=b"", order="'fortran_order': False, "):
    text = f"{{'descr': '{dtype}', {order}'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def zipped(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (
            npy("<f4", "(1099511627776, 4)", b"x" * 16),
            FormatError,
            "16 byt",
        ),
        (
            npy("<f4", "(2, 2)", b"x" * 15),
            FormatError,
            "does not fit its 15",
        ),
        (npy("<f4", "(2, 2)", order=""), FormatError, "array 'features': expected a .npy header, got"),
        (
            npy("<f4", "()", b"x" * 4),
            ShapeError,
            "first axis, got a scalar",
        ),
        (
            npy("<U1", "(1,)", b"x" * 4),
            DTypeError,
            "got elements of dtype <U1",
        ),
        (b"", FormatError, "expected a .npy header"),
        (b"\x93NUMPY\x09\x00" + b"x" * 60, FormatError, "expected a .npy header"),
    ],
)
def test_hostile_arrays(tmp_path, content, error, message):
    path = zipped(tmp_path / "x.npz", features=content)
    with pytest.raises(error, match=message):
        NpzDataSetIterator(path, labels=None)


def test_damaged_files(tmp_path, paths):
    whole = paths[1].read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        paths[1].write_bytes(whole[:length])
        with pytest.raises(FormatError, match=r"1\.npz': expected a \.npz file, got"):
            NpzDataSetIterator(paths)
    paths[1].write_bytes(whole)
    iterator = NpzDataSetIterator(paths[1], num_classes=3)
    content = bytearray(whole)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        start = archive.getinfo("features.npy").header_offset
    content[start + 60 : start + 80] = bytes(20)
    paths[1].write_bytes(content)
    with pytest.raises(FormatError, match=r"1\.npz': (array 'features': )?expected"):
        iterator.next()


def test_files_must_be_alike_and_stay(tmp_path, paths):
    np.savez(tmp_path / "wide.npz", features=np.zeros((2, 3), np.float32), labels=np.zeros(2, np.int64))
    with pytest.raises(ShapeError, match=r"wide.npz': expected features \[N, 2\], as in the first file, got \[2, 3\]"):
        NpzDataSetIterator([*paths, tmp_path / "wide.npz"])
    np.savez(tmp_path / "double.npz", features=np.zeros((2, 2)), labels=np.zeros(2, np.int64))
    with pytest.raises(DTypeError, match=r"double.npz': expected features of float32, .* got float64"):
        NpzDataSetIterator([*paths, tmp_path / "double.npz"])
    with pytest.raises(DTypeError, match=r"expected a path or a list of paths, got \[\]"):
        NpzDataSetIterator([])
    iterator = NpzDataSetIterator(paths[0], num_classes=3)
    np.savez(paths[0], features=np.zeros((2, 2), np.float32), labels=np.zeros(2, np.int64))
    with pytest.raises(DataError, match=r"0.npz': features must be as they were, \[5, 2\], got \[2, 2\]"):
        iterator.next()


def test_one_array_for_features_and_labels_stays_one(paths):
    for data_set in NpzDataSetIterator(paths, 4, labels="features"):  # also across files
        assert data_set.labels is data_set.features


def test_what_zipfile_does_not_implement_is_a_damaged_file(paths):
    data = bytearray(paths[0].read_bytes())
    data[data.index(b"PK\x01\x02") + 6] = 255  # the version that is needed to extract, in the directory
    paths[0].write_bytes(data)
    with pytest.raises(FormatError, match=r"expected a \.npz file, got: zip file version"):
        NpzDataSetIterator(paths[0])


def test_features_have_a_key(paths):
    for wrong in ({"features": None}, {"features": 1}, {"labels": 2}):
        with pytest.raises(ArgumentError, match=r"NpzDataSetIterator: (features|labels) must be text( or None)?, got"):
            NpzDataSetIterator(paths, **wrong)
