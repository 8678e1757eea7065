"""Early stopping of real networks: on the bundled digits, on disk, and with data that are not finite."""

import os
import zipfile

import numpy as np
import pytest
from sklearn import metrics as sk

import nd
from nd.dataset import DataSet, DigitsDataSetIterator, EarlyTerminationDataSetIterator, ListDataSetIterator
from nd.evaluation import Evaluation
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Listener, MapSchedule, NanListener, Nesterovs
from optimize.earlystopping import (
    ClassificationScoreCalculator,
    DataSetLossCalculator,
    EarlyStoppingConfiguration,
    EarlyStoppingListener,
    EarlyStoppingTrainer,
    InMemoryModelSaver,
    InvalidScoreIterationTerminationCondition,
    LocalFileModelSaver,
    MaxEpochsTerminationCondition,
    MaxTimeIterationTerminationCondition,
    RegressionScoreCalculator,
    ROCScoreCalculator,
    ScoreImprovementEpochTerminationCondition,
    TerminationReason,
)

RNG = np.random.default_rng(21)
X = RNG.normal(size=(10, 4))
Y = np.eye(3)[RNG.integers(0, 3, 10)]


def network(n_in=4, n_out=3, updater=None, **settings):
    updater = updater or Nesterovs(learning_rate=0.1)
    return MultiLayerNetwork(
        NeuralNetConfiguration(seed=5, updater=updater, l2=1e-3, **settings).list(
            DenseLayer(n_in=n_in, n_out=8, activation="tanh"), OutputLayer(n_out=n_out, activation="softmax")
        )
    ).init()


def host(x):
    return nd.to_host(nd.copy(x))


def conf_of(calculator=None, condition=None, **settings):
    return EarlyStoppingConfiguration(
        score_calculator=calculator or DataSetLossCalculator(ListDataSetIterator(DataSet(X, Y), 4)),
        epoch_termination_conditions=condition or MaxEpochsTerminationCondition(3),
        **settings,
    )


class Copies(EarlyStoppingListener):
    """Keeps parameters and updater state after every epoch."""

    def __init__(self):
        self.kept = []

    def on_epoch(self, epoch, score, conf, model):
        self.kept.append((host(model.params()), host(model.updater_state())))


@pytest.fixture(params=["memory", "disk"])
def saver(request, tmp_path):
    return InMemoryModelSaver() if request.param == "memory" else LocalFileModelSaver(tmp_path / "models")


def test_the_best_epoch_on_the_digits_to_the_bit(saver):
    """The learning rate is far too large from epoch 2 on."""
    train = EarlyTerminationDataSetIterator(DigitsDataSetIterator(64), 6)
    test = DigitsDataSetIterator(128, train=False)
    net = network(784, 10, Nesterovs(MapSchedule("epoch", {0: 0.05, 2: 3.0})))
    copies = Copies()
    conf = conf_of(DataSetLossCalculator(test), ScoreImprovementEpochTerminationCondition(2), model_saver=saver)
    result = EarlyStoppingTrainer(conf, net, train, copies).fit()
    scores = result.score_vs_epoch
    assert scores[1] < scores[0]
    assert min(scores[2], scores[3]) > scores[1]
    assert (result.best_model_epoch, result.total_epochs, sorted(scores)) == (1, 4, [0, 1, 2, 3])
    params, state = copies.kept[1]
    np.testing.assert_array_equal(host(result.best_model.params()), params)
    np.testing.assert_array_equal(host(result.best_model.updater_state()), state)
    assert (result.best_model.iteration_count, result.best_model.epoch_count) == (12, 1)
    assert DataSetLossCalculator(test).calculate_score(result.best_model) == scores[1] == result.best_model_score
    np.testing.assert_array_equal(host(net.params()), copies.kept[3][0])
    assert (net.iteration_count, net.epoch_count) == (24, 4)


def test_epochs_are_those_of_fit(backend):
    """Dropout included: scoring, saving and copying draw no random numbers."""
    data = ListDataSetIterator(DataSet(X, Y), 4)
    stopped = network(drop_out=0.8)
    EarlyStoppingTrainer(conf_of(save_last_model=True), stopped, data).fit()
    fitted = network(drop_out=0.8)
    fitted.fit(data, epochs=3)
    np.testing.assert_array_equal(host(stopped.params()), host(fitted.params()))
    assert (stopped.iteration_count, stopped.epoch_count) == (fitted.iteration_count, fitted.epoch_count) == (9, 3)


def test_a_network_that_is_not_made_yet():
    net = MultiLayerNetwork(network().conf)
    with pytest.raises(nd.ConfigurationError, match=r"init\(\) must come first"):
        EarlyStoppingTrainer(conf_of(), net, DataSet(X, Y)).fit()


