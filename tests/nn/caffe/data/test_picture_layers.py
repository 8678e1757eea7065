"""Data and ImageData: examples of databases and of lists."""

import io

import numpy as np
import pytest
from PIL import Image

import nd
from nd.dataset.fetch import load_mnist
from nn.caffe import (
    array_to_datum,
    proto,
    read_net,
    read_picture,
    write_database,
    write_mean,
    write_mnist_databases,
)
from nn.caffe.binary import parse_binary
from nn.caffe.data.records import RecordReader
from tests.cases.caffe_data import LABEL, data_layer, pictures, write_sources
from tests.cells import every_row

VALUES = pictures(7)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    write_sources(folder)
    write_mean(VALUES.mean(0), folder / "mean.binaryproto")
    return folder


def data(folder, settings="batch_size: 3", more="", tops='top: "data" top: "label"', **arguments):
    return data_layer(f'type: "Data" {tops} data_param {{ source: "db" {settings} }} {more}', folder, **arguments)


def images(folder, settings="batch_size: 3", more="", **arguments):
    text = f'type: "ImageData" top: "data" top: "label" image_data_param {{ source: "pictures.txt" {settings} }} {more}'
    return data_layer(text, folder, **arguments)


def labels_of(layer, minibatches):
    return [int(label) for _ in range(minibatches) for label in layer.next()[1]]


BOTH = every_row("made", [data, images], ids=["Data", "ImageData"])


# ---- of both


@BOTH
def test_examples_come_in_order_and_again(made, sources):
    layer = made(sources)
    for number in range(8):
        pixels, labels = layer.next()
        places = [(3 * number + at) % 7 for at in range(3)]
        np.testing.assert_array_equal(pixels, VALUES[places])
        assert labels.tolist() == places


@BOTH
def test_a_minibatch_may_be_more_than_an_epoch(made, sources):
    assert labels_of(made(sources, "batch_size: 17"), 2) == [number % 7 for number in range(34)]


@BOTH
def test_means_and_scales(made, sources):
    layer = made(
        sources, more='transform_param { mean_file: "mean.binaryproto" scale: 0.5 crop_size: 4 }', phase="TEST"
    )
    assert layer.top_shapes() == [(3, 3, 4, 4), (3,)]
    expected = (VALUES[:3].astype("float64") - VALUES.mean(0)) / 2
    np.testing.assert_allclose(layer.next()[0], expected[:, :, 1:5, 2:6], atol=1e-4)


@BOTH
def test_some_examples_are_skipped(made, sources):
    firsts = {labels_of(made(sources, "batch_size: 1 rand_skip: 4", seed=seed), 1)[0] for seed in range(1, 40)}
    assert firsts == {0, 1, 2, 3}


@BOTH
def test_a_transformer_that_does_not_fit_is_told_at_once(made, sources):
    with pytest.raises(nd.ShapeError, match=rf"^{LABEL}: a picture must be as large as crop_size, 9, got \[3, 6, 8\]"):
        made(sources, more="transform_param { crop_size: 9 }")


# ---- Data


def test_one_top_has_no_labels(sources):
    (pixels,) = data(sources, tops='top: "data"').next()
    np.testing.assert_array_equal(pixels, VALUES[:3])


def png(picture):
    file = io.BytesIO()
    Image.fromarray(picture[::-1].transpose(1, 2, 0)).save(file, "png")
    return file.getvalue()


def test_records_of_all_kinds(tmp_path):
    """Bytes, numbers, and files of pictures, with labels that are there, negative, large, or not there."""
    half = VALUES[1].astype("float32") / 2
    datums = [
        array_to_datum(VALUES[0], 5),
        array_to_datum(half, -1),
        proto.Datum(encoded=True, data=png(VALUES[2]), label=1 << 20),
        array_to_datum(VALUES[3]),
        array_to_datum(VALUES[4], 5),
    ]
    write_database(tmp_path / "db", [(b"%d" % number, datum) for number, datum in enumerate(datums)])
    pixels, labels = data(tmp_path, "batch_size: 5").next()
    np.testing.assert_array_equal(pixels, np.stack([VALUES[0], half, *VALUES[2:5]]))
    assert labels.tolist() == [5, -1, 1 << 20, 0, 5]


