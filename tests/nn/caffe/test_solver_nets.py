"""Which nets a solver trains and tests, and in which states."""

import pytest

import nd
from nn.caffe import net_to_train, nets_to_test, parse_text, proto
from tests.cells import every_row


def solver(text):
    return parse_text(text, "SolverParameter")


def nets(text, folder=""):
    return [net.name for net in nets_to_test(solver(text), folder)]


@every_row(
    "text", ["net_param { name: 'a' }", "train_net_param { name: 'a' }", "net: 'a.prototxt'", "train_net: 'a.prototxt'"]
)
def test_the_net_that_is_trained(text, tmp_path):
    (tmp_path / "a.prototxt").write_text("name: 'a' layers { name: 'old' type: RELU }")
    net = net_to_train(solver(text), tmp_path)
    assert (net.name, net.state.phase) == ("a", proto.TRAIN)
    assert not net.layers


@every_row(
    ("text", "got"),
    [
        ("test_net: 'a'", "none"),
        ("net: 'a' train_net: 'b'", "train_net, net"),
        ("net: 'a' net_param { }", "net_param, net"),
    ],
)
def test_one_net_is_trained(text, got):
    with pytest.raises(nd.ConfigurationError, match=rf"expected exactly one of train_net_param, .*, got {got}\.$"):
        net_to_train(solver(text))


@every_row(
    ("text", "state"),
    [
        ("net_param { }", "phase: TRAIN"),
        ("net_param { state { level: 2 stage: 'a' } }", "phase: TRAIN level: 2 stage: 'a'"),
        ("net_param { state { phase: TEST } }", "phase: TEST"),
        (
            "net_param { state { phase: TEST level: 2 stage: 'a' } } train_state { phase: TRAIN stage: 'b' }",
            "phase: TRAIN level: 2 stage: 'a' stage: 'b'",
        ),
        ("net_param { state { level: 2 } } train_state { level: 0 }", "phase: TRAIN level: 0"),
    ],
)
def test_states_lie_over_one_another(text, state):
    assert net_to_train(solver(text)).state == parse_text(state, "NetState")


@every_row(
    ("text", "names"),
    [
        ("net_param { name: 'n' }", []),
        ("net_param { name: 'n' } test_iter: 5 test_interval: 1", ["n"]),
        ("net_param { name: 'n' } test_iter: [5, 6] test_interval: 1", ["n", "n"]),
        (
            "net_param { name: 'n' } test_net_param { name: 't' } test_net_param { name: 'u' } test_iter: [5, 6, 7] "
            "test_interval: 1",
            ["t", "u", "n"],
        ),
        ("train_net_param { name: 'n' } test_net_param { name: 't' } test_iter: 5 test_interval: 1", ["t"]),
    ],
)
def test_the_nets_that_are_tested(text, names):
    assert nets(text) == names


def test_files_come_behind_messages(tmp_path):
    (tmp_path / "a.prototxt").write_text("name: 'a'")
    text = "test_net: 'a.prototxt' test_net_param { name: 't' } test_iter: [1, 2] test_interval: 1"
    assert nets(text, tmp_path) == ["t", "a"]


def test_states_of_tests():
    text = (
        "net_param { state { stage: 'a' } } test_iter: [1, 2] test_interval: 1 test_state { } test_state { stage: 'b' }"
    )
    assert [net.state for net in nets_to_test(solver(text))] == [
        parse_text("phase: TEST stage: 'a'", "NetState"), parse_text("phase: TEST stage: 'a' stage: 'b'", "NetState"),
    ]  # fmt: skip


@every_row(
    ("text", "said"),
    [
        ("train_net: 'a' test_net: 'b'", r"test_iter must be one number for each net, got \[\] for 1 of"),
        ("net_param { } test_net: 'b' test_net: 'c' test_iter: 1", r".*got \[1\] for 2 of test_net"),
        ("train_net: 'a' test_net: 'b' test_iter: [1, 2]", r".*got \[1, 2\] for 1 of"),
        ("net: 'a' test_iter: [1, 2] test_state { } test_interval: 1", r"test_state must be there .* 2 nets, got 1"),
        ("net: 'a' test_iter: 1", r"test_interval must be > 0 where nets are tested, got 0"),
    ],
)
def test_what_does_not_fit_together(text, said):
    with pytest.raises(nd.ConfigurationError, match=rf"^nets_to_test: {said}"):
        nets_to_test(solver(text))
