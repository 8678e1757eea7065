"""Names of classes are never compared by number: they are mapped to the network's order, or refused."""

import itertools

import numpy as np
import pytest

import nd
import nn
from nd.dataset import (
    AsyncDataSetIterator,
    CsvDataSetIterator,
    DataFrameDataSetIterator,
    DataSet,
    KFoldIterator,
    ListDataSetIterator,
    MultiDataSet,
    MultipleEpochsIterator,
    NormalizerStandardize,
    NumpyDataSetIterator,
    SamplingDataSetIterator,
)
from nd.evaluation import ROC, Evaluation, ROCMultiClass
from nn import ComputationGraph, DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.cli import main
from nn.transferlearning import TransferLearningHelper
from optimize import EvaluativeListener

RNG = np.random.default_rng(4)
X = RNG.normal(size=(90, 3)).astype(np.float32)
NUMBERS = X.argmax(1)
ORDER = ("sick", "healthy", "dead")  # no alphabet's
TEXTS = np.array(ORDER)[NUMBERS]


def network(kind=MultiLayerNetwork, n_out=3, **last):
    conf = NeuralNetConfiguration(seed=1, updater="adam", learning_rate=0.1)
    layers = [DenseLayer(n_in=3, n_out=6, activation="tanh"), OutputLayer(n_in=6, n_out=n_out, **last)]
    if kind is ComputationGraph:
        nodes = {"hidden": (layers[0], "in"), "out": (layers[1], "hidden")}
        return ComputationGraph(conf.graph(inputs=["in"], nodes=nodes, outputs=["out"])).init()
    return MultiLayerNetwork(conf.list(*layers)).init()


@pytest.fixture(scope="module", params=[MultiLayerNetwork, ComputationGraph], ids=["chain", "graph"])
def trained(request):
    """A network that was trained on class numbers, and knows no names."""
    net = network(request.param)
    net.fit(X, NUMBERS, epochs=60)
    assert net.evaluate(X, NUMBERS).accuracy() > 0.9
    return net


def frame(texts=TEXTS, rows=slice(None)):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"a": X[rows, 0], "b": X[rows, 1], "c": X[rows, 2], "target": texts[rows]})


def csv(folder):
    path = folder / "t.csv"
    path.write_text("a,b,c,target\n" + "".join(f"{a},{b},{c},{t}\n" for (a, b, c), t in zip(X, TEXTS, strict=True)))
    return path


def of_texts(batch=40):
    return DataFrameDataSetIterator(frame(), batch, labels="target")


GIVEN = {
    "arrays": lambda folder: (X, TEXTS),
    "a list": lambda folder: (X, TEXTS.tolist()),
    "categories": lambda folder: (frame()[["a", "b", "c"]], frame()["target"].astype("category")),
    "a frame of one column": lambda folder: (X, frame()[["target"]]),
    "a tuple": lambda folder: ((X, TEXTS),),
    "batches": lambda folder: ([(X[:50], TEXTS[:50]), (X[50:], TEXTS[50:])],),
    "DataFrameDataSetIterator": lambda folder: (of_texts(),),
    "CsvDataSetIterator": lambda folder: (CsvDataSetIterator(csv(folder), 40, "target"),),
    "its DataSet": lambda folder: (of_texts(90).next(),),
    "a DataSet of texts": lambda folder: (DataSet(X, TEXTS),),
    "NumpyDataSetIterator": lambda folder: (NumpyDataSetIterator(X, TEXTS, 40),),
    "a part of it": lambda folder: (of_texts(90).next().get_range(0, 90),),
    "read ahead": lambda folder: (AsyncDataSetIterator(of_texts()),),
    "several epochs": lambda folder: (MultipleEpochsIterator(1, of_texts()),),
    "a list of its DataSets": lambda folder: (ListDataSetIterator(list(of_texts())),),
    "merged": lambda folder: (ListDataSetIterator(list(of_texts()), 20),),
    "folds": lambda folder: (KFoldIterator(3, of_texts(90).next()),),
    "samples": lambda folder: (SamplingDataSetIterator(of_texts(90).next(), 30, 90),),
    "a pre-processor's own": lambda folder: (changed(of_texts()),),
    "normalized": lambda folder: (changed(of_texts(), NormalizerStandardize()),),
    "names and a generator": lambda folder: ((batch for batch in of_texts()),),
}  # fmt: skip
ONE = {"arrays", "a list", "categories", "a frame of one column", "a tuple", "its DataSet", "a part of it"} | {
    "a DataSet of texts"
}


