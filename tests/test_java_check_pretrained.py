"""What judges networks with layers that are pretrained against Java: it sees what differs; what is drawn covers all."""

import numpy as np
import pytest

from nn import (
    AutoEncoder,
    BernoulliReconstructionDistribution,
    CompositeReconstructionDistribution,
    ComputationGraphConfiguration,
    ExponentialReconstructionDistribution,
    GaussianReconstructionDistribution,
    LossFunctionWrapper,
    VariationalAutoencoder,
    load,
)
from tests.cases.random_pretrained import draw_pretrained
from tests.java_check import pretrained
from tests.java_check.__main__ import RANDOM_PRETRAINED
from tests.java_check.contents import parts_in
from tests.java_check.verdict import judge


@pytest.fixture(scope="module")
def drawn():
    """The first network with a VariationalAutoencoder."""
    for each in pretrained.random_pretrained(8):
        kinds = {type(part) for part in parts_in(each.network.conf)}
        if VariationalAutoencoder in kinds and each.network.is_labelled and each.network.has_losses:
            return each
    raise LookupError


@pytest.fixture
def ran(drawn, tmp_path):
    """That network, and Java's answers, which are ours."""
    folder = tmp_path / drawn.name
    pretrained.save(drawn, folder)
    for path in folder.glob("our_*.npy"):
        np.save(folder / path.name.replace("our_", "java_"), np.load(path))
    load(folder / "model.zip").save(folder / "java_model.zip")
    return folder


def test_what_is_ours_agrees(drawn, ran):
    distances = pretrained.compare(drawn, ran).distances
    assert set(distances) <= set(pretrained.TOLERANCES)
    assert {name.removeprefix(pretrained.SAMPLED) for name in distances} == {
        "init", *pretrained.COMPARED, "zip", "zip outputs",
    }  # fmt: skip
    assert max(distances.values()) == 0.0


@pytest.mark.parametrize("name", ["pretrained0", "params", "state", "losses", "scores", "opened_params", "outputs"])
@pytest.mark.quick_rows(2)
def test_a_wrong_number_is_seen(drawn, ran, name):
    theirs = np.load(ran / f"java_{name}.npy")
    np.save(ran / f"java_{name}.npy", 1.01 * theirs)
    result = pretrained.compare(drawn, ran)
    (failure,) = judge([result], pretrained.TOLERANCES, []).failures
    assert f"{name} differs by" in failure


def test_what_java_could_not_do_is_seen(drawn, ran):
    (ran / "error.txt").write_text("train\njava.lang.IllegalStateException: no\n")
    result = pretrained.compare(drawn, ran)
    assert judge([result], pretrained.TOLERANCES, []).failures == [
        f"{drawn.name}: trains: java.lang.IllegalStateException: no"
    ]


def test_what_is_drawn_has_everything():
    networks = [draw_pretrained(number) for number in range(RANDOM_PRETRAINED)]
    kinds = {type(part) for network in networks for part in parts_in(network.conf)}
    assert kinds > {
        AutoEncoder, BernoulliReconstructionDistribution, CompositeReconstructionDistribution,
        ExponentialReconstructionDistribution, GaussianReconstructionDistribution, LossFunctionWrapper,
        VariationalAutoencoder,
    }  # fmt: skip
    assert {isinstance(network.conf, ComputationGraphConfiguration) for network in networks} == {True, False}
    layers = [node.conf for network in networks for node in network.conf.nodes]
    assert {layer.corruption_level > 0 for layer in layers if isinstance(layer, AutoEncoder)} == {True, False}
    assert {layer.num_samples for layer in layers if isinstance(layer, VariationalAutoencoder)} == {1, 3}
    assert sum(network.is_labelled for network in networks) > 0.8 * RANDOM_PRETRAINED
    assert sum(network.has_losses for network in networks) > 0.3 * RANDOM_PRETRAINED