def test_no_more_steps_when_the_time_is_over():
    net = network()
    limit = MaxTimeIterationTerminationCondition(1e-6, "milliseconds")
    result = EarlyStoppingTrainer(conf_of(iteration_termination_conditions=limit), net, DataSet(X, Y)).fit()
    assert result.termination_details == "MaxTimeIterationTerminationCondition(1e-06, MILLISECONDS)"
    assert (net.iteration_count, result.best_model) == (1, None)


# ---- scores


@pytest.mark.parametrize("average", [True, False])
def test_the_loss_over_minibatches_of_different_size(average, backend):
    net = network(dtype="float64")
    parts = [net.score(DataSet(X[start : start + 4], Y[start : start + 4])) for start in (0, 4, 8)]
    expected = 4 * parts[0] + 4 * parts[1] + 2 * parts[2]
    calculator = DataSetLossCalculator(ListDataSetIterator(DataSet(X, Y), 4), average)
    assert calculator.minimize_score
    assert calculator.calculate_score(net) == pytest.approx(expected / (10 if average else 1), rel=1e-12)
    assert calculator.calculate_score(net) == pytest.approx(expected / (10 if average else 1), rel=1e-12)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("accuracy", Evaluation.accuracy),
        ("F1", Evaluation.f1),
        ("precision", Evaluation.precision),
        ("recall", Evaluation.recall),
        ("gmeasure", Evaluation.g_measure),
        ("mcc", Evaluation.matthews_correlation),
    ],
)
def test_metrics_of_an_evaluation(metric, expected):
    net, data = network(), ListDataSetIterator(DataSet(X, Y), 4)
    calculator = ClassificationScoreCalculator(metric, data)
    assert not calculator.minimize_score
    assert calculator.calculate_score(net) == expected(net.evaluate(DataSet(X, Y)))


@pytest.mark.parametrize("metric", ["mse", "MAE", "rmse", "rse", "pc", "r2"])
def test_metrics_of_regression(metric):
    net, data = network(), ListDataSetIterator(DataSet(X, Y), 4)
    calculator = RegressionScoreCalculator(metric, data)
    truth, guess = Y, nd.to_host(net.output(X)).astype(np.float64)
    error, spread = ((guess - truth) ** 2).sum(axis=0), ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)
    expected = {
        "mse": error / 10,
        "mae": np.abs(guess - truth).mean(axis=0),
        "rmse": np.sqrt(error / 10),
        "rse": error / spread,
        "pc": [np.corrcoef(truth[:, i], guess[:, i])[0, 1] for i in range(3)],
        "r2": 1 - error / spread,
    }[metric.lower()]
    assert calculator.minimize_score == (metric not in ("pc", "r2"))
    assert calculator.calculate_score(net) == pytest.approx(np.mean(expected), rel=1e-9)
    assert repr(calculator) == f"RegressionScoreCalculator({metric.lower()})"


@pytest.mark.parametrize("metric", ["auc", "AUPRC"])
@pytest.mark.parametrize(("kind", "outputs"), [("binary", 3), ("Multiclass", 3), ("roc", 2)])
def test_areas_under_curves(kind, outputs, metric):
    net, labels = network(n_out=outputs), np.eye(outputs)[np.arange(10) % outputs]
    calculator = ROCScoreCalculator(kind, metric, ListDataSetIterator(DataSet(X, labels), 4))
    guess, areas = nd.to_host(net.output(X)), []
    for column in [1] if kind == "roc" else range(outputs):
        precision, recall, _ = sk.precision_recall_curve(labels[:, column], guess[:, column])
        auc = sk.roc_auc_score(labels[:, column], guess[:, column])
        areas.append(auc if metric == "auc" else sk.auc(recall, precision))
    assert not calculator.minimize_score
    assert calculator.calculate_score(net) == pytest.approx(np.mean(areas), rel=1e-9)
    assert repr(calculator) == f"ROCScoreCalculator({kind.lower()}, {metric.lower()})"


def test_training_stops_by_an_area():
    calculator = ROCScoreCalculator("multiclass", "auc", ListDataSetIterator(DataSet(X, Y), 4))
    result = EarlyStoppingTrainer(conf_of(calculator), network(), ListDataSetIterator(DataSet(X, Y), 4)).fit()
    assert result.best_model_score == max(result.score_vs_epoch.values())
    assert calculator.calculate_score(result.best_model) == result.best_model_score


