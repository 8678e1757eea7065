"""A network stays on its backend: every method of it can be called while another backend is the current one."""

import numpy as np
import pytest

import nd
from backends.errors import BackendError
from nn import MultiLayerNetwork
from optimize.step import StepGuard
from tests.fuzz.api.probing import Probe, quiet
from tests.stand_ins import make_backend

NETWORKS = ("nn.ComputationGraph", "nn.MultiLayerNetwork")


class Elsewhere(Probe):
    """Makes networks on the strict backend."""

    def prepared(self, name, made_by):
        if name not in NETWORKS:
            return super().prepared(name, made_by)
        with nd.use_backend(make_backend("strict")):
            return super().prepared(name, made_by)


@pytest.fixture
def probe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with nd.use_backend("numpy"):
        yield Elsewhere(tmp_path)


@pytest.fixture(params=[pytest.param("host", marks=pytest.mark.slow), "device"])
def scores(request, monkeypatch):
    """On a device no step knows its score: who asks for it reads it then."""
    if request.param == "device":
        monkeypatch.setattr(StepGuard, "score", lambda *_: None)


@pytest.mark.slow
def test_every_method_can_be_called_from_outside(probe, scores):
    calls, wrong = 0, []
    for target in probe.targets():
        if target.owner not in NETWORKS:
            continue
        calls += 1
        with quiet():
            try:
                function, arguments = probe.function(target), probe.arguments(target.name, target.parameters)
                probe.call(function, target.parameters, arguments)
            except (BackendError, AttributeError, RuntimeError) as error:
                wrong.append((target.name, f"{type(error).__name__}: {error}"[:150]))
    assert wrong == []
    assert calls > 100


def test_layers_that_it_hands_out_are_of_its_backend(probe):
    net = probe.prepared("nn.MultiLayerNetwork", MultiLayerNetwork)
    layer, x = net.get_layer(0), np.ones((2, net.layer_input_size(0)), np.float32)
    with pytest.raises(BackendError, match=r"the backend is 'numpy', got an array of 'array_api_strict"):
        layer.activate(x)
    with nd.use_backend(net.backend):
        assert nd.is_array(layer.activate(x))


def test_a_result_can_be_read_from_outside(probe, scores):
    net = probe.prepared("nn.MultiLayerNetwork", MultiLayerNetwork)
    result = net.compute_gradient_and_score()
    assert nd.backend() is not net.backend
    assert result.score == net.score() > 0
    assert result.gradient() is net.engine.gradients.shared.vectors.gradients.first
