"""What moves pixels: every picture in a way of its own, and labels and masks with their pictures."""

import pickle

import numpy as np
import pytest

import nd
from nd import ArgumentError, ConfigurationError, DTypeError, ShapeError
from nd.dataset import DataSet, MultiDataSet
from nd.dataset.augmentation import Cutout, RandomCrop, RandomFlip, RandomRotation, RandomShift, RandomZoom
from nd.random import Random, use_random

SHAPE = (64, 2, 5, 7)
PICTURES = np.arange(1, 1 + np.prod(SHAPE), dtype=np.float32).reshape(SHAPE)
MOVING = [
    RandomFlip(0.5, 0.5),
    RandomCrop(padding=2),
    RandomCrop((3, 4), padding=1, fill="edge"),
    RandomShift(0.4, 0.4, "reflect"),
    RandomRotation(90.0, "nearest"),
    RandomZoom(0.5, 2.0, "nearest", "edge"),
]


def in_rows(pictures, mode, padding):
    """Return pictures with padding around, by NumPy."""
    return np.pad(pictures, ((0, 0), (0, 0), (padding, padding), (padding, padding)), **mode)


def test_flips_are_of_each_picture_alone():
    with use_random(Random(3)):
        found = RandomFlip(0.5, 0.25).transform(PICTURES)
    ways = [PICTURES, PICTURES[..., ::-1], PICTURES[:, :, ::-1], PICTURES[:, :, ::-1, ::-1]]
    counts = [sum(np.array_equal(found[i], way[i]) for i in range(64)) for way in ways]
    assert sum(counts) == 64  # of expected 24, 24, 8, 8
    assert 14 <= counts[0] <= 34
    assert 14 <= counts[1] <= 34
    assert 2 <= counts[2] <= 18
    assert 2 <= counts[3] <= 18


