"""Transforms of pictures beside DataVec 1.0.0-M2.1's: the same bytes, and the same draws of java.util.Random.

``image_transforms.txt.gz`` has a line for each result of a Java program: the transform, the channels of the picture,
the call, height, width and channels of the result, and its bytes.
"""

import gzip
from pathlib import Path

import numpy as np
import pytest

import nd
from nd import ChoiceError, ConfigurationError, DataError, DTypeError, ShapeError
from nd.dataset import DataSet, NumpyDataSetIterator
from nn.dl4j import (
    BoxImageTransform,
    ColorConversionTransform,
    CropImageTransform,
    EqualizeHistTransform,
    FlipImageTransform,
    MultiImageTransform,
    PipelineImageTransform,
    Random,
    RandomCropTransform,
    ResizeImageTransform,
    RotateImageTransform,
    ScaleImageTransform,
    WarpImageTransform,
)

RESULTS: dict[tuple[str, int], list[np.ndarray]] = {}
for _line in gzip.decompress((Path(__file__).parent / "image_transforms.txt.gz").read_bytes()).decode().splitlines():
    _name, _channels, _call, *_shape, _bytes = _line.split("\t")
    _result = np.frombuffer(bytes.fromhex(_bytes), np.uint8).reshape(*map(int, _shape))
    RESULTS.setdefault((_name, int(_channels)), []).append(_result.transpose(2, 0, 1))

MADE = {
    "crop random": lambda: CropImageTransform(Random(7), 4),
    "crop random 1 2 3 4": lambda: CropImageTransform(Random(7), 1, 2, 3, 4),
    "equalize": lambda: EqualizeHistTransform(),
    "flip random": lambda: FlipImageTransform(Random(42)),
    "multi": lambda: MultiImageTransform(
        Random(10), FlipImageTransform(), CropImageTransform(2), RotateImageTransform(20)
    ),
    "multi none": lambda: MultiImageTransform(FlipImageTransform(1), CropImageTransform(2)),
    "pipeline": lambda: PipelineImageTransform(FlipImageTransform(1), ResizeImageTransform(9, 7)),
    "rotate random": lambda: RotateImageTransform(Random(3), 30),
    "rotate random 2 2 30 0.4": lambda: RotateImageTransform(Random(3), 2, 2, 30, 0.4),
    "scale random": lambda: ScaleImageTransform(Random(5), 3),
    "warp 8": lambda: WarpImageTransform(1, -2, 3, 1.5, -1, 2, 0.5, -3),
    "warp random": lambda: WarpImageTransform(Random(11), 3),
}
KINDS = {
    "box": BoxImageTransform,
    "color": ColorConversionTransform,
    "crop": CropImageTransform,
    "flip": FlipImageTransform,
    "resize": ResizeImageTransform,
    "rotate": RotateImageTransform,
    "scale": ScaleImageTransform,
    "warp": WarpImageTransform,
}


def picture(channels, height=11, width=14):
    """Return the picture that the Java program makes."""
    numbers, state = [], 12345
    for _ in range(height * width * channels):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        numbers.append((state >> 16) & 255)
    return np.array(numbers, np.uint8).reshape(height, width, channels).transpose(2, 0, 1)


def made(name):
    if name in MADE:
        return MADE[name]()
    kind, *numbers = name.split()
    return KINDS[kind](*(float(number) if "." in number else int(number) for number in numbers))


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize(("name", "channels"), RESULTS, ids=lambda value: str(value))
def test_java_has_the_same_bytes(name, channels, dtype):
    transform, given = made(name), picture(channels).astype(dtype)
    kept = given.copy()
    for expected in RESULTS[name, channels]:
        found = transform.transform(given)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(given, kept)


def test_a_batch_is_its_pictures_one_after_the_other():
    batch = np.stack([picture(3)] * 4)
    np.testing.assert_array_equal(made("rotate random").transform(batch), RESULTS["rotate random", 3])
    data_set = DataSet(batch.astype(np.float32))
    made("rotate random").pre_process(data_set)
    np.testing.assert_array_equal(data_set.features, RESULTS["rotate random", 3])
    iterator = NumpyDataSetIterator(batch.astype(np.float32), np.eye(4), 4)
    iterator.setPreProcessor(made("warp random"))
    assert not iterator.asyncSupported()
    np.testing.assert_array_equal(iterator.next().features, RESULTS["warp random", 3])


