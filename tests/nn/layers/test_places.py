"""Layers that move numbers between places: borders and blocks in every form, masks, views, refusals, Java's forms."""

import io
import json
import re
import zipfile

import numpy as np
import pytest

import nd
from nn import (
    Cropping1D,
    Cropping2D,
    Cropping3D,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    RepeatVector,
    SpaceToBatchLayer,
    SpaceToDepthLayer,
    Upsampling1D,
    Upsampling2D,
    Upsampling3D,
    ZeroPadding1DLayer,
    ZeroPadding3DLayer,
    ZeroPaddingLayer,
)
from nn.files.json import layer_from_json, layer_to_json
from tests.cells import every_row
from tests.layers_at_work import backprop, forward
from tests.stand_ins import as_input

RNG = np.random.default_rng(9)
BORDERS = {1: (Cropping1D, ZeroPadding1DLayer), 2: (Cropping2D, ZeroPaddingLayer), 3: (Cropping3D, ZeroPadding3DLayer)}


def at_work(layer):
    return MultiLayerNetwork(NeuralNetConfiguration(seed=1, dtype="float64").list(layer)).init().get_layer(0)


def mask_of(*shape):
    return RNG.integers(0, 2, shape).astype(np.float64)


def borders_of(layer):
    return layer.padding if hasattr(layer, "padding") else layer.cropping


# ---- borders


@every_row(
    ("axes", "given", "expected"),
    [
        (1, 2, (2, 2)),
        (1, (1, 2), (1, 2)),
        (1, [3], (3, 3)),
        (2, 1, (1, 1, 1, 1)),
        (2, (1, 2), (1, 1, 2, 2)),
        (2, [1, 2, 3, 4], (1, 2, 3, 4)),
        (3, 1, (1,) * 6),
        (3, (1, 2, 3), (1, 1, 2, 2, 3, 3)),
        (3, (1, 2, 3, 4, 5, 6), (1, 2, 3, 4, 5, 6)),
    ],
)
def test_borders_are_said_as_in_java(axes, given, expected):
    """Top, bottom, left, right; front and back before them in volumes."""
    for layer_class in BORDERS[axes]:
        assert borders_of(layer_class(given)) == expected
        assert borders_of(layer_class.Builder(given).build()) == expected
        if not isinstance(given, int):
            assert borders_of(layer_class.Builder(*given).build()) == expected
        assert borders_of(layer_class.Builder().build()) == (0,) * 2 * axes


@pytest.mark.parametrize("axes", BORDERS)
@pytest.mark.parametrize("wrong", [(1,) * 5, ()])
def test_borders_that_cannot_be(axes, wrong):
    for layer_class in BORDERS[axes]:
        with pytest.raises(nd.ArgumentError, match=rf"^{layer_class.__name__}: .* must be an integer >= 0 or a seq"):
            layer_class((1, -1))
        with pytest.raises(
            nd.ConfigurationError, match=rf"{layer_class.__name__}: .* integers >= 0, in the order .*left"
        ):
            layer_class(wrong)


@pytest.mark.parametrize(
    ("layer", "input_type", "sizes"),
    [
        (Cropping1D((3, 2)), InputType.recurrent(2, 5), r"left, right = \(3, 2\) of places \[5\]"),
        (Cropping2D((0, 0, 2, 2)), InputType.convolutional(9, 3, 2), r"top, .* = \(0, 0, 2, 2\) of places \[9, 3\]"),
        (Cropping3D(2), InputType.convolutional3d(4, 9, 9, 1), r"front, .* of places \[4, 9, 9\]"),
    ],
)
def test_something_must_be_left(layer, input_type, sizes, backend):
    with pytest.raises(nd.ShapeError, match=rf"layer 0 .*cropping must leave something, got {sizes}"):
        NeuralNetConfiguration(seed=1).list(layer, input_type=input_type)
    with pytest.raises(nd.ShapeError, match=rf"layer 0 .*cropping must leave something, got {sizes}"):
        forward(at_work(layer), nd.zeros(2, *input_type.shape, dtype="float64"), False)


