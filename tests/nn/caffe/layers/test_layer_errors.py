"""What every layer of Caffe's refuses: wrong numbers of bottoms and tops, shapes, settings, and gradients of labels."""

import re

import pytest

import nd

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

from nn.caffe import parse_text
from nn.caffe.layers import LAYERS, layer_class
from nn.caffe.layers.base import CaffeLayerConf, check_counts
from nn.vertices import VertexContext
from tests.cases.caffe_layers import CAFFE_CASES
from tests.nn.caffe.layers.test_every_layer import Row

LABEL = "layer 3 'under test'"
NAMED = f"^{re.escape(LABEL)}: "


def layer_of(kind, text, shapes, tops):
    """Return a layer as a net makes it, with the shapes of its tops known to be possible."""
    names = "".join(f'bottom: "b{number}" ' for number in range(len(shapes)))
    names += "".join(f'top: "t{number}" ' for number in range(tops))
    message = parse_text(f'name: "under test" type: "{kind}" {names} {text}', "LayerParameter")
    layer = layer_class(kind)(CaffeLayerConf(message, "TRAIN", tuple(shapes)), LABEL, "float32")
    check_counts(layer)
    return layer


def shapes_of(case):
    return [tuple(x.shape) for x in case.inputs()]


# ---- of every type


@pytest.mark.parametrize("kind", LAYERS)
def test_wrong_numbers_of_bottoms_and_tops_are_refused(kind):
    case = CAFFE_CASES[kind][0]
    shapes = shapes_of(case)
    layer = layer_of(kind, case.text, shapes, case.tops)
    (fewest, most), (fewest_tops, most_tops) = layer.bottoms, layer.tops
    longest = max((*shapes, (2, 2)), key=len)
    wrong = [(bottoms, case.tops) for bottoms in (fewest - 1, None if most is None else most + 1)]
    wrong += [(len(shapes), tops) for tops in (fewest_tops - 1, None if most_tops is None else most_tops + 1)]
    for bottoms, tops in wrong:
        if bottoms is not None and tops is not None and bottoms >= 0 and tops >= 0:
            given = (shapes + [longest] * 9)[:bottoms]
            with pytest.raises(nd.ConfigurationError, match=NAMED):
                layer_of(kind, case.text, given, tops)


def changed(shape):
    """Return shapes that differ from one in an axis, or in the number of axes."""
    longer = [(*shape[:axis], shape[axis] + 1, *shape[axis + 1 :]) for axis in range(len(shape))]
    empty = [(*shape[:axis], 0, *shape[axis + 1 :]) for axis in range(len(shape))]
    return [(), *longer, *empty, shape[1:], (*shape, 1), (*shape, 2), (1, *shape)]


def tops_or_error(kind, case, shapes):
    """Return the shapes of a layer's tops, or the library's own error."""
    try:
        return layer_of(kind, case.text, shapes, case.tops).top_shapes(shapes)
    except (nd.ShapeError, nd.ConfigurationError) as error:
        return error


@pytest.mark.parametrize("kind", [kind for kind in LAYERS if kind != "Python"])  # whose own code decides
@pytest.mark.quick_rows(every=2)
def test_any_shapes_are_taken_or_refused_by_name(kind):
    """Nothing but the library's own errors, with the layer's name, comes of shapes that do not fit."""
    for case in CAFFE_CASES[kind]:
        shapes = shapes_of(case)
        for place, shape in enumerate(shapes):
            for other in changed(shape):
                given = [*shapes[:place], other, *shapes[place + 1 :]]
                tops = tops_or_error(kind, case, given)
                if isinstance(tops, nd.NdError):
                    assert re.search(NAMED, str(tops)), f"{case.variant}, {given}"
                else:
                    assert len(tops) == case.tops, f"{case.variant}, {given}"
                    assert all(length >= 0 for top in tops for length in top)


@pytest.mark.parametrize("kind", LAYERS)
def test_bottoms_without_gradients_refuse_them_by_name_in_the_way_back_alone(kind):
    """A net may be made and run forward where a label needs a gradient; the way back says that there is none."""
    refused = 0
    for case in CAFFE_CASES[kind]:
        row = Row(case, kind, None)
        for bottom in REFUSING.get(kind, ()):
            needs = tuple(number == bottom for number in range(len(row.conf.bottoms)))
            ctx = VertexContext(True, row.buffers, (None,) * len(needs), needs, {})
            _, kept = row.forward([nd.create(x) for x in case.inputs()], ctx)
            with pytest.raises(nd.ConfigurationError, match=f"bottom {bottom} 'b{bottom}'.* {kind} has no gradient"):
                row.backward(kept, row.weights)
            refused += 1
    assert refused or kind not in REFUSING


REFUSING = {
    "Accuracy": (0, 1),
    "ArgMax": (0,),
    "BatchReindex": (1,),
    "ContrastiveLoss": (2,),
    "Filter": (2,),
    "HingeLoss": (1,),
    "InfogainLoss": (1, 2),
    "LSTM": (1,),
    "LSTMUnit": (2,),
    "MultinomialLogisticLoss": (1,),
    "RNN": (1,),
    "SigmoidCrossEntropyLoss": (1,),
    "SoftmaxWithLoss": (1,),
    "Threshold": (0,),
}
"""Type -> bottoms whose gradient the way back refuses."""