@pytest.mark.parametrize(
    ("fill", "mode"),
    [
        (0.0, {"constant_values": 0}),
        (-3.5, {"constant_values": -3.5}),
        ("edge", {"mode": "edge"}),
        ("reflect", {"mode": "reflect"}),
    ],
)
@pytest.mark.parametrize("size", [None, 4, (2, 9)])
def test_crops_are_windows_of_padded_pictures(fill, mode, size):
    height, width = (5, 7) if size is None else (4, 4) if size == 4 else size
    with use_random(Random(5)):
        found = RandomCrop(size, padding=2, fill=fill).transform(PICTURES)
    padded = in_rows(PICTURES, mode, 2)
    places = set()
    for i in range(64):
        matching = [
            (top, left)
            for top in range(9 - height + 1)
            for left in range(11 - width + 1)
            if np.array_equal(found[i], padded[i, :, top : top + height, left : left + width])
        ]
        assert matching
        places.update(matching[:1])
    assert len(places) > min(10, (10 - height) * (12 - width) // 2)  # they differ


def test_all_places_of_a_crop_are_equally_likely():
    with use_random(Random(8)):
        found = RandomCrop(2).transform(np.broadcast_to(np.arange(9.0).reshape(1, 1, 3, 3), (20_000, 1, 3, 3)))
    corners, counts = np.unique(found[:, 0, 0, 0], return_counts=True)
    assert corners.tolist() == [0, 1, 3, 4]
    np.testing.assert_allclose(counts / 20_000, 0.25, atol=0.012)


def test_shifts_are_at_most_their_share():
    picture = np.zeros((500, 1, 100, 10))
    picture[:, :, 50, 5] = 1
    with use_random(Random(8)):
        rows, columns = np.nonzero(RandomShift(0.29, 0.2).transform(picture).reshape(500, 100, 10))[1:]
    assert (rows.min(), rows.max()) == (21, 79)
    assert sorted(set(columns.tolist())) == [3, 4, 5, 6, 7]


def test_a_quarter_turn_is_exact():
    square = PICTURES[:, :, :, :5]
    found = RandomRotation((90.0, 90.0)).transform(square)
    np.testing.assert_allclose(found, np.rot90(square, axes=(2, 3)), rtol=1e-6)


@pytest.mark.parametrize("augmentation", [*MOVING, Cutout(3)], ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
def test_dtypes_and_memory_orders(augmentation, dtype):
    given = (PICTURES % 251).astype(dtype)
    results = []
    for order in (np.ascontiguousarray, np.asfortranarray, lambda x: np.repeat(x, 2, axis=3)[..., ::2]):
        kept = order(given).copy(order="K")
        pictures = order(given)
        pictures.flags.writeable = False
        with use_random(Random(3)):
            results.append(augmentation.transform(pictures))
        np.testing.assert_array_equal(pictures, kept)
    assert all(result.dtype == dtype for result in results)
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
    with use_random(Random(4)):
        assert not np.array_equal(augmentation.transform(given), results[0])


@pytest.mark.parametrize("augmentation", MOVING, ids=lambda each: type(each).__name__)
def test_labels_and_masks_of_pixels_go_with_the_pictures(augmentation):
    numbers = PICTURES[:, :1]
    with use_random(Random(3)):
        moved = augmentation.pre_process(DataSet(PICTURES, numbers.copy(), np.ones((64, 5, 7)), numbers.copy()))
    np.testing.assert_array_equal(moved.labels, moved.features[:, :1])
    np.testing.assert_array_equal(moved.labels_mask, moved.features[:, :1])
    assert moved.features_mask.shape == (64, *moved.features.shape[2:])
    np.testing.assert_array_equal(moved.features_mask == 0, moved.features[:, 0] == 0)


def test_what_comes_in_counts_for_nothing():
    data_set = RandomCrop(padding=3, fill=0.5).pre_process(DataSet(np.ones((9, 1, 4, 4)), np.ones((9, 2, 4, 4))))
    outside = data_set.features[:, 0] == 0.5
    assert outside.any()
    np.testing.assert_array_equal(data_set.labels[:, 1] == 0, outside)


def test_other_labels_and_inputs_stay():
    classes, series = np.eye(3)[np.arange(6) % 3], np.ones((6, 2, 4))
    data = MultiDataSet([series, PICTURES[:6], PICTURES[:6, :1]], [classes, PICTURES[:6, :1]])
    with use_random(Random(3)):
        RandomFlip(1.0).pre_process(data)
    assert data.features[0] is series
    assert data.labels[0] is classes
    for array, given in (
        (data.features[1], PICTURES[:6]),
        (data.features[2], PICTURES[:6, :1]),
        (data.labels[1], PICTURES[:6, :1]),
    ):
        np.testing.assert_array_equal(array, given[..., ::-1])


def test_labels_that_are_the_features_stay_so():
    data_set = DataSet(PICTURES, PICTURES)
    RandomShift().pre_process(data_set)
    assert data_set.labels is data_set.features


def test_boxes_are_refused():
    grid = np.zeros((64, 6, 3, 3))
    with pytest.raises(
        ShapeError, match=r"RandomFlip: labels with four axes must be of the pictures' size, 5 x 7, .* Boxes"
    ):
        RandomFlip().pre_process(DataSet(PICTURES, grid))
    assert Cutout(2).pre_process(DataSet(PICTURES, grid)).labels is grid


def test_squares_of_cutout():
    with use_random(Random(2)):
        covered = Cutout((2, 3), fill=-1.0).transform(PICTURES) == -1
    assert {
        (int(rows.sum()), int(columns.sum()))
        for rows, columns in zip(covered.any((1, 3)), covered.any((1, 2)), strict=True)
    } == {(rows, columns) for rows in (1, 2) for columns in (2, 3)}
    np.testing.assert_array_equal(covered.all(1), covered.any(1))
    with use_random(Random(2)):
        some = (Cutout(1, probability=0.5).transform(np.ones((400, 1, 3, 3))) == 0).any((1, 2, 3)).mean()
        several = (Cutout(1, count=3).transform(np.ones((400, 1, 9, 9))) == 0).sum((1, 2, 3))
    assert 0.42 < some < 0.58
    assert {2, 3} <= set(several.tolist()) <= {1, 2, 3}  # squares may meet


def test_results_are_ones_own_while_they_are_held():
    flip = RandomFlip()
    kept = [flip.transform(PICTURES[:2]) for _ in range(20)]
    assert len({id(array) for array in kept}) == 20
    assert not any(np.shares_memory(one, other) for one in kept for other in kept if one is not other)


def test_they_are_pickled():
    copy = pickle.loads(pickle.dumps(RandomCrop(3, padding=1)))
    with use_random(Random(3)):
        expected = RandomCrop(3, padding=1).transform(PICTURES)
    with use_random(Random(3)):
        np.testing.assert_array_equal(copy.transform(PICTURES), expected)


def test_a_picture_that_is_refused_draws_nothing():
    generator = Random(3)
    before = generator.get_state()
    with use_random(generator), pytest.raises(ShapeError, match="RandomCrop: the height to cut out must be at most"):
        RandomCrop(9).transform(PICTURES)
    assert generator.get_state() == before


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: RandomFlip(1.5), ArgumentError, "RandomFlip: horizontal must be a number in 0..1, got 1.5"),
        (lambda: RandomCrop(0), ArgumentError, "RandomCrop: size must be"),
        (lambda: RandomCrop(fill="mirror"), ArgumentError, "RandomCrop: fill must be"),
        (lambda: RandomCrop(), ConfigurationError, "RandomCrop: expected a size or padding, got neither"),
        (lambda: RandomShift(1.0), ArgumentError, "RandomShift: height must be a number with 0 <= it < 1, got 1.0"),
        (lambda: RandomRotation(-3.0), ArgumentError, "RandomRotation: degrees must be"),
        (lambda: RandomRotation((5, -5)), ConfigurationError, "RandomRotation: degrees must be the lower one and"),
        (lambda: RandomZoom(0.0), ArgumentError, "RandomZoom: low must be a number > 0, got 0.0"),
        (lambda: RandomZoom(2.0, 1.0), ConfigurationError, "RandomZoom: low and high must be the lower one and"),
        (lambda: Cutout(0), ArgumentError, "Cutout: size must be"),
    ],
)
def test_settings_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: RandomFlip().transform(np.ones(3)),
            ShapeError,
            r"RandomFlip.transform: expected pictures \[N, C, H, W\]",
        ),
        (
            lambda: RandomFlip().pre_process(PICTURES),
            DTypeError,
            "RandomFlip.pre_process: expected a DataSet or MultiDataSet",
        ),
        (
            lambda: RandomFlip().pre_process(DataSet([[1.0]])),
            ShapeError,
            r"RandomFlip: expected features \[N, C, H, W\], got \[1, 1\]",
        ),
        (
            lambda: RandomFlip().pre_process(MultiDataSet([PICTURES, PICTURES[:, :, :4]], [])),
            ShapeError,
            "RandomFlip: expected pictures of one size, as 5 x 7 in the first input",
        ),
        (lambda: RandomShift(0.9, 0.9, "reflect").transform(PICTURES[:, :, :1]), None, ""),
        (
            lambda: RandomCrop(padding=5, fill="reflect").transform(PICTURES),
            ShapeError,
            "padding with reflections must be less",
        ),
        (lambda: RandomFlip().transform(PICTURES > 3), DTypeError, "RandomFlip: expected pictures of floats, got bool"),
    ],
)
def test_pictures_are_refused(call, error, message):
    if error is None:
        call()
        return
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("fill", [-1.0, 0.5, 256.0])
@pytest.mark.parametrize(
    "make",
    [
        lambda fill: RandomShift(0.9, 0.9, fill=fill),
        lambda fill: RandomCrop(padding=3, fill=fill),
        lambda fill: RandomRotation(90, fill=fill),
        lambda fill: RandomZoom(0.2, 0.3, fill=fill),
        lambda fill: Cutout(3, fill=fill),
    ],
)
def test_bytes_are_filled_with_bytes(make, fill):
    pictures = np.full((4, 3, 8, 8), 77, np.uint8)
    assert set(np.unique(make(255.0).transform(pictures))) >= {255}
    assert make(fill).transform(pictures.astype(np.float32)).dtype == np.float32
    name = type(make(fill)).__name__
    with pytest.raises(DTypeError, match=rf"{name}: fill must be a number that .* uint8 can hold, got {fill:g}"):
        make(fill).transform(pictures)


def test_one_picture_and_lists():
    assert RandomFlip(1.0).transform([[[1, 2], [3, 4]]]).tolist() == [[[2, 1], [4, 3]]]
    assert RandomFlip(1.0).transform(PICTURES[0]).shape == (2, 5, 7)
    assert nd.is_array(RandomFlip(1.0).transform(nd.ones(2, 1, 3, 3)))
