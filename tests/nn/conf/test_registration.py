"""Layers of a user's own: known by name, written, saved and loaded."""

import json
import math
import pathlib
import runpy
import sys
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import nd
from nd.losses import LossMCXENT
from nn import (
    CapsuleStrengthLayer,
    DenseLayer,
    FrozenLayer,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    register,
    unregister,
)
from nn.files.json_values import NUMBER
from nn.layers import BaseLayerConf, LayerConf, LayerRuntime, SameDiffConf
from nn.layers.core.dense import DenseRuntime
from nn.layers.losses.output import LossRuntime
from nn.step.shared_nodes import is_pure
from nn.terms.params import ParamSpec
from optimize import Adam
from tests.nn.layers.test_every_layer import check_derivative
from tests.stand_ins import TOLERANCE
from tests.step_plans import recorded

EXAMPLE = pathlib.Path(__file__).parent.parent.parent.parent / "examples" / "custom_layer.py"
RNG = np.random.default_rng(4)
X, Y = RNG.normal(size=(6, 3)), np.eye(2)[[0, 1, 1, 0, 1, 0]]


class PowerRuntime(LayerRuntime):
    """x * w to a power."""

    def forward(self, x, params, ctx):
        return nd.power(x * params["w"], self.conf.exponent), x

    def backward(self, epsilon, cache, params, grads, ctx):
        n, w = self.conf.exponent, params["w"]
        slope = n * nd.power(cache * w, n - 1) * epsilon
        nd.assign(grads["w"], nd.sum(slope * cache, 0, True))
        return slope * w if ctx.needs_epsilon else None


@dataclass(frozen=True, kw_only=True)
class Power(BaseLayerConf):
    exponent: int = 2
    size: int = 3
    notes: tuple[Any, ...] = ()
    runtime: ClassVar = PowerRuntime

    def param_specs(self):
        return (ParamSpec("w", (1, self.size), fan_in=self.size, fan_out=self.size),)


@dataclass(frozen=True, kw_only=True)
class Halved(DenseLayer):
    by: float = 2.0


@pytest.fixture
def registered():
    """Registers, and forgets what it has registered."""
    classes = []

    def remember(layer_class, **settings):
        classes.append(layer_class)
        register(layer_class, **settings)

    yield remember
    for layer_class in classes:
        unregister(layer_class)


def network(layer, **settings):
    conf = NeuralNetConfiguration(seed=3, dtype="float64", updater=Adam(0.1), **settings)
    output = OutputLayer(n_in=3, n_out=2, loss="mcxent", activation="softmax")
    return MultiLayerNetwork(conf.list(layer, output, input_type=InputType.feed_forward(3))).init()


def test_a_registered_layer_is_saved_and_loaded_and_goes_on(registered, tmp_path, backend):
    registered(Power)
    layer = Power(exponent=3, notes=("a", (1, 2.5), None, True), l2=0.1, updater="nesterovs")
    net = network(layer, l2=0.2)
    net.fit(X, Y, epochs=2)
    net.save(tmp_path / "own.zip")
    again = MultiLayerNetwork.load(tmp_path / "own.zip")
    assert again.conf.layers == net.conf.layers
    assert again.conf.layers[0].notes == ("a", (1, 2.5), None, True)
    assert again.conf.layers[0].l2 == 0.1
    for each in (net, again):
        each.fit(X, Y, epochs=2)
    np.testing.assert_array_equal(nd.to_host(again.params()), nd.to_host(net.params()))


def test_its_gradient_is_taken_and_it_is_neither_recorded_nor_split(registered):
    net = network(Power())
    w = nd.to_host(net.get_param("0_w"))
    assert not is_pure(net.conf)
    net.set_input(X)
    net.set_labels(Y)
    net.compute_gradient_and_score()
    out = nd.to_host(net.get_layer(1).params["W"])
    probabilities = np.exp((X * w) ** 2 @ out)
    probabilities /= probabilities.sum(1, keepdims=True)
    expected = (2 * X * w * X * ((probabilities - Y) @ out.T)).sum(0, keepdims=True)
    found = net.gradient().gradient_for_variable()["0_w"]
    np.testing.assert_allclose(nd.to_host(found), expected, **TOLERANCE["float64"])


def test_fields_are_written_under_camel_case_names_and_what_is_inherited_as_dl4j_does(registered):
    @dataclass(frozen=True, kw_only=True)
    class Leaky(BaseLayerConf):
        slope_below_zero: float = 0.1
        runtime: ClassVar = PowerRuntime

    registered(Leaky)
    written = json.loads(network(Leaky(slope_below_zero=0.5)).conf.to_json())["confs"][0]["layer"]
    assert written["@class"] == f"{__name__}.Leaky"
    assert written["slopeBelowZero"] == 0.5
    assert written["activationFn"]["@class"].endswith("ActivationSigmoid")
    assert written["iupdater"]["@class"].endswith("Adam")
    assert "nin" not in written


