"""Pictures and labels mixed with those of other examples; colours that stay in their range."""

import math

import numpy as np
import pytest

from nd import ArgumentError, DataError, DTypeError, ShapeError
from nd.dataset import DataSet, MultiDataSet
from nd.dataset.augmentation import ColorJitter, CutMix, Mixup, RandomGrayscale
from nd.random import Random, use_random

N = 40
CODES = np.eye(N, dtype=np.float32)
PICTURES = np.broadcast_to(CODES[:, :, None, None], (N, N, 6, 8)).copy()  # channel i is 1 in picture i alone


def mixed(augmentation, seed=3):
    with use_random(Random(seed)):
        return augmentation.pre_process(DataSet(PICTURES, CODES))


@pytest.mark.parametrize("alpha", [0.05, 0.3, 1.0, 4.0])
def test_mixup_mixes_labels_as_pictures(alpha):
    data_set = mixed(Mixup(alpha))
    assert data_set.features.dtype == data_set.labels.dtype == np.float32
    np.testing.assert_array_equal(data_set.features, np.broadcast_to(data_set.labels[:, :, None, None], PICTURES.shape))
    np.testing.assert_allclose(data_set.labels.sum(1), 1, rtol=1e-6)
    assert ((data_set.labels > 0).sum(1) <= 2).all()
    partners = (data_set.labels - np.diag(np.diag(data_set.labels))).argmax(1)
    assert len(set(partners.tolist())) > N // 2  # of a permutation


@pytest.mark.parametrize("alpha", [0.1, 0.4, 1.0, 3.0])
def test_shares_have_the_distribution_beta(alpha):
    """Moments of Beta(a, a): the mean 1/2, the variance 1 / (4 (2a + 1)), and its kurtosis 3 - 6 / (2a + 3)."""
    with use_random(Random(7)):
        shares = np.concatenate([Mixup(alpha).drawn(20_000, (20_000, 1, 1, 1))[0] for _ in range(2)])
    variance = 1 / (4 * (2 * alpha + 1))
    assert math.isclose(shares.mean(), 0.5, abs_tol=0.008)
    assert math.isclose(shares.var(), variance, rel_tol=0.03)
    assert math.isclose(((shares - 0.5) ** 4).mean() / variance**2, 3 - 6 / (2 * alpha + 3), rel_tol=0.04)


def test_cutmix_mixes_labels_by_the_area():
    data_set = mixed(CutMix())
    np.testing.assert_allclose(data_set.labels, data_set.features.mean(axis=(2, 3)), atol=1e-6)
    own = data_set.features[np.arange(N), np.arange(N)] == 1
    for stays in own:
        rows, columns = ~stays.all(1), ~stays.all(0)
        np.testing.assert_array_equal(~stays, rows[:, None] & columns)  # a rectangle
    assert (own.mean((1, 2)) < 1).mean() > 0.2


@pytest.mark.parametrize("augmentation", [Mixup(), CutMix()], ids=lambda each: type(each).__name__)
def test_what_cannot_be_mixed(augmentation):
    who = type(augmentation).__name__
    with pytest.raises(DataError, match=f"{who}: examples to be mixed must have no masks"):
        augmentation.pre_process(DataSet(PICTURES, CODES, None, np.ones((N, 1))))
    with pytest.raises(DataError, match=f"{who}: all inputs must be pictures .* got 1 of another rank"):
        augmentation.pre_process(MultiDataSet([PICTURES, CODES], [CODES]))
    with pytest.raises(DTypeError, match=f"{who}: expected labels of floats, got int64. Make them one-hot"):
        augmentation.pre_process(DataSet(PICTURES, np.arange(N)[:, None]))
    with pytest.raises(DTypeError, match=f"{who}: expected pictures of floats, got uint8"):
        augmentation.pre_process(DataSet(PICTURES.astype(np.uint8), CODES))
    with pytest.raises(ArgumentError, match=f"{who}: alpha must be a number > 0, got 0.0"):
        type(augmentation)(0.0)


@pytest.mark.parametrize("augmentation", [Mixup(), CutMix()], ids=lambda each: type(each).__name__)
def test_without_labels_and_with_the_features_as_labels(augmentation):
    assert augmentation.pre_process(DataSet(PICTURES)).labels is None
    same = augmentation.pre_process(DataSet(PICTURES, PICTURES))
    assert same.labels is same.features
    assert augmentation.transform(PICTURES).shape == PICTURES.shape


# ---- colours


def test_colors_stay_in_their_range_and_differ():
    pictures = np.random.default_rng(1).uniform(0, 255, (200, 3, 4, 4))
    kept = pictures.copy()
    with use_random(Random(3)):
        found = ColorJitter(0.9, 0.9, 0.9, 0.5, white=255.0).transform(pictures)
    np.testing.assert_array_equal(pictures, kept)
    assert (found.min(), found.max()) == (0, 255)
    assert np.isfinite(found).all()
    assert len(np.unique(found[:, 0, 0, 0] / pictures[:, 0, 0, 0])) > 150


@pytest.mark.parametrize("pictures", [np.full((2, 3, 2, 2), 255.0), np.full((2, 1, 2, 2), -0.5)])
def test_pixels_beyond_black_and_white_are_refused(pictures):
    generator = Random(3)
    before = generator.get_state()
    with use_random(generator), pytest.raises(DataError, match="ColorJitter: pixels must be in 0 to white=1, got"):
        ColorJitter(0.1).transform(pictures)
    assert generator.get_state() == before
    assert ColorJitter(0.1).transform(np.full((1, 3, 2, 2), 1 + 1e-6)).max() <= 1
    assert ColorJitter(0.1).transform(pictures[:0]).shape[0] == 0


def test_grey_pictures_have_brightness_and_contrast_alone():
    pictures = np.random.default_rng(1).random((5, 1, 4, 4))
    np.testing.assert_array_equal(ColorJitter(saturation=0.9, hue=0.5).transform(pictures), pictures)
    np.testing.assert_array_equal(RandomGrayscale(1.0).transform(pictures), pictures)
    assert not np.array_equal(ColorJitter(0.5, 0.5).transform(pictures), pictures)


def test_a_share_of_the_pictures_becomes_grey():
    pictures = np.random.default_rng(1).random((1000, 3, 1, 1))
    with use_random(Random(3)):
        found = RandomGrayscale(0.3).transform(pictures)
    changed = (found != pictures).any((1, 2, 3))
    np.testing.assert_allclose(found[changed, 0, 0, 0], pictures[changed, :, 0, 0] @ [0.2989, 0.587, 0.114], rtol=1e-12)
    np.testing.assert_array_equal(found[changed], found[changed, :1].repeat(3, axis=1))
    assert 0.25 < changed.mean() < 0.35


def test_other_channels_and_integers_are_refused():
    for augmentation in (ColorJitter(0.1), RandomGrayscale()):
        with pytest.raises(ShapeError, match="expected pictures of 1 or 3 channels, got 4"):
            augmentation.transform(np.ones((1, 4, 2, 2)))
        with pytest.raises(DTypeError, match=r"expected pictures of floats, got uint8\. Convert them"):
            augmentation.transform(np.ones((1, 3, 2, 2), np.uint8))
    with pytest.raises(ArgumentError, match=r"ColorJitter: hue must be a number in 0..0.5, got 0.6"):
        ColorJitter(hue=0.6)
    with pytest.raises(ArgumentError, match="RandomGrayscale: channel_order must be 'rgb' or 'bgr'"):
        RandomGrayscale(channel_order="gbr")
