"""What all normalizers do: change, change back, leave the user's arrays alone."""

import numpy as np
import pytest

import nd
from nd import ArgumentError, ConfigurationError, DataError, DTypeError, ShapeError
from nd.dataset import (
    AsyncDataSetIterator,
    DataSet,
    EarlyTerminationDataSetIterator,
    ExistingDataSetIterator,
    GeneratorDataSetIterator,
    ImagePreProcessingScaler,
    KFoldIterator,
    ListDataSetIterator,
    MultipleEpochsIterator,
    NormalizerMinMaxScaler,
    NormalizerStandardize,
    NumpyDataSetIterator,
    SamplingDataSetIterator,
    SingletonDataSetIterator,
    VGG16ImagePreProcessor,
)
from nd.dataset.normalizers import NORMALIZERS
from tests.cells import every_row
from tests.stand_ins import TOLERANCE

RNG = np.random.default_rng(5)
IMAGES = np.round(RNG.random((6, 3, 2, 2)) * 255).astype(np.float32)
ROUND_TRIP = {"float32": 1e-5, "float64": 1e-13}  # relative to the spread of the data, which is about 100


def made(kind, x=IMAGES):
    normalizer = NORMALIZERS[kind]()
    return normalizer.fit(DataSet(x))


def read_only(x):
    x = np.array(x)
    x.setflags(write=False)
    return x


@every_row("kind", NORMALIZERS)
@every_row("order", ["C", "F", "strided"])
def test_there_and_back(backend, dtype, kind, order):
    x = IMAGES.astype(dtype)
    x = np.repeat(x, 2, axis=3)[..., ::2] if order == "strided" else np.array(x, order=order)
    normalizer = made(kind, x)
    given = nd.create(x, order="f" if order == "F" else "c")
    changed = normalizer.transform_features(given)
    back = normalizer.revert_features(changed)
    assert nd.to_host(changed).dtype == nd.to_host(back).dtype == dtype  # of tensors they are NumPy's
    assert not np.allclose(nd.to_host(changed), x)
    np.testing.assert_array_equal(nd.to_host(given), x)
    np.testing.assert_allclose(nd.to_host(back), x, rtol=0, atol=ROUND_TRIP[dtype] * 100)
    host = normalizer.transform_features(x)  # NumPy's arrays pass on every backend
    assert type(host) is np.ndarray
    np.testing.assert_allclose(host, nd.to_host(changed), **TOLERANCE[dtype])


@pytest.mark.parametrize("kind", NORMALIZERS)
def test_a_data_set_gets_new_arrays_and_the_old_ones_stay(kind):
    x = read_only(IMAGES)
    data_set, labels = DataSet(x, np.eye(6, dtype=np.float32)), np.eye(6)
    normalizer = made(kind)
    assert normalizer.transform(data_set) is data_set
    np.testing.assert_array_equal(data_set.features, normalizer.transform_features(IMAGES))
    assert normalizer.revert(data_set) is data_set
    np.testing.assert_allclose(data_set.features, IMAGES, atol=1e-3)
    np.testing.assert_array_equal(data_set.labels, labels)
    np.testing.assert_array_equal(x, IMAGES)


def test_memory_order_stays():
    for kind in NORMALIZERS:
        assert made(kind).transform_features(np.asfortranarray(IMAGES)).flags.f_contiguous


def test_bytes_become_the_default_dtype():
    nd.set_default_dtype("float64")
    pixels = np.array([[0, 51, 255]], np.uint8)
    found = ImagePreProcessingScaler().transform_features(pixels)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [[0, 51 / 255, 1]])


def test_standardize_by_hand():
    data_set = DataSet([[1.0, 2.0, 7.0], [3.0, 6.0, 7.0]])
    normalizer = NormalizerStandardize().fit(data_set)
    assert normalizer.mean.tolist() == [2, 4, 7]
    assert normalizer.std.tolist() == [1, 2, 1e-5]
    assert normalizer.transform_features([[2.0, 8.0, 7.0]]).tolist() == [[0, 2, 0]]
    assert normalizer.revert_features([[1.0, -1.0, 0.0]]).tolist() == [[3, 2, 7]]


