"""Numbers at the edges of Caffe's layers, by hand: kinks, equal numbers, labels that are no class, files, draws."""

import math

import numpy as np
import pytest

import nd

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

from nn.caffe import array_to_blobproto, parse_text, write_message
from nn.caffe.layers import layer_class
from nn.caffe.layers.base import CaffeLayerConf
from nn.vertices import VertexContext
from tests.layers_at_work import memory_of_gradients

NAN = float("nan")


class AtWork:
    """A layer of one type with its blobs as its fillers have them."""

    def __init__(self, kind, text, xs, tops=1, phase="TRAIN"):
        names = "".join(f'bottom: "b{number}" ' for number in range(len(xs)))
        names += "".join(f'top: "t{number}" ' for number in range(tops))
        message = parse_text(f'name: "one" type: "{kind}" {names} {text}', "LayerParameter")
        self.xs = [nd.create(x, "float64") for x in xs]
        shapes = tuple(tuple(x.shape) for x in self.xs)
        probe = layer_class(kind)(CaffeLayerConf(message, phase, shapes), "layer 'one'", "float64")
        conf = CaffeLayerConf(message, phase, shapes, tuple(probe.blobs(shapes)), tuple(probe.top_shapes(shapes)))
        self.conf, self.layer = conf, conf.runtime(conf, "layer 'one'", "float64")
        self.params, self.grads = memory_of_gradients(self.layer), memory_of_gradients(self.layer)
        self.needs = (True,) * len(xs)
        self.training = phase == "TRAIN"

    def forward(self, seed=5):
        """Return the tops, and keep what the way back needs."""
        ctx = VertexContext(self.training, nd.Buffers("float64"), (None,) * len(self.xs), self.needs, {})
        with nd.random.drawing(nd.random.Random(seed)):
            tops, self.kept, _ = self.layer.propagate(self.xs, (), self.params, ctx)
        return [nd.to_host(top) for top in (tops if self.layer.outputs != 1 else [tops])]

    def backward(self, *epsilons):
        """Return dL/d(bottoms)."""
        given = tuple(None if one is None else nd.create(one, "float64") for one in epsilons)
        below = self.layer.backpropagate(given if self.layer.outputs != 1 else given[0], self.kept, self.grads)
        return [None if one is None else nd.to_host(one) for one in below]


# ---- functions of elements

SLOPES = [
    ("ReLU", "", [0.0, 1.0, -1.0], [0.0, 1.0, 0.0]),
    ("ReLU", "relu_param { negative_slope: 0.25 }", [0.0, 1.0, -1.0], [0.25, 1.0, 0.25]),
    ("ReLU6", "", [0.0, 6.0, 5.0], [0.0, 0.0, 1.0]),
    ("ELU", "elu_param { alpha: 0.5 }", [0.0, 2.0], [0.5, 1.0]),
    ("AbsVal", "", [0.0, -3.0, 3.0], [0.0, -1.0, 1.0]),
    ("Clip", "clip_param { min: -1 max: 2 }", [-1.0, 2.0, -1.5, 2.5], [1.0, 1.0, 0.0, 0.0]),
    ("Power", "power_param { power: 3 scale: 2 }", [0.0, 1.0], [0.0, 24.0]),
    ("Power", "power_param { power: 2 scale: 2 shift: 1 }", [-0.5, 0.0], [0.0, 4.0]),
    ("Power", "power_param { power: 0 }", [0.0, 5.0], [0.0, 0.0]),
    ("BNLL", "", [-40.0, 0.0, 800.0], [math.exp(-40.0), 0.5, 1.0]),
]


@pytest.mark.parametrize(("kind", "text", "x", "slopes"), SLOPES)
def test_derivatives_at_kinks_and_ends(kind, text, x, slopes):
    layer = AtWork(kind, text, [[x]])
    layer.forward()
    (below,) = layer.backward(np.ones((1, len(x))))
    np.testing.assert_allclose(below, [slopes], rtol=1e-12)