ITERATORS = {"DataFrameDataSetIterator", "CsvDataSetIterator", "NumpyDataSetIterator"}
AT_ONCE = ONE | ITERATORS | {"a pre-processor's own", "normalized"}


def changed(iterator, normalizer=None):
    """Have an iterator hand out data sets that somebody else has made."""
    fit = None if normalizer is None else normalizer.set_feature_stats([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]) or normalizer
    iterator.set_pre_processor(fit or (lambda data: DataSet(data.features, data.labels)))
    return iterator


def tupled(data):
    return data if len(data) > 1 else data[0]


METHODS = {
    "evaluate": lambda net, *data: net.evaluate(*data),
    "evaluate_roc_multi_class": lambda net, *data: net.evaluate_roc_multi_class(*data),
    "evaluate_regression": lambda net, *data: net.evaluate_regression(*data),
    "do_evaluation": lambda net, *data: net.do_evaluation(tupled(data), Evaluation(), ROCMultiClass()),
    "f1_score": lambda net, *data: net.f1_score(*data),
    "score": lambda net, *data: net.score(*data),
    "score_examples": lambda net, *data: net.score_examples(*data),
    "fit_batch": lambda net, *data: net.fit_batch(*data),
    "fit": lambda net, *data: net.fit(*data),
    "validation_data": lambda net, *data: net.fit(X, NUMBERS, validation_data=tupled(data)),
    "listener": lambda net, *data: evaluated_in_fit(net, tupled(data)),
}


def evaluated_in_fit(net, data):
    net.set_listeners(EvaluativeListener(data, 1, callback=lambda *_: None))
    net.fit(X, NUMBERS)


UNNAMED = (
    r"classes with names need those of the network's outputs.* Set network\.class_names = \[\.\.\.\] in that order"
)


FAST = {"arrays", "batches", "DataFrameDataSetIterator", "its DataSet"}


def ways(methods):
    """Return (method, kind of data) of what goes together; the rare kinds are a sweep."""
    of_listener = {"its DataSet", "DataFrameDataSetIterator", "merged"}
    return [
        pytest.param(method, given, marks=() if given in FAST else pytest.mark.slow)
        for method in methods
        for given in GIVEN
        if (method != "fit_batch" or given in ONE) and (method != "listener" or given in of_listener)
    ]


@pytest.mark.parametrize(("method", "given"), ways(METHODS))
@pytest.mark.quick_rows(every=4)
def test_a_network_without_names_refuses_texts(trained, method, given, tmp_path):
    net = trained.clone()
    net.iteration_count = 60
    before = np.array(net.params())
    with pytest.raises(nd.ConfigurationError, match=UNNAMED):
        METHODS[method](net, *GIVEN[given](tmp_path))
    assert net.class_names is None
    late = method == "listener" or (method == "validation_data" and given not in AT_ONCE)  # after the first epoch
    if not late:
        np.testing.assert_array_equal(net.params(), before)
    net = trained.clone()  # and with the remedy they go
    net.class_names = ORDER
    METHODS[method](net, *GIVEN[given](tmp_path))


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.quick_rows(every=3)
def test_names_are_mapped_to_the_networks_order(trained, given, tmp_path):
    net = trained.clone()
    net.class_names = ORDER
    data = GIVEN[given](tmp_path)
    if given in ("folds", "samples"):
        assert net.evaluate(*data).accuracy() > 0.85
        return
    evaluation = net.evaluate(*data)
    assert evaluation.confusion.counts.tolist() == net.evaluate(X, NUMBERS).confusion.counts.tolist()
    assert "0 = sick" in evaluation.stats()
    fresh = GIVEN[given](tmp_path)
    assert net.score(*fresh) == pytest.approx(net.score(X, NUMBERS), rel=1e-5)