def test_statistics_from_java_give_javas_numbers():
    """Java subtracts and divides float32 one after the other; these are its bits."""
    mean, std, x = (RNG.normal(size=n).astype(np.float32) for n in (50, 50, (20, 50)))
    std = np.abs(std) + np.float32(0.1)
    normalizer = NormalizerStandardize(mean, std)
    np.testing.assert_array_equal(normalizer.transform_features(x), (x - mean) / std)
    scaler = NormalizerMinMaxScaler(-1, 2)
    scaler.set_feature_stats(mean, mean + std)
    ranges = ((mean + std).astype(np.float64) - mean).astype(np.float32)
    np.testing.assert_array_equal(scaler.transform_features(x), (x - mean) / ranges * np.float32(3) + np.float32(-1))


def test_offsets_do_not_spoil_float32():
    x = np.array([[1e8], [1e8 + 8], [1e8 + 24]], np.float32)  # neighbours in float32 are 8 apart
    normalizer = NormalizerStandardize().fit(DataSet(x))
    exact = np.array([0, 8, 24.0])
    expected = (exact - exact.mean()) / exact.std()
    np.testing.assert_allclose(normalizer.transform_features(x)[:, 0], expected, rtol=1e-6)
    np.testing.assert_array_equal(normalizer.revert_features(normalizer.transform_features(x)), x)


def test_min_max_by_hand():
    normalizer = NormalizerMinMaxScaler(-1, 3).fit(DataSet([[1.0, 5.0], [3.0, 5.0], [2.0, 5.0]]))
    assert normalizer.min.tolist() == [1, 5]
    assert normalizer.max.tolist() == [3, 5 + 1e-5]
    assert normalizer.transform_features([[1.0, 5.0], [3.0, 5.0], [4.0, 5.0]]).tolist() == [[-1, -1], [3, -1], [5, -1]]
    assert normalizer.revert_features([[-1.0, -1.0], [1.0, -1.0]]).tolist() == [[1, 5], [2, 5]]


def test_image_scaler_by_hand():
    pixels = np.array([[[[0.0, 51.0], [102.0, 255.0]]]])
    np.testing.assert_allclose(ImagePreProcessingScaler().transform_features(pixels), pixels / 255)
    scaler = ImagePreProcessingScaler(-1, 1)
    np.testing.assert_allclose(scaler.transform_features(pixels).ravel(), [-1, -0.6, -0.2, 1])
    np.testing.assert_allclose(ImagePreProcessingScaler(2, 3, 16).transform_features(pixels * 257), pixels / 255 + 2)


def test_vgg16_by_hand():
    ones = np.ones((1, 3, 1, 2))
    found = VGG16ImagePreProcessor().transform_features(ones)
    np.testing.assert_allclose(found[0, :, 0, 1], [1 - 103.939, 1 - 116.779, 1 - 123.68])


@pytest.mark.parametrize("kind", ["min_max", "standardize"])
def test_masked_steps_become_zero(backend, kind):
    x, mask = RNG.normal(size=(4, 2, 3)).astype(np.float32), np.array([[1, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 0]])
    x[mask[:, None].repeat(2, axis=1) == 0] = np.nan
    normalizer = NORMALIZERS[kind]().fit(DataSet(x, features_mask=mask))
    for mask_kind in (mask, mask.astype(np.float32), mask.astype(bool)):
        found = nd.to_host(normalizer.transform_features(nd.create(x), nd.create(mask_kind)))
        counted = np.broadcast_to(mask[:, None] != 0, x.shape)
        assert np.isfinite(found).all()
        assert (found[~counted] == 0).all()
        back = nd.to_host(normalizer.revert_features(nd.create(found), nd.create(mask_kind)))
        np.testing.assert_allclose(back[counted], x[counted], rtol=1e-5, atol=1e-6)
        assert (back[~counted] == 0).all()


