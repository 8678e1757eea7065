"""PriorBox and DetectionOutput by hand."""

import math

import numpy as np
import pytest

import nd

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

from nn.caffe.layers.detection import BLOCK, overlaps
from tests.caffe_layers_at_work import LayerAtWork
from tests.cells import every_row

# ---- PriorBox


def test_one_place_by_hand():
    """A picture of 100 x 200, one place, so that the center is (100, 50); sizes 20 and sqrt(20 * 45) = 30."""
    work = LayerAtWork(
        "PriorBox", "prior_box_param { min_size: 20 max_size: 45 aspect_ratio: 4 }", (1, 3, 1, 1), (1, 3, 100, 200)
    )
    top = work.forward(np.zeros((1, 3, 1, 1)), np.zeros((1, 3, 100, 200)))
    expected = [
        [0.45, 0.4, 0.55, 0.6], [0.425, 0.35, 0.575, 0.65],  # the squares
        [0.4, 0.45, 0.6, 0.55], [0.475, 0.3, 0.525, 0.7],  # 40 x 10 and 10 x 40
    ]  # fmt: skip
    assert top.shape == (1, 2, 16)
    np.testing.assert_allclose(top[0, 0].reshape(4, 4), expected)
    np.testing.assert_allclose(top[0, 1], 0.1)
    assert work.backward(np.zeros((1, 2, 16))) == [None, None]


def test_how_many_boxes_ssd_has():
    """Of SSD300: 4 boxes around each of 38 x 38 places, 6 around 19 x 19."""
    four = "prior_box_param { min_size: 30 max_size: 60 aspect_ratio: 2 step: 8 }"
    six = "prior_box_param { min_size: 60 max_size: 111 aspect_ratio: 2 aspect_ratio: 3 step: 16 }"
    assert LayerAtWork("PriorBox", four, (1, 1, 38, 38), (1, 3, 300, 300)).tops == [(1, 2, 5776 * 4)]
    assert LayerAtWork("PriorBox", six, (1, 1, 19, 19), (1, 3, 300, 300)).tops == [(1, 2, 2166 * 4)]


def test_the_picture_may_change():
    work = LayerAtWork("PriorBox", "prior_box_param { min_size: 4 }", (1, 1, 1, 1), (1, 1, 8, 8))
    wider = work.forward(np.zeros((1, 1, 1, 2)), np.zeros((1, 1, 8, 16)))
    np.testing.assert_allclose(wider[0, 0], [0.125, 0.25, 0.375, 0.75, 0.625, 0.25, 0.875, 0.75])


@every_row(
    ("text", "said"),
    [
        ("", r"expected a min_size or more, all > 0, got \[\]"),
        ("min_size: 2 max_size: 2", "expected a larger max_size for each min_size"),
        ("min_size: 2 max_size: 3 max_size: 4", "expected a larger max_size for each min_size"),
        ("min_size: 2 variance: 1 variance: 2", "expected 1 or 4 variances > 0"),
        ("min_size: 2 step: 2 step_h: 2 step_w: 2", r"expected step, or step_h and step_w, > 0, got .* and step"),
        ("min_size: 2 img_h: 2", r"expected img_size, or img_h and img_w, > 0, got \(2, 0\)\."),
    ],
)  # fmt: skip
def test_settings_of_priors_that_are_refused(text, said):
    with pytest.raises(nd.ConfigurationError, match=rf"^layer 'it': {said}"):
        LayerAtWork("PriorBox", f"prior_box_param {{ {text} }}", (1, 1, 1, 1), (1, 1, 8, 8))


# ---- DetectionOutput

SQUARES = [[0.0, 0.0, 0.4, 0.4], [0.0, 0.0, 0.4, 0.5], [0.5, 0.5, 0.9, 0.9], [0.5, 0.5, 0.9, 1.0]]
"""The second overlaps the first by 0.8, the fourth the third too."""


