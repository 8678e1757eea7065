"""LRN, BatchNorm, MVN, Normalize by hand: running statistics over several passes, errors, quirks."""

import numpy as np
import pytest

import nd

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

from tests.caffe_layers_at_work import LayerAtWork
from tests.cells import every_row


def blobs(work):
    return [float(nd.to_host(work.params[name])[0]) for name in ("mean", "variance", "factor")]


def test_running_statistics_over_three_passes():
    """f = 1/2; minibatches (1, 3): mean 2, variance 1, times 2/1; (0, 4): 2 and 4 * 2; (5, 5): 5 and 0."""
    work = LayerAtWork("BatchNorm", "batch_norm_param { moving_average_fraction: 0.5 eps: 0 }", (2, 1))
    np.testing.assert_allclose(work.forward([[1.0], [3.0]]), [[-1.0], [1.0]])
    assert blobs(work) == [2.0, 2.0, 1.0]
    work.forward([[0.0], [4.0]])
    assert blobs(work) == [3.0, 9.0, 1.5]
    work.layer.settings.eps = 1.0
    work.forward([[5.0], [5.0]])
    assert blobs(work) == [6.5, 4.5, 1.75]


def test_statistics_are_kept_of_a_single_element_too():
    work = LayerAtWork("BatchNorm", "batch_norm_param { moving_average_fraction: 0.5 }", (1, 1))
    assert work.forward([[7.0]]) == [[0.0]]
    assert blobs(work) == [7.0, 0.0, 1.0]


def test_what_training_stored_is_what_testing_takes():
    train = LayerAtWork("BatchNorm", "batch_norm_param { eps: 0 }", (4, 2))
    test = LayerAtWork("BatchNorm", "batch_norm_param { eps: 0 }", (4, 2), phase="TEST")
    x = np.random.default_rng(2).normal(3.0, 2.0, (4, 2))
    train.forward(x)
    for name, blob in test.params.items():
        nd.assign(blob, train.params[name])
    before = blobs(test)
    np.testing.assert_allclose(test.forward(x), (x - x.mean(0)) / x.std(0, ddof=1), rtol=1e-6)
    assert blobs(test) == before


def test_a_larger_minibatch_of_another_size_of_pictures():
    work = LayerAtWork("BatchNorm", "batch_norm_param { eps: 0 }", (2, 1, 2, 2))
    for shape in ((2, 1, 2, 2), (5, 1, 3, 4), (1, 1, 2, 1)):
        y = work.forward(np.random.default_rng(3).normal(0.0, 1.0, shape))
        assert y.shape == shape
        np.testing.assert_allclose((y.mean(), y.var()), (0.0, 1.0), atol=1e-12)


def test_whether_a_batch_norm_splits():
    for text, phase, splits in (
        ("", "TRAIN", False),
        ("", "TEST", True),
        ("batch_norm_param { use_global_stats: true }", "TRAIN", True),
        ("batch_norm_param { use_global_stats: false }", "TEST", False),
    ):
        assert LayerAtWork("BatchNorm", text, (2, 3), phase=phase).layer.may_split(phase == "TRAIN") is splits


def test_constant_rows_of_mvn_become_zeros():
    work = LayerAtWork("MVN", "", (1, 2, 1, 2))
    np.testing.assert_allclose(work.forward([[[[3.0, 3.0]], [[1.0, 3.0]]]]), [[[[0.0, 0.0]], [[-1.0, 1.0]]]], atol=1e-8)


def test_normalize_by_hand():
    work = LayerAtWork("Normalize", "norm_param { across_spatial: false channel_shared: false eps: 0 }", (1, 2, 1, 2))
    nd.assign(work.params["scale"], nd.create([10.0, 20.0]))
    y = work.forward([[[[3.0, 0.0]], [[4.0, 2.0]]]])
    np.testing.assert_allclose(y, [[[[6.0, 0.0]], [[16.0, 20.0]]]])


@every_row(
    ("kind", "text", "shape", "error", "said"),
    [
        ("LRN", "lrn_param { local_size: 4 }", (1, 2, 3, 3), nd.ConfigurationError, "local_size must be odd, got 4"),
        ("LRN", "lrn_param { k: 0 }", (1, 2, 3, 3), nd.ConfigurationError, "k must be > 0"),
        ("LRN", "lrn_param { alpha: -1 }", (1, 2, 3, 3), nd.ConfigurationError, r"alpha >= 0.*got 1, -1 and 0\.75"),
        ("LRN", "", (2, 3), nd.ShapeError, r"expected a bottom \[N, C, H, W\]"),
        ("BatchNorm", 'param { name: "m" }', (2, 3), nd.ConfigurationError, "lr_mult must be 0, got 1 in param 0"),
        ("Normalize", "", (3,), nd.ShapeError, r"expected a bottom \[N, C, \.\.\.\]"),
    ],
)
def test_settings_and_shapes_that_are_refused(kind, text, shape, error, said):
    with pytest.raises(error, match=rf"^layer 'it': .*{said}"):
        LayerAtWork(kind, text, shape)


def test_another_number_of_channels_is_refused():
    work = LayerAtWork("BatchNorm", "", (2, 3))
    with pytest.raises(nd.ShapeError, match=r"^layer 'it': expected a bottom \[N, 3, \.\.\.\], got \[2, 4\]"):
        work.forward(np.zeros((2, 4)))
