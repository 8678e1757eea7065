"""Java Deeplearning4j's own runs, repeated number by number.

Flow, data and order: specs of the dl4j-integration-tests; the files are what Java wrote.
"""

import csv
import json

import numpy as np
import pytest

import nd
from nd import serde
from nd.dataset import DataSet, EarlyTerminationDataSetIterator, ListDataSetIterator, MnistDataSetIterator
from nd.evaluation import Evaluation, EvaluationCalibration, ROCMultiClass
from nn import (
    ConvolutionLayer,
    DenseLayer,
    FineTuneConfiguration,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
    TransferLearning,
)
from nn.layers.recurrent.time_distributed import TimeDistributedRuntime
from optimize import Adam, CollectScoresListener, Nesterovs
from tests import java_runs
from tests.cases.java_documents import without_newer_fields
from tests.stand_ins import make_backend

WEIGHTS, PREDICTIONS, GRADIENT, SCORES, FINAL = 1e-6, 1e-6, 1e-5, 1e-5, 1e-5
AREA, PROBABILITY, SWAPPED = 1e-12, 2e-6, 1e-4


def lenet():
    return NeuralNetConfiguration(seed=123, l2=5e-4, weight_init="xavier", updater=Nesterovs(0.01, momentum=0.9)).list(
        ConvolutionLayer(n_out=20, kernel_size=(5, 5), activation="identity"),
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2)),
        ConvolutionLayer(n_out=50, kernel_size=(5, 5), activation="identity"),
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2)),
        DenseLayer(n_out=500, activation="relu"),
        OutputLayer(n_out=10, loss="negativeloglikelihood", activation="softmax"),
        input_type=InputType.convolutional_flat(28, 28, 1),
    )


def moon():
    return NeuralNetConfiguration(seed=123, weight_init="xavier", updater=Nesterovs(0.005, momentum=0.9)).list(
        DenseLayer(n_in=2, n_out=20, activation="relu"),
        OutputLayer(n_in=20, n_out=2, loss="negativeloglikelihood", activation="softmax"),
    )


class LenetCase:
    """LenetMnist: MNIST in DL4J's order for seed 12345."""

    name, conf, batches = "LenetMnist", staticmethod(lenet), 60

    def __init__(self, folder):
        self.folder = folder / self.name

    def training(self):
        return EarlyTerminationDataSetIterator(MnistDataSetIterator(16, True, 12345), 60)

    def prediction_inputs(self):
        iterator = MnistDataSetIterator(8, True, 12345)
        return [iterator.next().features[:1], iterator.next().features]

    def gradient_batch(self):
        return MnistDataSetIterator(8, False, 12345).next()

    def evaluation(self):
        return EarlyTerminationDataSetIterator(MnistDataSetIterator(32, False, 12345), 10)


class MoonCase:
    """MLPMoon: two CSV files, label first, in their order."""

    name, conf, batches = "MLPMoon", staticmethod(moon), 63

    def __init__(self, folder):
        self.folder = folder / self.name

    def _rows(self, part):
        with open(self.folder / f"moon_data_{part}.csv") as lines:
            rows = np.array([[float(value) for value in row] for row in csv.reader(lines)], np.float32)
        return DataSet(rows[:, 1:], np.eye(2, dtype=np.float32)[rows[:, 0].astype(int)])

    def training(self):
        return ListDataSetIterator(self._rows("train"), 32)

    def prediction_inputs(self):
        features = self._rows("eval").features
        return [features[:1], features[:10]]

    def gradient_batch(self):
        return self._rows("eval").get_range(0, 5)

    def evaluation(self):
        return ListDataSetIterator(self._rows("eval"), 32)


CASES = {"LenetMnist": LenetCase, "MLPMoon": MoonCase}


@pytest.fixture(params=sorted(CASES))
def case(request, reference):
    if request.param == "LenetMnist":
        request.getfixturevalue("mnist_folder")
    return CASES[request.param](reference)