# ---- settings

SETTINGS = [
    ("Accuracy", "accuracy_param { top_k: 0 }", ((4, 3), (4,)), 1, "top_k must be >= 1, got 0"),
    ("ArgMax", "argmax_param { top_k: 0 }", ((4, 3),), 1, "top_k must be >= 1, got 0"),
    ("Clip", "", ((4, 3),), 1, "clip_param must give min and max"),
    ("Clip", "clip_param { min: 2 max: 1 }", ((4, 3),), 1, r"min must be <= max, got 2.0 and 1.0"),
    ("Concat", "concat_param { axis: 1 concat_dim: 1 }", ((4, 3),), 1, "given once, got axis and concat_dim"),
    ("Dropout", "dropout_param { dropout_ratio: 1 }", ((4, 3),), 1, "dropout_ratio must be 0 <= ratio < 1, got 1.0"),
    ("Eltwise", "eltwise_param { coeff: 2 }", ((4, 3), (4, 3)), 1, r"one for each of 2 bottoms, got \[2.0\]"),
    (
        "Eltwise",
        "eltwise_param { operation: MAX coeff: 1 coeff: 2 }",
        ((4, 3), (4, 3)),
        1,
        "coeff must be left out but for SUM, got it with MAX",
    ),
    ("Exp", "exp_param { base: -2 }", ((4, 3),), 1, "base must be > 0, or -1 for e, got -2.0"),
    ("Exp", "exp_param { base: 0 }", ((4, 3),), 1, "base must be > 0, or -1 for e, got 0.0"),
    ("Filter", "", ((4, 3), (4,)), 2, "expected 1 top"),
    ("InfogainLoss", "", ((4, 3), (4,)), 1, "the matrix must be bottom 2 or in a file, got no source"),
    (
        "InfogainLoss",
        "loss_param { normalize: true }",
        ((4, 3), (4,), (3, 3)),
        1,
        "normalize must be left out. Give normalization",
    ),
    ("LSTM", "", ((4, 3, 2), (4, 3)), 1, "num_output must be >= 1, got 0"),
    ("Log", "log_param { base: 1 }", ((4, 3),), 1, "base must not be 1"),
    ("Log", "log_param { base: -3 }", ((4, 3),), 1, "base must be > 0, or -1 for e, got -3.0"),
    ("Parameter", "parameter_param { shape { dim: -1 } }", (), 1, r"shape must be lengths >= 0, got \[-1\]"),
    ("RNN", "", ((4, 3, 2), (4, 3)), 1, "num_output must be >= 1, got 0"),
    ("Reshape", "reshape_param { shape { dim: -1 dim: -1 } }", ((4, 3),), 1, r"-1 at most once, got \[-1, -1\]"),
    ("Reshape", "reshape_param { shape { dim: -2 } }", ((4, 3),), 1, r"lengths >= 0, .*, got \[-2\]"),
    ("Reshape", "reshape_param { num_axes: -2 }", ((4, 3),), 1, "num_axes must be >= 0, or -1 for all, got -2"),
    ("Slice", "slice_param { slice_point: 1 }", ((4, 3),), 3, r"one number less than 3 top\(s\), got \[1\]"),
    ("Slice", "slice_param { slice_point: 2 slice_point: 2 }", ((4, 9),), 3, r"must rise from above 0, got \[2, 2\]"),
    ("Slice", "slice_param { axis: 1 slice_dim: 1 }", ((4, 3),), 3, "given once, got axis and slice_dim"),
    ("Tile", "", ((4, 3),), 1, "tiles must be >= 1, got 0"),
]


@pytest.mark.parametrize(
    ("kind", "text", "shapes", "tops", "match"),
    SETTINGS,
    ids=[f"{row[0]}-{number}" for number, row in enumerate(SETTINGS)],
)
def test_settings_that_cannot_be_are_refused(kind, text, shapes, tops, match):
    with pytest.raises(nd.ConfigurationError, match=NAMED + f".*{match}"):
        layer_of(kind, text, shapes, tops)


# ---- shapes

