"""Which layers of one text a net has: levels, stages, phases, and a text for all three uses; pycaffe's cases, anew."""

import io

import numpy as np
import pytest

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

import nd
from nn.caffe import proto
from nn.caffe.net import Net
from tests.cases import caffe_small_nets as nets
from tests.cases.caffe_small_nets import data, layer
from tests.cells import every_row


def silences(**rules):
    told = (layer(name, "ReLU", f"data_{at}", name, rule) for at, (name, rule) in enumerate(rules.items()))
    return data(*[(1, 1)] * len(rules), tops=[f"data_{at}" for at in range(len(rules))]) + "".join(told)


LEVELS = silences(
    NoLevel="",
    Level0Only="include { min_level: 0 max_level: 0 }",
    Level1Only="include { min_level: 1 max_level: 1 }",
    AtLeast0="include { min_level: 0 }",
    AtLeast1="include { min_level: 1 }",
)
STAGES = silences(
    A="include { stage: 'A' }",
    B="include { stage: 'B' }",
    AorB="include { stage: 'A' } include { stage: 'B' }",
    AandB="include { stage: 'A' stage: 'B' }",
)


def names(net):
    return [name for name in net.layer_names if name != "data"]


@every_row("level, expected", [(0, "NoLevel Level0Only AtLeast0"), (1, "NoLevel Level1Only AtLeast0 AtLeast1")])
def test_levels(level, expected):
    assert names(Net(LEVELS, phase="TEST", level=level)) == expected.split()


@every_row("stages, expected", [("A", "A AorB"), ("B", "B AorB"), ("AB", "A B AorB AandB"), ("", "")])
def test_stages(stages, expected):
    assert names(Net(STAGES, phase="TEST", stages=list(stages))) == expected.split()


def test_the_arguments_set_phase_and_level_and_add_stages():
    text = "state { phase: TRAIN level: 1 stage: 'A' }\n"
    net = Net(text + STAGES, phase="TEST", stages=["B"])
    assert net.phase == "TEST"
    assert names(net) == ["A", "B", "AorB", "AandB"]
    assert names(Net(text + LEVELS, phase="TEST")) == ["NoLevel", "Level0Only", "AtLeast0"]


def test_a_message_keeps_its_own_state_where_nobody_says_another():
    message = proto.NetParameter()
    message.CopyFrom(Net(LEVELS, phase="TRAIN", level=1).message)
    assert Net(message).phase == "TRAIN"
    assert names(Net(message)) == ["NoLevel", "Level1Only", "AtLeast0", "AtLeast1"]
    assert Net(message, phase=1).phase == "TEST"


@every_row("phase, stage, inputs, outputs", [
    ("TRAIN", "train", [], ["loss"]), ("TEST", "val", [], ["loss"]), ("TEST", "deploy", ["data"], ["pred"]),
])  # fmt: skip
def test_one_text_for_all_uses(phase, stage, inputs, outputs):
    net = Net(nets.ALL_IN_ONE, phase=phase, stages=[stage], seed=1)
    assert (net.phase, net.inputs, net.outputs) == (phase, inputs, outputs)
    assert net.layer_names == [f"{stage}_data", "ip", "pred" if stage == "deploy" else "loss"]
    assert net.has_blob("label") == (stage != "deploy")
    assert all(message.phase == {"TRAIN": 0, "TEST": 1}[phase] for message in net.to_proto().layer)


def test_where_a_net_comes_from(tmp_path):
    path = tmp_path / "tiny.prototxt"
    path.write_text(nets.tiny())
    net = Net(nets.tiny(), seed=1)
    weights = tmp_path / "weights.caffemodel"
    net.save(weights)
    expected = net.params["innerproduct"][0].data
    calls = [
        Net(path, 1, weights=weights),
        Net(str(path), "TEST", weights=str(weights)),
        Net(str(path), str(weights), "TEST"),  # as pycaffe once wanted it
        Net(path, str(weights), phase="TEST"),
        Net(io.BytesIO(path.read_bytes()), weights=weights, phase=1),
        Net(net.message, weights),
    ]
    for call in calls:
        assert call.phase == "TEST"
        np.testing.assert_array_equal(call.params["innerproduct"][0].data, expected)
    assert names(Net(LEVELS, "TEST", 1)) == names(Net(LEVELS, level=1))
    assert names(Net(STAGES, "TEST", 0, ["A"])) == ["A", "AorB"]
    assert Net(path, 0).phase == Net(path, "TRAIN").phase == "TRAIN"


def test_what_is_no_net(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing\.prototxt"):
        Net(str(tmp_path / "missing.prototxt"), phase="TEST")
    with pytest.raises(FileNotFoundError, match=r"missing\.caffemodel"):
        Net(nets.tiny(), str(tmp_path / "missing.caffemodel"))
    with pytest.raises(nd.FormatError, match="expected a field of NetParameter, got 'nonsense'"):
        Net("name: 'x' nonsense { }")
    with pytest.raises(nd.NdError, match="PLAY"):
        Net(nets.tiny(), phase="PLAY")
    with pytest.raises(nd.NdError, match="NetParameter"):
        Net(proto.SolverParameter())


def test_calls_that_say_too_much():
    with pytest.raises(nd.ConfigurationError, match="Net: phase must be given once, got it by position and by name"):
        Net(nets.tiny(), "TEST", phase="TRAIN")
    with pytest.raises(nd.ConfigurationError, match="at most 4 arguments, phase, level, stages, weights, got 5"):
        Net(nets.tiny(), "TEST", 0, [], None, 7)