@pytest.fixture
def device(request):
    """NumPy, or the backend of --backend: Java's numbers hold on the GPU as well."""
    with nd.use_backend(make_backend(request.config.getoption("--backend") or "numpy")) as chosen:
        yield chosen


def java_network(case):
    return MultiLayerNetwork.load(case.folder / "Model_RANDOM_INIT_UNTRAINED.zip")


def distance(ours, theirs):
    return np.abs(nd.to_host(ours) - theirs).max()


def test_weights_drawn_from_the_seed(case, device):
    ours, theirs = MultiLayerNetwork(case.conf()).init(), java_network(case)
    assert ours.num_params() == theirs.num_params()
    assert distance(ours.params(), nd.to_host(theirs.params())) < WEIGHTS


def test_configuration_is_javas(case):
    document = json.loads((case.folder / "config.mlc.json").read_text())
    ours = json.loads(case.conf().to_json())
    for conf in ours["confs"]:
        conf["variables"] = []  # Java fills them in when it makes the network, after it wrote this file
    assert without_newer_fields(ours) == without_newer_fields(document)
    read = MultiLayerConfiguration.from_json(json.dumps(document))
    assert read.layers == case.conf().layers
    assert read.preprocessors == case.conf().preprocessors
    assert read.base.seed == case.conf().base.seed


def test_predictions(case, device):
    net = MultiLayerNetwork(case.conf()).init()
    for number, features in enumerate(case.prediction_inputs()):
        theirs = serde.load(case.folder / "predictions" / f"output_{number}_0.bin")
        assert theirs.shape == (len(features), net.conf.layers[-1].n_out)
        assert distance(net.output(features), theirs) < PREDICTIONS


def test_raw_gradient(case, device):
    net, batch = MultiLayerNetwork(case.conf()).init(), case.gradient_batch()
    net.set_input(batch.features)
    net.set_labels(batch.labels)
    net.compute_gradient_and_score()
    assert distance(net.flattened_gradients(), serde.load(case.folder / "flattenedGradients.bin")) < GRADIENT
    by_name = net.gradient().gradient_for_variable()
    files = {path.stem: serde.load(path) for path in (case.folder / "gradients").iterdir()}
    assert set(by_name) == set(files)
    for name, theirs in files.items():
        assert tuple(by_name[name].shape) == theirs.shape
        assert distance(by_name[name], theirs) < GRADIENT


def test_training_curve_parameters_and_evaluation(case, device):
    net, scores = MultiLayerNetwork(case.conf()).init(), CollectScoresListener()
    net.set_listeners(scores)
    net.fit(case.training())
    theirs = np.array([float(score) for score in (case.folder / "trainingCurve.csv").read_text().split(",")])
    assert len(theirs) == case.batches == net.iteration_count
    np.testing.assert_allclose(scores.scores, theirs, rtol=SCORES)
    assert distance(net.params(), serde.load(case.folder / "paramsPostTrain.bin")) < FINAL
    kinds = {path.stem.partition(".")[2]: path.read_text() for path in (case.folder / "evaluation").iterdir()}
    evaluations = {type(each).__name__: each for each in (Evaluation(), ROCMultiClass(), EvaluationCalibration())}
    net.do_evaluation(case.evaluation(), *evaluations.values())
    assert json.loads(evaluations["Evaluation"].to_json()) == json.loads(kinds.pop("Evaluation"))
    rocs = json.loads(kinds.pop("ROCMultiClass"))["underlying"]
    if device.name != "numpy":  # whose probabilities may change places that are 2e-6 from each other
        areas = [[roc.calculate_auc(), roc.calculate_auc_pr()] for roc in evaluations["ROCMultiClass"].underlying]
        np.testing.assert_allclose(areas, [[fields["auc"], fields["auprc"]] for fields in rocs], atol=SWAPPED)
        return
    check_rocs(evaluations["ROCMultiClass"], rocs)
    for text in kinds.values():
        check_calibration(evaluations["EvaluationCalibration"], EvaluationCalibration.from_json(text))


