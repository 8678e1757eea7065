"""Initial values of parameters, by their moments, by hand, and by what Caffe refuses."""

import math

import numpy as np
import pytest

import nd
from nd.random import Random
from nn.caffe import parse_text
from nn.caffe.fillers import FILLERS, fill_blob
from tests.cells import every_row


def filled(text, shape, dtype="float32", seed=7):
    blob = nd.full(shape, value=-99.0, dtype=dtype)
    fill_blob(blob, parse_text(text, "FillerParameter"), Random(seed), "layer 2 'ip': blob 0")
    return nd.to_host(blob)


def moments(values):
    """Mean, standard deviation and kurtosis, of which the last tells a normal distribution (3) from a uniform (1.8)."""
    centred = values.astype("float64") - values.mean(dtype="float64")
    variance = np.mean(centred**2)
    return values.mean(dtype="float64"), math.sqrt(variance), np.mean(centred**4) / variance**2


def test_constants(backend, dtype):
    assert filled('type: "constant" value: 0.5', (2, 3), dtype).tolist() == [[0.5] * 3] * 2
    assert filled("", (2,), dtype).tolist() == [0, 0]
    blob = nd.full((2,), value=9.0, dtype=dtype)
    fill_blob(blob, None, Random(1), "layer")
    assert nd.to_host(blob).tolist() == [0, 0]


NORMAL, UNIFORM = 3.0, 1.8
FANS = (50, 40, 5, 5)  # fan_in 1000, fan_out 1250
ROWS = [  # filler, mean, standard deviation, kurtosis
    ('type: "uniform"', 0.5, math.sqrt(1 / 12), UNIFORM),
    ('type: "uniform" min: -2 max: 4', 1.0, 6 / math.sqrt(12), UNIFORM),
    ('type: "gaussian"', 0.0, 1.0, NORMAL),
    ('type: "gaussian" mean: -3 std: 0.1', -3.0, 0.1, NORMAL),
    ('type: "xavier"', 0.0, math.sqrt(1 / 1000), UNIFORM),
    ('type: "xavier" variance_norm: FAN_OUT', 0.0, math.sqrt(1 / 1250), UNIFORM),
    ('type: "xavier" variance_norm: AVERAGE', 0.0, math.sqrt(1 / 1125), UNIFORM),
    ('type: "msra"', 0.0, math.sqrt(2 / 1000), NORMAL),
    ('type: "msra" variance_norm: FAN_OUT', 0.0, math.sqrt(2 / 1250), NORMAL),
    ('type: "msra" variance_norm: AVERAGE', 0.0, math.sqrt(2 / 1125), NORMAL),
]


@every_row(("text", "mean", "std", "kurtosis"), ROWS)
def test_moments(text, mean, std, kurtosis):
    """50,000 numbers: five standard errors."""
    values = filled(text, FANS)
    got = moments(values)
    assert abs(got[0] - mean) < 5 * std / math.sqrt(values.size)
    assert got[1] == pytest.approx(std, rel=5 / math.sqrt(2 * values.size))
    assert got[2] == pytest.approx(kurtosis, abs=5 * math.sqrt(24 / values.size))


def test_bounds():
    """Uniform numbers fill their interval, and do not leave it."""
    bound = math.sqrt(3 / 1000)
    values = filled('type: "xavier"', FANS)
    assert bound * 0.999 < values.max() <= bound
    assert -bound <= values.min() < -bound * 0.999


def test_a_bias_has_as_many_connections_out_as_elements():
    """Of one axis: fan_in is 1, fan_out the count."""
    assert np.abs(filled('type: "xavier"', (10_000,))).max() == pytest.approx(math.sqrt(3), rel=1e-3)
    assert np.abs(filled('type: "xavier" variance_norm: FAN_OUT', (10_000,))).max() == pytest.approx(
        math.sqrt(3 / 10_000), rel=1e-3
    )


def test_sparse_gaussians():
    """Every number stays with probability sparse / rows; those that stay are normal."""
    values = filled('type: "gaussian" std: 2 sparse: 5', (20, 1000))
    share = np.count_nonzero(values) / values.size
    assert share == pytest.approx(5 / 20, abs=5 * math.sqrt(0.25 * 0.75 / values.size))
    assert moments(values[values != 0])[1] == pytest.approx(2.0, rel=5 / math.sqrt(2 * 5000))
    assert not filled('type: "gaussian" sparse: 0', (3, 4)).any()
    assert np.count_nonzero(filled('type: "gaussian" sparse: 3', (3, 4))) == 12


