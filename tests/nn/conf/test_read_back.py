"""What a file could not give back is refused: where it is given, or before another file is replaced."""

from dataclasses import dataclass

import numpy as np
import pytest

import nd
from nn import (
    DenseLayer,
    GaussianDistribution,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    register,
    unregister,
)
from nn.layers import OutputLayer
from optimize import FixedSchedule, L2Regularization, UnitNormConstraint, WeightDecay


def network(layer=None, **settings):
    layer = DenseLayer(n_in=2, n_out=3) if layer is None else layer
    conf = NeuralNetConfiguration(seed=1, **settings).list(layer, OutputLayer(n_out=2))
    return MultiLayerNetwork(conf).init()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DenseLayer(name=1), "DenseLayer: name must be text or None, got 1"),
        (lambda: DenseLayer(has_bias=0), "DenseLayer: has_bias must be True or False, got 0"),
        (lambda: NeuralNetConfiguration(mini_batch=1), "mini_batch must be True or False, got 1"),
        (lambda: NeuralNetConfiguration(bias_init=None), "bias_init must be a number, got None"),
        (
            lambda: NeuralNetConfiguration(gradient_normalization_threshold=None),
            "gradient_normalization_threshold must be a number, got None",
        ),
        (lambda: DenseLayer(l2=FixedSchedule(-0.1)), r"coefficient must be a number >= 0 .*, got -0\.1"),
        (lambda: WeightDecay(FixedSchedule(-0.1)), r"WeightDecay: coefficient must be a number >= 0 .*, got -0\.1"),
        (lambda: UnitNormConstraint(dimensions=(1, 1)), r"dimensions must be axes >= 0 .* each once, got \[1, 1\]"),
    ],
)
def test_what_no_reader_takes_is_refused_where_it_is_given(make, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        make()


def test_numpys_numbers_are_written_as_pythons(tmp_path):
    init = GaussianDistribution(np.float32(0), 1)
    net = network(DenseLayer(n_in=np.int64(2), n_out=3, bias_init=np.float32(0.1), weight_init=init))
    net.save(tmp_path / "model.zip")
    loaded = MultiLayerNetwork.load(tmp_path / "model.zip")
    assert loaded.conf.layers == net.conf.layers
    assert loaded.conf.layers[0].bias_init == float(np.float32(0.1))


def test_what_has_no_effect_goes_where_layers_are_put_together():
    layer = DenseLayer(n_in=2, n_out=3, l1=0.0, weight_decay=0.0, dist=GaussianDistribution(0, 1))
    conf = network(layer, l2_bias=0.0).conf
    found = conf.layers[0]
    assert (found.l1, found.l2_bias, found.weight_decay, found.dist) == (None,) * 4
    assert MultiLayerConfiguration.from_json(conf.to_json()).layers == conf.layers


def test_a_penalty_of_0_still_keeps_the_networks_away():
    assert network(DenseLayer(n_in=2, n_out=3, l2=0.0), l2=0.1).conf.layers[0].l2 is None
    assert network(l2=0.1).conf.layers[0].l2 == 0.1


def test_a_fixed_schedule_is_its_number():
    assert L2Regularization(FixedSchedule(0.5)) == L2Regularization(0.5)
    assert DenseLayer(l1=FixedSchedule(0.5), weight_decay=FixedSchedule(0.25)) == DenseLayer(l1=0.5, weight_decay=0.25)


@dataclass(frozen=True, kw_only=True)
class Growing(DenseLayer):
    """Adds 1 to what it is given, so that every reading gives another."""

    scale: int = 1

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "scale", self.scale + 1)


@dataclass(frozen=True, kw_only=True)
class Doubled(DenseLayer):
    """Refuses what it makes of what it is given."""

    scale: int = 1

    def __post_init__(self):
        super().__post_init__()
        if self.scale > 1:
            raise nd.ConfigurationError(f"Doubled: scale must be 1, got {self.scale}.")

    def resolved(self, defaults, index):
        found = super().resolved(defaults, index)
        object.__setattr__(found, "scale", 2)
        return found


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (Growing, r"^save: the configuration must be read as it is written, got another, so nothing was saved\. Let "),
        (Doubled, r"^save: what is written must be readable, got: confs.*Doubled: scale must be 1, got 2\."),
    ],
)
def test_the_file_that_was_there_stays(part, message, tmp_path):
    path = tmp_path / "model.zip"
    network().save(path)
    before = path.read_bytes()
    register(part)
    try:
        with pytest.raises(nd.ConfigurationError, match=message):
            network(part(n_in=2, n_out=3)).save(path)
    finally:
        unregister(part)
    assert path.read_bytes() == before