def test_what_is_cut_off_and_what_is_put_around_are_opposites(backend):
    x = RNG.normal(size=(2, 3, 4, 5))
    padded, cropped = at_work(ZeroPaddingLayer((1, 2, 0, 3))), at_work(Cropping2D((1, 2, 0, 3)))
    wide, there = forward(padded, as_input(backend, x), False)
    narrow, back = forward(cropped, wide, False)
    np.testing.assert_array_equal(nd.to_host(narrow), x)
    assert nd.to_host(wide).sum() == pytest.approx(x.sum(), rel=1e-12)
    np.testing.assert_array_equal(nd.to_host(backprop(cropped, narrow, back)), nd.to_host(wide))
    np.testing.assert_array_equal(nd.to_host(backprop(padded, wide, there)), x)


def test_cropping_and_the_way_back_through_padding_are_views():
    with nd.use_backend("numpy"):
        x = nd.create(RNG.normal(size=(2, 3, 6, 5)))
        assert np.shares_memory(forward(at_work(Cropping2D(1)), x, False)[0], x)
        layer = at_work(ZeroPaddingLayer(1))
        a, cache = forward(layer, x, True)
        assert np.shares_memory(backprop(layer, a, cache), a)


# ---- blocks


def test_sizes_that_cannot_be():
    for layer_class, many in ((Upsampling1D, "one"), (Upsampling2D, "one or two"), (Upsampling3D, "one or three")):
        with pytest.raises(nd.ShapeError, match=rf"{layer_class.__name__}: size must be {many} integers? >= 1, got"):
            layer_class((1, 2, 3, 4))
        with pytest.raises(nd.ArgumentError, match=rf"{layer_class.__name__}: size must be an integer >= 1 or a seq"):
            layer_class(0)
    with pytest.raises(nd.ArgumentError, match="SpaceToDepthLayer: blocks must be an integer >= 1, got 0"):
        SpaceToDepthLayer(0)
    with pytest.raises(nd.ShapeError, match="SpaceToBatchLayer: blocks must be one or two integers >= 1, got"):
        SpaceToBatchLayer((1, 2, 3))
    with pytest.raises(
        nd.ConfigurationError, match="SpaceToBatchLayer: padding must be one, two or four integers >= 0"
    ):
        SpaceToBatchLayer(2, ((1, 2), (3, 1, 1)))
    with pytest.raises(nd.ArgumentError, match="SpaceToBatchLayer: padding must be an integer >= 0 or a sequence"):
        SpaceToBatchLayer(2, ((1, 2), (3, -1)))
    with pytest.raises(nd.ArgumentError, match="RepeatVector: n must be an integer >= 1, got -3"):
        RepeatVector(-3)


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (SpaceToDepthLayer(2), r"of the input must be multiples of the blocks \[2, 2\], got \[5, 4\]"),
        (
            SpaceToBatchLayer((2, 3), ((1, 0), (0, 1))),
            r"padded input must be multiples of the .* \[2, 3\], got \[6, 5\]",
        ),
    ],
)
def test_images_must_consist_of_blocks(layer, message, backend):
    with pytest.raises(nd.ShapeError, match=rf"layer 0 .*height and width .*{message}"):
        NeuralNetConfiguration(seed=1).list(layer, input_type=InputType.convolutional(5, 4, 3))
    with pytest.raises(nd.ShapeError, match=rf"layer 0 .*height and width .*{message}"):
        forward(at_work(layer), nd.zeros(2, 3, 5, 4, dtype="float64"), False)


