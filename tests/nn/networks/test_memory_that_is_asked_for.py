"""What no memory of this machine holds is refused before it is taken, with how many bytes it would be for what."""

import numpy as np
import pytest

import backends.memory
import nd
from nd.dataset import CSVSequenceRecordReader, NormalizerStandardize, SequenceRecordReaderDataSetIterator, one_hot
from nn import (
    AttentionVertex,
    ComputationGraph,
    DenseLayer,
    InputType,
    LossLayer,
    MergeVertex,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    SelfAttentionLayer,
    StackVertex,
    UnstackVertex,
)

BASE = NeuralNetConfiguration(seed=1)
X = np.ones((1, 4), np.float32)


def doubling(times):
    """Return a network of a few kB whose last activations are 4 * 2**times numbers."""
    nodes = {f"m{i}": (MergeVertex(), *[f"m{i - 1}" if i else "x"] * 2) for i in range(times)}
    nodes["out"] = (LossLayer(loss="mse", activation="identity"), f"m{times - 1}")
    return ComputationGraph(BASE.graph({"x": InputType.feed_forward(4)}, nodes, "out")).init()


@pytest.mark.parametrize("times", [40, 80])
@pytest.mark.parametrize("method", ["output", "fit", "feed_forward", "score_examples"])
def test_activations(method, times):
    nd.set_backend("numpy")
    net = doubling(times)
    arguments = (X, X) if method == "fit" else (nd.dataset.DataSet(X, X),) if method == "score_examples" else (X,)
    message = (
        rf"layer 'out' \(LossLayer\): activations \[1, {4 * 2**times}\] .* would take {32 * 2**times:,} bytes, got"
    )
    with pytest.raises(nd.SizeError, match=message):
        getattr(net, method)(*arguments)


@pytest.mark.parametrize("method", ["output", "fit"])
def test_examples_that_are_stacked(method):
    nodes = {f"s{i}": (StackVertex(), *[f"s{i - 1}" if i else "x"] * 2) for i in range(40)}
    nodes |= {"one": (UnstackVertex(0, 2**40), "s39"), "out": (LossLayer(loss="mse", activation="identity"), "one")}
    net = ComputationGraph(BASE.graph({"x": InputType.feed_forward(4)}, nodes, "out")).init()
    message = rf"vertex 's39' .*: activations \[{2**40}, 4\] .* would take {24 * 2**40:,} bytes, got"
    with pytest.raises(nd.SizeError, match=message):
        net.fit(X, X) if method == "fit" else net.output(X)


STEPS = 10**6
ATTENTION = {
    "self": lambda: (SelfAttentionLayer(n_out=2, n_heads=1, project_input=True), "x"),
    "vertex": lambda: (AttentionVertex(n_out=2, n_heads=1, project_input=True), "x", "x", "x"),
}


@pytest.mark.parametrize("kind", ATTENTION)
@pytest.mark.parametrize("method", ["output", "fit"])
def test_attention_looks_at_every_step_for_every_step(method, kind):
    nodes = {"attention": ATTENTION[kind](), "out": (RnnOutputLayer(n_out=2), "attention")}
    net = ComputationGraph(BASE.graph({"x": InputType.recurrent(2)}, nodes, "out")).init()
    x = np.ones((1, 2, STEPS), np.float32)
    with pytest.raises(nd.SizeError, match=r"'attention' .*: activations \[1, 2, 1000000\] .* would take 4,000,0\d\d,"):
        net.fit(x, x) if method == "fit" else net.output(x)


def test_statistics_of_columns():
    columns = np.broadcast_to(np.float32(1.0), (3, 10**10))
    with pytest.raises(nd.SizeError, match=r"Standardize\.fit: features: statistics of 10,000,000,000 columns"):
        NormalizerStandardize().fit(columns)


def test_what_stays_for_the_gradients(monkeypatch):
    """Two layers of 1,000 outputs for 500 examples: 2 MB each, of which a prediction has two at a time."""
    nd.set_backend("numpy")
    layers = [DenseLayer(n_out=1000, activation="tanh") for _ in range(4)]
    conf = BASE.list(
        *layers, OutputLayer(n_out=1, loss="mse", activation="identity"), input_type=InputType.feed_forward(4)
    )
    monkeypatch.setenv("ND_NUM_THREADS", "1")
    net, x = MultiLayerNetwork(conf).init(), np.ones((500, 4), np.float32)
    monkeypatch.setattr(type(net.backend), "memory_size", lambda self: 6_000_000)
    with pytest.raises(
        nd.SizeError, match=r"those of all layers for \d+ examples would take [\d,]+ bytes, got a memory of 6,000"
    ):
        net.feed_forward(x)
    assert net.output(x[:10]).shape == (10, 1)


def test_parameters():
    layers = DenseLayer(n_in=10**6, n_out=10**6), OutputLayer(n_out=2, loss="mse", activation="identity")
    with pytest.raises(nd.SizeError, match=r"init: 1,000,003,000,002 parameters and their gradient would take 8,000,"):
        MultiLayerNetwork(BASE.list(*layers)).init()


def test_one_hot_classes(tmp_path):
    (tmp_path / "0.csv").write_text("0.5,1\n" * 20_000)
    reader = CSVSequenceRecordReader().initialize([tmp_path / "0.csv"])
    iterator = SequenceRecordReaderDataSetIterator(reader, None, 1, 10**9, label_index=1)
    with pytest.raises(nd.SizeError, match=r"series \[1, 1000000000, 20000\] would take 80,000,000,000,000 bytes"):
        iterator.next()
    with pytest.raises(
        nd.SizeError, match=r"one_hot: 1000 rows of 2000000000 classes would take 8,000,000,000,000 bytes"
    ):
        one_hot(np.zeros(1000, int), 2 * 10**9)


@pytest.mark.parametrize("make", [nd.zeros, nd.ones, nd.rand, nd.randn, nd.create_uninitialized])
def test_arrays(make):
    shape = (10**7, 10**7)
    with pytest.raises(
        nd.SizeError, match=r"must fit into the memory, got Unable to allocate|would take [\d,]+ bytes, got"
    ):
        make(shape) if make is nd.create_uninitialized else make(*shape)


def test_the_limit_is_the_containers_where_that_is_less(tmp_path, monkeypatch):
    """A test cannot put itself into a container: it says where the limit stands instead."""
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(backends.memory, "_LIMITS", (str(limit), str(tmp_path / "none")))
    sizes = []
    for text in ("max\n", "12345678\n"):
        limit.write_text(text)
        sizes.append(backends.memory.host_memory.__wrapped__())
    assert sizes[0] > 10**8
    assert sizes[1] == 12345678


def test_a_memory_error_is_one_too():
    with pytest.raises(MemoryError, match="rows of"):
        one_hot(np.zeros(1000, int), 2 * 10**9)
