"""Mean, scale, crop and mirror, by hand and pixel by pixel."""

import numpy as np
import pytest

import nd
from nd.dataset.java_random import JavaRandom
from nn.caffe import parse_text, write_mean
from nn.caffe.data.transformer import Transformer
from tests.cases.caffe_data import pictures
from tests.cells import every_row

PICTURE = np.arange(20, dtype="uint8").reshape(1, 4, 5)  # row h, column w: 5 h + w


def transformer(settings, phase="TEST", folder="", seed=1, dtype="float32"):
    random = JavaRandom(seed)
    return Transformer(parse_text(settings, "TransformationParameter"), phase, dtype, lambda: random, str(folder))


def minibatch(made, values):
    return made.minibatch([one.tobytes() for one in values], [one.shape for one in values])


@every_row(
    ("settings", "expected"),
    [
        ("", PICTURE[0]),
        ("scale: 0.5", PICTURE[0] / 2),
        ("mean_value: 3", PICTURE[0] - 3.0),
        ("mean_value: 3 scale: 2", (PICTURE[0] - 3.0) * 2),
        ("crop_size: 2", [[6, 7], [11, 12]]),
        ("crop_size: 3", [[1, 2, 3], [6, 7, 8], [11, 12, 13]]),
        ("crop_size: 4", [[0, 1, 2, 3], [5, 6, 7, 8], [10, 11, 12, 13], [15, 16, 17, 18]]),
        ("crop_size: 2 mean_value: 6 scale: 0.25", [[0, 0.25], [1.25, 1.5]]),
    ],
)
def test_in_tests_by_hand(settings, expected):
    made = transformer(settings)
    got = minibatch(made, [PICTURE] * 2)
    assert got.dtype == "float32"
    np.testing.assert_array_equal(got, np.broadcast_to(np.asarray(expected, "float32"), (2, 1, *np.shape(expected))))
    assert made.shape((1, 4, 5)) == got.shape[1:]


def test_the_scale_of_mnist():
    got = minibatch(transformer("scale: 0.00390625"), [np.arange(256, dtype="uint8").reshape(1, 16, 16)])
    np.testing.assert_array_equal(got.ravel() * 256, np.arange(256))


def test_means_of_channels():
    values = pictures(2)
    got = minibatch(transformer("mean_value: [1, 2, 3]"), values)
    np.testing.assert_array_equal(got, values.astype("float32") - np.array([1, 2, 3], "float32")[:, None, None])


def test_a_mean_file_is_looked_up_where_the_crop_lies(tmp_path):
    values = pictures(1)
    write_mean(values[0].astype("float32") - 7, tmp_path / "mean.binaryproto")
    for settings in ("", "crop_size: 4", "crop_size: 3 mirror: true"):
        for phase in ("TRAIN", "TEST"):
            made = transformer(f'mean_file: "mean.binaryproto" {settings}', phase, tmp_path)
            assert set(minibatch(made, [values[0]] * 9).ravel().tolist()) == {7.0}


def test_crops_in_training_lie_anywhere():
    """The first pixel tells where a crop lies: 3 x 4 places, each as often as the others."""
    made = transformer("crop_size: 2", "TRAIN")
    firsts = np.concatenate([minibatch(made, [PICTURE] * 60)[:, 0, 0, 0] for _ in range(20)]).astype(int)
    places, counts = np.unique(firsts, return_counts=True)
    assert places.tolist() == [5 * h + w for h in range(3) for w in range(4)]
    assert np.abs(counts - 100).max() < 5 * np.sqrt(1200 / 12 * 11 / 12)
    for first, crop in zip(firsts[-60:], minibatch(transformer("crop_size: 2", "TRAIN"), [PICTURE] * 60), strict=True):
        assert crop.ravel().tolist() == (crop[0, 0, 0] + np.array([0, 1, 5, 6])).tolist(), first


@every_row("phase", ["TRAIN", "TEST"])
def test_half_of_all_pictures_are_mirrored(phase):
    made = transformer("mirror: true", phase)
    got = np.concatenate([minibatch(made, [PICTURE] * 50) for _ in range(8)])
    mirrored = got[:, 0, 0, 0] == 4
    assert abs(mirrored.sum() - 200) < 5 * 10
    for one, turned in zip(got, mirrored, strict=True):
        np.testing.assert_array_equal(one, PICTURE[..., ::-1] if turned else PICTURE)


def test_where_a_picture_has_several_sizes_they_are_cropped():
    values = [pictures(1, (3, 6, 8))[0], pictures(1, (3, 5, 4))[0]]
    got = minibatch(transformer("crop_size: 3"), values)
    np.testing.assert_array_equal(got[0], values[0][:, 1:4, 2:5])
    np.testing.assert_array_equal(got[1], values[1][:, 1:4, 0:3])
    said = r"pictures of a minibatch must become equally large, \[3, 6, 8\], got \[3, 5, 4\] for number 1"
    with pytest.raises(nd.ShapeError, match=said):
        minibatch(transformer(""), values)


def test_numbers_that_are_no_bytes():
    made = transformer("scale: 2")
    got = made.minibatch([[0.25, -1.5], bytes([3, 4])], [(1, 1, 2)] * 2)
    assert got.tolist() == [[[[0.5, -3]]], [[[6, 8]]]]


def test_a_generator_is_asked_for_where_something_is_drawn():
    def refuse():
        raise AssertionError("nothing is drawn")

    for settings, phase in (("", "TRAIN"), ("crop_size: 2 scale: 3", "TEST")):
        Transformer(parse_text(settings, "TransformationParameter"), phase, "float32", refuse)
    for settings, phase in (("crop_size: 2", "TRAIN"), ("mirror: true", "TEST")):
        with pytest.raises(AssertionError, match=r"nothing is drawn"):
            Transformer(parse_text(settings, "TransformationParameter"), phase, "float32", refuse)


@every_row(
    ("settings", "said"),
    [
        ('mean_file: "x" mean_value: 1', r"mean_file must stand alone, got mean_value beside it"),
        ("force_color: true force_gray: true", r"force_color and force_gray exclude one another, got both"),
    ],
)
def test_settings_that_exclude_one_another(settings, said):
    with pytest.raises(nd.ConfigurationError, match=rf"^{said}"):
        transformer(settings)


@every_row(
    ("settings", "shape", "said"),
    [
        ("crop_size: 5", (1, 4, 5), r"a picture must be as large as crop_size, 5, got \[1, 4, 5\]"),
        ("crop_size: 5", (1, 5, 4), r"a picture must be as large as crop_size, 5, got \[1, 5, 4\]"),
        ("", (0, 5, 4), r"a picture must have pixels, got \[0, 5, 4\]"),
        ("mean_value: [1, 2]", (3, 5, 4), r"mean_value must be there once or 3 times, .* \[3, 5, 4\], got 2"),
        ('mean_file: "mean.binaryproto"', (3, 5, 4), r"as the one of mean_file, \[3, 6, 8\], got \[3, 5, 4\]"),
        (
            'mean_file: "mean.binaryproto" crop_size: 2',
            (1, 6, 8),
            r"as the one of mean_file, \[3, 6, 8\], got \[1, 6, 8\]",
        ),
    ],
)
def test_pictures_that_do_not_fit(settings, shape, said, tmp_path):
    write_mean(np.zeros((3, 6, 8), "float32"), tmp_path / "mean.binaryproto")
    made = transformer(settings, folder=tmp_path)
    with pytest.raises(nd.ShapeError, match=said):
        made.shape(shape)
    with pytest.raises(nd.ShapeError, match=said):
        made.minibatch([bytes(int(np.prod(shape)))], [shape])