def test_labels_only_when_asked_for():
    data_set = DataSet([[1.0], [3.0]], [[10.0], [30.0]])
    normalizer = NormalizerStandardize()
    assert not normalizer.is_fit_label()
    assert normalizer.fit(data_set).transform_labels(data_set.labels) is data_set.labels
    normalizer.fit_label(True)
    with pytest.raises(DataError, match=r"transform_labels: expected labels that were fitted.*fit_label\(True\) and"):
        normalizer.transform_labels([[1.0]])
    normalizer.fit(data_set)
    assert (normalizer.label_mean.tolist(), normalizer.label_std.tolist()) == ([20], [10])
    assert normalizer.transform(data_set).labels.tolist() == [[-1], [1]]
    assert normalizer.revert_labels([[2.0]]).tolist() == [[40]]
    assert normalizer.transform(DataSet([[1.0]])).labels is None
    with pytest.raises(DataError, match="expected labels, which fit_label asks for, got none"):
        normalizer.fit(DataSet([[1.0]]))


def test_labels_that_are_the_features_are_changed_once():
    x = np.array([[1.0], [3.0]])
    for fits_labels in (False, True):
        normalizer, data_set = NormalizerStandardize(), DataSet(x, x)
        normalizer.fit_label(fits_labels)
        normalizer.fit(data_set).transform(data_set)
        assert data_set.labels is data_set.features
        assert data_set.features.tolist() == [[-1], [1]]


def test_segmentation_labels_are_images():
    scaler = ImagePreProcessingScaler()
    scaler.fit_label(True)
    data_set = scaler.transform(DataSet(IMAGES, IMAGES[:, :1] * 1))
    np.testing.assert_allclose(data_set.labels, IMAGES[:, :1] / 255)
    np.testing.assert_allclose(scaler.revert(data_set).labels, IMAGES[:, :1], rtol=1e-6)
    with pytest.raises(ShapeError, match=r"transform_labels: expected images \[N, C, H, W\] as labels, got \[6, 2\]"):
        scaler.transform(DataSet(IMAGES, np.zeros((6, 2))))


# ---- iterators

X = RNG.normal(size=(10, 2)).astype(np.float32) * 5 + 3
WHOLE = DataSet(X, X[:, :1])

ITERATORS = {
    "async": lambda: AsyncDataSetIterator(ListDataSetIterator(WHOLE, 4), 2),
    "async, base": lambda: AsyncDataSetIterator(prepared(ListDataSetIterator(WHOLE, 4))),
    "early": lambda: EarlyTerminationDataSetIterator(ListDataSetIterator(WHOLE, 5), 2),
    "existing": lambda: ExistingDataSetIterator(WHOLE.batch_by(4)),
    "generator": lambda: GeneratorDataSetIterator(lambda: iter(WHOLE.batch_by(4))),
    "list": lambda: ListDataSetIterator(WHOLE.batch_by(4)),
    "list, regrouped": lambda: ListDataSetIterator(WHOLE, 4),
    "epochs": lambda: MultipleEpochsIterator(1, ListDataSetIterator(WHOLE, 4)),
    "numpy": lambda: NumpyDataSetIterator(X, X[:, :1], 4),
    "singleton": lambda: SingletonDataSetIterator(WHOLE),
}


def prepared(iterator):
    iterator.set_pre_processor(NormalizerStandardize().fit(WHOLE))
    return iterator


@every_row("kind", ITERATORS)
def test_iterators_hand_out_what_was_normalized_once_in_every_epoch(kind):
    before = X.copy()
    iterator = ITERATORS[kind]()
    if kind != "async, base":
        prepared(iterator)
    expected = (X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)) / X.std(axis=0, dtype=np.float64)
    for _ in range(3):
        found = np.concatenate([data_set.features for data_set in iterator])
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(X, before)
    iterator.set_pre_processor(None)


def test_folds_and_samples_too():
    folds = prepared(KFoldIterator(5, WHOLE))
    expected = folds.pre_processor.transform_features(X)
    for fold in range(5):
        train = folds.next()
        for _ in range(2):
            np.testing.assert_array_equal(folds.test_fold().features, expected[2 * fold : 2 * fold + 2])
        np.testing.assert_array_equal(train.features, np.delete(expected, [2 * fold, 2 * fold + 1], axis=0))
    for data_set in prepared(SamplingDataSetIterator(WHOLE, 3, 9)):
        assert all((row == expected).all(axis=1).any() for row in data_set.features)