def test_a_layer_from_one_of_the_librarys_has_its_fields_too(registered):
    registered(Halved, java_class="com.example.nets.Halved")
    conf = network(Halved(n_out=3, by=0.25, has_bias=False)).conf
    written = json.loads(conf.to_json())["confs"][0]["layer"]
    assert (written["@class"], written["by"], written["nin"]) == ("com.example.nets.Halved", 0.25, 3)
    assert (written["hasBias"], written["hasLayerNorm"]) == (False, False)
    assert MultiLayerConfiguration.from_json(conf.to_json()).layers == conf.layers


def test_one_that_is_wrapped(registered):
    registered(Halved)
    conf = network(FrozenLayer(Halved(n_out=3, by=0.5))).conf
    assert MultiLayerConfiguration.from_json(conf.to_json()).layers == conf.layers


def test_a_loss_is_written_as_the_librarys_layers_do(registered):
    @dataclass(frozen=True, kw_only=True)
    class Last(BaseLayerConf):
        loss: Any = "mse"
        runtime: ClassVar = LossRuntime

    registered(Last)
    conf = NeuralNetConfiguration(seed=1).list(Last(loss=LossMCXENT(weights=(1.0, 2.0))))
    assert MultiLayerConfiguration.from_json(conf.to_json()).layers == conf.layers


def test_capsules_of_ones_own_are_written_as_those_of_the_library(registered):
    @dataclass(frozen=True, kw_only=True)
    class Stronger(CapsuleStrengthLayer):
        by: int = 2

    @dataclass(frozen=True, kw_only=True)
    class Fixed(SameDiffConf):
        by: int = 2
        runtime: ClassVar = LossRuntime

    for layer_class, init in ((Stronger, None), (Fixed, "XAVIER")):
        registered(layer_class)
        conf = NeuralNetConfiguration(seed=1).list(layer_class(by=3))
        assert json.loads(conf.to_json())["confs"][0]["layer"]["weightInit"] == init
        assert MultiLayerConfiguration.from_json(conf.to_json()).layers == conf.layers


@pytest.mark.parametrize("codec", ["number", NUMBER])
def test_a_form_of_ones_own(codec, registered):
    form = BaseLayerConf.form.more({"n": ("exponent", codec)}, {"kind": "power"})
    registered(Power, form=form)
    conf = network(Power(exponent=5)).conf
    written = json.loads(conf.to_json())["confs"][0]["layer"]
    assert (written["n"], written["kind"]) == (5, "power")
    assert "exponent" not in written
    assert MultiLayerConfiguration.from_json(conf.to_json()).layers[0].exponent == 5


def test_a_form_that_the_class_says(registered):
    @dataclass(frozen=True, kw_only=True)
    class Squared(Power):
        form: ClassVar = BaseLayerConf.form.more({"n": ("exponent", "number"), "width": ("size", "plain")})

    registered(Squared)
    conf = network(Squared(exponent=5)).conf
    written = json.loads(conf.to_json())["confs"][0]["layer"]
    assert (written["n"], written["width"]) == (5, 3)
    assert not {"exponent", "size", "notes"} & set(written)
    assert MultiLayerConfiguration.from_json(conf.to_json()).layers == conf.layers


def test_what_is_not_registered_is_refused_both_ways(registered):
    text = None
    registered(Power)
    text = network(Power()).conf.to_json()
    unregister(Power)
    with pytest.raises(nd.ConfigurationError, match=r"to_json: layer Power must be .*\. Call nn\.register\(Power\)"):
        network(Power()).conf.to_json()
    with pytest.raises(nd.ChoiceError, match=r"layer: unknown class '.*Power'.* known with nn\.register"):
        MultiLayerConfiguration.from_json(text)


@dataclass(frozen=True, kw_only=True)
class Inert(LayerConf):
    runtime: ClassVar = "none"


class Plain(DenseLayer):
    extra: int = 3


