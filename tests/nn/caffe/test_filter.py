"""Which layers of a net are there in a state: Caffe's cases, written anew."""

import pytest

import nd
from nn.caffe import filter_net, parse_text, proto, state_meets_rule, with_state
from tests.cases.caffe_nets import LENET
from tests.cells import every_row

ALWAYS = ("data", "ip")


def net(state, rules):
    """A net of three layers, of which the last one, the loss, has rules."""
    return parse_text(
        f"""
        name: "three" {state}
        layer {{ name: "data" type: "DummyData" top: "data" top: "label" }}
        layer {{ name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param {{ num_output: 2 }} }}
        layer {{ name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" {rules} }}
        """,
        "NetParameter",
    )


CASES = {  # name -> state of the net, rules of the loss, whether it is there
    "no rules": ("", "", True),
    "no rules in a state": ("state { phase: TRAIN level: 3 stage: 'a' }", "", True),
    "an empty rule is met": ("", "include { }", True),
    "an empty rule excludes": ("", "exclude { }", False),
    "out by a stage that is missing": ("", "include { stage: 'a' }", False),
    "out by a stage that is another": ("state { stage: 'b' }", "include { stage: 'a' }", False),
    "out by an excluded stage": ("state { stage: 'a' }", "exclude { stage: 'a' }", False),
    "in by a stage": ("state { stage: 'a' }", "include { stage: 'a' }", True),
    "in as the excluded stage is not set": ("", "exclude { stage: 'a' }", True),
    "out as one of two stages is missing": ("state { stage: 'a' }", "include { stage: 'a' stage: 'b' }", False),
    "in by either rule": ("state { stage: 'a' }", "include { stage: 'a' } include { stage: 'b' }", True),
    "in by both stages": ("state { stage: 'a' stage: 'b' }", "include { stage: 'a' stage: 'b' }", True),
    "in as a stage is not set": ("state { stage: 'b' }", "include { not_stage: 'a' }", True),
    "out by a stage that must not be set": ("state { stage: 'a' }", "include { not_stage: 'a' }", False),
    "out by the least level": ("", "include { min_level: 3 }", False),
    "out by the highest level": ("", "include { max_level: -3 }", False),
    "in at the least level": ("", "include { min_level: 0 }", True),
    "in above the least level": ("state { level: 7 }", "include { min_level: 3 }", True),
    "in at the highest level": ("", "include { max_level: 0 }", True),
    "in below the highest level": ("state { level: -7 }", "include { max_level: -3 }", True),
    "in by all conditions of a rule": (
        "state { level: 2 phase: TRAIN }", "include { min_level: 2 phase: TRAIN }", True,
    ),
    "out by one condition of a rule": (
        "state { level: 2 phase: TEST }", "include { min_level: 2 phase: TRAIN }", False,
    ),
    "in by the level, not the phase": (
        "state { level: 2 phase: TEST }", "include { min_level: 2 } include { phase: TRAIN }", True,
    ),
    "out by either excluding rule": (
        "state { level: 2 phase: TEST }", "exclude { min_level: 2 } exclude { phase: TRAIN }", False,
    ),
    "in as no excluding rule is met": (
        "state { level: 1 phase: TEST }", "exclude { min_level: 2 } exclude { phase: TRAIN }", True,
    ),
    "the phase is TEST where nothing is said": ("", "include { phase: TEST }", True),
}  # fmt: skip


@every_row("name", sorted(CASES))
def test_a_layer_is_there_where_its_rules_are_met(name):
    state, rules, is_there = CASES[name]
    given = net(state, rules)
    before = given.SerializeToString()
    filtered = filter_net(given)
    assert [layer.name for layer in filtered.layer] == [*ALWAYS, *(["loss"] if is_there else [])]
    expected = proto.NetParameter.FromString(before)
    if not is_there:
        del expected.layer[2]
    assert filtered == expected
    assert filter_net(filtered) == filtered
    assert given.SerializeToString() == before


@every_row(
    ("phase", "names"),
    [
        ("TRAIN", "train conv1 pool1 ip1 relu1 ip2 loss"),
        ("TEST", "test conv1 pool1 ip1 relu1 ip2 accuracy loss"),
        (0, "train conv1 pool1 ip1 relu1 ip2 loss"),
        (1, "test conv1 pool1 ip1 relu1 ip2 accuracy loss"),
    ],
)
def test_lenet_by_phase(phase, names):
    filtered = filter_net(with_state(parse_text(LENET, "NetParameter"), phase))
    assert [layer.name for layer in filtered.layer] == names.split()


def test_a_bottom_may_be_left_without_its_layer():
    """Filtering looks at rules alone."""
    only = net("", "").layer[2]
    assert list(filter_net(proto.NetParameter(layer=[only])).layer) == [only]


def test_rules_of_both_kinds_are_refused():
    with pytest.raises(
        nd.ConfigurationError,
        match=r"layer 2 'loss' \(SoftmaxWithLoss\): expected include rules or exclude rules, got 1 and 2\.",
    ):
        filter_net(net("", "include { phase: TRAIN } exclude { stage: 'a' } exclude { }"))


def test_a_state_is_set_beside_the_stages_of_the_file():
    given = net("state { phase: TRAIN level: 5 stage: 'a' }", "")
    state = with_state(given, "TEST", 2, ("b", "c")).state
    assert (state.phase, state.level, list(state.stage)) == (proto.TEST, 2, ["a", "b", "c"])
    assert given.state.level == 5
    assert list(with_state(given, "TEST", stages="deploy").state.stage) == ["a", "deploy"]
    assert with_state(given, "TRAIN").state.level == 0


def test_a_phase_is_one_of_two():
    with pytest.raises(nd.ChoiceError, match=r"unknown phase 'train', expected one of TEST, TRAIN"):
        with_state(net("", ""), "train")
    with pytest.raises(nd.NdError, match=r"phase"):
        with_state(net("", ""), True)


def test_a_rule_alone():
    state = proto.NetState(level=3, stage=["a"])
    assert state_meets_rule(state, proto.NetStateRule())
    assert state_meets_rule(state, proto.NetStateRule(min_level=3, max_level=3, stage=["a"], not_stage=["b"]))
    assert not state_meets_rule(state, proto.NetStateRule(phase=proto.TRAIN))
    with pytest.raises(nd.DTypeError, match=r"expected a message nn\.caffe\.proto\.NetStateRule, got level: 3"):
        state_meets_rule(state, state)
