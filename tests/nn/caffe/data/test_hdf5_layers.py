"""HDF5Data and HDF5Output, by hand and with the files of Caffe's own tests."""

from itertools import pairwise

import h5py
import numpy as np
import pytest

import nd
from nn.caffe import parse_text
from nn.caffe.data.hdf5_output import HDF5Output
from tests.cases.caffe_data import LABEL, data_layer
from tests.cells import every_row


def write_files(folder, lengths, width=2, first="t0"):
    """Write files whose rows have their numbers in t0, and other numbers in t1; and their list."""
    start = 0
    for number, length in enumerate(lengths):
        with h5py.File(folder / f"{number}.h5", "w") as file:
            rows = np.arange(start, start + length, dtype="float64")
            file[first] = np.repeat(rows[:, None], width, 1)
            file["t1"] = -rows
        start += length
    (folder / "list.txt").write_text("".join(f"{number}.h5\n" for number in range(len(lengths))))


def hdf5(folder, batch, more="", tops='top: "t0" top: "t1"', **arguments):
    text = f'type: "HDF5Data" {tops} hdf5_data_param {{ source: "list.txt" batch_size: {batch} {more} }}'
    return data_layer(text, folder, **arguments)


def rows_read(layer, minibatches):
    """Return the numbers of the rows that come, in order; what other tops have is looked at."""
    numbers = []
    for _ in range(minibatches):
        data, label = map(nd.to_host, layer.next())
        np.testing.assert_array_equal(data[:, 0], -label)
        numbers += data[:, 1].astype(int).tolist()
    return numbers


