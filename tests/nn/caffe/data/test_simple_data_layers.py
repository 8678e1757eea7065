"""Input, DummyData and MemoryData: what they bring, and what they refuse, by hand."""

import numpy as np
import pytest

import nd
from tests.cases.caffe_data import LABEL, data_layer
from tests.cells import every_row


def refused(text, said, error=nd.ConfigurationError):
    with pytest.raises(error, match=rf"^{LABEL}: {said}"):
        data_layer(text)


# ---- Input


@every_row(
    ("shapes", "expected"),
    [
        ("", [(), ()]),
        ("shape { dim: [4, 2] }", [(4, 2), (4, 2)]),
        ("shape { dim: [4, 2] } shape { dim: 4 }", [(4, 2), (4,)]),
        ("shape { dim: [4, 2] } shape { }", [(4, 2), ()]),
    ],
)
def test_shapes_of_inputs(shapes, expected):
    layer = data_layer(f'type: "Input" top: "a" top: "b" input_param {{ {shapes} }}')
    assert layer.top_shapes() == expected
    assert layer.next() is None


def test_shapes_of_inputs_are_as_many_as_tops():
    tops = 'top: "a" top: "b" top: "c"'
    refused(
        f'type: "Input" {tops} input_param {{ shape {{ dim: 1 }} shape {{ dim: 1 }} }}',
        r"shape must be there 0 or 1 or 3 times, for 3 top\(s\), got 2",
    )


# ---- DummyData


def dummy(settings, tops=2, **arguments):
    named = " ".join(f'top: "t{number}"' for number in range(tops))
    return data_layer(f'type: "DummyData" {named} dummy_data_param {{ {settings} }}', **arguments)


def test_no_filler_is_zeros(backend, dtype):
    first, second = dummy("shape { dim: [2, 3] } shape { dim: 4 }", dtype=dtype).next()
    assert (nd.to_host(first).tolist(), nd.to_host(second).tolist()) == ([[0] * 3] * 2, [0] * 4)


@every_row("fillers", ["data_filler { value: 7 }", "data_filler { value: 7 } data_filler { value: 7 }"])
def test_constants_are_filled_once(fillers):
    layer = dummy(f"shape {{ dim: 2 }} {fillers}")
    before = layer.next()
    assert [nd.to_host(top).tolist() for top in before] == [[7, 7], [7, 7]]
    assert all(one is other for one, other in zip(before, layer.next(), strict=True))


def test_others_are_filled_every_time():
    layer = dummy('shape { dim: 5 } data_filler { value: 7 } data_filler { type: "uniform" min: 1 max: 2 }')
    kept, *drawn = zip(*(layer.next() for _ in range(3)), strict=True)
    assert all(one is kept[0] for one in kept)
    values = np.concatenate([nd.to_host(one) for one in drawn[0]])
    assert len(set(values.tolist())) == 15
    assert ((values >= 1) & (values <= 2)).all()


def test_every_top_draws_its_own_numbers():
    first, second = dummy('shape { dim: 50 } data_filler { type: "gaussian" }').next()
    assert not np.intersect1d(nd.to_host(first), nd.to_host(second)).size


@every_row(
    ("settings", "shapes"),
    [
        ("num: 5 channels: 4 height: 3 width: 2", [(5, 4, 3, 2)] * 2),
        ("num: [5, 6] channels: 4 height: [3, 1] width: 2", [(5, 4, 3, 2), (6, 4, 1, 2)]),
    ],
)
def test_shapes_of_older_files(settings, shapes):
    assert dummy(settings).top_shapes() == shapes
    assert [tuple(top.shape) for top in dummy(settings).next()] == shapes