def test_scores_that_cannot_be_calculated():
    with pytest.raises(nd.ChoiceError, match="RegressionScoreCalculator: unknown metric 'mde'"):
        RegressionScoreCalculator("mde", [])
    with pytest.raises(nd.ChoiceError, match="ROCScoreCalculator: unknown kind 'ternary'"):
        ROCScoreCalculator("ternary", "auc", [])
    with pytest.raises(nd.ChoiceError, match="ROCScoreCalculator: unknown metric 'f1'"):
        ROCScoreCalculator("roc", "f1", [])
    classes = ClassificationScoreCalculator("accuracy", [])
    for calculator in (classes, RegressionScoreCalculator("mse", []), ROCScoreCalculator("roc", "auc", [])):
        with pytest.raises(nd.DataError, match="do_evaluation: the iterator must have at least one minibatch"):
            calculator.calculate_score(network())
    with pytest.raises(nd.ChoiceError, match=r"unknown metric 'acuracy'.*Did you mean 'accuracy'"):
        ClassificationScoreCalculator("acuracy", [])
    with pytest.raises(nd.DataError, match="DataSetLossCalculator: the iterator must have at least one minibatch"):
        DataSetLossCalculator([]).calculate_score(network())


CALCULATORS = {
    "ClassificationScoreCalculator": lambda data: ClassificationScoreCalculator("accuracy", data),
    "DataSetLossCalculator": DataSetLossCalculator,
    "ROCScoreCalculator": lambda data: ROCScoreCalculator("multiclass", "auc", data),
    "RegressionScoreCalculator": lambda data: RegressionScoreCalculator("mse", data),
}


@pytest.mark.parametrize("name", CALCULATORS)
def test_a_score_is_calculated_on_one_data_set_too(name):
    net, whole = network(), DataSet(X, Y)
    calculator = CALCULATORS[name](whole)
    expected = CALCULATORS[name](ListDataSetIterator(whole)).calculate_score(net)
    assert [calculator.calculate_score(net) for _ in range(2)] == [expected] * 2
    with pytest.raises(nd.ConfigurationError, match=rf"{name}: expected a DataSet, .*, or an iterator of them, got"):
        CALCULATORS[name](X)
    for wrong in (3, None):
        with pytest.raises(
            nd.ConfigurationError,
            match=f"{name}: iterator must be a DataSet or a MultiDataSet or an iterable, got {wrong}",
        ):
            CALCULATORS[name](wrong)


# ---- data that are not finite


def broken_batches():
    x = X.copy()
    x[6] = np.nan
    return ListDataSetIterator(DataSet(x, Y), 4)


def check_stopped_before_the_broken_minibatch(reason, **settings):
    net, twin = network(), network()
    result = EarlyStoppingTrainer(conf_of(**settings), net, broken_batches()).fit()
    twin.fit_batch(DataSet(X[:4], Y[:4]))
    assert result.termination_reason is reason
    assert (result.total_epochs, result.best_model, net.iteration_count) == (0, None, 1)
    np.testing.assert_array_equal(host(net.params()), host(twin.params()))
    net.fit(X, Y)  # nothing is left over
    assert net.iteration_count == 2
    return result


def test_an_invalid_score_is_its_conditions_case(backend):
    invalid = InvalidScoreIterationTerminationCondition()
    result = check_stopped_before_the_broken_minibatch(
        TerminationReason.ITERATION_TERMINATION, iteration_termination_conditions=invalid
    )
    assert result.termination_details == "InvalidScoreIterationTerminationCondition()"


def test_an_invalid_score_is_an_error_without_the_condition(backend):
    result = check_stopped_before_the_broken_minibatch(TerminationReason.ERROR)
    assert result.termination_details.startswith("NumericError: fit: the score must be finite, got nan at iteration 1")


def test_an_invalid_score_on_a_device_that_tells_of_it_later(device):
    with nd.use_backend(device):
        check_stopped_before_the_broken_minibatch(TerminationReason.ERROR)
        check_stopped_before_the_broken_minibatch(
            TerminationReason.ITERATION_TERMINATION,
            iteration_termination_conditions=InvalidScoreIterationTerminationCondition(),
        )


# ---- files


def test_files_have_javas_names_and_format(tmp_path):
    net = network()
    saver = LocalFileModelSaver(tmp_path / "of" / "models")
    result = EarlyStoppingTrainer(conf_of(model_saver=saver, save_last_model=True), net, DataSet(X, Y)).fit()
    assert sorted(os.listdir(tmp_path / "of" / "models")) == ["bestModel.zip", "latestModel.zip"]
    again = LocalFileModelSaver(tmp_path / "of" / "models", MultiLayerNetwork)
    np.testing.assert_array_equal(host(again.get_best_model().params()), host(result.best_model.params()))
    np.testing.assert_array_equal(host(again.get_latest_model().params()), host(net.params()))
    with zipfile.ZipFile(tmp_path / "of" / "models" / "bestModel.zip") as archive:
        assert set(archive.namelist()) == {"configuration.json", "coefficients.bin", "updaterState.bin"}