def test_blocks_become_examples_in_tensorflows_order(backend):
    """The examples of tf.nn.space_to_batch's documentation, with the channels before the places."""
    x = np.arange(1.0, 17.0).reshape(1, 1, 4, 4)
    found = nd.to_host(forward(at_work(SpaceToBatchLayer(2)), as_input(backend, x), False)[0])
    expected = [[[1, 3], [9, 11]], [[2, 4], [10, 12]], [[5, 7], [13, 15]], [[6, 8], [14, 16]]]
    np.testing.assert_array_equal(found[:, 0], expected)
    x = np.arange(1.0, 17.0).reshape(2, 1, 2, 4)
    layer = at_work(SpaceToBatchLayer(2, ((0, 0), (2, 0))))
    found = nd.to_host(forward(layer, as_input(backend, x), False)[0])
    expected = [
        [[0, 1, 3]],
        [[0, 9, 11]],
        [[0, 2, 4]],
        [[0, 10, 12]],
        [[0, 5, 7]],
        [[0, 13, 15]],
        [[0, 6, 8]],
        [[0, 14, 16]],
    ]
    np.testing.assert_array_equal(found[:, 0], expected)


def test_padding_of_blocks_is_said_as_in_java():
    assert SpaceToBatchLayer.Builder((2, 2), ((1, 2), (3, 4))).build().padding == ((1, 2), (3, 4))
    assert SpaceToBatchLayer.Builder((2, 2)).build().padding == ((0, 0), (0, 0))
    assert SpaceToBatchLayer(2, (1, 2)).padding == ((1, 1), (2, 2))
    assert SpaceToBatchLayer(2, (1, 2, 3, 4)).padding == ((1, 2), (3, 4))


# ---- masks


def repeated(mask, factors):
    for axis, factor in enumerate(factors):
        mask = np.repeat(
            mask, factor if mask.ndim == 2 or mask.shape[2 + axis] > 1 else 1, axis=mask.ndim - len(factors) + axis
        )
    return mask


@pytest.mark.parametrize(
    ("layer", "shapes"),
    [
        (Upsampling1D(3), [(4, 5)]),
        (Upsampling2D((2, 3)), [(4, 1, 3, 2), (4, 1, 3, 1), (4, 1, 1, 2), (4, 1, 1, 1)]),
        (Upsampling3D((2, 1, 3)), [(4, 1, 2, 3, 2), (4, 1, 2, 1, 1), (4, 1, 1, 1, 2)]),
    ],
)
def test_a_mask_is_repeated_like_what_it_is_of(layer, shapes, backend):
    for shape in shapes:
        mask = mask_of(*shape)
        found = at_work(layer).feed_forward_mask(as_input(backend, mask))
        np.testing.assert_array_equal(nd.to_host(found), repeated(mask, layer.size))


@pytest.mark.parametrize(
    ("axes", "borders", "shapes"),
    [
        (1, (1, 2), [(3, 6)]),
        (2, (1, 2, 0, 3), [(3, 1, 6, 5), (3, 1, 6, 1), (3, 1, 1, 5), (3, 1, 1, 1)]),
        (3, (1, 0, 1, 1, 0, 1), [(3, 1, 4, 4, 4), (3, 1, 1, 4, 1), (3, 1, 1, 1, 1)]),
    ],
)
def test_a_mask_is_cropped_and_padded_like_what_it_is_of(axes, borders, shapes, backend):
    """What is added does not count; an axis of length 1 says the same for all of the axis, and stays."""
    cropping, padding = (at_work(layer_class(borders)) for layer_class in BORDERS[axes])
    for shape in shapes:
        mask, first = mask_of(*shape), len(shape) - axes
        pairs = [(before, after) for before, after in zip(borders[::2], borders[1::2], strict=True)]
        pairs = [pair if axes == 1 or shape[first + axis] > 1 else (0, 0) for axis, pair in enumerate(pairs)]
        inside = tuple(
            slice(before, length - after) for (before, after), length in zip(pairs, shape[first:], strict=True)
        )
        given = as_input(backend, mask)
        np.testing.assert_array_equal(nd.to_host(cropping.feed_forward_mask(given)), mask[(..., *inside)])
        expected = np.pad(mask, [(0, 0)] * first + pairs)
        np.testing.assert_array_equal(nd.to_host(padding.feed_forward_mask(given)), expected)