def test_unit_balls(backend, dtype):
    values = filled('type: "positive_unitball"', (4, 3, 50), dtype)
    np.testing.assert_allclose(values.sum((1, 2), dtype="float64"), 1.0, rtol=1e-5)
    assert values.min() >= 0
    ratios = values.reshape(4, -1).max(1) * 150 / 2  # the largest of 150 uniform numbers over their sum, which is 75
    np.testing.assert_allclose(ratios, 1.0, atol=0.2)


@every_row(
    ("size", "tent"),
    [
        (1, [1.0]),
        (2, [0.5, 0.5]),
        (3, [0.5, 1.0, 0.5]),
        (4, [0.25, 0.75, 0.75, 0.25]),
        (5, [1 / 3, 2 / 3, 1, 2 / 3, 1 / 3]),
    ],
)
def test_bilinear_by_hand(size, tent):
    """The weights of linear interpolation between the two nearest places, in each direction."""
    values = filled('type: "bilinear"', (2, 3, size, size))
    np.testing.assert_allclose(values, np.broadcast_to(np.outer(tent, tent), values.shape), rtol=1e-6)


def test_bilinear_on_every_backend(backend, dtype):
    assert filled('type: "bilinear"', (1, 1, 2, 2), dtype).tolist() == [[[[0.25, 0.25], [0.25, 0.25]]]]


def test_every_backend_draws_the_same(backend, dtype):
    """Bit for bit, but for sums, whose order is a backend's own."""
    for text in [row[0] for row in ROWS] + ['type: "gaussian" sparse: 2']:
        with nd.use_backend("numpy"):
            expected = filled(text, (6, 5, 3, 2), dtype)
        np.testing.assert_array_equal(filled(text, (6, 5, 3, 2), dtype), expected, err_msg=text)
    with nd.use_backend("numpy"):
        expected = filled('type: "positive_unitball"', (6, 5, 3, 2), dtype)
    np.testing.assert_allclose(filled('type: "positive_unitball"', (6, 5, 3, 2), dtype), expected, rtol=1e-6)


def test_draws_go_on():
    """A generator moves on by as many numbers as were drawn: the next blob gets other ones."""
    rng, blobs = Random(3), [nd.zeros(4, 4) for _ in range(2)]
    for blob in blobs:
        fill_blob(blob, parse_text('type: "gaussian"', "FillerParameter"), rng, "layer")
    assert not np.intersect1d(nd.to_host(blobs[0]), nd.to_host(blobs[1])).size
    assert (filled('type: "gaussian"', (4, 4), seed=3) == nd.to_host(blobs[0])).all()


@every_row(
    ("text", "shape", "said"),
    [
        (
            'type: "xaver"',
            (2, 3),
            r"the type of a filler must be one of bilinear, .*, got 'xaver'. Did you mean 'xavier'",
        ),
        ('type: "constant"', (2, 0), r"a blob that is filled must have elements, got \[2, 0\]"),
        ('type: "xavier"', (0,), r"a blob that is filled must have elements, got \[0\]"),
        ('type: "xavier" sparse: 3', (2, 3), r"sparse is for gaussian fillers, got 3 for one of type 'xavier'"),
        ('type: "constant" sparse: 0', (2, 3), r"sparse is for gaussian fillers, got 0 for one of type 'constant'"),
        ('type: "gaussian" sparse: -2', (2, 3), r"sparse must be 0 to 2, .* \[2, 3\], got -2"),
        ('type: "gaussian" sparse: 3', (2, 3), r"sparse must be 0 to 2, .* \[2, 3\], got 3"),
        ('type: "gaussian" sparse: 1', (), r"a filler that counts rows needs a blob with axes, got \[\]"),
        ('type: "xavier"', (), r"a filler that counts rows needs a blob with axes, got \[\]"),
        ('type: "gaussian" std: 0', (2, 3), r"std of a gaussian filler must be > 0, got 0\.0"),
        ('type: "gaussian" std: nan', (2, 3), r"std of a gaussian filler must be > 0, got nan"),
        ('type: "uniform" min: 2', (2, 3), r"min of a uniform filler must be <= max, got 2\.0 and 1\.0"),
        ('type: "bilinear"', (2, 3, 3), r"a bilinear filler is for blobs \[N, C, K, K\], got \[2, 3, 3\]"),
        ('type: "bilinear"', (2, 3, 3, 4), r"a bilinear filler is for blobs \[N, C, K, K\], got \[2, 3, 3, 4\]"),
    ],
)
def test_what_caffe_refuses(text, shape, said):
    with pytest.raises(nd.ConfigurationError, match=rf"^layer 2 'ip': blob 0: {said}"):
        filled(text, shape)


def test_the_table_is_sorted_and_whole():
    assert list(FILLERS) == sorted(FILLERS)
    assert set(FILLERS) == {"bilinear", "constant", "gaussian", "msra", "positive_unitball", "uniform", "xavier"}