def test_powers_without_a_power_or_a_scale_are_constants_also_at_0():
    assert AtWork("Power", "power_param { power: 0 }", [[[0.0, 2.0]]]).forward()[0].tolist() == [[1.0, 1.0]]
    text = "power_param { power: 2 scale: 0 shift: 3 }"
    assert AtWork("Power", text, [[[0.0, 2.0]]]).forward()[0].tolist() == [[9.0, 9.0]]


def test_slopes_of_prelu_begin_at_a_quarter():
    layer = AtWork("PReLU", "", [np.ones((2, 3, 4))])
    (spec,) = layer.conf.blobs
    assert (spec.shape, spec.filler.type, spec.filler.value) == ((3,), "constant", 0.25)
    layer = AtWork("PReLU", 'prelu_param { filler { type: "constant" value: 2 } }', [np.ones((2, 3))])
    assert layer.conf.blobs[0].filler.value == 2.0


def test_dropout_keeps_a_part_of_the_numbers_and_what_is_expected_of_them():
    x = np.random.default_rng(1).uniform(1.0, 2.0, (200, 300))
    layer = AtWork("Dropout", "dropout_param { dropout_ratio: 0.25 }", [x])
    (top,) = layer.forward()
    kept = top != 0.0
    np.testing.assert_allclose(top[kept], x[kept] / 0.75)
    assert abs(kept.mean() - 0.75) < 0.01
    (below,) = layer.backward(np.full(x.shape, 3.0))
    np.testing.assert_allclose(below, np.where(kept, 4.0, 0.0))
    assert not np.array_equal(layer.forward(seed=6)[0] != 0.0, kept)


# ---- several bottoms, chosen numbers


def test_of_equal_maxima_the_second_bottom_gets_the_gradient_then_the_first():
    a, b, c = [[1.0, 1.0, 2.0, 1.0]], [[1.0, 0.0, 2.0, 0.0]], [[1.0, 1.0, 2.0, 3.0]]
    layer = AtWork("Eltwise", "eltwise_param { operation: MAX }", [a, b, c])
    assert layer.forward()[0].tolist() == [[1.0, 1.0, 2.0, 3.0]]
    below = layer.backward([[10.0, 20.0, 30.0, 40.0]])
    assert [one.tolist() for one in below] == [[[0, 20, 0, 0]], [[10, 0, 30, 0]], [[0, 0, 0, 40]]]


def test_a_product_with_zeros_has_a_gradient_unless_it_is_divided():
    layer = AtWork("Eltwise", "eltwise_param { operation: PROD }", [[[0.0, 2.0]], [[5.0, 3.0]]])
    layer.forward()
    assert [one.tolist() for one in layer.backward([[1.0, 1.0]])] == [[[5.0, 3.0]], [[0.0, 2.0]]]


def test_filter_hands_on_the_examples_that_are_selected_and_gradients_to_them_alone():
    x, y = np.arange(8.0).reshape(4, 2), np.arange(4.0)
    layer = AtWork("Filter", "", [x, y, [0.0, -1.0, 0.0, 2.0]], tops=2)
    layer.needs = (True, True, False)
    first, second = layer.forward()
    assert (first.tolist(), second.tolist()) == ([[2.0, 3.0], [6.0, 7.0]], [1.0, 3.0])
    below = layer.backward([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0])
    assert below[0].tolist() == [[0, 0], [1, 2], [0, 0], [3, 4]]
    assert below[1].tolist() == [0, 5, 0, 6]
    assert below[2] is None


def test_filter_may_select_nothing():
    layer = AtWork("Filter", "", [np.ones((3, 2)), np.zeros(3)])
    layer.needs = (True, False)
    assert layer.forward()[0].shape == (0, 2)
    assert layer.backward(np.zeros((0, 2)))[0].tolist() == [[0, 0]] * 3


