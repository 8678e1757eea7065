"""What judges networks over series against Java: it sees what differs and what is missing; what is drawn covers all."""

import math

import numpy as np
import pytest

from nn import MultiLayerNetwork
from nn.layers.recurrent.base import RecurrentConf
from nn.layers.wrapping import WrappingConf
from tests.java_check import series
from tests.java_check.__main__ import RANDOM_SERIES
from tests.java_check.contents import parts_in
from tests.java_check.verdict import judge


@pytest.fixture(scope="module")
def all_drawn():
    return series.random_series(RANDOM_SERIES)


@pytest.fixture(scope="module")
def drawn(all_drawn):
    """A network with a mask and an updater with state, which goes step by step too."""
    return next(
        each for each in all_drawn
        if each.name.endswith("masked") and each.series.in_steps
        and MultiLayerNetwork(each.series.conf).init().updater_state().size
    )  # fmt: skip


@pytest.fixture
def ran(drawn, tmp_path):
    """That network, and Java's answers, which are ours."""
    folder = tmp_path / drawn.name
    series.save(drawn, folder)
    for path in folder.glob("our_*.npy"):
        for prefix in ("java_", "java_opened_"):
            np.save(folder / f"{prefix}{path.stem.removeprefix('our_')}.npy", np.load(path))
    net = MultiLayerNetwork.load(folder / "model.zip")
    series.fit(net, drawn.series.data)
    net.save(folder / "java_model.zip")
    return folder


def test_a_network_over_series_that_is_ours_agrees(drawn, ran):
    result = series.compare(drawn, ran)
    assert set(result.distances) == set(series.TOLERANCES)
    assert max(result.distances.values()) == 0.0
    assert judge([result], series.TOLERANCES, []).failures == []


@pytest.mark.parametrize(
    ("name", "quantities"),
    [
        ("init", {"init"}), ("output", {"output"}), ("score", {"score"}), ("gradient", {"gradient"}),
        ("steps", {"steps"}), ("scores", {"scores"}), ("params", {"params", "zip"}), ("state", {"state", "zip"}),
        ("outputs", {"outputs", "zip outputs"}), ("opened_params", {"opened params"}),
    ],
)  # fmt: skip
@pytest.mark.quick_rows(3)
def test_a_wrong_number_over_series_is_seen(drawn, ran, name, quantities):
    np.save(ran / f"java_{name}.npy", np.load(ran / f"java_{name}.npy") + 1e-2)
    off = {quantity for quantity, far in series.compare(drawn, ran).distances.items() if far > 1e-4}
    assert off == quantities


def test_what_a_network_over_series_lacks_is_seen(drawn, ran):
    for name in ("score", "steps", "opened_state"):
        (ran / f"java_{name}.npy").unlink()
    lacking = {quantity for quantity, far in series.compare(drawn, ran).distances.items() if math.isinf(far)}
    assert lacking == {"score", "steps", "opened state"}


def test_a_network_over_series_that_java_does_not_run_is_seen(drawn, ran):
    (ran / "error.txt").write_text("step\na.b.Outer: none\n")
    (failed,) = judge([series.compare(drawn, ran)], series.TOLERANCES, []).failures
    assert failed.startswith(f"{drawn.name}: runs: a.b.Outer: none")


def test_what_is_drawn_has_every_kind_of_recurrent_layer_mask_and_end(all_drawn):
    parts = [part for each in all_drawn for part in parts_in(each.series.conf.layers)]
    kinds = {type(part).__name__ for part in parts if isinstance(part, (RecurrentConf, WrappingConf))}
    assert kinds == {
        "Bidirectional", "GravesBidirectionalLSTM", "GravesLSTM", "LSTM", "LastTimeStep", "MaskZeroLayer", "SimpleRnn",
        "TimeDistributed",
    }  # fmt: skip
    modes = {part.mode for part in parts if type(part).__name__ == "Bidirectional"}
    assert modes == {"add", "average", "concat", "mul"}
    ends = {type(each.series.conf.layers[-1]).__name__ for each in all_drawn}
    assert ends == {"OutputLayer", "RnnLossLayer", "RnnOutputLayer"}
    truncated = [each for each in all_drawn if each.series.conf.backprop_type == "truncated_bptt"]
    masks = [each.series.data.features_mask for each in all_drawn if each.series.data.features_mask is not None]
    gaps = [mask for mask in masks if (np.diff(mask, axis=1) > 0).any()]
    assert min(len(truncated), len(masks) - len(gaps), len(gaps)) >= 10
    assert sum(each.series.in_steps for each in all_drawn) >= 20
