"""Traces in wrong hands: arguments, folders, damaged files, traces of other sizes, and what is said."""

import copy
import io
import json
import pickle

import numpy as np
import pytest

import nd
import nn.trace
from nd.files.archives import write_arrays
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from tests.nn.trace.networks import dense, rows


@pytest.fixture(scope="module")
def trace():
    return dense().trace(rows())


def wider():
    conf = NeuralNetConfiguration(seed=7).list(
        DenseLayer(n_in=6, n_out=4, activation="tanh"), OutputLayer(n_out=3, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


# ---- arguments


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"budget": -1}, "to_html: budget must be an integer >= 0, got -1"),
        ({"budget": "large"}, "to_html: budget must be an integer >= 0, got 'large'"),
        ({"budget": None}, "to_html: budget must be an integer >= 0, got None"),
        ({"other": "before.npz"}, "to_html: other must be a Trace or None, got 'before.npz'"),
    ],
)
def test_arguments_of_a_page(trace, named, message):
    with pytest.raises(nd.ArgumentError, match=message):
        trace.to_html(io.BytesIO(), **named)


@pytest.mark.parametrize("tolerance", [-1.0, float("nan"), "small", None])
def test_a_tolerance_is_a_number(trace, tolerance):
    with pytest.raises(nd.ArgumentError, match="compare: tolerance must be a number >= 0, got"):
        trace.compare(trace, tolerance)


@pytest.mark.parametrize("target", [None, 3, io.BytesIO()])
def test_a_name_to_save_to(trace, target):
    with pytest.raises(nd.ArgumentError, match="save: target must be text or a path that a file can have, got"):
        trace.save(target)


def test_folders_in_the_place_of_files(trace, tmp_path):
    for name in ("trace.npz", "trace.html"):
        (tmp_path / name).mkdir()
    with pytest.raises(IsADirectoryError, match="got a folder"):
        trace.save(tmp_path / "trace.npz")
    with pytest.raises(IsADirectoryError, match="got a folder"):
        trace.to_html(tmp_path / "trace.html")
    with pytest.raises(IsADirectoryError, match="got a folder"):
        nn.trace.load(tmp_path / "trace.npz")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        nn.trace.load(tmp_path / "nowhere.npz")


# ---- traces of other sizes


@pytest.mark.parametrize("budget", [0, 1 << 28])
def test_traces_of_other_sizes_are_not_compared(trace, budget):
    fewer = dense().trace(rows(5), budget=budget)
    with pytest.raises(
        nd.ShapeError, match=r"activation of '0' \[8, 5\] and \[5, 5\]. Trace the same configuration on"
    ):
        trace.compare(fewer)
    with pytest.raises(nd.ShapeError, match=r"activation of '0' \[8, 5\] and \[8, 4\]"):
        trace.compare(wider().trace(rows(), budget=budget))
    with pytest.raises(nd.ShapeError, match="as many examples"):
        trace.to_html(io.BytesIO(), other=fewer)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda trace: pickle.loads(pickle.dumps(trace))])
def test_copies_are_the_same(trace, again):
    assert trace.compare(again(trace)) is None
    assert str(again(trace)) == str(trace)


# ---- what somebody writes into


def test_arrays_of_a_trace_are_read_only(tmp_path):
    trace, other = (dense().trace(rows()) for _ in range(2))
    trace.save(tmp_path / "trace.npz")
    for one in (trace, nn.trace.load(tmp_path / "trace.npz")):
        nodes = [seen for node in one.nodes.values() for _, seen in node.arrays()]
        for seen in [*nodes, *(seen for row in one.ops for seen in (*row.seen_inputs, *row.seen_outputs))]:
            with pytest.raises(ValueError, match="read-only"):
                seen.values[...] = 0
    assert trace.compare(other) is None


# ---- files


