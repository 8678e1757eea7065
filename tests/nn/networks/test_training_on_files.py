"""Networks trained through iterators over files and arrays, normalized on the way; Java's run on the same file."""

import numpy as np
import pytest

import nd
from nd import serde
from nd.dataset import (
    CsvDataSetIterator,
    DataSet,
    GeneratorDataSetIterator,
    KFoldIterator,
    ListDataSetIterator,
    Normalizer,
    NormalizerMinMaxScaler,
    NormalizerStandardize,
    NpzDataSetIterator,
    NumpyDataSetIterator,
    SamplingDataSetIterator,
)
from nn import (
    DenseLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    add_normalizer_to_model,
    restore_normalizer,
)
from optimize import Adam, CollectScoresListener, Listener, Nesterovs
from tests.stand_ins import TOLERANCE, make_backend

JAVAS_SCORES, JAVAS_PARAMETERS = 1e-5, 1e-5  # as tests/test_java_reference.py has them
RNG = np.random.default_rng(21)
X = (RNG.normal(size=(23, 4)) * [1, 10, 100, 0.01] + [0, 5, 1e4, -3]).astype(np.float32)
CLASSES = RNG.integers(0, 3, 23)
Y = np.eye(3, dtype=np.float32)[CLASSES]


def network():
    conf = NeuralNetConfiguration(seed=6, updater=Adam(0.02), activation="tanh").list(
        DenseLayer(n_in=4, n_out=5, drop_out=0.8), OutputLayer(n_in=5, n_out=3, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


def params(net):
    return np.array(nd.to_host(net.params()))


def test_javas_run_on_a_csv_file(reference):
    folder = reference / "MLPMoon"
    conf = NeuralNetConfiguration(seed=123, weight_init="xavier", updater=Nesterovs(0.005, momentum=0.9)).list(
        DenseLayer(n_in=2, n_out=20, activation="relu"),
        OutputLayer(n_in=20, n_out=2, loss="negativeloglikelihood", activation="softmax"),
    )
    net, scores = MultiLayerNetwork(conf).init(), CollectScoresListener()
    net.set_listeners(scores)
    net.fit(CsvDataSetIterator(folder / "moon_data_train.csv", 32, 0, 2))
    theirs = [float(score) for score in (folder / "trainingCurve.csv").read_text().split(",")]
    np.testing.assert_allclose(scores.scores, theirs, rtol=JAVAS_SCORES)
    distance = np.abs(params(net) - serde.load(folder / "paramsPostTrain.bin")).max()
    assert distance < JAVAS_PARAMETERS


@pytest.mark.parametrize("epochs", [1, 2])
def test_two_epochs_see_data_that_were_normalized_once(backend, epochs):
    """Normalized by hand in float64, or on the way through the iterator, read ahead in a thread: the same network."""
    before = X.copy()
    wide = X.astype(np.float64)
    by_hand = ((wide - wide.mean(axis=0)) / wide.std(axis=0)).astype(np.float32)
    expected = network()
    expected.fit(ListDataSetIterator(DataSet(by_hand, Y), 5), epochs=epochs)

    iterator = ListDataSetIterator(DataSet(X, Y), 5)
    iterator.set_pre_processor(NormalizerStandardize().fit(iterator))
    found = network()
    found.fit(iterator, epochs=epochs)
    np.testing.assert_allclose(params(found), params(expected), **TOLERANCE["float32"])
    np.testing.assert_array_equal(X, before)

    raw = network()
    raw.fit(ListDataSetIterator(DataSet(X, Y), 5), epochs=epochs)
    assert np.abs(params(raw) - params(expected)).max() > 0.01
    twice = network()
    twice.fit(ListDataSetIterator(DataSet(by_hand * 3 + 1, Y), 5), epochs=epochs)  # any other data are told apart
    assert np.abs(params(twice) - params(expected)).max() > 0.01


def test_predictions_of_a_regression_come_back_in_its_units(tmp_path):
    """Labels around 1000 are learnt near 0, and revert_labels of what the file holds brings outputs back."""
    x = RNG.normal(size=(64, 2)).astype(np.float32)
    y = (x @ [[30.0], [-20.0]] + 1000).astype(np.float32)
    normalizer = NormalizerMinMaxScaler()
    normalizer.fit_label(True)
    iterator = NumpyDataSetIterator(x, y, 16)
    iterator.set_pre_processor(normalizer.fit(iterator))
    conf = NeuralNetConfiguration(seed=1, updater=Adam(0.05)).list(
        OutputLayer(n_in=2, n_out=1, loss="mse", activation="identity")
    )
    net = MultiLayerNetwork(conf).init()
    net.fit(iterator, epochs=60)
    normalizer.save(tmp_path / "normalizer.bin")
    again = Normalizer.load(tmp_path / "normalizer.bin")
    found = again.revert_labels(nd.to_host(net.output(again.transform_features(x))))
    np.testing.assert_allclose(found, y, rtol=0, atol=1)


def test_a_model_zip_keeps_its_normalizer(tmp_path):
    path, scaler = tmp_path / "model.zip", NormalizerMinMaxScaler(-1, 1).fit(DataSet(X))
    network().save(path, normalizer=NORMALIZER)
    found = restore_normalizer(path)
    assert isinstance(found, NormalizerStandardize)
    np.testing.assert_array_equal(found.transform_features(X), NORMALIZER.transform_features(X))
    add_normalizer_to_model(path, scaler)
    np.testing.assert_array_equal(restore_normalizer(path).transform_features(X), scaler.transform_features(X))


# ---- stopped and resumed


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    np.savetxt(folder / "rows.csv", np.column_stack([CLASSES, X]), delimiter=",", fmt="%.9g")
    for number, part in enumerate((slice(0, 8), slice(8, 9), slice(9, 23))):
        np.savez(folder / f"{number}.npz", features=X[part], labels=CLASSES[part])
    return folder


def minibatches():
    for start in range(0, 23, 6):
        yield X[start : start + 6], Y[start : start + 6]


ITERATORS = {
    "csv": lambda folder: CsvDataSetIterator(folder / "rows.csv", 6, 0, 3),
    "folds": lambda folder: KFoldIterator(4, DataSet(X, Y), seed=3),
    "generator": lambda folder: GeneratorDataSetIterator(minibatches),
    "npz": lambda folder: NpzDataSetIterator(sorted(folder.glob("*.npz")), 6, num_classes=3, shuffle=True, seed=8),
    "numpy": lambda folder: NumpyDataSetIterator(X, CLASSES, 6, num_classes=3, shuffle=True, seed=8),
    "sampling": lambda folder: SamplingDataSetIterator(DataSet(X, Y), 6, 23, seed=8),
}
NORMALIZER = NormalizerStandardize().fit(DataSet(X))


def prepared(kind, folder):
    iterator = ITERATORS[kind](folder)
    iterator.set_pre_processor(NORMALIZER)
    return iterator


class Saver(Listener):
    def __init__(self, path, step):
        self.path, self.step = path, step

    def iteration_done(self, model, iteration, epoch):
        if iteration == self.step:
            model.save_checkpoint(self.path)


@pytest.mark.parametrize("kind", ITERATORS)
@pytest.mark.parametrize("step", [2, 6])
@pytest.mark.quick_rows(every=3)
def test_a_run_from_a_checkpoint_is_the_run_that_never_stopped(tmp_path, folder, kind, step):
    whole = network()
    whole.set_listeners(Saver(tmp_path / "checkpoint.zip", step))
    whole.fit(prepared(kind, folder), epochs=3)
    assert whole.iteration_count == 12
    resumed = MultiLayerNetwork.load_checkpoint(tmp_path / "checkpoint.zip")
    assert resumed.iteration_count < 12
    resumed.fit(prepared(kind, folder), epochs=3)
    np.testing.assert_array_equal(params(resumed), params(whole))
    assert (resumed.iteration_count, resumed.epoch_count) == (12, 3)


def test_arrays_of_a_device_are_normalized_there(request):
    """A DataSet of the network's own backend passes through without a copy to the host."""
    with nd.use_backend(make_backend(request.config.getoption("--backend") or "strict")):
        data_set = NORMALIZER.transform(DataSet(nd.create(X), nd.create(Y)))
        assert nd.is_array(data_set.features)
        found = network()
        found.fit(data_set)
        expected = network()
        expected.fit(DataSet(NORMALIZER.transform_features(X), Y))
        np.testing.assert_array_equal(params(found), params(expected))
