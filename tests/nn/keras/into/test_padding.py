"""ZeroPadding, Cropping and UpSampling of Keras."""

import numpy as np
import pytest

from nd import ConfigurationError
from nn.keras.into.recognition import network_of
from tests.keras_models import check, layer, sequential
from tests.keras_places import turned

RNG = np.random.default_rng(37)
FORMATS = ["channels_last", "channels_first"]
SIZES = [(7,), (6, 7), (6, 5, 7)]
FORMS = {"one number": lambda axes: 2, "sides": lambda axes: [(1, 2), (0, 1), (2, 0)][:axes]}


def bordered(given, axes):
    """What the setting of a layer is, and the borders of all axes of a channels-last array."""
    sides = [(given, given)] * axes if isinstance(given, int) else given
    return (list(given[0]) if axes == 1 and not isinstance(given, int) else given), [(0, 0), *sides, (0, 0)]


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sizes", SIZES)
def test_zeros_around(sizes, form, data_format):
    setting, borders = bordered(FORMS[form](len(sizes)), len(sizes))
    x = RNG.normal(size=(2, *sizes, 3))
    made = layer(f"ZeroPadding{len(sizes)}D", {"padding": setting, "data_format": data_format})
    model = sequential(turned((*sizes, 3), data_format), made)
    check(model, [turned(x, data_format)], turned(np.pad(x, borders), data_format))


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sizes", SIZES)
def test_without_borders(sizes, form, data_format):
    setting, borders = bordered(FORMS[form](len(sizes)), len(sizes))
    x = RNG.normal(size=(2, *sizes, 3))
    inside = x[tuple(slice(before, length - behind) for (before, behind), length in zip(borders, x.shape, strict=True))]
    made = layer(f"Cropping{len(sizes)}D", {"cropping": setting, "data_format": data_format})
    model = sequential(turned((*sizes, 3), data_format), made)
    check(model, [turned(x, data_format)], turned(inside, data_format))


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("sizes", SIZES)
def test_every_place_several_times(sizes, data_format):
    times = (2, 1, 3)[: len(sizes)]
    x = expected = RNG.normal(size=(2, *sizes, 3))
    for axis, by in enumerate(times, 1):
        expected = np.repeat(expected, by, axis)
    size = times[0] if len(sizes) == 1 else times
    made = layer(f"UpSampling{len(sizes)}D", {"size": size, "data_format": data_format})
    model = sequential(turned((*sizes, 3), data_format), made)
    check(model, [turned(x, data_format)], turned(expected, data_format))


@pytest.mark.parametrize("data_format", FORMATS)
def test_places_between_places(data_format):
    def along(x, axis, by):  # between the centres of places; beyond the outer ones nothing changes
        at = (np.arange(x.shape[axis] * by) + 0.5) / by - 0.5
        return np.apply_along_axis(lambda line: np.interp(at, np.arange(len(line)), line), axis, x)

    x = RNG.normal(size=(2, 4, 3, 2))
    made = layer("UpSampling2D", {"size": (2, 3), "interpolation": "bilinear", "data_format": data_format})
    model = sequential(turned((4, 3, 2), data_format), made)
    check(model, [turned(x, data_format)], turned(along(along(x, 1, 2), 2, 3), data_format))


def test_what_is_behind_them_sees_the_format():
    x, kernel = RNG.normal(size=(2, 4, 3)), RNG.normal(size=(21, 2))
    dense = layer("Dense", {"units": 2, "use_bias": False}, kernel=kernel)
    model = sequential((4, 3), layer("ZeroPadding1D", {"padding": [1, 2]}), layer("Flatten"), dense)
    check(model, [x], np.pad(x, [(0, 0), (1, 2), (0, 0)]).reshape(2, 21) @ kernel)


@pytest.mark.parametrize(
    ("name", "shape", "config", "why"),
    [
        ("Cropping1D", (4, 2), {"cropping": [1, 3]}, "cropping 4 of 4 places"),
        ("UpSampling2D", (4, 4, 2), {"interpolation": "lanczos3"}, "interpolation='lanczos3'"),
        ("ZeroPadding2D", (4, 4, 2), {"padding": [1, 2, 3]}, r"padding=\[1, 2, 3\]"),
        ("ZeroPadding1D", (4, 2), {"padding": [-1, 2]}, r"padding=\[-1, 2\]"),
    ],
)
def test_what_no_layer_says_is_named(name, shape, config, why):
    with pytest.raises(ConfigurationError, match=rf"\({name}\): {why}"):
        network_of(sequential(shape, layer(name, config)))