@every_row(
    ("settings", "more", "channels"),
    [
        ("", "", 3),
        ("", "transform_param { force_gray: true }", 1),
        ("force_encoded_color: true", "", 3),
        ("", "transform_param { force_color: true }", 3),
    ],
)
def test_files_of_pictures_in_records(settings, more, channels, tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoded")
    write_database(folder / "db", [(b"0", proto.Datum(encoded=True, data=png(VALUES[0]), label=1))])
    layer = data(folder, f"batch_size: 1 {settings}", more)
    assert layer.top_shapes()[0] == (1, channels, 6, 8)
    expected = nd.to_host(read_picture(io.BytesIO(png(VALUES[0])), color=channels == 3))
    np.testing.assert_array_equal(layer.next()[0][0], expected)


def test_damaged_records_are_named(tmp_path):
    write_database(tmp_path / "db", [(b"a", array_to_datum(VALUES[0], 1)), (b"b", proto.Datum(channels=1, data=b"x"))])
    layer = data(tmp_path, "batch_size: 2")
    with pytest.raises(
        nd.FormatError, match=rf"^{LABEL}: .*db: record b'b': the shape \[1, 0, 0\] needs 0 numbers, got 1"
    ):
        layer.next()


def test_what_databases_are_refused(tmp_path):
    write_database(tmp_path / "db", [])
    with pytest.raises(nd.DataError, match=rf"^{LABEL}: .*db: a database must have records, got none"):
        data(tmp_path)
    (tmp_path / "level").mkdir()
    (tmp_path / "level" / "CURRENT").write_text("")
    with pytest.raises(nd.ConfigurationError, match=rf"^{LABEL}: .*one of LevelDB\. Write it anew"):
        data_layer('type: "Data" top: "d" data_param { source: "level" batch_size: 1 }', tmp_path)


def test_two_layers_read_one_database(sources):
    first, second = data(sources), data(sources)
    assert [labels_of(layer, 1) for layer in (first, second, first)] == [[0, 1, 2], [0, 1, 2], [3, 4, 5]]
    first.close()
    assert labels_of(second, 1) == [3, 4, 5]


# ---- records


def record_reader(monkeypatch):
    """Return a reader, and a list of what it parses."""
    parsed, original = [], parse_binary

    def parse(content, kind, who):
        parsed.append(who)
        return original(content, kind, who)

    monkeypatch.setattr("nn.caffe.data.records.parse_binary", parse)
    return RecordReader(None, "db"), parsed


def test_records_that_look_alike_are_parsed_once_a_label(monkeypatch):
    reader, parsed = record_reader(monkeypatch)
    for number in range(40):
        picture = pictures(1, seed=number)[0]
        example = reader.example(b"%d" % number, array_to_datum(picture, number % 4).SerializeToString())
        assert (example.pixels, example.shape, example.label) == (picture.tobytes(), (3, 6, 8), number % 4)
    assert parsed == [f"db: record b'{number}'" for number in range(4)]


@every_row(
    "record",
    [
        b"\x08\x01\x10\x01\x18\x02\x22\x02\x22\x02\x28\x07",  # pixels that look like the beginning of pixels
        b"\x28\x07\x08\x01\x10\x01\x18\x02\x22\x02\x03\xff",  # the label first
        b"\x22\x02\x03\xff\x08\x01\x10\x01\x18\x02\x28\x07",  # pixels first
        b"\x22\x01\x05\x08\x01\x10\x01\x18\x02\x22\x02\x03\xff\x28\x07",  # pixels twice: the last ones hold
        b"\x22\x02\x05\x06\x08\x01\x10\x01\x18\x02\x22\x02\x03\xff\x28\x07",
        b"\x08\x01\x10\x01\x18\x02\x22\x82\x00\x03\xff\x28\x07",  # a length in more bytes than it needs
    ],
)
def test_records_of_any_order_mean_what_they_say(record):
    """Before and behind a record of the usual form, and of labels that differ."""
    reader = RecordReader(None, "db")
    usual = b"\x08\x01\x10\x01\x18\x02\x22\x02\x09\x08\x28\x03"
    for one in (usual, record, usual, record, record[:-1] + b"\x01", usual):
        datum = proto.Datum.FromString(one)
        example = reader.example(b"k", one)
        assert (example.pixels, example.shape, example.label) == (datum.data, (1, 1, 2), datum.label)


def test_records_that_are_cut_off(monkeypatch):
    reader, _ = record_reader(monkeypatch)
    whole = array_to_datum(VALUES[0]).SerializeToString()
    reader.example(b"0", whole)
    for length in (len(whole) - 1, len(whole) - 100, 9):
        with pytest.raises(nd.FormatError, match=r"^db: record b'1': "):
            reader.example(b"1", whole[:length])


# ---- ImageData


def test_pictures_in_grey_and_at_another_size(sources):
    layer = images(sources, "batch_size: 2 is_color: false new_height: 5 new_width: 4")
    assert layer.top_shapes() == [(2, 1, 5, 4), (2,)]
    for number, picture in enumerate(layer.next()[0]):
        expected = read_picture(sources / f"{number}.png", color=False, height=5, width=4)
        np.testing.assert_array_equal(picture, nd.to_host(expected))


def test_an_epoch_has_every_picture_once_in_an_order_of_its_own(sources):
    labels = labels_of(images(sources, "batch_size: 7 shuffle: true"), 6)
    epochs = [tuple(labels[start : start + 7]) for start in range(0, 42, 7)]
    assert all(sorted(epoch) == list(range(7)) for epoch in epochs)
    assert len(set(epochs)) > 1


def test_paths_of_pictures(sources, tmp_path):
    (tmp_path / "sub").mkdir()
    for number in range(2):
        (tmp_path / "sub" / f"x{number}.png").write_bytes((sources / f"{number}.png").read_bytes())
    (tmp_path / "pictures.txt").write_text("0.png 4\n1.png 5\n")
    layer = images(tmp_path, 'batch_size: 2 root_folder: "sub/x"')
    assert layer.next()[1].tolist() == [4, 5]
    (tmp_path / "pictures.txt").write_text(f"{sources}/3.png 6\n")
    np.testing.assert_array_equal(images(tmp_path, "batch_size: 1").next()[0], VALUES[3:4])


def test_what_image_data_refuses(sources, tmp_path):
    with pytest.raises(nd.ConfigurationError, match=rf"^{LABEL}: expected new_height and new_width, .* got \[5, 0\]"):
        images(sources, "new_height: 5")
    with pytest.raises(nd.ConfigurationError, match=rf"^{LABEL}: rand_skip must be at most .*, 7, got 8"):
        images(sources, "rand_skip: 8")
    (tmp_path / "pictures.txt").write_text("")
    with pytest.raises(nd.DataError, match=rf"^{LABEL}: .*pictures\.txt: must list pictures, got none"):
        images(tmp_path)
    (tmp_path / "pictures.txt").write_text(f"{sources}/0.png 1\nnone.png 2\n")
    with pytest.raises(FileNotFoundError, match=rf"{LABEL}: No such file .*none\.png"):
        images(tmp_path, "batch_size: 2").next()
    (tmp_path / "none.png").write_bytes(b"no picture")
    with pytest.raises(nd.FormatError, match=rf"^{LABEL}: .*none\.png: expected the file of a picture"):
        images(tmp_path, "batch_size: 2").next()


# ---- MNIST


def test_lenet_reads_the_databases_of_mnist(caffe_reference, mnist_folder, tmp_path):
    """As BVLC's net says: 64 and 100 digits of 0 to 255/256, in the order of the files."""
    write_mnist_databases(tmp_path / "examples" / "mnist")
    net = read_net(caffe_reference / "lenet" / "lenet_train_test.prototxt")
    for message, phase, batch in ((net.layer[0], "TRAIN", 64), (net.layer[1], "TEST", 100)):
        layer = data_layer(str(message).replace('name: "mnist"', ""), tmp_path, phase)
        digits, labels = load_mnist(phase == "TRAIN")
        assert layer.top_shapes() == [(batch, 1, 28, 28), (batch,)]
        for number in range(3):
            rows = slice(number * batch, number * batch + batch)
            pixels, label = layer.next()
            np.testing.assert_array_equal(pixels.reshape(batch, -1) * 256, digits[rows])
            np.testing.assert_array_equal(label, labels[rows])