def test_fitting_an_iterator_resets_it_before_and_after():
    iterator = ListDataSetIterator(WHOLE, 4)
    iterator.next()
    normalizer = NormalizerStandardize().fit(iterator)
    np.testing.assert_allclose(normalizer.mean, X.mean(axis=0, dtype=np.float64), rtol=1e-12)
    assert iterator.state()["cursor"] == 0
    once = ExistingDataSetIterator(iter(WHOLE.batch_by(4)))
    np.testing.assert_array_equal(NormalizerStandardize().fit(once).mean, normalizer.mean)
    np.testing.assert_array_equal(NormalizerStandardize().fit(WHOLE.batch_by(4)).std, normalizer.std)
    with pytest.raises(DataError, match="features: expected examples, got none"):
        NormalizerStandardize().fit(once)


def test_a_normalizer_is_not_fitted_on_what_it_changed():
    iterator = prepared(ListDataSetIterator(WHOLE, 4))
    with pytest.raises(DataError, match=r"got an iterator that this normalizer changes already\. Fit first"):
        iterator.pre_processor.fit(iterator)


@pytest.mark.parametrize(
    "wrap",
    [
        AsyncDataSetIterator,
        lambda base: EarlyTerminationDataSetIterator(base, 2),
        lambda b: MultipleEpochsIterator(2, b),
    ],
)
def test_a_normalizer_is_not_fitted_on_what_it_changed_under_another_iterator(wrap):
    base = prepared(ListDataSetIterator(WHOLE, 4))
    normalizer = base.pre_processor
    mean = normalizer.mean
    with pytest.raises(DataError, match=r"fit: expected data as they are, got an iterator that this normalizer"):
        normalizer.fit(wrap(base))
    assert normalizer.mean is mean
    base.reset()
    np.testing.assert_array_equal(base.next().features, normalizer.transform_features(X[:4]))


@every_row("dtype", ["float32", "float64"])
@every_row("value", [0.0, 1e4, 1.6e11, -1.6e11, 1e30])
def test_a_constant_column_of_any_size_becomes_the_range_s_beginning(dtype, value):
    x = np.full((3, 1), value, dtype)
    scaler = NormalizerMinMaxScaler(-1, 1).fit(DataSet(x))
    assert (scaler.max > scaler.min).all()
    np.testing.assert_array_equal(scaler.transform_features(x), np.full((3, 1), -1.0, dtype))
    np.testing.assert_array_equal(scaler.revert_features(scaler.transform_features(x)), x)


def test_pre_processors_ported_from_java_return_nothing():
    class Shift:
        def pre_process(self, data_set):
            data_set.features = data_set.features + 1

    iterator = ListDataSetIterator(WHOLE)
    iterator.set_pre_processor(Shift())
    np.testing.assert_array_equal(iterator.next().features, X + 1)
    with pytest.raises(DTypeError, match=r"ListDataSetIterator.set_pre_processor: expected an object with pre_process"):
        iterator.set_pre_processor(3)


# ---- refusals