@every_row("batch", [1, 3, 4, 9, 20])
def test_rows_go_on_over_ends_of_files(batch, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write_files(folder, (4, 2, 3))
    layer = hdf5(folder, batch)
    assert layer.top_shapes() == [(batch, 2), (batch,)]
    assert rows_read(layer, 7) == [number % 9 for number in range(7 * batch)]


@every_row("batch", [1, 4, 9])
def test_a_shuffle_keeps_files_and_epochs_together(batch, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write_files(folder, (4, 2, 3))
    read = rows_read(hdf5(folder, batch, "shuffle: true"), 36)
    files = {**dict.fromkeys(range(4), 0), **dict.fromkeys((4, 5), 1), **dict.fromkeys((6, 7, 8), 2)}
    orders = set()
    for epoch in range(4 * batch):
        rows = read[epoch * 9 : epoch * 9 + 9]
        assert sorted(rows) == list(range(9))
        places = [files[row] for row in rows]
        assert sum(a != b for a, b in pairwise(places)) == 2  # every file at once
        orders.add(tuple(rows))
    assert len(orders) > 1


def test_a_single_file_is_shuffled_anew_every_epoch(tmp_path):
    write_files(tmp_path, (6,))
    read = rows_read(hdf5(tmp_path, 6, "shuffle: true"), 5)
    epochs = [tuple(read[start : start + 6]) for start in range(0, 30, 6)]
    assert all(sorted(epoch) == list(range(6)) for epoch in epochs)
    assert len(set(epochs)) > 1


def test_all_orders_of_rows_are_equally_frequent(tmp_path):
    write_files(tmp_path, (3,))
    read = rows_read(hdf5(tmp_path, 3, "shuffle: true"), 1200)
    counts = {}
    for start in range(0, len(read), 3):
        order = tuple(read[start : start + 3])
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert all(abs(count - 200) < 5 * (200 * 5 / 6) ** 0.5 for count in counts.values())


def test_numbers_are_those_of_the_file_to_the_last_bit(tmp_path):
    with h5py.File(tmp_path / "0.h5", "w") as file:
        file["t0"], file["t1"] = np.array([[1 / 3]]), np.array([1 / 7])
    (tmp_path / "list.txt").write_text("0.h5\n")
    assert [top.ravel().tolist() for top in hdf5(tmp_path, 1, dtype="float64").next()] == [[1 / 3], [1 / 7]]


def test_files_of_caffes_tests(caffe_reference, tmp_path, backend):
    """Data count from 0 to 2,399, and in the second file on from there; labels are those in the files."""
    names = ["sample_data.h5", "sample_data_2_gzip.h5"]
    (tmp_path / "list.txt").write_text("".join(f"{caffe_reference}/test_data/{name}\n" for name in names))
    labels = []
    for name in names:
        with h5py.File(caffe_reference / "test_data" / name) as file:
            labels += file["label"][:].ravel().tolist()
    layer = hdf5(tmp_path, 5, tops='top: "data" top: "label"')
    assert layer.top_shapes()[0] == (5, 8, 6, 5)
    for number in range(10):
        data, label = layer.next()
        first = number % 4
        np.testing.assert_array_equal(data.ravel(), np.arange(first * 1200, first * 1200 + 1200))
        assert label.ravel().tolist() == labels[first * 5 : first * 5 + 5]


def test_what_hdf5_data_refuses(tmp_path):
    write_files(tmp_path, (2, 0))
    with pytest.raises(nd.ConfigurationError, match=rf"^{LABEL}: transform_param is not for HDF5Data"):
        hdf5(tmp_path, 1, "} transform_param { scale: 2")
    with pytest.raises(
        nd.DataError, match=rf"^{LABEL}: .*0\.h5: expected an array for every top, got none for \['x'\]"
    ):
        hdf5(tmp_path, 1, tops='top: "x"')
    with pytest.raises(nd.DataError, match=rf"^{LABEL}: .*1\.h5: a file must have rows, got none"):
        hdf5(tmp_path, 3).next()
    write_files(tmp_path, (2, 2))
    (tmp_path / "other").mkdir()
    write_files(tmp_path / "other", (2,), width=3)
    (tmp_path / "list.txt").write_text("0.h5\nother/0.h5\n")
    said = rf"^{LABEL}: .*other/0\.h5: rows of 't0' must be as those of the file before, \[2\], got \[3\]"
    with pytest.raises(nd.DataError, match=said):
        hdf5(tmp_path, 3).next()
    (tmp_path / "list.txt").write_text("\n")
    with pytest.raises(nd.DataError, match=rf"^{LABEL}: .*list\.txt: must list files, got none"):
        hdf5(tmp_path, 1)
    (tmp_path / "list.txt").write_text("0.h5\nnone.h5\n")
    with pytest.raises(FileNotFoundError, match=rf"{LABEL}: No such file .*none\.h5"):
        hdf5(tmp_path, 3).next()
    (tmp_path / "0.h5").write_bytes(b"no file of HDF5")
    with pytest.raises(nd.FormatError, match=rf"^{LABEL}: .*0\.h5: expected a file of HDF5"):
        hdf5(tmp_path, 1)


# ---- HDF5Output


def output(folder, name="out.h5"):
    text = f'name: "it" type: "HDF5Output" bottom: "a" bottom: "b" hdf5_output_param {{ file_name: "{name}" }}'
    return HDF5Output(parse_text(text, "LayerParameter"), LABEL, str(folder))


def test_rows_are_appended(tmp_path, backend, dtype):
    (tmp_path / "out.h5").write_bytes(b"of another run")
    sink = output(tmp_path)
    assert (tmp_path / "out.h5").read_bytes() == b"of another run"
    rows = np.arange(24, dtype=dtype).reshape(6, 2, 2)
    for start, stop in ((0, 3), (3, 3), (3, 4), (4, 6)):
        sink.write(nd.create(rows[start:stop]), nd.create(rows[start:stop, 0, 0]))
    with h5py.File(tmp_path / "out.h5") as file:
        assert sorted(file) == ["data", "label"]
        assert file["data"].dtype == dtype
        np.testing.assert_array_equal(file["data"][:], rows)
        np.testing.assert_array_equal(file["label"][:], rows[:, 0, 0])


def test_what_is_written_is_read(tmp_path):
    output(tmp_path).write(np.arange(6.0).reshape(3, 2), np.array([0.0, -1.0, -2.0]))
    (tmp_path / "list.txt").write_text("out.h5\n")
    data, label = hdf5(tmp_path, 2, tops='top: "data" top: "label"').next()
    assert (data.tolist(), label.tolist()) == ([[0, 1], [2, 3]], [0, -1])


def test_what_hdf5_output_refuses(tmp_path):
    with pytest.raises(nd.ConfigurationError, match=rf"^{LABEL}: file_name must be the name of a file"):
        output(tmp_path, "")
    sink = output(tmp_path)
    for labels in (np.zeros(3), np.float32(1)):
        with pytest.raises(nd.ShapeError, match=rf"^{LABEL}: data and label must have equally many rows, got \[2, 2\]"):
            sink.write(np.zeros((2, 2)), labels)
    sink.write(np.zeros((2, 2)), np.zeros(2))
    with pytest.raises(nd.ShapeError, match=rf"^{LABEL}: rows of label must be as those before, \[\], got \[1\]"):
        sink.write(np.ones((2, 2)), np.ones((2, 1)))
    with h5py.File(tmp_path / "out.h5", "r+") as file:
        assert file["data"].shape == (2, 2)  # nothing was written of what is refused
        del file["label"]
    with pytest.raises(nd.FormatError, match=r"out\.h5: must have 'label', as written before"):
        sink.write(np.ones((2, 2)), np.ones(2))
    with pytest.raises(OSError, match=r"none"):
        output(tmp_path, "none/out.h5").write(np.zeros((1, 1)), np.zeros(1))