def test_batch_reindex_refuses_numbers_of_no_example():
    for number in (3, -1):
        layer = AtWork("BatchReindex", "", [np.ones((3, 2)), [0.0, number]])
        with pytest.raises(nd.DataError, match=f"layer 'one', numbers of examples: .*less than 3, got {number}"):
            layer.forward()


# ---- labels

UNKNOWN = [3.0, -1.0, 1.5, NAN]


@pytest.mark.parametrize("label", UNKNOWN)
@pytest.mark.parametrize("kind", ["Accuracy", "HingeLoss", "MultinomialLogisticLoss", "SoftmaxWithLoss"])
def test_a_label_that_is_no_class_makes_the_top_nan(kind, label):
    scores = np.random.default_rng(2).uniform(0.1, 1.0, (2, 3))
    assert math.isnan(AtWork(kind, "", [scores, [0.0, label]]).forward()[0])
    assert not math.isnan(AtWork(kind, "", [scores, [0.0, 2.0]]).forward()[0])


def test_infogain_refuses_a_label_that_is_no_class():
    layer = AtWork("InfogainLoss", "", [np.ones((2, 3)), [0.0, 3.0], np.eye(3)])
    with pytest.raises(nd.DataError, match=r"layer 'one', labels: .*less than 3, got 3"):
        layer.forward()


@pytest.mark.parametrize("label", UNKNOWN[:3])
def test_a_label_to_be_ignored_may_be_no_class(label):
    text = f"loss_param {{ ignore_label: {int(label)} }}"
    layer = AtWork("SoftmaxWithLoss", text, [[[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]], [int(label), 2.0]])
    layer.needs = (True, False)
    np.testing.assert_allclose(layer.forward()[0], math.log(3.0))
    below = layer.backward(1.0)[0]
    np.testing.assert_allclose(below, [[0, 0, 0], [1 / 3, 1 / 3, -2 / 3]])


def test_the_loss_of_an_impossible_class_is_that_of_the_smallest_probability():
    layer = AtWork("SoftmaxWithLoss", "", [[[0.0, 2000.0]], [0.0]])
    np.testing.assert_allclose(layer.forward()[0], 87.33654475, rtol=1e-9)
    layer = AtWork("MultinomialLogisticLoss", "", [[[0.0, 1.0]], [0.0]])
    np.testing.assert_allclose(layer.forward()[0], -math.log(1e-20), rtol=1e-12)
    layer = AtWork("InfogainLoss", "", [[[0.0, 2000.0]], [0.0], np.eye(2)])
    np.testing.assert_allclose(layer.forward()[0], -math.log(1e-20), rtol=1e-12)


def test_scores_that_are_no_numbers_are_no_hits():
    scores = [[NAN, 1.0], [2.0, NAN], [NAN, NAN], [1.0, 0.0]]
    assert AtWork("Accuracy", "", [scores, [0.0, 0.0, 1.0, 0.0]]).forward()[0] == 0.25


def test_the_gradient_of_a_contrastive_loss_divides_by_a_little_more_than_the_distance():
    layer = AtWork("ContrastiveLoss", "", [[[0.003, 0.0]], [[0.0, 0.0]], [0.0]])
    layer.needs = (True, True, False)
    layer.forward()
    first, second, _ = layer.backward(1.0)
    np.testing.assert_allclose(first, [[-(1.0 - 0.003) / (0.003 + 1e-4) * 0.003, 0.0]])
    np.testing.assert_allclose(second, -first)


def test_the_matrix_of_an_infogain_loss_may_come_from_a_file(tmp_path):
    rng = np.random.default_rng(3)
    scores, labels, matrix = rng.normal(size=(4, 3)), [0.0, 2.0, 1.0, 2.0], rng.uniform(size=(3, 3))
    path = tmp_path / "infogain.binaryproto"
    write_message(array_to_blobproto(matrix[None, None]), path)
    there = AtWork("InfogainLoss", f'infogain_loss_param {{ source: "{path}" }}', [scores, labels])
    given = AtWork("InfogainLoss", "", [scores, labels, matrix])
    there.needs, given.needs = (True, False), (True, False, False)
    np.testing.assert_allclose(there.forward()[0], given.forward()[0], rtol=1e-6)
    np.testing.assert_allclose(there.backward(2.0)[0], given.backward(2.0)[0], rtol=1e-6, atol=1e-9)
    assert there.layer.may_split(True)
    assert not given.layer.may_split(True)


