"""A layer of a user's own, ported: what Deeplearning4j saved is read as Deeplearning4j runs it.

tests/java/src/main/java/ndwright/CustomLayer.java wrote the zip.
"""

import json
import pathlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import nd
from nn import MultiLayerNetwork, register, unregister
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
