"""Solvers of old files, and where snapshots go."""

import os

import pytest

import nd
from nn.caffe import parse_text, proto, read_solver, upgrade_solver
from tests.cases.caffe_nets import LENET, SOLVER, V1
from tests.cells import every_row

TYPES = {
    "SGD": "SGD", "NESTEROV": "Nesterov", "ADAGRAD": "AdaGrad", "RMSPROP": "RMSProp", "ADADELTA": "AdaDelta",
    "ADAM": "Adam",
}  # fmt: skip


@every_row("old", sorted(TYPES))
def test_types(old):
    rest = "net: 'a' base_lr: 0.5 snapshot_prefix: 'p'"
    got = upgrade_solver(parse_text(f"{rest} solver_type: {old}", "SolverParameter"))
    assert got == parse_text(f"{rest} type: '{TYPES[old]}'", "SolverParameter")


def test_a_type_that_is_there_stays_and_none_is_added():
    for text in ("type: 'Mine'", ""):
        solver = parse_text(text, "SolverParameter")
        assert upgrade_solver(solver) == solver
    assert upgrade_solver(parse_text("", "SolverParameter")).type == "SGD"


def test_both_types_are_refused():
    with pytest.raises(nd.ConfigurationError, match=r"got both: 'Adam' and 'Nesterov'\. Leave solver_type out"):
        upgrade_solver(parse_text("type: 'Adam' solver_type: NESTEROV", "SolverParameter"))


def test_nets_inside_are_upgraded():
    solver = proto.SolverParameter(
        net_param=parse_text(V1, "NetParameter"), train_net_param=parse_text(V1, "NetParameter"),
        test_net_param=[parse_text(LENET, "NetParameter"), parse_text(V1, "NetParameter")],
    )  # fmt: skip
    got = upgrade_solver(solver)
    for net in (got.net_param, got.train_net_param, got.test_net_param[1]):
        assert [layer.type for layer in net.layer] == ["Input", "Convolution", "ReLU", "SoftmaxWithLoss"]
    assert got.test_net_param[0] == solver.test_net_param[0]
    solver.test_net_param[1].layer.add()
    with pytest.raises(
        nd.ConfigurationError, match=r"^upgrade_solver: test_net_param\[1\]: expected layers of one schema"
    ):
        upgrade_solver(solver)


def test_snapshots_lie_beside_the_solver_where_it_says_nothing(tmp_path):
    path = tmp_path / "my_solver.prototxt"
    path.write_text("net: 'a'")
    assert read_solver(path).snapshot_prefix == str(tmp_path / "my_solver")
    with open(path, "rb") as file:
        assert read_solver(file).snapshot_prefix == str(tmp_path / "my_solver")
    (tmp_path / "into").mkdir()
    path.write_text(f"net: 'a' snapshot_prefix: '{tmp_path / 'into'}'")
    assert read_solver(path).snapshot_prefix == os.path.join(tmp_path, "into", "my_solver")
    path.write_text(SOLVER)
    assert read_solver(path).snapshot_prefix == "snapshots/digits"


def test_what_a_solver_says_and_what_it_does_not():
    solver = parse_text(SOLVER, "SolverParameter")
    assert (solver.net, list(solver.test_iter), solver.lr_policy) == ("digits.prototxt", [100], "inv")
    assert (solver.type, solver.iter_size, solver.clip_gradients, solver.random_seed) == ("SGD", 1, -1.0, -1)
    assert solver.delta == pytest.approx(1e-8)
    assert (solver.rms_decay, solver.momentum2) == pytest.approx((0.99, 0.999))
    assert (solver.snapshot_format, solver.solver_mode, solver.regularization_type) == (1, 0, "L2")
    assert solver.test_initialization
    assert solver.snapshot_after_train
    assert not solver.HasField("delta")
