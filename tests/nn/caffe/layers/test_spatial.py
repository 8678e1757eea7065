"""Crop, Permute, Upsample, Interp and ROIPooling by hand; Softmax of large numbers, Embed of numbers without a row."""

import numpy as np
import pytest

import nd

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

from tests.caffe_layers_at_work import LayerAtWork
from tests.cells import every_row

# ---- Interp


def test_two_places_become_four():
    work = LayerAtWork("Interp", "interp_param { height: 2 width: 4 }", (1, 1, 2, 2))
    np.testing.assert_allclose(
        work.forward([[[[0.0, 3.0], [6.0, 12.0]]]]), [[[[0.0, 1.0, 2.0, 3.0], [6.0, 8.0, 10.0, 12.0]]]]
    )
    (below,) = work.backward([[[[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 3.0]]]])
    np.testing.assert_allclose(below, [[[[2.0, 2.0], [0.0, 3.0]]]])


@every_row(
    ("text", "size"),
    [
        ("zoom_factor: 8", (33, 41)),
        ("shrink_factor: 2", (3, 3)),
        ("shrink_factor: 2 zoom_factor: 3", (7, 7)),
        ("height: 9 width: 4", (9, 4)),
        ("pad_beg: -1 pad_end: -2 zoom_factor: 2", (3, 5)),
    ],
)
def test_sizes_of_deeplab(text, size):
    assert LayerAtWork("Interp", f"interp_param {{ {text} }}", (2, 3, 5, 6)).tops == [(2, 3, *size)]


# ---- ROIPooling


def test_a_region_by_hand():
    """Rows 1..3 and columns 0..3 of the picture, in 2 x 2 parts: rows 1..2 and 2..3, columns 0..1 and 2..3."""
    picture = np.arange(20.0).reshape(1, 1, 4, 5)
    work = LayerAtWork(
        "ROIPooling", "roi_pooling_param { pooled_h: 2 pooled_w: 2 spatial_scale: 0.5 }", (1, 1, 4, 5), (1, 5)
    )
    top = work.forward(picture, [[0, 0, 2, 6, 6]])
    assert top.tolist() == [[[[11.0, 13.0], [16.0, 18.0]]]]
    below, none = work.backward([[[[1.0, 2.0], [3.0, 4.0]]]])
    assert none is None
    assert np.flatnonzero(below).tolist() == [11, 13, 16, 18]
    assert below[0, 0, 3, 3] == 4.0


def test_the_first_of_equals_wins_and_regions_add_up():
    work = LayerAtWork("ROIPooling", "roi_pooling_param { pooled_h: 1 pooled_w: 1 }", (1, 1, 2, 2), (2, 5))
    work.forward(np.ones((1, 1, 2, 2)), [[0, 0, 0, 1, 1], [0, 0, 0, 0, 1]])
    below, _ = work.backward([[[[1.0]]], [[[2.0]]]])
    assert below.tolist() == [[[[3.0, 0.0], [0.0, 0.0]]]]


def test_a_region_of_a_picture_that_is_not_there_is_refused():
    work = LayerAtWork("ROIPooling", "roi_pooling_param { pooled_h: 1 pooled_w: 1 }", (1, 1, 2, 2), (1, 5))
    with pytest.raises(nd.DataError, match=r"region 0 must be of a picture 0\.\.0 of 'b0', got 1\."):
        work.forward(np.ones((1, 1, 2, 2)), [[1, 0, 0, 1, 1]])


# ---- others