@pytest.mark.parametrize("order", list(itertools.permutations(ORDER))[1::2])
def test_every_order_trains_the_same_network(order):
    expected, net = network(), network()
    expected.fit(ListDataSetIterator(DataSet(X, NUMBERS), 30), epochs=2, class_weight={1: 2.0})
    net.class_names = ORDER
    labelled = DataSet(X, np.eye(3, dtype=np.float32)[[order.index(text) for text in TEXTS]])
    labelled.class_names = list(order)
    net.fit(ListDataSetIterator(labelled, 30), epochs=2, class_weight={"healthy": 2.0})
    np.testing.assert_array_equal(net.params(), expected.params())
    one, same = network(), network()
    one.class_names = ORDER
    one.fit(labelled.to_multi_data_set().to_data_set(), class_weight={"dead": 3.0}, batch_size=45)
    same.fit(X, NUMBERS, class_weight={2: 3.0}, batch_size=45)
    np.testing.assert_array_equal(one.params(), same.params())
    graph = network(ComputationGraph)
    graph.class_names = ORDER
    assert graph.score(labelled.to_multi_data_set()) == pytest.approx(graph.score(X, NUMBERS), rel=1e-6)


def test_data_with_some_of_the_classes():
    net = network()
    net.class_names = ORDER
    net.fit(X, NUMBERS, epochs=40)
    some = NUMBERS != 1
    data = DataFrameDataSetIterator(frame(rows=some), 40, labels="target")
    assert data.class_names == ("dead", "sick")
    expected = net.evaluate(X[some], NUMBERS[some])
    assert net.evaluate(data).confusion.counts.tolist() == expected.confusion.counts.tolist()
    stripped = of_texts(90).next().filter_and_strip([2, 0])
    assert stripped.class_names == ["sick", "dead"]
    assert net.evaluate(stripped).accuracy() == expected.accuracy()


@pytest.mark.parametrize("method", ["evaluate", "score", "fit", "fit_batch", "validation_data"])
def test_other_names_are_refused(method):
    net = network()
    net.fit(X, TEXTS)
    assert net.class_names == ("dead", "healthy", "sick")
    other = np.where(TEXTS == "dead", "ill", TEXTS)
    for data in ((X, other), (DataFrameDataSetIterator(frame(other), 90, labels="target").next(),)):
        with pytest.raises(nd.DataError, match=r"labels must be of the classes 'dead', 'healthy', 'sick', got 'ill'"):
            METHODS[method](net, *data)


def test_the_training_call_learns_names_and_only_the_first():
    for data in (
        (X, TEXTS),
        (of_texts(),),
        (of_texts(90).next(),),
        ([(X, TEXTS)],),
        (AsyncDataSetIterator(of_texts()),),
    ):
        net = network()
        net.fit(*data)
        assert net.class_names == ("dead", "healthy", "sick")
        net.fit(X, TEXTS)  # again
    net = network()
    net.fit_batch(X, TEXTS)
    assert net.class_names == ("dead", "healthy", "sick")
    net = network()
    with pytest.raises(nd.DataError, match="labels must be of 3 classes, as the last layer has, got 2: 'dead', 'sick'"):
        net.fit(X[NUMBERS != 1], TEXTS[NUMBERS != 1])


def test_names_of_two_classes_of_a_single_output():
    net = network(n_out=1, activation="sigmoid", loss="xent")
    column = (NUMBERS == 0).astype(np.float32)
    net.fit(X, column, epochs=80)
    texts = np.where(column == 1, "dead", "well")  # "dead" is class 1
    with pytest.raises(nd.ConfigurationError, match=UNNAMED):
        net.evaluate_roc(X, texts)
    net.class_names = ["well", "dead"]
    table = DataFrameDataSetIterator(frame(texts), 30, labels="target")
    assert table.class_names == ("dead", "well")
    assert net.evaluate(table).accuracy() == net.evaluate(X, column).accuracy() > 0.85
    assert net.do_evaluation(table, ROC())[0].calculate_auc() == net.evaluate_roc(X, texts).calculate_auc() > 0.85