def test_a_file_without_a_trace_is_named_once(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(nd.FormatError, match=r"^[^:]*other\.npz: expected a trace, got a file without one"):
        nn.trace.load(tmp_path / "other.npz")


def written(trace, path):
    """Return the arrays and the document of a trace's file."""
    trace.save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files if name not in ("__metadata__", "document")}
        return arrays, json.loads(file["document"].tobytes())


def write(path, arrays, document, version=1):
    text = np.frombuffer(json.dumps(document).encode(), np.uint8)
    write_arrays(path, {**arrays, "document": text}, {"trace": json.dumps([version, text.size])})


WRONG = KeyError, None, -1, 0, 10**400, "other", [], {}, [[]], {"a": None}, float("nan")


def places(document, path=()):
    """Yield where something lies in a document, the first of every kind of list only."""
    yield path
    items = document.items() if isinstance(document, dict) else enumerate(document[:2])
    for key, inner in items if isinstance(document, (dict, list)) else ():
        if isinstance(inner, (dict, list)):
            yield from places(inner, (*path, key))
        else:
            yield (*path, key)


def spoiled(text, path, value):
    document = target = json.loads(text)
    for key in path[:-1]:
        target = target[key]
    if value is KeyError:
        del target[path[-1]]
    else:
        target[path[-1]] = value
    return document


@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("value", range(len(WRONG)))
@pytest.mark.quick_rows(2)
def test_damaged_documents_are_no_traces_or_can_be_printed(trace, tmp_path, value, every):
    """Each value at every eleventh place, where they take turns; at all places among the slow tests."""
    arrays, document = written(trace, tmp_path / "trace.npz")
    text, refused = json.dumps(document), 0
    for path in list(places(document))[1 + value % every :: every]:
        write(tmp_path / "spoiled.npz", arrays, spoiled(text, path, WRONG[value]))
        try:
            found = nn.trace.load(tmp_path / "spoiled.npz")
        except nd.FormatError:
            refused += 1
            continue
        str(found)
        found.memory()
        found.to_html(io.BytesIO())
    assert refused > 20 / every


def test_a_file_of_another_version(trace, tmp_path):
    arrays, document = written(trace, tmp_path / "trace.npz")
    write(tmp_path / "trace.npz", arrays, document, version=2)
    with pytest.raises(nd.FormatError, match=r"npz: expected a trace of version 1, got 2\. Save it again\.$"):
        nn.trace.load(tmp_path / "trace.npz")


@pytest.mark.parametrize("about", ["", "{", "5", "[]", "[1]", "[1, -1]", '[1, "a"]', "[1, 5]", "[1, 1e30]", "null"])
def test_metadata_of_no_trace(trace, tmp_path, about):
    arrays, _ = written(trace, tmp_path / "trace.npz")
    write_arrays(tmp_path / "trace.npz", {**arrays, "document": np.zeros(5, np.uint8)}, {"trace": about})
    with pytest.raises(nd.FormatError, match=r"trace\.npz: "):
        nn.trace.load(tmp_path / "trace.npz")


def test_metadata_which_are_bounded_do_not_grow_with_a_trace(trace, tmp_path):
    trace.save(tmp_path / "trace.npz")
    with np.load(tmp_path / "trace.npz") as file:
        assert file["document"].size > 10_000
        assert len(str(file["__metadata__"])) < 50


def test_a_trace_from_a_file_says_where_one_that_is_not_kept_parts(tmp_path):
    def wide(bias, budget):
        conf = NeuralNetConfiguration(seed=1).list(DenseLayer(n_in=6, n_out=900), OutputLayer(n_out=3))
        net = MultiLayerNetwork(conf).init()
        net.get_param("0_b")[0, 2] = bias
        return net.trace(rows(), budget=budget)

    kept, sampled = wide(0.0, 1 << 28), wide(7.0, 0)
    kept.save(tmp_path / "kept.npz")
    assert kept.compare(sampled).index == (0, 2)
    assert nn.trace.load(tmp_path / "kept.npz").compare(sampled) == kept.compare(sampled)