def test_places_of_a_random_crop():
    batch = np.broadcast_to(np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4), (200, 1, 3, 4))
    with nd.random.use_random(nd.random.Random(3)):
        found = RandomCropTransform(2, 3).transform(batch)
        assert set(found[:, 0, 0, 0].tolist()) == {0, 1, 4, 5}
        state = nd.random.get_random().get_state()
        seeded = [RandomCropTransform(9, 2, 3).transform(batch) for _ in range(2)]
        assert nd.random.get_random().get_state() == state
    np.testing.assert_array_equal(*seeded)
    np.testing.assert_array_equal(found - found[:, :, :1, :1], np.broadcast_to([[0, 1, 2], [4, 5, 6]], found.shape))
    with pytest.raises(ShapeError, match="RandomCropTransform: pictures must be at least 4 x 3, got 3 x 4"):
        RandomCropTransform(4, 3).transform(batch)


def test_pipelines_with_probabilities():
    batch = np.broadcast_to(np.arange(3, dtype=np.float32), (400, 1, 1, 3))
    pairs = [(FlipImageTransform(1), 0.25), (BoxImageTransform(3, 2), 1.0)]
    pipelines = [
        PipelineImageTransform(7, pairs),
        PipelineImageTransform(7, pairs, True),
        PipelineImageTransform(None, 7, pairs, False),
        PipelineImageTransform.Builder()
        .setSeed(7)
        .addImageTransform(pairs[0][0], 0.25)
        .addImageTransform(pairs[1][0])
        .build(),
    ]
    results = [pipeline.transform(batch) for pipeline in pipelines]
    assert {result.shape for result in results} == {(400, 1, 2, 3)}
    for result in results:
        assert 0.18 < (result.max(axis=2)[:, 0, 0] == 2).mean() < 0.32
    np.testing.assert_array_equal(results[0], results[2])
    np.testing.assert_array_equal(results[0], results[3])
    assert all(pipeline.draws for pipeline in pipelines)
    assert not PipelineImageTransform(FlipImageTransform(1)).draws
    assert MultiImageTransform(FlipImageTransform(Random(1))).draws
    assert not MultiImageTransform(FlipImageTransform(1)).draws


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: CropImageTransform(1, 2),
            ConfigurationError,
            r"CropImageTransform: expected 1 or 4 numbers, which a R",
        ),
        (lambda: CropImageTransform(-1), ConfigurationError, "CropImageTransform: edges must be at least 0, got -1"),
        (lambda: ResizeImageTransform(0, 3), ConfigurationError, "ResizeImageTransform: width and height must be at"),
        (lambda: BoxImageTransform(0, 3), ConfigurationError, "BoxImageTransform: width and height must be at least 1"),
        (lambda: RandomCropTransform(0, 3), ConfigurationError, "RandomCropTransform: height and width must be at"),
        (lambda: ColorConversionTransform(50), ChoiceError, "ColorConversionTransform: conversion_code must be one of"),
        (lambda: MultiImageTransform(3), DTypeError, "MultiImageTransform: expected ImageTransforms, got 3"),
        (
            lambda: ColorConversionTransform(6).transform(picture(1)),
            ShapeError,
            "ColorConversionTransform: conversion 6 takes pictures of 3 channels, got 1",
        ),
        (
            lambda: ScaleImageTransform(-14).transform(picture(1)),
            ShapeError,
            "ScaleImageTransform: pictures must have pixels left, got -3 x 0 of 11 x 14",
        ),
        (
            lambda: RotateImageTransform(3).transform(picture(3) / 255),
            DataError,
            "RotateImageTransform: pixels must be whole numbers, 0 to 255, got others, 0 to 1",
        ),
        (
            lambda: CropImageTransform(Random(7), 4).transform(np.stack([picture(3)] * 4)),
            ShapeError,
            r"CropImageTransform: pictures of a batch must get one size, got \[3, 8, 6\] and \[3, 8, 11\]",
        ),
        (
            lambda: FlipImageTransform().transform(np.ones(3)),
            ShapeError,
            r"FlipImageTransform: expected a picture \[C, H",
        ),
        (
            lambda: FlipImageTransform().transform(np.ones((0, 3, 4, 4))),
            ShapeError,
            r"FlipImageTransform: a batch must have pictures, got \[0, 3, 4, 4\]",
        ),
        (
            lambda: RotateImageTransform(3).transform(np.full((3, 4, 4), np.nan)),
            DataError,
            "RotateImageTransform: pixels must be whole numbers, 0 to 255, got others, nan to nan",
        ),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
