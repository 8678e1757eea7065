"""Yolo2OutputLayer: Java's numbers, its files, labels by hand, and the objects that are found."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nd
import nn
from nd.dataset import DataSet, box_labels
from nn import (
    ComputationGraph,
    ConvolutionLayer,
    DetectedObject,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    Yolo2OutputLayer,
    YoloUtils,
)
from nn.layers.objdetect.boxes_json import boxes_from_json
from optimize import Adam
from tests.nn.layers.test_every_layer import check_derivative

NEAR = {"rtol": 1e-9, "atol": 1e-12}
CASES = ("default", "mcxent", "nhwc", "single")
PRIORS = [[1.0, 1.0], [2.0, 0.5]]
RNG = np.random.default_rng(30)


@pytest.fixture(scope="module")
def java():
    """What Deeplearning4j 1.0.0-M1.1 computed in double precision."""
    with np.load(Path(__file__).parents[2] / "cases" / "java_yolo.npz") as found:
        return dict(found)


def text(java, name):
    return json.loads(java[name].tobytes())


def network_of(java, case):
    net = MultiLayerNetwork(MultiLayerConfiguration.from_json(java[f"{case}/conf"].tobytes().decode())).init()
    net.set_params(java[f"{case}/params0"])
    return net, java[f"{case}/x"], java[f"{case}/y"]


def of_objects(found):
    return [
        [o.example_number, o.center_x, o.center_y, o.width, o.height, o.confidence, o.predicted_class] for o in found
    ]


# ---- Java's numbers


@pytest.mark.parametrize("case", CASES)
@pytest.mark.quick_rows(2)
def test_javas_score_gradient_and_training(case, java, backend):
    net, x, y = network_of(java, case)
    numbers = text(java, f"{case}/numbers")
    data = DataSet(x, y)
    np.testing.assert_allclose(net.score(data), numbers["score"], **NEAR)
    net.set_input(x)
    net.set_labels(y)
    net.compute_gradient_and_score()
    gradient = nd.to_host(net.gradient().gradient()).ravel()
    np.testing.assert_allclose(gradient, java[f"{case}/gradient"].ravel(), **NEAR)
    scores = []
    for _ in range(3):
        net.fit(data)
        scores.append(net.score())
    np.testing.assert_allclose(scores, numbers["fits"], **NEAR)
    np.testing.assert_allclose(nd.to_host(net.params()).ravel(), java[f"{case}/params3"].ravel(), **NEAR)
    if "objects" in numbers:
        found = net.get_output_layer().get_predicted_objects(net.output(x), 0.45)
        np.testing.assert_allclose(of_objects(found), numbers["objects"], **NEAR)
        anywhere = [replace(each, example_number=0) for each in found]
        YoloUtils.nms(anywhere, 0.3)  # Java looks at all examples as at one
        np.testing.assert_allclose(
            np.array(of_objects(anywhere))[:, 1:], np.array(numbers["objects_nms"])[:, 1:], **NEAR
        )


def test_javas_output_and_matrices(java):
    net, x, _ = network_of(java, "single")
    np.testing.assert_allclose(net.output(x), java["single/out"], **NEAR)
    raw = net.feed_forward(x)[1]
    np.testing.assert_allclose(YoloUtils.activate([[1.25, 2.0]], raw), java["single/out"], **NEAR)
    net.set_params(java["single/params3"])
    layer, out = net.get_output_layer(), net.output(x)
    np.testing.assert_allclose(layer.get_confidence_matrix(out, 1, 0), java["single/confidence"], **NEAR)
    np.testing.assert_allclose(layer.get_probability_matrix(out, 1, 2), java["single/probability"], **NEAR)


def test_scores_of_examples_sum_to_the_score_where_javas_weigh_twice(java):
    """Java multiplies the confidence of boxes without an object by lambda_no_obj twice there: with 1 it is right."""
    net, x, y = network_of(java, "single")
    data = DataSet(x, y)
    scores = nd.to_host(net.score_examples(data, False)).ravel()
    np.testing.assert_allclose(scores.mean(), net.score(data), **NEAR)
    layer = replace(net.conf.layers[1], lambda_no_obj=0.25)
    again = MultiLayerNetwork(replace(net.conf, layers=[net.conf.layers[0], layer])).init()
    again.set_params(java["single/params0"])
    np.testing.assert_allclose(
        nd.to_host(again.score_examples(data, False)).ravel(), java["single/examples"].ravel(), **NEAR
    )


# ---- files


@pytest.mark.parametrize("case", ["nhwc", "single"])
def test_a_zip_of_javas(case, java, tmp_path):
    (tmp_path / "java.zip").write_bytes(java[f"{case}/model"].tobytes())
    net = MultiLayerNetwork.load(tmp_path / "java.zip")
    np.testing.assert_array_equal(nd.to_host(net.params()).ravel(), java[f"{case}/params3"].ravel())
    net.save(tmp_path / "ours.zip")
    again = nn.load(tmp_path / "ours.zip")
    x = java[f"{case}/x"]
    np.testing.assert_array_equal(nd.to_host(again.output(x)), nd.to_host(net.output(x)))
    assert again.conf.layers == net.conf.layers


@pytest.mark.parametrize("case", CASES)
def test_the_json_is_javas(case, java):
    text_of_java = java[f"{case}/conf"].tobytes().decode()
    ours = json.loads(MultiLayerConfiguration.from_json(text_of_java).to_json())["confs"][1]["layer"]
    theirs = json.loads(text_of_java)["confs"][1]["layer"]
    assert ours["boundingBoxes"].pop("dataType") == ("DOUBLE" if case in ("default", "nhwc") else "FLOAT")
    theirs["boundingBoxes"].pop("dataType")
    assert ours == theirs


def test_boxes_of_old_files():
    """Fields of BaseNDArray, that releases of 0.9 wrote: the strides say where an element lies."""
    old = {
        "dataBuffer": [9.0, 1.0, 2.0, 3.0, 1.5, 2.5, 3.5], "rankField": 2, "numElements": 7, "offsetField": 1,
        "shapeField": [3, 2], "strideField": [1, 3], "orderingField": "f",
    }  # fmt: skip
    assert boxes_from_json(old) == ((1.0, 1.5), (2.0, 2.5), (3.0, 3.5))
    assert boxes_from_json([[1, 2], [3, 4.5]]) == ((1.0, 2.0), (3.0, 4.5))
    with pytest.raises(nd.FormatError, match=r"boundingBoxes must have a dataBuffer, shapeField and strideField"):
        boxes_from_json({**old, "strideField": [7, 7]})
    with pytest.raises(nd.FormatError, match=r"boundingBoxes must be an array \[B, 2\]"):
        boxes_from_json([1.0, 2.0])


# ---- the loss by hand, and its derivative


def make_network(channels=14, **settings):
    conf = NeuralNetConfiguration(seed=1, dtype="float64", updater=Adam(0.05)).list(
        ConvolutionLayer(n_out=channels, kernel_size=1, activation="identity"),
        Yolo2OutputLayer(PRIORS, **settings),
        input_type=InputType.convolutional(3, 4, 3),
    )
    return MultiLayerNetwork(conf).init()


LABELS = box_labels([[[0.25, 0.5, 2.0, 2.75]], []], [[1], []], 2, (3, 4)).astype(np.float64)
X = RNG.normal(size=(2, 3, 3, 4))


def loss_by_hand(out, labels, lambda_coord=5.0, lambda_no_obj=0.5):
    """The formula of the paper, cell by cell; classes behind the softmax."""
    total = 0.0
    for n, row, column in np.ndindex(len(out), 3, 4):
        boxes = out[n, :, row, column].reshape(2, -1)
        label, kinds = labels[n, :4, row, column], labels[n, 4:, row, column]
        overlaps = [overlap_by_hand(box, label, row, column) for box in boxes]
        for number, (box, iou) in enumerate(zip(boxes, overlaps, strict=True)):
            if not kinds.any() or number != np.argmax(overlaps):
                total += lambda_no_obj * box[4] ** 2
                continue
            center, size = (label[:2] + label[2:]) / 2.0 - (column, row), label[2:] - label[:2]
            places = ((box[:2] - center) ** 2).sum() + ((np.sqrt(box[2:4]) - np.sqrt(size)) ** 2).sum()
            total += lambda_coord * places + (box[4] - iou) ** 2 + ((box[5:] - kinds) ** 2).sum()
    return total / len(out)


def overlap_by_hand(box, label, row, column):
    center = np.add(box[:2], (column, row))
    sides = np.minimum(center + box[2:4] / 2, label[2:]) - np.maximum(center - box[2:4] / 2, label[:2])
    common = np.prod(np.maximum(sides, 0.0))
    return common / (np.prod(box[2:4]) + np.prod(label[2:] - label[:2]) - common)


@pytest.mark.parametrize("weights", [{}, {"lambda_coord": 2.0, "lambda_no_obj": 1.5}], ids=["usual", "others"])
def test_the_score_by_hand(weights, backend):
    net = make_network(**weights)
    out = nd.to_host(net.output(X))
    np.testing.assert_allclose(net.score(DataSet(X, LABELS)), loss_by_hand(out, LABELS, **weights), **NEAR)


@pytest.mark.parametrize("mask", [None, [[1.0], [0.0]], "cells"], ids=["no mask", "examples", "cells"])
@pytest.mark.parametrize("losses", [("l2", "l2"), ("l1", "mcxent")], ids=["l2", "l1 and mcxent"])
@pytest.mark.numpy_first
def test_the_gradient_is_the_derivative(losses, mask, backend):
    mask = RNG.integers(0, 2, (2, 1, 3, 4)).astype(float) if mask == "cells" else mask and np.array(mask)
    labels = np.concatenate([LABELS, LABELS[:, :, ::-1, :]])[[0, 2]] * 1.0
    labels[1, [1, 3]] = np.where(labels[1, 4:].sum(0) > 0, [[[0.5]], [[1.25]]], 0.0)  # another box in another row
    position, kinds = losses
    net = make_network(loss_position_scale=position, loss_class_predictions=kinds)
    net.set_input(X)
    net.set_labels(labels)
    net.set_masks(None, mask)

    def summed_loss():
        net.compute_gradient_and_score()
        return net.score() * 2

    summed_loss()
    gradients = {key: nd.copy(g) for key, g in net.gradient().gradient_for_variable().items()}
    for key, view in net.param_table().items():
        check_derivative(summed_loss, view, gradients[key], 12)


def test_a_mask_takes_cells_out():
    net, mask = make_network(), np.ones((2, 1, 3, 4))
    mask[0, 0, 1, 1] = 0.0
    masked = net.score(DataSet(X, LABELS, labels_mask=mask))
    out = nd.to_host(net.output(X))
    whole, empty = loss_by_hand(out, LABELS), 0.0 * LABELS
    cell = whole - loss_by_hand(out, empty) + 0.5 * (out[0, [4, 11], 1, 1] ** 2).sum() / 2
    np.testing.assert_allclose(masked, whole - cell, **NEAR)


# ---- at work


@pytest.mark.slow
def test_boxes_are_learned_and_found_again(backend):
    """A bright rectangle of a few pixels in each picture; wide ones are of class 1."""
    rng = np.random.default_rng(1)
    pictures, boxes, classes = np.zeros((24, 1, 12, 12), np.float32), [], []
    for picture in pictures:
        width, height = ((6, 2), (2, 6))[rng.integers(2)]
        x, y = rng.integers(0, 12 - width), rng.integers(0, 12 - height)
        picture[0, y : y + height, x : x + width] = 1.0
        boxes.append([[x, y, x + width, y + height]])
        classes.append([int(width > height)])
    labels = box_labels(boxes, classes, 2, (3, 3), picture=(12, 12))
    conf = NeuralNetConfiguration(seed=3, updater=Adam(0.01)).list(
        ConvolutionLayer(n_out=16, kernel_size=4, stride=4, activation="relu"),
        ConvolutionLayer(n_out=32, kernel_size=3, convolution_mode="same", activation="relu"),
        ConvolutionLayer(n_out=2 * 7, kernel_size=1, activation="identity"),
        Yolo2OutputLayer([[1.5, 0.5], [0.5, 1.5]]),
        input_type=InputType.convolutional(12, 12, 1),
    )
    net = MultiLayerNetwork(conf).init()
    before = net.score(DataSet(pictures, labels))
    net.fit(DataSet(pictures, labels), epochs=150)
    assert net.score(DataSet(pictures, labels)) < 0.05 * before
    found = net.get_output_layer().get_predicted_objects(net.output(pictures), 0.5, 0.4)
    assert [each.example_number for each in found] == list(range(24))
    for each, ((x1, y1, x2, y2),), (kind,) in zip(found, boxes, classes, strict=True):
        label = DetectedObject(0, (x1 + x2) / 8, (y1 + y2) / 8, (x2 - x1) / 4, (y2 - y1) / 4, [1.0], 1.0)
        assert each.predicted_class == kind
        assert YoloUtils.iou(each, label) > 0.5


def test_an_output_of_a_graph(tmp_path):
    conf = NeuralNetConfiguration(seed=1, dtype="float64").graph(
        inputs={"picture": InputType.convolutional(3, 4, 3)},
        nodes={
            "grid": (ConvolutionLayer(n_out=14, kernel_size=1, activation="identity"), "picture"),
            "boxes": (Yolo2OutputLayer(PRIORS), "grid"),
        },
        outputs="boxes",
    )
    graph, net = ComputationGraph(conf).init(), make_network()
    graph.set_params(net.params())
    np.testing.assert_allclose(graph.score(DataSet(X, LABELS)), net.score(DataSet(X, LABELS)), **NEAR)
    graph.fit(DataSet(X, LABELS))
    graph.save(tmp_path / "graph.zip")
    again = nn.load(tmp_path / "graph.zip")
    np.testing.assert_array_equal(nd.to_host(again.output(X)), nd.to_host(graph.output(X)))


def test_a_class_that_is_an_array_of_the_builder():
    layer = Yolo2OutputLayer.Builder().boundingBoxPriors(nd.create(PRIORS)).lambdaCoord(2.0).lambdaNoObj(0.25).build()
    assert layer == Yolo2OutputLayer(PRIORS, lambda_coord=2.0, lambda_no_obj=0.25)


# ---- what is found


def an_object(x=1.0, y=1.0, size=2.0, confidence=0.5, kind=0, example=0):
    return DetectedObject(example, x, y, size, size, np.eye(2)[kind], confidence)


def test_suppression_by_hand():
    best, near = an_object(confidence=0.9), an_object(1.25, confidence=0.8)
    chained = an_object(2.25, confidence=0.7)  # overlaps `near`, which is gone, and hardly `best`
    other_class, elsewhere = an_object(confidence=0.1, kind=1), an_object(confidence=0.1, example=1)
    assert YoloUtils.iou(best, near) == pytest.approx(7 / 9)
    assert YoloUtils.iou(near, chained) == pytest.approx(1 / 3)
    objects = [best, near, chained, other_class, elsewhere]
    YoloUtils.nms(objects, 0.3)
    assert objects == [best, chained, other_class, elsewhere]
    backwards = [chained, near, best]
    YoloUtils.nms(backwards, 0.3)  # as in Java, one that comes first meets those that are not gone yet
    assert backwards == [best]


def test_overlap_of_intervals():
    assert [YoloUtils.overlap(0, 2, *other) for other in ((1, 3), (-1, 1), (2.5, 3), (-2, -1), (-1, 5), (0.5, 1))] == [
        1, 1, 0.0, 0.0, 2, 0.5,
    ]  # fmt: skip


def test_objects_from_numbers_by_hand():
    out = np.zeros((2, 2, 7, 2, 3))
    out[1, 1, :, 0, 2] = 0.25, 0.5, 1.5, 2.0, 0.75, 0.125, 0.875
    (found,) = YoloUtils.get_predicted_objects(PRIORS, nd.create(out.reshape(2, 14, 2, 3)), 0.75)
    assert found == DetectedObject(1, 2.25, 0.5, 1.5, 2.0, (0.125, 0.875), 0.75)
    assert (found.predicted_class, found.get_top_left_xy(), found.get_bottom_right_xy()) == (1, (1.5, -0.5), (3.0, 1.5))


def test_confidence_of_every_box_and_probability_of_every_class():
    """Java reads other channels where there are several boxes."""
    net = make_network()
    out = net.output(X)
    host = nd.to_host(out).reshape(2, 2, 7, 3, 4)
    layer = net.get_output_layer()
    for example, box in np.ndindex(2, 2):
        found = layer.get_confidence_matrix(out, int(example), int(box))
        np.testing.assert_array_equal(nd.to_host(found), host[example, box, 4])
        found = layer.get_probability_matrix(out, int(example), 1, int(box))
        np.testing.assert_array_equal(nd.to_host(found), host[example, box, 6])


# ---- labels


def test_labels_by_hand():
    labels = box_labels([[[16, 8, 48, 40], [0, 0, 8, 8]], []], [[2, 0], []], 3, (2, 4), picture=(64, 128))
    assert labels.shape == (2, 7, 2, 4)
    assert labels.dtype == np.float32
    assert labels[0, :, 0, 1].tolist() == [0.5, 0.25, 1.5, 1.25, 0.0, 0.0, 1.0]
    assert labels[0, :, 0, 0].tolist() == [0.0, 0.0, 0.25, 0.25, 1.0, 0.0, 0.0]
    assert np.count_nonzero(labels) == 8


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([[[0, 0, 1, 1]]], [[2]], 2, (2, 2)), nd.DataError, r"picture 0: class numbers must be in 0\.\.1, got 2"),
        (([[[3, 0, 4, 1]]], [[0]], 2, (2, 2)), nd.DataError, r"box 0 must have an area and its center in the picture"),
        (([[[1, 1, 0, 0]]], [[0]], 2, (2, 2)), nd.DataError, r"box 0 must have an area"),
        (([[[0, 0, 1, 1]]], [[0, 1]], 2, (2, 2)), nd.ShapeError, r"got \[1, 4\] and \[2\]"),
        (([[[0, 0, 1, 1]]], [], 2, (2, 2)), nd.ShapeError, r"expected classes of 1 pictures, as boxes, got 0"),
    ],
)
def test_labels_that_are_none(arguments, error, message):
    with pytest.raises(error, match=message):
        box_labels(*arguments)


# ---- errors


@pytest.mark.parametrize(
    ("boxes", "error", "message"),
    [
        (None, nd.ConfigurationError, r"Yolo2OutputLayer: bounding_boxes must be pairs of numbers > 0, got none"),
        ([1.0, 2.0], nd.ArgumentError, r"Yolo2OutputLayer: bounding_boxes must be a sequence of a tuple of 2, each a"),
        ([[1.0, 0.0]], nd.ArgumentError, r"each a number > 0"),
        (np.ones((2, 3)), nd.ArgumentError, r"bounding_boxes must be a sequence of a tuple of 2"),
        ([], nd.ArgumentError, r"bounding boxes must be a width and a height for each, got none"),
    ],
)
def test_boxes_that_are_none(boxes, error, message):
    with pytest.raises(error, match=message):
        Yolo2OutputLayer(boxes)


def test_sizes_that_do_not_fit():
    with pytest.raises(nd.ShapeError, match=r"2 boxes of 5 numbers and one for each class, got 13"):
        make_network(channels=13)
    with pytest.raises(nd.ConfigurationError, match=r"expected images \[N, B \* \(5 \+ C\), H, W\]"):
        NeuralNetConfiguration().list(Yolo2OutputLayer(PRIORS), input_type=InputType.feed_forward(4))
    net = make_network()
    with pytest.raises(
        nd.ShapeError, match=r"labels must be \[N, 4 \+ C, H, W\], here \[2, 6, 3, 4\], got \[2, 7, 3, 4\]"
    ):
        net.score(DataSet(X, np.zeros((2, 7, 3, 4))))
    with pytest.raises(nd.ShapeError, match=r"mask must be"):
        net.score(DataSet(X, LABELS, labels_mask=np.ones((2, 6, 3, 4))))
    with pytest.raises(nd.ArgumentError, match=r"get_confidence_matrix: box must be in 0\.\.1, got 2"):
        net.get_output_layer().get_confidence_matrix(net.output(X), 0, 2)
    with pytest.raises(nd.ArgumentError, match=r"get_probability_matrix: class must be in 0\.\.1, got 2"):
        net.get_output_layer().get_probability_matrix(net.output(X), 0, 2)