@pytest.mark.parametrize(
    ("layer_class", "settings", "message"),
    [
        (DenseLayer, {}, "DenseLayer is the library's own"),
        (Power, {"java_class": "com.example.DenseLayer"}, "'DenseLayer' is the library's own, got .*Power"),
        (DenseRuntime, {}, "expected a class from one of Activation, .* LayerConf, .* got the class DenseRuntime"),
        (Power(), {}, r"expected a class from one of Activation, .* got Power\("),
        (Plain, {}, "Plain must be a dataclass itself"),
        (Inert, {}, r"Inert\.runtime must be a class from LayerRuntime, got 'none'"),
    ],
)
def test_what_cannot_be_registered(layer_class, settings, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        register(layer_class, **settings)


@pytest.mark.parametrize("java_class", [5, "", "a.b."])
def test_names_that_are_none(java_class):
    with pytest.raises(nd.ConfigurationError, match="java_class must be the name of a class such as 'com"):
        register(Power, java_class=java_class)


class ForgetfulRuntime(LayerRuntime):
    """Leaves out what the class says."""

    def forward(self, x, params, ctx):
        return (x, None) if self.conf.cached else x

    def backward(self, epsilon, cache, params, grads, ctx):
        return None


class EndingRuntime(ForgetfulRuntime):
    ends_backprop = True


@dataclass(frozen=True, kw_only=True)
class Forgetful(LayerConf):
    cached: bool = True
    runtime: ClassVar = ForgetfulRuntime


@dataclass(frozen=True, kw_only=True)
class Ending(Forgetful):
    runtime: ClassVar = EndingRuntime


def behind_a_dense_layer(layer):
    layers = DenseLayer(n_out=4), layer, OutputLayer(n_out=2, loss="mcxent", activation="softmax")
    conf = NeuralNetConfiguration(seed=3, dtype="float64").list(*layers, input_type=InputType.feed_forward(3))
    return MultiLayerNetwork(conf).init()


def test_a_layer_that_keeps_the_gradient_from_those_below_has_to_say_so():
    for layer in (Forgetful(), FrozenLayer(Forgetful())):
        with pytest.raises(nd.ConfigurationError, match=r"layer 1 .*: backward must return dL/dx, as layer 0"):
            behind_a_dense_layer(layer).fit(X, Y)
    for layer in (Ending(), FrozenLayer(Ending())):
        net = behind_a_dense_layer(layer)
        before = {key: nd.to_host(nd.copy(view)) for key, view in net.param_table().items()}
        net.fit(X, Y)
        assert (nd.to_host(nd.copy(net.get_param("0_W"))) == before["0_W"]).all()
        assert (nd.to_host(nd.copy(net.get_param("2_W"))) != before["2_W"]).any()
    network(Forgetful()).fit(X, Y)  # nothing below it


def test_a_forward_without_a_cache_is_named():
    with pytest.raises(nd.ConfigurationError, match=r"layer 0 \(Forgetful\): forward must return \(activations, cache"):
        network(Forgetful(cached=False)).output(X)


def test_two_classes_of_one_name(registered):
    registered(Power)
    registered(Power)  # its module was imported again
    with pytest.raises(nd.ConfigurationError, match=r"'Power' is registered already, for .*Halved.* unregister"):
        register(Halved, java_class="com.example.Power")
    unregister(Power)
    registered(Halved, java_class="com.example.Power")


@pytest.mark.parametrize("value", [math.nan, {"a": 1}, object(), (object(),)])
def test_values_without_a_plain_form_are_refused(registered, value):
    registered(Power)
    with pytest.raises(nd.ConfigurationError, match=r"Power\.notes must be None, a number, .*form=LayerForm"):
        network(Power(notes=(value,))).conf.to_json()


def test_the_layer_of_the_example_has_the_gradients_of_its_formula_and_is_recorded(backend):
    names = runpy.run_path(str(EXAMPLE))
    unregister(names["GatedLayer"])
    layers = DenseLayer(n_out=3, activation="tanh"), names["GatedLayer"](n_out=4, sharpness=2.0), OutputLayer(n_out=2)
    conf = NeuralNetConfiguration(seed=3, dtype="float64").list(*layers, input_type=InputType.feed_forward(3))
    net = MultiLayerNetwork(conf).init()
    assert is_pure(conf)
    net.set_input(nd.create(X))
    net.set_labels(nd.create(Y))

    def summed_loss():
        net.compute_gradient_and_score()
        return net.score() * len(X)

    summed_loss()
    gradients = {key: nd.copy(g) for key, g in net.gradient().gradient_for_variable().items()}
    for key, view in net.param_table().items():
        check_derivative(summed_loss, view, gradients[key], 3)
    assert recorded(net.engine.gradients) == [0 if backend.recorder() is None else 1]


def test_the_example(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), "--sharpness", "3"])
    names = runpy.run_path(str(EXAMPLE), run_name="__main__")
    unregister(names["GatedLayer"])
    text = capsys.readouterr().out
    assert "read back with GatedLayer, sharpness 3.0" in text
    assert float(text.rpartition(" ")[2]) >= 0.95