def test_a_file_of_a_matrix_of_another_size_is_refused(tmp_path):
    path = tmp_path / "infogain.binaryproto"
    write_message(array_to_blobproto(np.eye(2)), path)
    with pytest.raises(nd.ShapeError, match=r"layer 'one': the matrix must have 3 x 3 numbers .*, got 4"):
        AtWork("InfogainLoss", f'infogain_loss_param {{ source: "{path}" }}', [np.ones((2, 3)), [0.0, 1.0]])
    with pytest.raises(FileNotFoundError, match=r"no\.binaryproto"):
        AtWork("InfogainLoss", 'infogain_loss_param { source: "no.binaryproto" }', [np.ones((2, 3)), [0.0, 1.0]])


# ---- series


@pytest.mark.parametrize(("kind", "states"), [("LSTM", 2), ("RNN", 1)])
def test_a_series_in_two_passes_with_exposed_states_is_one_series(kind, states):
    rng = np.random.default_rng(4)
    x, cont, start = rng.normal(size=(6, 2, 3)), np.ones((6, 2)), [np.zeros((1, 2, 4))] * states
    text = "recurrent_param { num_output: 4 expose_hidden: true }"
    blobs = None
    passes = []
    for steps in (slice(0, 6), slice(0, 2), slice(2, 6)):
        before = start if len(passes) < 2 else passes[1][1:]
        layer = AtWork(kind, text, [x[steps], cont[steps], *before], tops=1 + states)
        blobs = blobs or {name: rng.normal(size=view.shape) for name, view in layer.params.items()}
        for name, view in layer.params.items():
            nd.assign(view, nd.create(blobs[name], "float64"))
        passes.append([np.array(top) for top in layer.forward()])
    whole, first, second = passes
    np.testing.assert_allclose(np.concatenate([first[0], second[0]]), whole[0], rtol=1e-12)
    for one, other in zip(second[1:], whole[1:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize(("kind", "states"), [("LSTM", 2), ("RNN", 1)])
def test_no_gradient_goes_to_exposed_states(kind, states):
    start = [np.ones((1, 2, 4))] * states
    text = "recurrent_param { num_output: 4 expose_hidden: true }"
    layer = AtWork(kind, text, [np.ones((3, 2, 3)), np.ones((3, 2)), *start], tops=1 + states)
    layer.needs = (False, False, *[True] * states)
    layer.forward()
    below = layer.backward(np.ones((3, 2, 4)), *[np.ones((1, 2, 4))] * states)
    assert below[:2] == [None, None]
    assert all(not one.any() for one in below[2:])


ORDER = {
    "LSTM": ["W_xc [16, 3]", "b_c [16]", "W_xc_static [16, 5]", "W_hc [16, 4]"],
    "RNN": ["W_xh [4, 3]", "b_h [4]", "W_xh_static [4, 5]", "W_hh [4, 4]", "W_ho [4, 4]", "b_o [4]"],
}
"""Type -> blobs with a static input, in the order in which the layers of Caffe's unrolled nets have them."""


@pytest.mark.parametrize("kind", ORDER)
def test_blobs_of_recurrent_layers_are_in_the_order_of_caffes(kind):
    bottoms = [np.ones((3, 2, 3)), np.ones((3, 2)), np.ones((2, 5))]
    layer = AtWork(kind, "recurrent_param { num_output: 4 }", bottoms)
    assert [f"{spec.name} {list(spec.shape)}" for spec in layer.conf.blobs] == ORDER[kind]