@every_row(
    ("act", "error", "message"),
    [
        (
            lambda: NormalizerStandardize().transform(WHOLE),
            DataError,
            "features that were fitted, got none. C",
        ),
        (lambda: NormalizerMinMaxScaler().min, DataError, r"NormalizerMinMaxScaler.min: expected features that were"),
        (lambda: made("standardize").transform_features(X), ShapeError, r"expected \[N, 3\], as the data.*got \[10, 2"),
        (lambda: NormalizerStandardize([1, 2], [1]), ConfigurationError, r"as many numbers each.*'mean': 2, 'std': 1"),
        (lambda: NormalizerStandardize([1], [np.nan]), ConfigurationError, "std must be finite, got nan"),
        (
            lambda: NormalizerStandardize([1]),
            ConfigurationError,
            "std must be a row of numbers, got elements of dtype object",
        ),
        (lambda: NormalizerMinMaxScaler(1, 1), ConfigurationError, "from a number to a larger one, got 1.0 to 1.0"),
        (lambda: NormalizerMinMaxScaler().set_label_stats([1], [0]), ConfigurationError, r"got 1.0 to 0.0 in column 0"),
        (lambda: ImagePreProcessingScaler(0, 1, 65), ArgumentError, "max_bits must be an integer of 1 to 64, got 65"),
        (lambda: ImagePreProcessingScaler(0, np.inf), ArgumentError, "max must be a number, got inf"),
        (lambda: VGG16ImagePreProcessor().fit_label(True), ConfigurationError, "labels are left as they are, got True"),
        (lambda: VGG16ImagePreProcessor().transform(WHOLE), ShapeError, r"images \[N, 3, H, W\], got \[10, 2\]"),
        (
            lambda: NormalizerStandardize().fit_label("yes"),
            ArgumentError,
            "fit_label: fit must be True or False, got 'yes'",
        ),
    ],
)
def test_refusals(act, error, message):
    with pytest.raises(error, match=message):
        act()


def test_arrays_of_another_library_come_over():
    from tests.stand_ins import make_backend

    with nd.use_backend(make_backend("strict")):
        foreign = nd.create(X)
    with nd.use_backend("numpy"):
        normalizer = NormalizerStandardize().fit(WHOLE)
        np.testing.assert_array_equal(normalizer.transform_features(foreign), normalizer.transform_features(X))


@pytest.mark.parametrize("shape", [(6,), (6, 1), (6, 1, 1, 1), (6, 2, 2), (6, 1, 2, 2)])
def test_masks_of_images_have_every_shape_that_evaluations_take(shape):
    mask = np.ones(shape, np.float32)
    mask[4:] = 0
    data_set = DataSet(IMAGES, IMAGES * 2, labels_mask=mask)
    normalizer = NormalizerStandardize()
    normalizer.fit_label(True)
    normalizer.fit(data_set)
    np.testing.assert_allclose(normalizer.label_mean, (IMAGES[:4] * 2.0).mean(axis=(0, 2, 3)), rtol=1e-6)
    assert not normalizer.transform(data_set).labels[4:].any()


def test_statistics_that_are_none():
    with pytest.raises(DTypeError, match="expected an iterable of DataSets, got NoneType"):
        NormalizerStandardize().fit(None)
    with pytest.raises(ConfigurationError, match="mean must be a row of numbers, got elements of dtype <U1"):
        NormalizerStandardize(["a"], [1.0])
    with pytest.raises(ConfigurationError, match=r"NormalizerStandardize: std must not be negative, got -2\.0"):
        NormalizerStandardize([0.0, 0.0], [1.0, -2.0])


@pytest.mark.parametrize("kind", [NormalizerStandardize, NormalizerMinMaxScaler])
def test_masks_and_rows_that_are_none(kind):
    normalizer = kind().fit(nd.dataset.DataSet([[1.0, 2.0], [3.0, 5.0]]))
    for mask, error, message in (
        ([[1], [1, 0]], ShapeError, "transform_features: mask: expected rows of equal length"),
        (["a", "b"], DTypeError, "transform_features: mask: expected numbers, got elements of dtype <U1"),
    ):
        with pytest.raises(error, match=message):
            normalizer.transform_features(np.ones((2, 2)), mask)
    for row in (["1"], np.array([1], "datetime64[s]"), [None], {}):
        with pytest.raises(ConfigurationError, match="must be a row of numbers, got elements of dtype"):
            normalizer.set_label_stats(row, [1.0])
    with pytest.raises(DTypeError, match="masked"):
        normalizer.set_label_stats(np.ma.masked_array([1.0], [True]), [1.0])


@pytest.mark.parametrize("kind", sorted(NORMALIZERS))
def test_what_is_no_data_set(kind):
    normalizer = NORMALIZERS[kind]()
    for use in (normalizer.pre_process, normalizer.transform, normalizer.revert):
        with pytest.raises(DTypeError, match=r"expected a DataSet, got list\. Wrap arrays as DataSet"):
            use(["a"])