def check_rocs(ours, theirs):
    assert ours.get_num_classes() == len(theirs)
    for cls, fields in enumerate(theirs):
        assert ours.get_count_actual_positive(cls) == fields["countActualPositive"]
        assert ours.get_count_actual_negative(cls) == fields["countActualNegative"]
        assert ours.calculate_auc(cls) == pytest.approx(fields["auc"], rel=AREA)
        assert ours.calculate_auc_pr(cls) == pytest.approx(fields["auprc"], rel=AREA)
        curve = ours.get_roc_curve(cls)
        np.testing.assert_allclose(curve.threshold, fields["rocCurve"]["threshold"], atol=PROBABILITY)
        np.testing.assert_allclose(curve.fpr, fields["rocCurve"]["fpr"], rtol=AREA)
        np.testing.assert_allclose(curve.tpr, fields["rocCurve"]["tpr"], rtol=AREA)
        check_precision_and_recall(ours.get_precision_recall_curve(cls), fields["prCurve"])


def check_precision_and_recall(ours, theirs):
    """Java keeps more points: it divides by numbers that are whole but for their last bits, and finds none equal."""
    columns = (theirs[name] for name in ("tpCount", "fpCount", "threshold", "precision", "recall"))
    by_counts = {(tp, fp): rest for tp, fp, *rest in zip(*columns, strict=True)}
    assert (len(by_counts), ours.total_count) == (len(theirs["threshold"]), theirs["totalCount"])
    for i, counts in enumerate(zip(ours.tp_count.tolist(), ours.fp_count.tolist(), strict=True)):
        threshold, precision, recall = by_counts[counts]
        assert ours.get_threshold(i) == pytest.approx(threshold, abs=PROBABILITY)
        assert (ours.get_precision(i), ours.get_recall(i)) == pytest.approx((precision, recall), rel=AREA)


def check_calibration(ours, theirs):
    mine, java = json.loads(ours.to_json()), json.loads(theirs.to_json())
    sums = [serde.array_from_json(fields.pop("rDiagBinSumPredictions")) for fields in (mine, java)]
    np.testing.assert_allclose(*sums, atol=PROBABILITY * 1000)  # of a thousand float32 probabilities
    assert mine == java


def test_a_saved_network_goes_on_as_if_uninterrupted(case, device, tmp_path):
    straight, first_half = MultiLayerNetwork(case.conf()).init(), MultiLayerNetwork(case.conf()).init()
    batches = list(case.training())[:20]
    straight.fit(batches)
    first_half.fit(batches[:9])
    first_half.save(tmp_path / "half.zip")
    resumed = MultiLayerNetwork.load(tmp_path / "half.zip")
    resumed.fit(batches[9:])
    assert resumed.iteration_count == straight.iteration_count == 20
    assert (nd.to_host(resumed.params()) == nd.to_host(straight.params())).all()
    assert (nd.to_host(resumed.updater_state()) == nd.to_host(straight.updater_state())).all()
    assert resumed.score() == straight.score()


# ---- 450 networks of Deeplearning4j 1.0.0-M1.1 and M2.1


def wrong(runs):
    """Return the runs that differ where they should not, or do not differ where they are said to."""
    found = {}
    for name, folder in runs.items():
        differing = java_runs.differences(java_runs.Run(folder))
        expected, _ = java_runs.EXCEPTIONS.get(name, (set(), ""))
        if set(differing) != expected:
            found[name] = differing or "no difference any more"
    return found


@pytest.mark.parametrize("kind", java_runs.KINDS)
def test_networks_that_java_ran(kind, reference):
    runs = java_runs.runs_of(reference / "java-runs" / kind)
    assert len(runs) == java_runs.KINDS[kind]
    assert wrong(runs) == {}