def test_a_folder_without_models(tmp_path):
    saver = LocalFileModelSaver(tmp_path)
    assert saver.get_best_model() is None
    assert saver.get_latest_model() is None


def test_a_saver_has_to_know_what_it_reads(tmp_path):
    LocalFileModelSaver(tmp_path).save_best_model(network(), 1.0)
    with pytest.raises(nd.ConfigurationError, match=r"model_class must say what .*bestModel.zip is, got None"):
        LocalFileModelSaver(tmp_path).get_best_model()


def test_a_folder_that_is_gone(tmp_path):
    saver = LocalFileModelSaver(tmp_path / "models")
    (tmp_path / "models").rmdir()
    with pytest.raises(FileNotFoundError, match="the folder must exist"):
        EarlyStoppingTrainer(conf_of(model_saver=saver), network(), DataSet(X, Y)).fit()


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "models").write_text("a file")
    with pytest.raises(FileExistsError, match="models"):
        LocalFileModelSaver(tmp_path / "models")


def test_a_folder_that_cannot_be_written(tmp_path):
    """Not even by the superuser."""
    saver = LocalFileModelSaver(tmp_path / "models")
    (tmp_path / "models").rmdir()
    (tmp_path / "models").write_text("a file by now")
    with pytest.raises(NotADirectoryError, match="models"):
        saver.save_best_model(network(), 1.0)


def test_a_file_that_is_half_written_leaves_the_one_before(tmp_path, monkeypatch):
    saver, net = LocalFileModelSaver(tmp_path), network()
    saver.save_best_model(net, 2.0)
    kept = host(net.params())
    net.fit(X, Y)
    write = zipfile.ZipFile.writestr

    def full(archive, info, *rest):
        if info.filename == "coefficients.bin":
            raise OSError("no space left on device")
        return write(archive, info, *rest)

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(OSError, match="no space left"):
        saver.save_best_model(net, 1.0)
    assert os.listdir(tmp_path) == ["bestModel.zip"]
    np.testing.assert_array_equal(host(saver.get_best_model().params()), kept)


def test_a_file_that_somebody_cut_short(tmp_path):
    saver = LocalFileModelSaver(tmp_path)
    saver.save_best_model(network(), 2.0)
    whole = (tmp_path / "bestModel.zip").read_bytes()
    (tmp_path / "bestModel.zip").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(nd.FormatError, match="expected a model zip"):
        saver.get_best_model()


# ---- listeners


class Heard(Listener):
    """Keeps the names of the hooks that were called, and a checkpoint of the end of every epoch."""

    def __init__(self, folder):
        self.folder, self.names, self.files = folder, [], []

    def on_epoch_end(self, model):
        self.names.append("epoch")
        self.files.append(self.folder / f"{len(self.files)}.zip")
        model.save_checkpoint(self.files[-1])

    def on_fit_end(self, model):
        self.names.append("end")


def test_listeners_hear_of_the_end_and_checkpoints_count_the_epoch(tmp_path):
    net, heard = network(), Heard(tmp_path)
    net.set_listeners(heard)
    EarlyStoppingTrainer(conf_of(), net, DataSet(X, Y)).fit()
    assert heard.names == ["epoch", "epoch", "epoch", "end"]
    assert [MultiLayerNetwork.load_checkpoint(path).epoch_count for path in heard.files] == [1, 2, 3]


def test_the_nan_listener_says_where_it_comes_from(tmp_path):
    net, heard = network(), Heard(tmp_path)
    net.set_listeners(NanListener(), heard)
    broken = np.where(np.arange(40).reshape(10, 4) == 7, np.nan, X)
    result = EarlyStoppingTrainer(conf_of(), net, DataSet(broken, Y)).fit()
    assert result.termination_reason is TerminationReason.ERROR
    assert "NanListener: minibatch: features must be finite, got 1 NaN" in result.termination_details
    assert heard.names == []


def test_files_of_networks_with_settings_that_java_has_not(tmp_path):
    net = network(iterations=2, step_function="negative_gradient")
    saver = LocalFileModelSaver(tmp_path)
    result = EarlyStoppingTrainer(conf_of(model_saver=saver), net, DataSet(X, Y)).fit()
    assert result.termination_reason is TerminationReason.EPOCH_TERMINATION
    assert result.best_model.conf.iterations == 2
    assert result.best_model.conf.step_function == "negative_gradient"
