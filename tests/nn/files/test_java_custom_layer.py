"""A layer of a user's own, ported: what Deeplearning4j saved is read as Deeplearning4j runs it.

tests/java/src/main/java/ndwright/CustomLayer.java wrote the zip.
"""

import json
import pathlib
import textwrap
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import nd
from nd.activations import Tanh
from nn import (
    LSTM,
    ActivationLayer,
    ConvolutionLayer,
    DenseLayer,
    MaskLayer,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
    register,
    unregister,
)
from nn.layers import FeedForwardConf, LayerRuntime
from nn.terms.params import ParamSpec
from tests.stand_ins import TOLERANCE

CASES = pathlib.Path(__file__).parent.parent.parent / "cases"
JAVA = json.loads((CASES / "java_custom_layer.json").read_text())["plain"]


class PlainRuntime(LayerRuntime):
    def forward(self, x, training, mask=None):
        return nd.tanh(nd.gemm(x, self.params["W"]) + self.params["b"]), None


@dataclass(frozen=True, kw_only=True)
class Plain(FeedForwardConf):
    """Ported from Java: what `ParamSpec` is not told is as in Java's DefaultParamInitializer."""

    runtime: ClassVar = PlainRuntime

    def param_specs(self):
        return ParamSpec("W", (self.n_in, self.n_out)), ParamSpec("b", (1, self.n_out), bias=True)


@pytest.fixture
def loaded():
    register(Plain, java_class="ndwright.CustomLayer$Plain")
    yield MultiLayerNetwork.load(CASES / "java_custom_layer.zip")
    unregister(Plain)


def test_its_weights_are_javas(loaded):
    np.testing.assert_array_equal(nd.to_host(loaded.get_param("0_W")), np.float32(JAVA["W"]))


def test_it_computes_what_java_computes(loaded):
    found = nd.to_host(loaded.output(np.float32(JAVA["x"])))
    np.testing.assert_allclose(found, JAVA["output"], **TOLERANCE["float32"])


def test_the_default_order():
    assert ParamSpec("W", (2, 3)).order == "f"


# ---- the lines that the error has


def lines_of(error):
    """The indented lines of a message, as somebody copies them."""
    return "\n".join(line for line in str(error).splitlines() if line.startswith("    "))


@pytest.fixture
def run_lines():
    """Runs copied lines as a program; forgets the classes that they registered."""
    made = []

    def run(text):
        names = {"__name__": "copied"}
        exec(compile(textwrap.dedent(text), "copied", "exec"), names)
        made.extend(value for value in names.values() if isinstance(value, type) and value.__module__ == "copied")
        return made[-1]

    yield run
    for part in made:
        unregister(part)


def test_the_lines_of_the_error_open_the_file(run_lines, tmp_path):
    with pytest.raises(nd.ChoiceError, match=r"unknown class 'ndwright\.CustomLayer\$Plain'.*\n\n    from") as caught:
        MultiLayerNetwork.load(CASES / "java_custom_layer.zip")
    plain = run_lines(lines_of(caught.value))
    assert issubclass(plain, DenseLayer)
    net = MultiLayerNetwork.load(CASES / "java_custom_layer.zip")
    np.testing.assert_allclose(nd.to_host(net.output(np.float32(JAVA["x"]))), JAVA["output"], **TOLERANCE["float32"])
    net.save(tmp_path / "net.zip")
    assert type(MultiLayerNetwork.load(tmp_path / "net.zip").conf.layers[0]) is plain
    assert '"ndwright.CustomLayer$Plain"' in net.conf.to_json()


KINDS = {
    "dense with fields": (
        DenseLayer(n_in=4, n_out=4, activation="tanh"),
        {"secondActivationFunction": {"@class": "org.nd4j.linalg.activations.impl.ActivationTanH"}, "scale": 0.5,
         "lambda": 1.0, "names": ["a", "b"], "strange key": 1, "inside": {"of": "no class"}},
        "DenseLayer", {"second_activation_function": Tanh(), "scale": 0.5, "names": ("a", "b")},
    ),
    "convolution": (ConvolutionLayer(n_in=1, n_out=2, kernel_size=2), {}, "ConvolutionLayer", {}),
    "pooling": (SubsamplingLayer("max", kernel_size=2, stride=2), {}, "SubsamplingLayer", {}),
    "recurrent": (LSTM(n_in=3, n_out=2), {"alpha": 3}, "LSTM", {"alpha": 3}),
    "output": (OutputLayer(n_in=4, n_out=2, activation="softmax"), {}, "OutputLayer", {}),
    "activation": (ActivationLayer("tanh"), {}, "ActivationLayer", {}),
    "nothing": (MaskLayer(), {"rate": 2.5}, "DropoutLayer", {"rate": 2.5}),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_the_lines_know_fields_and_the_layer_that_is_nearest(name, run_lines):
    layer, more, base, values = KINDS[name]
    layers = [layer] if name == "output" else [layer, OutputLayer(n_in=4, n_out=2, activation="softmax")]
    document = json.loads(NeuralNetConfiguration(seed=1).list(*layers).to_json())
    document["confs"][0]["layer"] |= {"@class": "org.example.MyLayer", **more}
    text = json.dumps(document)
    with pytest.raises(nd.ChoiceError, match=rf"with the formula of {base};.* docs/own_parts\.md") as caught:
        MultiLayerConfiguration.from_json(text)
    run_lines(lines_of(caught.value))
    conf = MultiLayerConfiguration.from_json(text)
    found = conf.layers[0]
    assert (type(found).__name__, type(found).__mro__[1].__name__) == ("MyLayer", base)
    assert {key: getattr(found, key) for key in values} == values
    again = json.loads(conf.to_json())["confs"][0]["layer"]
    assert {key: again[key] for key in more} == more  # what no field can be is kept too
    assert again["@class"] == "org.example.MyLayer"