@pytest.mark.parametrize("name", ["mask", "pool", "tbptt_mask_3_3"])
def test_time_distributed_with_the_mask_as_java_reads_it(name, reference, monkeypatch):
    """Step by step, where its rows are example by example: with that mask everything agrees."""
    forward = TimeDistributedRuntime.forward_from

    def forward_as_java(self, x, state, params, ctx):
        ctx.mask = nd.reshape(nd.copy(nd.transpose(ctx.mask)), tuple(ctx.mask.shape))
        return forward(self, x, state, params, ctx)

    monkeypatch.setattr(TimeDistributedRuntime, "forward_from", forward_as_java)
    run = java_runs.Run(reference / "java-runs" / "rnn" / f"timedistributed_{name}")
    assert java_runs.differences(run) == {}


def test_most_networks_begin_with_javas_weights_to_the_last_bit(reference):
    exact = []
    for kind in ("ff", "conv", "train", "m21"):
        for folder in java_runs.runs_of(reference / "java-runs" / kind).values():
            run = java_runs.Run(folder)
            if run.params0 is not None and "RampSchedule" not in folder.name:  # which no release reads back
                exact.append(java_runs.initial(run)[0] == 0.0)
    assert len(exact) == 348
    assert sum(exact) >= java_runs.DRAWN_EXACTLY


@pytest.mark.parametrize("name", java_runs.HERE)
@pytest.mark.quick_rows(every=3)
def test_a_handful_of_them_without_the_others(name):
    assert wrong({name: java_runs.FEW / name}) == {}


def test_every_folder_of_javas_runs_has_its_place(reference):
    folders = {path.name for path in (reference / "java-runs").iterdir() if path.is_dir()}
    assert folders == {*java_runs.KINDS, *java_runs.ELSEWHERE}


def test_a_wrong_number_would_be_seen():
    run = java_runs.Run(java_runs.FEW / "ff" / "loss_MCXENT_SOFTMAX")
    assert java_runs.differences(run) == {}
    for name in ("out", "grad", "params1"):
        broken = java_runs.Run(run.folder)
        broken.arrays[name] = 1.001 * broken.arrays[name]
        assert set(java_runs.differences(broken)) >= {
            {"out": "output", "grad": "gradient", "params1": "training"}[name]
        }


TRANSFER = {
    "fine_tune_only": lambda builder: builder,
    "frozen_0": lambda builder: builder.setFeatureExtractor(0),
    "n_in_replace": lambda builder: builder.nInReplace(1, 7, "xavier"),
    "n_out_replace_1": lambda builder: builder.nOutReplace(1, 9, "xavier"),
    "new_output": lambda builder: builder.setFeatureExtractor(0).removeOutputLayer()
    .addLayer(DenseLayer(n_in=6, n_out=8, activation="elu")).addLayer(OutputLayer(n_in=8, n_out=4)),
    "remove_two": lambda builder: builder.removeLayersFromOutput(2).addLayer(OutputLayer(n_in=7, n_out=4)),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFER)
def test_transfer_learning_changes_networks_as_java_does(name, reference):
    folder = reference / "java-runs" / "transfer" / name
    run, base = java_runs.Run(folder), MultiLayerNetwork.load(folder / "base.zip")
    fine = FineTuneConfiguration(seed=777, updater=Adam(0.01), l2=0.001)
    with java_runs.drawn_as_by("1.0.0-M2.1"):
        MultiLayerNetwork(base.conf).init()  # new weights are drawn where this leaves the generator, as in Java
    net = TRANSFER[name](TransferLearning.Builder(base).fineTuneConfiguration(fine)).build()
    assert distance(net.params(), run.params0) < java_runs.DRAWN
    scores = []
    for _ in run.fits:
        net.fit(run.data())
        scores.append(net.score())
    np.testing.assert_allclose(scores, run.fits, rtol=java_runs.CURVE)
    assert java_runs.distance(net.params(), run.params1) < java_runs.PARAMETERS
