"""Every layer and vertex as layers of Keras: what is written is read back and computes the same, or is refused."""

import numpy as np
import pytest

import nd
from nn.keras import graph_of as read
from nn.keras.out import LAYERS as WRITTEN
from nn.keras.out import MISSING, PREPROCESSORS, VERTICES
from nn.keras.out.stacking import STACKS
from nn.layers import LAYERS
from nn.terms.preprocessors import PREPROCESSORS as ALL_PREPROCESSORS
from nn.vertices import VERTICES as ALL_VERTICES
from tests.cases.layers import LAYER_CASES, make_features
from tests.cases.vertices import VERTEX_CASES
from tests.networks_of_all_kinds import features_of, graph_of
from tests.nn.layers.test_every_layer import make_network

pytestmark = pytest.mark.filterwarnings("ignore::nn.files.findings.ModelFileWarning")

LAYER_ROWS = [
    pytest.param(case, id=f"{kind}-{case.variant}", marks=[pytest.mark.slow] * (number > 0))
    for kind, rows in LAYER_CASES.items()
    for number, case in enumerate(rows)
]
VERTEX_ROWS = [
    pytest.param(case, id=f"{kind}-{case.variant}", marks=[pytest.mark.slow] * (number > 0))
    for kind, rows in VERTEX_CASES.items()
    for number, case in enumerate(rows)
]
INSIDE = {"FrozenVertex", "LayerVertex"}
"""What the walk over a network opens before it asks a table."""
REASONS = "|".join(sorted({*MISSING.values()})) + (
    "|no rows of time steps|as many examples|number of examples|time steps of one series|no pooling|"
    "with a stride and a dilation|no recurrent layer of Keras has|no Bidirectional of Keras|no SimpleRNN|"
    "zeros behind series|takes examples apart"
)


def test_no_class_is_forgotten():
    every = {LAYERS[name].__name__ for name in LAYERS} | {ALL_VERTICES[name].__name__ for name in ALL_VERTICES}
    every |= {"OnnxVertex"} | {ALL_PREPROCESSORS[name].__name__ for name in ALL_PREPROCESSORS}
    tables = [WRITTEN, VERTICES, PREPROCESSORS, MISSING, STACKS]
    said = [name for table in tables for name in table]
    assert sorted({*said, *INSIDE}) == sorted(every)
    assert len(said) == len(set(said))
    assert all(list(table) == sorted(table) for table in tables)


def outputs(net, features):
    found = net.output(*features)
    return [nd.to_host(one) for one in (found if isinstance(found, (list, tuple)) else [found])]


def check_back(net, features, folder):
    """Write a network, or see it refused with a reason; read it and compare outputs."""
    path = folder / "net.keras"
    features = [np.asarray(x, net.dtype) for x in features]
    try:
        net.save(path)
    except nd.ConfigurationError as error:
        with pytest.raises(nd.ConfigurationError, match=REASONS):
            raise error
        assert not path.exists()
        return
    again = read(path, isolated=False)
    for ours, theirs in zip(outputs(net, features), outputs(again, features), strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("case", LAYER_ROWS)
def test_layer(case, tmp_path):
    check_back(make_network(case, "float32"), [make_features(case)], tmp_path)


@pytest.mark.parametrize("case", VERTEX_ROWS)
def test_vertex(case, tmp_path):
    check_back(graph_of(case), features_of(case), tmp_path)


@pytest.mark.parametrize("kind", MISSING)
def test_what_is_missing_is_refused_by_its_reason(kind, tmp_path):
    for cases, make in ((LAYER_CASES, lambda case: make_network(case, "float32")), (VERTEX_CASES, graph_of)):
        for case in (row for rows in cases.values() for row in rows[:1]):
            part = getattr(case, "layer", None) or case.vertex
            if type(part).__name__ == kind:
                with pytest.raises(nd.ConfigurationError, match=MISSING[kind]):
                    make(case).save(tmp_path / "net.keras")
