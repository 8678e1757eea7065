"""Normalisations of Keras."""

import numpy as np
import pytest

import nd
from nd import ConfigurationError
from nd.dataset import DataSet
from nn import BatchNormalization
from nn.keras.into.recognition import network_of
from tests.keras_models import check, layer, sequential

RNG = np.random.default_rng(10)


def batch_norm(channels, scale=True, center=True, **config):
    given = {"gamma": RNG.normal(size=channels)} if scale else {}
    given |= {"beta": RNG.normal(size=channels)} if center else {}
    given |= {"moving_mean": RNG.normal(size=channels), "moving_variance": RNG.uniform(0.5, 2, channels)}
    return layer("BatchNormalization", {"scale": scale, "center": center, **config}, **given)


def normal(x, made, axis, epsilon=0.001):
    shape = [1] * x.ndim
    shape[axis] = -1
    read = {weight.name: weight.read().reshape(shape) for weight in made.weights}
    z = (x - read["moving_mean"]) / np.sqrt(read["moving_variance"] + epsilon)
    return z * read.get("gamma", 1) + read.get("beta", 0)


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("shape", [(4,), (6, 4)])
def test_gamma_and_beta_are_there_or_not(scale, center, shape):
    x, made = RNG.normal(size=(5, *shape)), batch_norm(4, scale, center, epsilon=0.01, momentum=0.9)
    check(sequential(shape, made), [x], normal(x, made, -1, 0.01))


@pytest.mark.parametrize("axis", [-1, 3, 1, [3], 2])
def test_it_goes_along_any_axis_of_images(axis):
    shape, at = (3, 4, 5), axis[0] if isinstance(axis, list) else axis
    x, made = RNG.normal(size=(2, *shape)), batch_norm((2, *shape)[at], axis=axis)
    check(sequential(shape, made), [x], normal(x, made, at))


@pytest.mark.parametrize("axis", [-1, 1])
def test_series_and_volumes(axis):
    for shape in ((6, 4), (2, 3, 2, 4)):
        x, made = RNG.normal(size=(2, *shape)), batch_norm((2, *shape)[axis], axis=axis)
        check(sequential(shape, made), [x], normal(x, made, axis))


def test_a_step_moves_the_statistics_as_keras_does():
    made = batch_norm(4, momentum=0.8)
    dense = layer("Dense", {"units": 1}, kernel=RNG.normal(size=(4, 1)), bias=RNG.normal(size=1))
    net = network_of(sequential((4,), made, dense, training={"loss": "mse", "optimizer": "sgd"}))
    x = RNG.normal(size=(6, 4))
    net.fit(DataSet(x, RNG.normal(size=(6, 1))))
    read = {weight.name: weight.read() for weight in made.weights}
    for name, key, batch in (("mean", "moving_mean", x.mean(0)), ("var", "moving_variance", x.var(0))):
        found = nd.to_host(net.get_param(f"0_{name}"))[0]
        np.testing.assert_allclose(found, 0.8 * read[key] + 0.2 * batch, rtol=1e-12)


def test_parameters_that_are_drawn_start_as_the_file_says():
    config = {"gamma_initializer": {"class_name": "Constant", "config": {"value": 2.0}}, "beta_initializer": "ones"}
    made = layer("BatchNormalization", config)._replace(weights=None)
    x = RNG.normal(size=(5, 4))
    check(sequential((4,), made), [x], 2 * x / np.sqrt(1.001) + 1)
    assert isinstance(network_of(sequential((4,), made)).conf.layers[0], BatchNormalization)


@pytest.mark.parametrize("axis", [-1, 2, [2, 3], [1, 2, 3]])
@pytest.mark.parametrize("affine", [True, False])
def test_layer_normalization_along_the_last_axes(axis, affine):
    shape = (3, 4, 5)
    x = RNG.normal(size=(2, *shape))
    axes = tuple(axis) if isinstance(axis, list) else (axis,)
    if axes == (2,):
        with pytest.raises(ConfigurationError, match=r"LayerNormalization\): axis=2: not the last ones"):
            network_of(sequential(shape, layer("LayerNormalization", {"axis": axis})))
        return
    sizes = [x.shape[at] for at in axes]
    weights = {"gamma": RNG.normal(size=sizes), "beta": RNG.normal(size=sizes)} if affine else {}
    made = layer("LayerNormalization", {"axis": axis, "scale": affine, "center": affine, "epsilon": 0.01}, **weights)
    z = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 0.01)
    check(sequential(shape, made), [x], z * weights["gamma"] + weights["beta"] if affine else z)


@pytest.mark.parametrize("axis", [-1, 1])
def test_unit_normalization(axis):
    x = RNG.normal(size=(2, 3, 4))
    made = layer("UnitNormalization", {"axis": axis})
    check(sequential((3, 4), made), [x], x / np.sqrt((x * x).sum(axis, keepdims=True)), rtol=1e-9)


def test_lrn_of_deeplearning4js_models():
    x, n = RNG.normal(size=(2, 3, 4, 7)), 5
    made = layer("LRN", {"n": n, "k": 1.5, "alpha": 0.3, "beta": 0.6})
    wide = np.pad(x * x, [(0, 0)] * 3 + [(n // 2, n // 2)])
    sums = sum(wide[..., at : at + 7] for at in range(n))
    check(sequential((3, 4, 7), made), [x], x / (1.5 + 0.3 * sums) ** 0.6)


def test_settings_that_nothing_is_like_are_refused():
    made = batch_norm(4, renorm=True)
    with pytest.raises(ConfigurationError, match=r"BatchNormalization\): settings {'renorm': True"):
        network_of(sequential((4,), made))