@pytest.mark.parametrize("shape", [(3, 1, 4, 6), (3, 1, 4, 1), (3, 1, 1, 6), (3, 1, 1, 1)])
def test_a_place_of_blocks_counts_where_one_of_its_block_does(shape, backend):
    mask = mask_of(*shape)
    found = nd.to_host(at_work(SpaceToDepthLayer(2)).feed_forward_mask(as_input(backend, mask)))
    n, _, height, width = shape
    down, right = min(height, 2), min(width, 2)
    np.testing.assert_array_equal(
        found, mask.reshape(n, 1, height // down, down, width // right, right).max(axis=(3, 5))
    )


@pytest.mark.parametrize("shape", [(3, 1, 4, 5), (3, 1, 4, 1), (3, 1, 1, 5), (3, 1, 1, 1)])
def test_a_mask_of_blocks_goes_where_the_images_go(shape, backend):
    """As if the mask were a channel of the images, where it has one number for every place."""
    layer = at_work(SpaceToBatchLayer(2, ((0, 0), (1, 0))))
    mask = mask_of(*shape)
    images = np.broadcast_to(mask, (3, 1, 4, 5))
    spread = nd.to_host(forward(layer, as_input(backend, images), False)[0])
    found = np.broadcast_to(nd.to_host(layer.feed_forward_mask(as_input(backend, mask))), spread.shape)
    real = nd.to_host(forward(layer, as_input(backend, np.ones((3, 1, 4, 5))), False)[0]) > 0
    np.testing.assert_array_equal(found[real], spread[real])
    if shape[3] > 1:
        assert not found[~real].any()


def test_a_mask_of_rows_holds_for_all_steps(backend):
    found = at_work(RepeatVector(3)).feed_forward_mask(as_input(backend, np.array([[1.0], [0.0]])))
    np.testing.assert_array_equal(nd.to_host(found), [[1, 1, 1], [0, 0, 0]])


# ---- kinds of input


@pytest.mark.parametrize(
    ("layer", "kind", "shape"),
    [
        (Upsampling1D(2), "time series", "[N, C, T]"),
        (ZeroPaddingLayer(1), "images", "[N, C, H, W]"),
        (Cropping3D(1), "volumes", "[N, C, D, H, W]"),
        (SpaceToBatchLayer(2), "images", "[N, C, H, W]"),
    ],
)
def test_another_kind_of_input_is_refused(layer, kind, shape, backend):
    other = InputType.convolutional3d(2, 2, 2, 2) if kind != "volumes" else InputType.recurrent(3)
    with pytest.raises(nd.ConfigurationError, match=rf"layer 0: expected {kind}, got "):
        layer.output_type("layer 0", other)
    with pytest.raises(nd.ShapeError, match=re.escape(f"expected input {shape}, got [2, 3]")):
        forward(at_work(layer), nd.zeros(2, 3, dtype="float64"), False)
    with pytest.raises(nd.DTypeError, match="expected an array, got list"):
        forward(at_work(layer), [[1.0]], False)


def test_repeated_rows_are_rows(backend):
    with pytest.raises(nd.ShapeError, match=r"layer 0 \(RepeatVector\): expected input \[N, C\], got \[2, 3, 4\]"):
        forward(at_work(RepeatVector(2)), nd.zeros(2, 3, 4, dtype="float64"), False)
    with pytest.raises(nd.ShapeError, match=r"expected input \[N, C\], got list"):
        forward(at_work(RepeatVector(2)), [[1.0]], False)


def test_rows_become_images_and_series_before_such_layers():
    base = NeuralNetConfiguration(seed=1)
    flat = base.list(Upsampling2D(2), input_type=InputType.convolutional_flat(4, 4, 2))
    assert flat.layer_types()[0][1] == InputType.convolutional(8, 8, 2)
    images = base.list(SpaceToBatchLayer(2), Cropping1D((0, 1)), input_type=InputType.convolutional(4, 4, 2))
    assert images.layer_types()[1] == (InputType.recurrent(8), InputType.recurrent(8))
    repeated_images = base.list(RepeatVector(3), input_type=InputType.convolutional(2, 2, 2))
    assert repeated_images.layer_types()[0][1] == InputType.recurrent(8, 3)


def test_channels_follow_where_no_input_type_says_so():
    assert SpaceToDepthLayer(3).following("layer 0", ("images", 2))[1] == ("images", 18)
    assert SpaceToDepthLayer(3).following("layer 0", None)[1] is None
    assert RepeatVector(3).following("layer 0", ("rows", 2))[1] == ("series", 2)
    assert RepeatVector(3).following("layer 0", ("images", 2))[1] is None
    assert Upsampling2D(2).following("layer 0", ("images", 2))[1] == ("images", 2)


# ---- Java's form


def test_layers_that_java_wrote(reference):
    """SyntheticCNN of 1.0.0-beta4: exactly its fields, and what later versions added to them."""
    with zipfile.ZipFile(reference / "regression" / "100b4" / "SyntheticCNN_100b4.bin") as archive:
        document = json.load(io.BytesIO(archive.read("configuration.json")))
    written = {layer["@class"].rpartition(".")[2]: layer for layer in (conf["layer"] for conf in document["confs"])}
    expected = {
        "ZeroPaddingLayer": ZeroPaddingLayer(4, name="layer3"),
        "Upsampling2D": Upsampling2D(3, name="layer4"),
        "Cropping2D": Cropping2D((3, 3, 2, 2), name="layer7"),
    }
    for name, layer in expected.items():
        assert layer_from_json(written[name]) == layer
        ours = layer_to_json(layer)
        assert {key: ours[key] for key in written[name]} == written[name]
        assert set(ours) - set(written[name]) <= {"dataFormat", "format"}


@every_row(
    ("layer", "java_class", "fields"),
    [
        (Cropping1D((1, 2)), "convolutional.Cropping1D", {"cropping": [1, 2]}),
        (Cropping3D(1), "convolutional.Cropping3D", {"cropping": [1] * 6}),
        (RepeatVector(3), "misc.RepeatVector", {"n": 3, "dataFormat": "NCW"}),
        (SpaceToBatchLayer((2, 3), 1), "SpaceToBatchLayer", {"blocks": [2, 3], "padding": [[1, 1], [1, 1]]}),
        (SpaceToDepthLayer(2), "SpaceToDepthLayer", {"blockSize": 2, "dataFormat": "NCHW"}),
        (Upsampling1D(2), "Upsampling1D", {"size": [2, 2]}),
        (Upsampling3D((1, 2, 3)), "Upsampling3D", {"size": [1, 2, 3], "dataFormat": "NCDHW"}),
        (ZeroPadding1DLayer(1), "ZeroPadding1DLayer", {"padding": [1, 1]}),
        (ZeroPadding3DLayer(2), "ZeroPadding3DLayer", {"padding": [2] * 6}),
    ],
)
def test_fields_are_javas(layer, java_class, fields):
    found = layer_to_json(layer)
    assert found["@class"] == "org.deeplearning4j.nn.conf.layers." + java_class
    assert {key: found[key] for key in fields} == fields
    assert layer_from_json(found).in_format("layer 0", None) == layer.in_format("layer 0", None)


@pytest.mark.parametrize("layer", [SpaceToDepthLayer(2), Upsampling2D(2), ZeroPaddingLayer(1), RepeatVector(2)])
def test_channels_last_is_read(layer):
    found = layer_to_json(layer)
    key = "format" if "format" in found else "dataFormat"
    name = "NWC" if isinstance(layer, RepeatVector) else "NHWC"
    read = layer_from_json({**found, key: name})
    assert layer_to_json(read) == {**found, key: name}
    assert read.in_format("layer 0", None if isinstance(layer, RepeatVector) else name)[1] == name
