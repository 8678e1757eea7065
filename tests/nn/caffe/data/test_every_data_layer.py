"""What holds for every layer that brings data: each row of tests/cases/caffe_data.py is one test."""

import copy
import json
import pickle

import numpy as np
import pytest

import nd
from nn.caffe import parse_text
from nn.caffe.data.layers import DATA_LAYERS, DataLayer, data_layer_class
from tests.cases.caffe_data import LABEL, ROWS, data_layer, pictures, write_sources
from tests.cells import every_row

MINIBATCHES = 9  # more than two epochs of each


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    write_sources(folder)
    return folder


def made(name, sources, seed=1, dtype="float32"):
    layer = data_layer(ROWS[name], sources, seed=seed, dtype=dtype)
    if name == "MemoryData":
        layer.reset(pictures(6).astype(dtype), np.arange(6, dtype=dtype))
    return layer


def minibatches(layer, n):
    """Return copies of the tops of the next n minibatches."""
    found = [layer.next() for _ in range(n)]
    return [None if tops is None else [nd.to_host(nd.create(top)).copy() for top in tops] for tops in found]


def assert_same(found, expected):
    assert len(found) == len(expected)
    for mine, others in zip(found, expected, strict=True):
        if mine is None:
            assert others is None
            continue
        for one, other in zip(mine, others, strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_table_is_sorted_and_has_rows():
    assert list(DATA_LAYERS) == sorted(DATA_LAYERS) == sorted({name.split()[0] for name in ROWS})
    for kind in DATA_LAYERS:
        assert issubclass(data_layer_class(kind), DataLayer)
        assert data_layer_class(kind).__name__ == kind
    with pytest.raises(
        nd.ConfigurationError, match=r"unknown type of data layer 'Dat'.*Did you mean 'Data'.* Known are"
    ):
        data_layer_class("Dat")


@pytest.mark.parametrize("name", ROWS)
def test_tops_have_the_shapes_that_are_told(name, sources, backend, dtype):
    layer = made(name, sources, dtype=dtype)
    for _ in range(MINIBATCHES):
        shapes = layer.top_shapes()
        assert len(shapes) == layer.outputs
        tops = layer.next()
        if tops is not None:
            assert [tuple(top.shape) for top in tops] == [tuple(shape) for shape in shapes]
            assert {nd.dtype_name(nd.as_array(top)) for top in tops} == {dtype}


@pytest.mark.parametrize("name", ROWS)
def test_a_seed_decides_all_that_is_drawn(name, sources):
    first, second = (minibatches(made(name, sources), MINIBATCHES) for _ in range(2))
    assert_same(first, second)
    if any(word in ROWS[name] for word in ("shuffle", "mirror", "gaussian")):
        other = minibatches(made(name, sources, seed=2), MINIBATCHES)
        assert any((a != b).any() for one, two in zip(first, other, strict=True) for a, b in zip(one, two, strict=True))


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.quick_rows(6)
def test_any_place_is_gone_on_from(name, sources):
    """Another layer, of another seed, goes on to the same bits, within an epoch and over its end; so does the same."""
    for taken in range(MINIBATCHES):
        layer = made(name, sources)
        minibatches(layer, taken)
        state = json.loads(json.dumps(layer.get_state()))
        layer.top_shapes()
        assert layer.get_state() == state
        expected = minibatches(layer, MINIBATCHES)
        other = made(name, sources, seed=5)
        minibatches(other, 1)
        other.set_state(state)
        assert_same(minibatches(other, MINIBATCHES), expected)
        layer.set_state(state)
        assert_same(minibatches(layer, MINIBATCHES), expected)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.quick_rows(every=2)
def test_a_copy_opens_its_source_where_the_layer_is(name, sources, backend):
    for taken in (0, 1, 5):
        layer = made(name, sources)
        minibatches(layer, taken)
        twins = pickle.loads(pickle.dumps(layer)), copy.deepcopy(layer)
        expected = minibatches(layer, MINIBATCHES)
        for twin in twins:
            assert (twin.label, twin.phase, twin.outputs) == (layer.label, layer.phase, layer.outputs)
            assert_same(minibatches(twin, MINIBATCHES), expected)


@pytest.mark.parametrize("name", ROWS)
def test_a_state_of_another_layer_is_refused(name, sources):
    layer = made(name, sources)
    with pytest.raises(nd.DataError, match=rf"^{LABEL}: a state must be a dict of get_state, got 3"):
        layer.set_state(3)
    for key, right in layer.get_state().items():
        for wrong in {-1, "x", None} - {right}:
            with pytest.raises(nd.DataError, match=rf"^{LABEL}: .*got (the state )?{wrong!r}"):
                layer.set_state({**layer.get_state(), key: wrong})


@pytest.mark.parametrize("name", ROWS)
def test_minibatches_of_one_seed_are_not_written_into(name, sources):
    """A minibatch that is kept stays as it is while others are read."""
    layer = made(name, sources)
    kept = [layer.next() for _ in range(4)]
    assert_same(
        [None if tops is None else [nd.to_host(top) for top in tops] for tops in kept],
        minibatches(made(name, sources), 4),
    )


@pytest.mark.parametrize("name", ROWS)
def test_what_every_layer_refuses(name, sources):
    closed = made(name, sources)
    closed.close()
    closed.close()
    for call in (closed.next, closed.top_shapes, lambda: closed.set_state({})):
        with pytest.raises(nd.ConfigurationError, match=rf"^{LABEL}: a closed layer reads no more"):
            call()
    with pytest.raises(nd.ConfigurationError, match=rf"^{LABEL}: a layer that brings data has no bottoms, got x"):
        data_layer(f'{ROWS[name]} bottom: "x"', sources)
    fewest, most = data_layer_class(name.split()[0]).tops
    text = parse_text(ROWS[name], "LayerParameter")
    for count in {fewest - 1} if most is None else {fewest - 1, most + 1}:
        text.top[:] = [f"t{number}" for number in range(count)]
        with pytest.raises(nd.ConfigurationError, match=rf"^{LABEL}: expected .* top\(s\), got {count}"):
            data_layer(str(text), sources)


@every_row(
    ("text", "error", "said"),
    [
        (
            'type: "Data" top: "d" data_param { source: "none" batch_size: 2 }',
            FileNotFoundError,
            r"there must be such a folder",
        ),
        ('type: "Data" top: "d" data_param { source: "db" }', nd.ConfigurationError, r"batch_size must be >= 1, got 0"),
        (
            'type: "HDF5Data" top: "d" hdf5_data_param { source: "none" batch_size: 2 }',
            FileNotFoundError,
            r"No such file or directory",
        ),
        (
            'type: "HDF5Data" top: "d" hdf5_data_param { source: "files.txt" }',
            nd.ConfigurationError,
            r"batch_size must be >= 1, got 0",
        ),
        (
            'type: "ImageData" top: "d" top: "l" image_data_param { source: "none" }',
            FileNotFoundError,
            r"No such file or directory",
        ),
        (
            'type: "ImageData" top: "d" top: "l" image_data_param { source: "pictures.txt" batch_size: 0 }',
            nd.ConfigurationError,
            r"batch_size must be >= 1, got 0",
        ),
        (
            'type: "Data" top: "d" data_param { source: "db" batch_size: 2 } transform_param { mean_file: "none" }',
            FileNotFoundError,
            r"No such file or directory",
        ),
    ],
)
def test_sources_and_sizes_must_be_there(text, error, said, sources):
    with pytest.raises(error, match=rf"{LABEL}: .*{said}"):
        data_layer(text, sources)


def test_paths_begin_from_the_working_directory(sources, monkeypatch):
    monkeypatch.chdir(sources)
    for name in ROWS:
        assert_same(minibatches(made(name, ""), 2), minibatches(made(name, sources), 2))