def test_unpooling_puts_maxima_back():
    work = LayerAtWork("Upsample", "upsample_param { scale: 2 }", (1, 1, 1, 2), (1, 1, 1, 2))
    assert work.forward([[[[5.0, 6.0]]]], [[[[4.0, 3.0]]]]).tolist() == [[[[0, 0, 0, 6.0], [5.0, 0, 0, 0]]]]
    below, none = work.backward([[[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]])
    assert (below.tolist(), none) == ([[[[5.0, 4.0]]]], None)


@every_row("place", [8.0, -1.0, float("nan")])
def test_a_mask_beyond_its_plane_is_refused(place):
    work = LayerAtWork("Upsample", "", (1, 2, 1, 2), (1, 2, 1, 2))
    with pytest.raises(nd.DataError, match=r"an index must be"):
        work.forward(np.ones((1, 2, 1, 2)), [[[[place, 3.0]], [[0.0, 1.0]]]])


def test_softmax_of_large_numbers():
    work = LayerAtWork("Softmax", "", (1, 2))
    np.testing.assert_allclose(work.forward([[1e4, 1e4]]), [[0.5, 0.5]])


@every_row("number", [5.0, -1.0, float("nan"), 1e30])
def test_a_number_that_names_no_row_is_refused(number):
    work = LayerAtWork("Embed", "embed_param { num_output: 2 input_dim: 5 }", (1,))
    with pytest.raises(nd.DataError, match=r"an index must be the number of a row"):
        work.forward([number])


def test_embed_refuses_a_gradient_for_its_numbers():
    work = LayerAtWork("Embed", "embed_param { num_output: 2 input_dim: 5 }", (1,))
    work.forward([1.0])
    with pytest.raises(nd.ConfigurationError, match=r"^layer 'it': nothing below bottom 0 'b0' can be trained: Embed"):
        work.backward([[1.0, 1.0]])


SETTING, SHAPE = nd.ConfigurationError, nd.ShapeError


@every_row(
    ("kind", "text", "shapes", "error", "said"),
    [
        ("Crop", "crop_param { offset: 1 offset: 1 offset: 1 }", ((1, 1, 3, 3),) * 2, SETTING, "one offset or"),
        ("Crop", "crop_param { offset: 1 }", ((1, 1, 3, 3), (1, 1, 3, 2)), SHAPE, "offset 1 and length 3 at axis 2"),
        ("Crop", "", ((1, 1, 3, 3), (1, 1, 3)), SHAPE, "as many axes"),
        ("Permute", "permute_param { order: 1 order: 1 }", ((1, 2),), SETTING, r"once in order, got \[1, 1\]"),
        ("Permute", "permute_param { order: 2 }", ((1, 2),), SHAPE, "order must be an axis"),
        ("ShuffleChannel", "shuffle_channel_param { group: 0 }", ((1, 2),), SETTING, "group must be >= 1"),
        ("ShuffleChannel", "shuffle_channel_param { group: 2 }", ((1, 3),), SHAPE, "2 groups divide"),
        ("Upsample", "upsample_param { scale: 0 }", ((1, 1, 1, 1),), SETTING, "must be >= 1"),
        ("Upsample", "upsample_param { upsample_h: 2 upsample_w: 2 }", ((1, 1, 1, 1),), SETTING, "need a mask"),
        ("Upsample", "", ((1, 1),), SHAPE, r"expected a bottom \[N, C, H, W\]"),
        ("Interp", "", ((1, 1, 2, 2),), SETTING, "expected a factor, or height and width, got none"),
        ("Interp", "interp_param { pad_beg: 1 }", ((1, 1, 2, 2),), SETTING, "must be <= 0, got 1 and 0"),
        ("Interp", "interp_param { zoom_factor: 0 }", ((1, 1, 2, 2),), SETTING, "must be >= 1, got 1 and 0"),
        ("Interp", "interp_param { pad_beg: -2 zoom_factor: 1 }", ((1, 1, 2, 2),), SHAPE, "must have places"),
        ("ROIPooling", "", ((1, 1, 2, 2), (1, 5)), SETTING, "pooled_h and pooled_w must be >= 1"),
        ("ROIPooling", "roi_pooling_param { pooled_h: 1 pooled_w: 1 }", ((1, 1, 2, 2), (1, 4)), SHAPE, r"\[R, 5\]"),
        ("Softmax", "softmax_param { axis: 2 }", ((1, 2),), SHAPE, "axis must be an axis"),
        ("Embed", "embed_param { num_output: 2 }", ((1,),), SETTING, "must be >= 1, got 2 and 0"),
        ("Scale", "scale_param { num_axes: 3 }", ((1, 2, 3),), SHAPE, "axis 1 and num_axes 3 must lie"),
        ("Scale", "scale_param { num_axes: -2 }", ((1, 2, 3),), SETTING, "num_axes must be -1 or more"),
        ("Bias", "", ((1, 2, 3), (3,)), SHAPE, r"from axis 1 on the bottom must have the shape \[3\]"),
        ("Axpy", "", ((1, 2), (1, 3), (1, 3)), SHAPE, r"got \[1, 2\], \[1, 3\], \[1, 3\]"),
    ],
)  # fmt: skip
def test_settings_and_shapes_that_are_refused(kind, text, shapes, error, said):
    with pytest.raises(error, match=rf"^layer 'it': .*{said}"):
        LayerAtWork(kind, text, *shapes)
