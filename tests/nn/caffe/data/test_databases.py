"""Databases of examples."""

import lmdb
import numpy as np
import pytest

import nd
from nn.caffe import DatumDatabase, array_to_datum, datum_to_array, proto, write_database, write_mnist_databases
from tests.cells import every_row

PICTURE = np.arange(12, dtype="float32").reshape(3, 2, 2)


def test_a_database_there_and_back(tmp_path):
    records = [(b"%03d" % number, array_to_datum(PICTURE + number, number)) for number in (2, 0, 1)]
    assert write_database(tmp_path / "db", records) == 3
    database = DatumDatabase(tmp_path / "db")
    assert len(database) == 3
    assert [(key, datum.label) for key, datum in database] == [(b"000", 0), (b"001", 1), (b"002", 2)]
    for number, (_, datum) in enumerate(database):
        np.testing.assert_array_equal(datum_to_array(datum), PICTURE + number)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["db"]


def test_of_two_examples_with_one_key_the_last_stays(tmp_path):
    examples = [(b"a", array_to_datum(np.full((1, 1, 1), label), label)) for label in (1, 2)]
    assert write_database(tmp_path / "x", examples) == 1
    assert [datum.label for _, datum in DatumDatabase(tmp_path / "x")] == [2]


def test_what_lmdb_itself_wrote(tmp_path):
    with lmdb.open(str(tmp_path / "db"), map_size=1 << 20) as environment, environment.begin(write=True) as transaction:
        transaction.put(b"a", b"\x08\x01\x10\x01\x18\x02\x22\x02\x03\xff\x28\x07")
    ((key, datum),) = DatumDatabase(tmp_path / "db")
    assert (key, datum.label, datum_to_array(datum).tolist()) == (b"a", 7, [[[3.0, 255.0]]])


def test_several_may_read_at_once(tmp_path):
    write_database(tmp_path / "db", [(b"%d" % number, proto.Datum(label=number)) for number in range(5)])
    first, second = iter(DatumDatabase(tmp_path / "db")), iter(DatumDatabase(tmp_path / "db"))
    assert [next(first)[1].label, next(second)[1].label, next(first)[1].label] == [0, 0, 1]
    first.close()
    assert next(second)[1].label == 1


def test_a_database_grows(tmp_path, monkeypatch):
    monkeypatch.setattr("nn.caffe.data.databases._FIRST_SIZE", 1 << 16)  # so that a small one has to grow
    records = ((b"%05d" % number, proto.Datum(data=bytes(500), label=number)) for number in range(3000))
    assert write_database(tmp_path / "db", records) == 3000
    assert [datum.label for _, datum in DatumDatabase(tmp_path / "db")] == list(range(3000))


def test_a_record_that_is_damaged_is_named(tmp_path):
    with lmdb.open(str(tmp_path / "db"), map_size=1 << 20) as environment, environment.begin(write=True) as transaction:
        transaction.put(b"a", b"\xff\xff")
    with pytest.raises(nd.FormatError, match=r"db: record b'a': expected the bytes of a Datum"):
        list(DatumDatabase(tmp_path / "db"))


def test_what_is_no_database(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"DatumDatabase: there must be such a folder"):
        DatumDatabase(tmp_path / "none")
    with pytest.raises(nd.FormatError, match=r"got a folder without data\.mdb"):
        DatumDatabase(tmp_path)
    (tmp_path / "CURRENT").write_text("")
    with pytest.raises(nd.ConfigurationError, match=r"got .*, one of LevelDB\. Write it anew with .*--backend=lmdb"):
        DatumDatabase(tmp_path)
    (tmp_path / "data.mdb").write_bytes(bytes(8192))
    with pytest.raises(nd.FormatError, match=r"expected a database of LMDB, got "):
        DatumDatabase(tmp_path)


def test_a_truncated_database_is_told_before_it_ends_the_process(tmp_path):
    write_database(tmp_path / "db", [(b"%d" % number, proto.Datum(data=bytes(3000))) for number in range(9)])
    data = tmp_path / "db" / "data.mdb"
    data.write_bytes(data.read_bytes()[:12288])
    with pytest.raises(nd.FormatError, match=r"a database must be whole, [\d,]+ bytes, got 12,288\. It is truncated"):
        DatumDatabase(tmp_path / "db")


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(nd.ConfigurationError, match=r"expected the name of a new folder, got"):
        write_database(tmp_path, [])
    with pytest.raises(nd.ConfigurationError, match=r"could not be written, got .*(MDB_BAD_VALSIZE|BadVal)"):
        write_database(tmp_path / "db", [(b"x" * 600, proto.Datum())])
    with pytest.raises(FileNotFoundError, match=r"no"):
        write_database(tmp_path / "no" / "db", [])
    assert list(tmp_path.iterdir()) == []


# ---- examples


@every_row(
    ("array", "field"),
    [(PICTURE, "data"), (PICTURE.astype("int64"), "data"), (PICTURE / 2, "float_data"), (PICTURE - 1, "float_data")],
)
def test_examples(array, field):
    datum = array_to_datum(array, 3)
    assert {one.name for one, _ in datum.ListFields()} == {"channels", "height", "width", "label", field}
    np.testing.assert_array_equal(datum_to_array(datum), array)
    assert datum_to_array(datum).dtype == "float32"


def test_a_label_that_is_not_there_is_not_0():
    without, zero = array_to_datum(PICTURE), array_to_datum(PICTURE, 0)
    assert not without.HasField("label")
    assert len(zero.SerializeToString()) == len(without.SerializeToString()) + 2


@every_row(
    ("datum", "said"),
    [
        ({"channels": 1, "height": 2, "width": 2, "data": b"abc"}, r"the shape \[1, 2, 2\] needs 4 numbers, got 3"),
        (
            {"channels": -1, "height": -2, "width": 2, "data": b"abcd"},
            r"the shape \[-1, -2, 2\] needs 4 numbers, got 4",
        ),
        ({"channels": 1, "height": 2, "width": 2}, r".*needs 4 numbers, got 0"),
        ({"encoded": True, "data": b"abc"}, r"expected the file of a picture, got "),
    ],
)
def test_examples_that_are_wrong(datum, said):
    with pytest.raises(nd.FormatError, match=rf"^it: {said}"):
        datum_to_array(proto.Datum(**datum), who="it")


def test_an_example_has_three_axes():
    with pytest.raises(nd.ShapeError, match=r"expected a picture \[C, H, W\], got \[2, 2\]"):
        array_to_datum(np.zeros((2, 2)))


def test_mnist(mnist_folder, tmp_path):
    assert write_mnist_databases(tmp_path / "examples" / "mnist") == {
        "mnist_test_lmdb": 10_000,
        "mnist_train_lmdb": 60_000,
    }
    database = DatumDatabase(tmp_path / "examples" / "mnist" / "mnist_test_lmdb")
    labels = [0] * 10
    for number, (key, datum) in enumerate(database):
        assert key == b"%08d" % number
        labels[datum.label] += 1
    assert labels == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]  # as published
    image = datum_to_array(next(iter(database))[1])
    assert (image.shape, float(image.sum())) == ((1, 28, 28), 18454.0)  # the 7 of the test set
