"""What users of Caffe and pycaffe know of solvers: states of nets, solve, apply_update, snapshots, actions, copies.

Source of the cases: BVLC Caffe, test_solver.cpp and python/caffe/test/test_solver.py.
"""

import copy
import gc
import logging
import pickle
import re
import threading

import numpy as np
import pytest

import nd
from nn.caffe import parse_text, print_text, read_state, read_weights
from nn.caffe.net import Net
from nn.caffe.solver import Solver, get_solver
from tests.cases.caffe_solvers import SETTINGS, least_squares, logged, solver_text, values
from tests.cells import every_row
from tests.nn.caffe.solver.test_resume import everything

ZEROS = """
layer { name: "data" type: "DummyData" top: "data" top: "label" dummy_data_param {
  shape { dim: 5 dim: 2 dim: 3 dim: 4 } shape { dim: 5 } data_filler { type: "gaussian" } data_filler { value: 1 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param {
  num_output: 11 kernel_size: 2 pad: 3 } param { lr_mult: 1 } param { lr_mult: 1 } }
layer { name: "ip" type: "InnerProduct" bottom: "conv" top: "ip" inner_product_param { num_output: 13 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""
STAGED = """
layer { name: "data" type: "DummyData" top: "data" top: "label" dummy_data_param {
  shape { dim: 5 dim: 3 } shape { dim: 5 } data_filler { type: "gaussian" } data_filler { value: 1 } } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 10 } }
layer { name: "accuracy" type: "Accuracy" bottom: "ip" bottom: "label" top: "accuracy" exclude { phase: TRAIN } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label"
  include { phase: TRAIN } include { phase: TEST stage: "with_loss" } }
"""


def plain(**more):
    settings = 'type: "SGD" base_lr: 0.01 momentum: 0.9 lr_policy: "inv" gamma: 0.0001 power: 0.75'
    return solver_text(ZEROS, settings, **{"random_seed": 7, "display": 100} | more)


def own(folder, name):
    """Return a folder of a row's own."""
    path = folder / re.sub(r"\W", "", name)
    path.mkdir()
    return path


def test_nets_in_their_states():
    """One test net per test_state; a stage in one of them lets the loss in."""
    tests = 'test_iter: 10 test_iter: 10 test_interval: 10 test_state { stage: "with_loss" } test_state { }'
    solver = get_solver(solver_text(STAGED, f"base_lr: 0.01 {tests}"))
    assert [net.phase for net in (solver.net, *solver.test_nets)] == ["TRAIN", "TEST", "TEST"]
    found = [(net.has_layer("loss"), net.has_layer("accuracy")) for net in (solver.net, *solver.test_nets)]
    assert found == [(True, False), (True, True), (False, True)]
    for net in solver.test_nets:
        for one, other in zip(net.params["ip"], solver.net.params["ip"], strict=True):
            assert nd.backend().may_share_memory(one.data, other.data)


def test_test_nets_see_every_update():
    solver = get_solver(plain() + " test_iter: 1 test_interval: 100")
    solver.step(3)
    for one, other in zip(solver.test_nets[0].params["ip"], solver.net.params["ip"], strict=True):
        np.testing.assert_array_equal(one.data, other.data)
    before = values(solver.net)
    (loss,) = solver.test()["loss"]
    np.testing.assert_allclose(solver.test_nets[0].forward()["loss"], loss, rtol=0.2)
    for one, other in zip(before, values(solver.net), strict=True):
        np.testing.assert_array_equal(one, other)


def test_solve_reaches_the_end():
    solver = get_solver(plain())
    assert (solver.iter, solver.max_iter, solver.type) == (0, 100, "SGD")
    solver.solve()
    assert solver.iter == 100
    solver.solve()
    assert solver.iter == 100


def test_apply_update():
    """With zero weights and a diff of 1 everywhere weights become minus the rate."""
    solver = get_solver(plain())
    for blobs in solver.net.params.values():
        for blob in blobs:
            blob.data, blob.diff = np.zeros(blob.shape), np.ones(blob.shape)
    solver.apply_update()
    assert solver.iter == 1
    for blobs in solver.net.params.values():
        for blob in blobs:
            np.testing.assert_allclose(blob.data, -0.01, rtol=1e-6)


def test_apply_update_is_what_a_step_does():
    """Forward and backward by hand, and the update, against step, with all that stands between them."""
    said = least_squares("Adam", weight_decay=0.1, clip_gradients=0.5)
    by_hand, whole = (get_solver(said, dtype="float64") for _ in range(2))
    for _ in range(4):
        by_hand.net.clear_param_diffs()
        by_hand.net.forward_backward()
        by_hand.apply_update()
        whole.step(1)
        for one, other in zip(values(by_hand.net), values(whole.net), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10)


def test_nets_outlive_their_solver():
    solver = get_solver(plain() + " test_iter: 1 test_interval: 100")
    solver.step(1)
    nets, expected = [solver.net, *solver.test_nets], [values(net) for net in (solver.net, *solver.test_nets)]
    data = solver.net.params["conv"][0].data
    del solver
    gc.collect()
    for net, before in zip(nets, expected, strict=True):
        assert np.isfinite(net.forward()["loss"])
        for one, other in zip(values(net), before, strict=True):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(data, nets[0].params["conv"][0].data)