@every_row(
    ("settings", "said"),
    [
        ("", r"shape must be there 1 or 2 times, for 2 top\(s\), got 0"),
        ("shape { dim: 1 } shape { dim: 1 } shape { dim: 1 }", r"shape must be there 1 or 2 times, .* got 3"),
        ("num: 1", r"channels must be there 1 or 2 times, .* got 0"),
        ("num: [1, 2, 3] channels: 1 height: 1 width: 1", r"num must be there 1 or 2 times, .* got 3"),
        ("shape { dim: 1 } num: 1", r"shape must stand alone, got num, channels, height or width beside it"),
        ("shape { dim: 1 } " + "data_filler { } " * 3, r"data_filler must be there 0 or 1 or 2 times, .* got 3"),
        ('shape { dim: 1 } data_filler { type: "x" }', r"data_filler: the type of a filler must be one of .* got 'x'"),
    ],
)
def test_what_dummy_data_refuses(settings, said):
    with pytest.raises(nd.ConfigurationError, match=rf"^{LABEL}: {said}"):
        dummy(settings)


def test_a_top_without_elements_cannot_be_filled():
    with pytest.raises(nd.ConfigurationError, match=rf"^{LABEL}: top 0: a blob that is filled must have elements"):
        dummy("shape { dim: 0 }").next()


# ---- MemoryData

MEMORY = (
    'type: "MemoryData" top: "data" top: "label" memory_data_param { batch_size: 2 channels: 1 height: 2 width: 3 }'
)
DATA = np.arange(24, dtype="float32").reshape(4, 1, 2, 3)


def test_arrays_go_round(backend, dtype):
    layer = data_layer(MEMORY, dtype=dtype)
    assert layer.top_shapes() == [(2, 1, 2, 3), (2,)]
    layer.reset(DATA, np.array([3, 1, 4, 1]))
    for start in (0, 2, 0, 2):
        data, labels = layer.next()
        np.testing.assert_array_equal(nd.to_host(data), DATA[start : start + 2])
        assert nd.to_host(labels).tolist() == [3, 1, 4, 1][start : start + 2]
    layer.next()
    layer.reset(DATA[:2] + 100, np.array([7, 8]).reshape(2, 1, 1, 1))
    for _ in range(2):
        data, labels = layer.next()
        assert (nd.to_host(data).min(), nd.to_host(labels).tolist()) == (100, [7, 8])


@every_row(
    ("data", "labels", "error", "said"),
    [
        (DATA[:3], np.zeros(3), nd.ConfigurationError, r"the number of pictures must be .* batch_size, 2, got 3"),
        (DATA[:0], np.zeros(0), nd.ConfigurationError, r"the number of pictures must be .* batch_size, 2, got 0"),
        (DATA, np.zeros(3), nd.ShapeError, r"labels must be \[4\], one for each picture, got \[3\]"),
        (DATA, np.zeros((4, 2)), nd.ShapeError, r"labels must be \[4\], one for each picture, got \[4, 2\]"),
        (DATA[..., :2], np.zeros(4), nd.ShapeError, r"data must be \[N, 1, 2, 3\], got \[4, 1, 2, 2\]"),
        (DATA[0], np.zeros(1), nd.ShapeError, r"data must be \[N, 1, 2, 3\], got \[1, 2, 3\]"),
    ],
)  # fmt: skip
def test_arrays_that_do_not_fit(data, labels, error, said):
    with pytest.raises(error, match=rf"^{LABEL}: {said}"):
        data_layer(MEMORY).reset(data, labels)


def test_arrays_must_be_there():
    with pytest.raises(nd.ConfigurationError, match=rf"^{LABEL}: needs arrays before the net computes.* Call reset"):
        data_layer(MEMORY).next()


def test_memory_is_not_transformed():
    layer = data_layer(f"{MEMORY} transform_param {{ scale: 3 }}")
    with pytest.warns(UserWarning, match=rf"^{LABEL}: transform_param does nothing to arrays"):
        layer.reset(DATA, np.zeros(4))
    np.testing.assert_array_equal(nd.to_host(layer.next()[0]), DATA[:2])


@every_row("name", ["batch_size", "channels", "height", "width"])
def test_all_lengths_must_be_there(name):
    words = [word for word in ("batch_size: 2", "channels: 1", "height: 2", "width: 3") if not word.startswith(name)]
    text = f'type: "MemoryData" top: "data" top: "label" memory_data_param {{ {" ".join(words)} }}'
    refused(text, rf"{name} must be >= 1, got 0")