def test_names_for_the_report():
    net = network()
    net.class_names = ORDER
    assert "0 = krank" in net.evaluate(DataSet(X, NUMBERS), ["krank", "gesund", "tot"]).stats()
    with pytest.raises(nd.ConfigurationError, match=r"labels beside a data set are the names .* Leave them out"):
        net.evaluate(DataSet(X, NUMBERS), sorted(ORDER))


def test_sets_that_are_numbered_differently_are_not_joined():
    one, other = of_texts(90).next(), of_texts(90).next()
    other.class_names = ORDER
    for kind, sets in ((DataSet, [one, other]), (MultiDataSet, [one.to_multi_data_set(), other.to_multi_data_set()])):
        with pytest.raises(nd.DataError, match=r"merge: element 1: expected the classes \['dead', 'healthy', 'sick'\]"):
            kind.merge(sets)


def test_a_class_has_one_weight():
    net = network()
    net.class_names = ORDER
    with pytest.raises(nd.ConfigurationError, match="class_weight: a class must have one weight, got 1 and 'healthy'"):
        net.fit(X, TEXTS, class_weight={1: 2.0, "healthy": 3.0})
    with pytest.raises(
        nd.ConfigurationError, match="class_weight: classes are 0, 1, 2, 'sick', 'healthy', 'dead', got 'ill'"
    ):
        net.fit(X, TEXTS, class_weight={"ill": 3.0})


def test_featurized_data_keep_their_names():
    net = network()
    net.class_names = ORDER
    net.fit(X, TEXTS, epochs=3)
    helper = TransferLearningHelper(net, 0)
    tail = helper.unfrozen_mln()
    assert tail.evaluate(helper.featurize(of_texts())).accuracy() == net.evaluate(X, NUMBERS).accuracy()


def of_two_outputs():
    conf = NeuralNetConfiguration(seed=1)
    nodes = {"a": (OutputLayer(n_in=3, n_out=3), "in"), "b": (OutputLayer(n_in=3, n_out=3), "in")}
    return ComputationGraph(conf.graph(inputs=["in"], nodes=nodes, outputs=["a", "b"])).init()


def test_labels_of_a_second_output():
    net = of_two_outputs()
    net.fit(X, [NUMBERS, NUMBERS])
    with pytest.raises(nd.ConfigurationError, match=r"Set network\.classes_of\[1\]\.names = \[\.\.\.\] in that order"):
        net.score(X, [NUMBERS, TEXTS])
    net.classes_of[1].names = ORDER
    assert net.score(X, [NUMBERS, TEXTS]) == net.score(X, [NUMBERS, NUMBERS])


@pytest.mark.parametrize("file", ["n.zip", "n.npz", "n.safetensors"])
@pytest.mark.parametrize("known", [(0,), (1,), (0, 1)])
def test_names_of_every_output_are_saved(known, file, tmp_path):
    net = of_two_outputs()
    for output in known:
        net.classes_of[output].names = ORDER
    net.save(tmp_path / file)
    net.save_checkpoint(tmp_path / "checkpoint.zip")
    for other in (nn.load(tmp_path / file), ComputationGraph.load_checkpoint(tmp_path / "checkpoint.zip"), net.clone()):
        assert [classes.names for classes in other.classes_of] == [classes.names for classes in net.classes_of]


@pytest.mark.parametrize("data", [DataSet(X, TEXTS), DataSet(X, TEXTS).to_multi_data_set()], ids=["one", "several"])
def test_names_that_a_file_has_no_place_for_are_warned_of(data, tmp_path):
    with pytest.warns(UserWarning, match=r"save: .* no place for class_names, got \['dead', 'healthy', 'sick'\]"):
        data.save(tmp_path / "d.bin")


def test_the_command_line(tmp_path, capsys):
    net = network()
    net.fit(X, NUMBERS, epochs=60)
    net.save(tmp_path / "num.zip")
    command = ["evaluate", str(tmp_path / "num.zip"), "--csv", str(csv(tmp_path)), "--label", "target"]
    assert main(command) != 0
    assert "classes with names need those of the network's outputs" in capsys.readouterr().err
    net.class_names = ORDER
    net.save(tmp_path / "num.zip")
    assert main(command) == 0
    report = capsys.readouterr().out
    assert "0 = sick" in report
    assert f"{net.evaluate(X, NUMBERS).accuracy():.4f}" in report