@every_row(("form", "ending"), [("BINARYPROTO", ""), ("HDF5", ".h5")])
def test_names_of_snapshots(form, ending, tmp_path):
    tmp_path = own(tmp_path, form)
    solver = get_solver(plain(snapshot_prefix="'model'", snapshot_format=form), folder=tmp_path)
    assert solver.snapshot() == str(tmp_path / f"model_iter_0.solverstate{ending}")
    solver.step(2)
    solver.snapshot()
    names = [f"model_iter_{n}.{kind}{ending}" for n in (0, 2) for kind in ("caffemodel", "solverstate")]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    state = read_state(tmp_path / names[-1])
    assert (state.iter, state.learned_net, len(state.history)) == (2, names[-2], 4)
    saved = {layer.name: layer for layer in read_weights(tmp_path / names[-2])}
    np.testing.assert_array_equal(saved["ip"].blobs[0].data, solver.net.params["ip"][0].data)


@every_row(
    ("settings", "numbers"),
    [
        ({"snapshot": 4, "max_iter": 8, "snapshot_after_train": "true"}, [4, 8]),
        ({"snapshot": 4, "max_iter": 7, "snapshot_after_train": "true"}, [4, 7]),
        ({"snapshot": 4, "max_iter": 7}, [4]),
        ({"max_iter": 7, "snapshot_after_train": "true"}, [7]),
    ],
)
def test_when_snapshots_are_written(settings, numbers, tmp_path):
    tmp_path = own(tmp_path, str(sorted(settings.items())))
    get_solver(plain(**settings), folder=tmp_path).solve()
    assert sorted(path.name for path in tmp_path.glob("*.solverstate")) == [f"_iter_{n}.solverstate" for n in numbers]


def test_gradients_in_snapshots(tmp_path):
    solver = get_solver(plain(snapshot_diff="true", snapshot_prefix="'a'"), folder=tmp_path)
    solver.step(1)
    solver.snapshot()
    (ip,) = (layer for layer in read_weights(tmp_path / "a_iter_1.caffemodel") if layer.name == "ip")
    assert ip.blobs[0].diff.shape == ip.blobs[0].data.shape


def test_weights_to_begin_with(tmp_path):
    """`weights` names files, several with commas between them, for all nets."""
    first = get_solver(plain(snapshot_prefix="'a'"), folder=tmp_path)
    first.step(3)
    first.snapshot()
    path = tmp_path / "a_iter_3.caffemodel"
    second = get_solver(plain(random_seed=8) + f" weights: '{path},{path}' test_iter: 1 test_interval: 9")
    for net in (second.net, *second.test_nets):
        for one, other in zip(values(net), values(first.net), strict=True):
            np.testing.assert_array_equal(one, other)
    assert second.iter == 0


def test_callbacks_and_actions(tmp_path):
    solver, heard = get_solver(plain(snapshot_prefix="'a'"), folder=tmp_path), []
    solver.add_callback(lambda: heard.append(("start", solver.iter)), lambda: heard.append(("ready", solver.iter)))
    solver.step(2)
    assert heard == [("start", 0), ("ready", 0), ("start", 1), ("ready", 1)]
    actions = ["none", "snapshot", "stop"]
    solver.set_action_function(lambda: actions.pop(0) if actions else "none")
    solver.step(10)
    assert solver.iter == 5
    assert (tmp_path / "a_iter_4.solverstate").exists()
    solver.step(2)
    assert solver.iter == 7


def test_a_callback_may_write_into_the_gradient():
    """It lies between backward and update: with a gradient of zeros nothing moves, but by decay."""
    solver = get_solver(least_squares("SGD", momentum=0).replace("momentum: 0.9", ""))
    before = values(solver.net)

    def clear():
        for blob in solver.net.learnable_params:
            blob.diff = np.zeros(blob.shape)

    solver.add_callback(lambda: None, clear)
    solver.step(2)
    for one, other in zip(before, values(solver.net), strict=True):
        np.testing.assert_array_equal(one, other)


@every_row("form", ["message", "path", "text"])
def test_where_a_solver_comes_from(form, tmp_path):
    (tmp_path / "s.prototxt").write_text(plain())
    message = parse_text(plain(), "SolverParameter")
    source = {"message": message, "path": tmp_path / "s.prototxt", "text": print_text(message)}[form]
    assert get_solver(source).type == "SGD"
    assert Solver(message).iter == 0


def test_sources_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.prototxt"):
        get_solver(tmp_path / "none.prototxt")
    with pytest.raises(nd.DTypeError, match="SolverParameter"):
        get_solver(3)
    with pytest.raises(nd.DTypeError, match="SolverParameter"):
        get_solver(parse_text("name: 'a'", "NetParameter"))
    with pytest.raises(nd.ConfigurationError, match="exactly one of train_net_param"):
        get_solver("base_lr: 1\nlr_policy: 'fixed'")