def detected(text, confidences, boxes=SQUARES, moves=None, classes=2, variance=1.0):
    """Return the rows of DetectionOutput for pictures whose predictions are all zeros, or `moves`."""
    confidences = np.asarray(confidences, float)
    examples, count = len(confidences), len(boxes)
    moves = np.zeros((examples, 4 * count)) if moves is None else np.asarray(moves, float)
    priors = np.array([[np.ravel(boxes), [variance] * (4 * count)]])
    xs = moves, confidences.reshape(examples, -1), priors
    text = f"detection_output_param {{ num_classes: {classes} {text} }}"
    work = LayerAtWork("DetectionOutput", text, *(x.shape for x in xs), phase="TEST")
    top = work.forward(*xs, needs=(False,) * 3)
    assert top.shape[:2] == (1, 1)
    return top[0, 0].tolist()


def of_class_1(confidences):
    return [[[0.0, confidence] for confidence in confidences]]


def test_boxes_on_surer_ones_are_left_out():
    rows = detected("nms_param { nms_threshold: 0.5 }", of_class_1([0.5, 0.75, 0.25, 0.125]))
    assert rows == [[0, 1, 0.75, *SQUARES[1]], [0, 1, 0.25, *SQUARES[2]]]


def test_boxes_that_overlap_less_stay():
    rows = detected("nms_param { nms_threshold: 0.85 }", of_class_1([0.5, 0.75, 0.25, 0.125]))
    assert [row[2] for row in rows] == [0.75, 0.5, 0.25, 0.125]


def test_the_threshold_falls_by_eta():
    """Behind the first box kept it is 0.85 * 0.9 = 0.765, less than the overlap."""
    rows = detected("nms_param { nms_threshold: 0.85 eta: 0.9 }", of_class_1([0.5, 0.75, 0.25, 0.125]))
    assert [row[2] for row in rows] == [0.75, 0.25]


def test_the_surest_of_a_class_and_of_all():
    confidences = [[[0.0, 0.5, 0.125], [0.0, 0.25, 0.75], [0.0, 0.375, 0.0], [0.0, 0.0, 1.0]]]
    all_of_them = "confidence_threshold: 0.1 nms_param { nms_threshold: 1 "
    rows = detected(f"{all_of_them} }}", confidences, classes=3)
    assert [row[1:3] for row in rows] == [[1, 0.5], [1, 0.375], [1, 0.25], [2, 1.0], [2, 0.75], [2, 0.125]]
    rows = detected(f"{all_of_them} top_k: 2 }}", confidences, classes=3)
    assert [row[1:3] for row in rows] == [[1, 0.5], [1, 0.375], [2, 1.0], [2, 0.75]]
    rows = detected(f"{all_of_them} }} keep_top_k: 3", confidences, classes=3)
    assert [row[1:3] for row in rows] == [[1, 0.5], [2, 1.0], [2, 0.75]]
    rows = detected(f"{all_of_them} }} background_label_id: 2", confidences, classes=3)
    assert [row[1] for row in rows] == [1, 1, 1]


def test_pictures_are_told_apart():
    rows = detected("confidence_threshold: 0.5", [*of_class_1([1, 0, 0, 0]), *of_class_1([0, 0, 0, 0.75])])
    assert rows == [[0, 1, 1.0, *SQUARES[0]], [1, 1, 0.75, *SQUARES[3]]]


def test_nothing_found_is_a_row_for_each_picture():
    rows = detected("confidence_threshold: 0.5", [*of_class_1([0] * 4), *of_class_1([0] * 4)])
    assert rows == [[0, *[-1] * 6], [1, *[-1] * 6]]


MOVE = [0.5, -0.25, 0.25, 0.5]
PRIOR = [0.25, 0.25, 0.75, 0.5]  # 1/2 wide and 1/4 high, around (1/2, 3/8)