SHAPES = [
    ("Accuracy", "", ((4, 3), (5,)), 1, r"4 labels for scores \[4, 3\] .* axis 1, got 5, \[5\]"),
    ("Accuracy", "accuracy_param { top_k: 4 }", ((4, 3), (4,)), 1, "at most the number of classes, 3, got 4"),
    ("ArgMax", "argmax_param { axis: 1 top_k: 4 }", ((4, 3),), 1, r"at most 3, .* in \[4, 3\], got 4"),
    ("BatchReindex", "", ((4, 3), (2, 1)), 1, r"\[4, 3\] and \[2, 1\]"),
    ("Concat", "", ((4, 3), (5, 3)), 1, r"but for axis 1, \[4, 3\], got \[5, 3\] for bottom 1"),
    (
        "Concat",
        "concat_param { axis: 2 }",
        ((4, 3), (4, 3)),
        1,
        r"axis must be an axis of the bottom \[4, 3\], .* got 2",
    ),
    ("ContrastiveLoss", "", ((4, 3), (4, 2), (4,)), 1, r"one shape \[N, C\], got \[4, 3\] and \[4, 2\]"),
    ("ContrastiveLoss", "", ((4, 3), (4, 3), (4, 2)), 1, r"bottom 2 must be \[4\], .* got \[4, 2\]"),
    ("Eltwise", "", ((4, 3), (4, 2)), 1, r"shape of bottom 0, \[4, 3\], got \[4, 2\] for bottom 1"),
    ("EuclideanLoss", "", ((4, 3), (5, 3)), 1, r"\[4, 3\] and \[5, 3\]"),
    ("Filter", "", ((4, 3), (5,)), 1, r"bottom 0 must have the 5 examples of the selector \[5\], got \[4, 3\]"),
    ("Filter", "", ((4, 3), (4, 2)), 1, r"selector must be \[N, 1, ...\], got \[4, 2\]"),
    ("Flatten", "flatten_param { axis: 2 end_axis: 1 }", ((4, 3, 2),), 1, r"got 2 and 1 for the bottom \[4, 3, 2\]"),
    ("HingeLoss", "", ((4, 3), (4, 2)), 1, r"a label for each example of the scores \[4, 3\], got \[4, 2\]"),
    ("InfogainLoss", "", ((4, 3), (4,), (3, 2)), 1, r"3 x 3 numbers for the scores \[4, 3\], got \[3, 2\]"),
    ("LSTM", "recurrent_param { num_output: 2 }", ((4, 3), (4, 3)), 1, r"\[T, N, ...\] and \[T, N\], got \[4, 3\]"),
    (
        "LSTM",
        "recurrent_param { num_output: 2 expose_hidden: true }",
        ((4, 3, 5), (4, 3), (1, 3, 2), (1, 3, 1)),
        3,
        r"bottom 3 must be \[1, 3, 2\], got \[1, 3, 1\]",
    ),
    ("LSTMUnit", "", ((1, 3, 2), (1, 3, 7), (1, 3)), 2, r"got \[1, 3, 2\], \[1, 3, 7\] and \[1, 3\]"),
    ("PReLU", "", ((4,),), 1, r"\[N, C, ...\], got \[4\]"),
    ("RNN", "recurrent_param { num_output: 2 }", ((4, 3, 5), (4, 3), (2, 6)), 1, r"bottom 2 must be \[3, ...\], got"),
    (
        "Reshape",
        "reshape_param { shape { dim: 5 dim: -1 } }",
        ((4, 3),),
        1,
        r"\[4, 3\] must fit into \[5, -1\], got 12",
    ),
    ("Reshape", "reshape_param { shape { dim: 5 } }", ((4, 3),), 1, r"\[4, 3\] must fit into \[5\], got 12"),
    ("Reshape", "reshape_param { axis: 3 }", ((4, 3),), 1, r"axis must be an axis of the bottom \[4, 3\], .* got 3"),
    ("Reshape", "reshape_param { axis: 1 num_axes: 2 }", ((4, 3),), 1, r"must have 2 axes from 1 on, got \[4, 3\]"),
    (
        "Reshape",
        "reshape_param { shape { dim: 0 dim: 0 dim: 0 } }",
        ((4, 3),),
        1,
        r"must have an axis 2 to copy, got \[4, 3\]",
    ),
    ("SigmoidCrossEntropyLoss", "", ((4, 3), (4, 2)), 1, r"as many elements, got \[4, 3\] and \[4, 2\]"),
    ("Slice", "", ((4, 5),), 2, r"axis 1 must be divisible among 2 tops, got \[4, 5\]"),
    ("Slice", "slice_param { slice_point: 5 }", ((4, 5),), 2, r"below the length of axis 1, got \[5\] .* \[4, 5\]"),
    ("SoftmaxWithLoss", "", ((4, 3, 2), (4,)), 1, r"8 labels for scores \[4, 3, 2\] .* axis 1, got 4, \[4\]"),
    ("SoftmaxWithLoss", "", ((4, 3, 2), (2, 4)), 1, r"as many examples, got \[4, 3, 2\] and \[2, 4\]"),
    ("SoftmaxWithLoss", "softmax_param { axis: -3 }", ((4, 3), (4,)), 1, r"axis must be .* -2..1, got -3"),
]


@pytest.mark.parametrize(
    ("kind", "text", "shapes", "tops", "match"), SHAPES, ids=[f"{row[0]}-{number}" for number, row in enumerate(SHAPES)]
)
def test_shapes_that_do_not_fit_are_refused(kind, text, shapes, tops, match):
    with pytest.raises(nd.ShapeError, match=NAMED + f".*{match}"):
        layer_of(kind, text, shapes, tops).top_shapes(list(shapes))