def test_a_test_net_that_is_not_there():
    solver = get_solver(plain() + " test_iter: 1 test_interval: 100")
    with pytest.raises(nd.ConfigurationError, match=r"^test: the net must be below 1, the test nets, got 1"):
        solver.test(1)
    with pytest.raises(nd.DTypeError, match=r"^copy_from: source must be a path, a NetParameter or a Net, got 3"):
        solver.net.copy_from(3)


# ---- the log


def test_the_log(caplog, tmp_path):
    """Lines of an iteration, of its outputs, of the rate, of tests and of the end, as programs that plot them read."""
    caplog.set_level(logging.INFO, "nn.caffe.solver")
    said = plain(display=2, max_iter=4, snapshot_prefix="'a'", snapshot_after_train="true")
    get_solver(said + " test_iter: 2 test_interval: 2 test_compute_loss: true", folder=tmp_path).solve()
    lines = caplog.messages
    assert [n for (n,) in logged(lines, r"Iteration (\d+) \(.* iter/s, .*s/2 iters\), loss = \S+$")] == ["0", "2"]
    assert logged(lines, r"Iteration (\d+), loss = ") == [("4",)]
    assert logged(lines, r"Iteration (\d+), lr = (\S+)$") == [("0", "0.01"), ("2", "0.0099985")]
    assert logged(lines, r"Iteration (\d+), Testing net \(#(\d)\)") == [("0", "0"), ("2", "0"), ("4", "0")]
    assert len(logged(lines, r"^    Test net output #0: (loss) = \S+ \(\* 1 = \S+ loss\)$")) == 3
    assert len(logged(lines, r"^Test loss: (\S+)$")) == 3
    assert logged(lines, r"^Snapshotting (solver state )?to binary proto file (\S+)") == [
        (None, str(tmp_path / "a_iter_4.caffemodel")), ("solver state ", str(tmp_path / "a_iter_4.solverstate")),
    ]  # fmt: skip
    assert lines[:2] == ["Solving small", "Learning Rate Policy: inv"]


def test_debug_info(caplog):
    caplog.set_level(logging.INFO, "nn.caffe")
    get_solver(plain(debug_info="true")).step(1)
    forward = logged(caplog.messages, r"\[Forward\] Layer (\S+), (?:top|param) blob (\S+) data: \S+$")
    assert {("conv", "conv"), ("conv", "0"), ("ip", "1"), ("loss", "loss")} <= set(forward)
    assert ("ip", "conv") in logged(caplog.messages, r"\[Backward\] Layer (\S+), bottom blob (\S+) diff: \S+$")


# ---- threads and copies


def test_two_threads_share_a_solver():
    """All steps are counted, and each is one of a single thread's: the numbers are those of as many in a row."""
    solver, alone = (get_solver(least_squares("Adam")) for _ in range(2))
    threads = [threading.Thread(target=lambda: [solver.step(5) for _ in range(6)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone.step(90)
    assert solver.iter == 90
    assert everything(solver) == everything(alone)


def test_two_solvers_in_two_threads():
    solvers = [get_solver(least_squares(kind)) for kind in sorted(SETTINGS)]
    threads = [threading.Thread(target=solver.step, args=(30,)) for solver in solvers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for kind, solver in zip(sorted(SETTINGS), solvers, strict=True):
        alone = get_solver(least_squares(kind))
        alone.step(30)
        assert everything(solver) == everything(alone)


@every_row("make", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies_are_refused(make):
    solver = get_solver(least_squares("SGD"))
    with pytest.raises(nd.ConfigurationError, match=r"^Solver: it cannot be copied or pickled\. Write a snapshot"):
        make(solver)
    with pytest.raises(nd.ConfigurationError, match=r"^Blob: it cannot be copied or pickled\. Copy its arrays"):
        make(solver.net.blobs["ip"])


def test_what_the_errors_advise():
    solver = get_solver(plain())
    solver.step(2)
    another = Net(solver.net.to_proto(), phase=solver.net.phase)
    for one, other in zip(values(another), values(solver.net), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_gradient_of_zeros_is_cut_to_a_norm_of_zero():
    still = ZEROS.replace('data_filler { type: "gaussian" }', "data_filler { value: 0 }").replace(
        '"SoftmaxWithLoss" bottom: "ip" bottom: "label"', '"EuclideanLoss" bottom: "ip" bottom: "ip"'
    )
    solver = get_solver(
        f'net_param {{ {still} }} base_lr: 1 lr_policy: "fixed" clip_gradients: 0 snapshot_after_train: false'
    )
    solver.step(2)
    assert all(not nd.to_host(blob.data).any() for blob in solver.net.learnable_params)


def test_a_text_of_one_line_is_no_path(tmp_path):
    (tmp_path / "net.prototxt").write_text(ZEROS)
    solver = get_solver('net: "net.prototxt" base_lr: 0.5 lr_policy: "fixed"', folder=tmp_path)
    assert solver.lr == 0.5
    with pytest.raises(FileNotFoundError, match=r"solver\.prototxt"):
        get_solver("solver.prototxt")