@every_row(
    ("text", "variance", "box"),
    [
        ("code_type: CORNER", 0.5, [0.5, 0.125, 0.875, 0.75]),
        ("code_type: CORNER variance_encoded_in_target: true", 0.5, [0.75, 0.0, 1.0, 1.0]),
        ("code_type: CORNER_SIZE", 0.5, [0.375, 0.21875, 0.8125, 0.5625]),
        (
            "code_type: CENTER_SIZE",
            0.5,
            [
                0.625 - 0.25 * math.exp(0.125), 0.34375 - 0.125 * math.exp(0.25),
                0.625 + 0.25 * math.exp(0.125), 0.34375 + 0.125 * math.exp(0.25),
            ],
        ),
    ],
)  # fmt: skip
def test_boxes_are_decoded(text, variance, box):
    ((*_, x1, y1, x2, y2),) = detected(text, of_class_1([1.0]), [PRIOR], [MOVE], variance=variance)
    np.testing.assert_allclose([x1, y1, x2, y2], box, rtol=1e-12)


def test_every_class_may_have_boxes_of_its_own():
    moves = [[9.0, 9.0, 9.0, 9.0, 0.25, 0.0, 0.25, 0.0]]
    rows = detected("share_location: false", of_class_1([1.0]), [PRIOR], moves)
    assert rows == [[0, 1, 1.0, 0.5, 0.25, 1.0, 0.5]]


@every_row(
    ("first", "second", "expected"),
    [
        ([0, 0, 2, 2], [1, 1, 3, 3], 1 / 7),
        ([0, 0, 2, 2], [0, 0, 2, 2], 1.0),
        ([0, 0, 1, 1], [1, 0, 2, 1], 0.0),
        ([0, 0, 1, 1], [2, 2, 3, 3], 0.0),
        ([1, 1, 0, 0], [0, 0, 1, 1], 0.0),
    ],
)
def test_overlaps(first, second, expected):
    boxes = nd.create([[7.0, 7.0, 8.0, 8.0], second], "float64")
    assert overlaps(nd.create([first], "float64"), boxes).tolist() == [[0.0, pytest.approx(expected)]]


def iou(first, second):
    width, height = (min(first[2 + at], second[2 + at]) - max(first[at], second[at]) for at in (0, 1))
    common = max(width, 0) * max(height, 0)
    areas = ((box[2] - box[0]) * (box[3] - box[1]) for box in (first, second))
    return common / (sum(areas) - common)


def test_more_boxes_than_are_compared_in_one_go():
    """Box by box, as the definition has it, with a threshold that falls."""
    rng = np.random.default_rng(6)
    corners = rng.uniform(0.0, 0.8, (2 * BLOCK + 50, 2))
    boxes = np.concatenate([corners, corners + rng.uniform(0.1, 0.2, corners.shape)], 1)
    confidences = rng.permutation(len(boxes)) / len(boxes)
    kept, limit = [], 0.52
    for number in np.argsort(-confidences):
        if all(iou(boxes[number], boxes[other]) <= limit for other in kept):
            kept.append(number)
            limit *= 0.9 if limit > 0.5 else 1.0
    rows = detected("nms_param { nms_threshold: 0.52 eta: 0.9 }", of_class_1(confidences), boxes)
    assert 100 < len(kept) < len(boxes)
    np.testing.assert_allclose([row[2] for row in rows], confidences[kept])


@every_row(
    ("text", "said"),
    [
        ("", "num_classes must be >= 1, got 0"),
        ("num_classes: 2 nms_param { nms_threshold: -1 }", "nms_threshold must be >= 0"),
        ("num_classes: 2 nms_param { eta: 0 }", r"eta in 0\.\.1, got 0\.3 and 0"),
    ],
)
def test_settings_that_are_refused(text, said):
    with pytest.raises(nd.ConfigurationError, match=rf"^layer 'it': .*{said}"):
        LayerAtWork("DetectionOutput", f"detection_output_param {{ {text} }}", (1, 8), (1, 4), (1, 2, 8))


def test_bottoms_that_do_not_fit_are_refused():
    with pytest.raises(nd.ShapeError, match=r"must be \[N, 8\] and \[N, 4\], got \[1, 8\] and \[1, 6\]"):
        LayerAtWork("DetectionOutput", "detection_output_param { num_classes: 2 }", (1, 8), (1, 6), (1, 2, 8))
    with pytest.raises(nd.DataError, match=r"^layer 'it': every prior must have a width and a height above 0"):
        detected("code_type: CENTER_SIZE", of_class_1([1.0]), [[0.5, 0.5, 0.5, 0.75]])
