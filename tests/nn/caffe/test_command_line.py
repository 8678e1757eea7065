"""``python -m nn.caffe``."""

import subprocess
import sys

import numpy as np
import pytest

from nn.caffe import (
    SavedState,
    array_to_blobproto,
    parse_text,
    read_net,
    read_solver,
    read_state,
    read_weights,
    write_message,
    write_state,
)
from nn.caffe.command_line import main
from tests.cases.caffe_nets import SOLVER, V1
from tests.cells import every_row


def test_a_text_of_the_newest_schema(tmp_path, capsys):
    old, new = tmp_path / "old.prototxt", tmp_path / "new.prototxt"
    old.write_text(V1)
    assert main(["convert", str(old), str(new)]) == 0
    assert capsys.readouterr().out == f"{new}: written\n"
    assert "layers {" not in new.read_text()
    assert read_net(new) == read_net(old)


def test_a_solver(tmp_path):
    old, new = tmp_path / "old.prototxt", tmp_path / "new.prototxt"
    old.write_text(f"{SOLVER} solver_type: ADAM")
    assert main(["convert", str(old), str(new), "--solver"]) == 0
    assert 'type: "Adam"' in new.read_text()
    assert read_solver(new) == read_solver(old)


def test_weights_through_hdf5(tmp_path):
    net = parse_text(
        "name: 'n' layer { name: 'ip' type: 'InnerProduct' } layer { name: 'r' type: 'ReLU' }", "NetParameter"
    )
    net.layer[0].blobs.append(array_to_blobproto(np.arange(6, dtype="float32").reshape(2, 3)))
    names = [str(tmp_path / name) for name in ("a.caffemodel", "b.caffemodel.h5", "c.caffemodel")]
    write_message(net, names[0])
    assert main(["convert", *names[:2]]) == 0
    assert main(["convert", *names[1:]]) == 0
    for name in names:
        ((layer, blobs),) = read_weights(name)
        assert (layer, blobs[0].data.tolist()) == ("ip", [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])


def test_states(tmp_path):
    names = [str(tmp_path / name) for name in ("a.solverstate", "b.solverstate.h5", "c.solverstate")]
    write_state(SavedState(3, "w", 1, [np.ones(2, "float32")]), names[0])
    assert main(["convert", *names[:2]]) == 0
    assert main(["convert", *names[1:]]) == 0
    assert read_state(names[2])[:3] == (3, "w", 1)
    assert read_state(names[2]).history[0].tolist() == [1.0, 1.0]


def test_unknown_fields(tmp_path, capsys):
    old, new = str(tmp_path / "old.prototxt"), str(tmp_path / "new.prototxt")
    (tmp_path / "old.prototxt").write_text("name: 'a'\nforked: 3\n")
    assert main(["convert", old, new]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: {old}:2:1: expected a field of NetParameter, got 'forked'")
    assert said.endswith("Where a fork of Caffe has the field, --drop-unknown reads the rest.\n")
    assert main(["convert", old, new, "--drop-unknown"]) == 0
    assert f"warning: {old}: fields that Caffe does not have are left out: 'forked'" in capsys.readouterr().err
    assert read_net(new).name == "a"


@every_row(
    ("source", "target", "said"),
    [
        ("none.prototxt", "x.prototxt", "none.prototxt"),
        ("net.prototxt", "x.zip", "expected a name for a NetParameter of Caffe as bytes"),
        ("net.prototxt", "x.solverstate", "the state of a solver stays one"),
        ("bad.prototxt", "x.prototxt", "bad.prototxt:1:1: expected the text of a NetParameter"),
    ],
)
def test_errors(source, target, said, tmp_path, capsys):
    (tmp_path / "net.prototxt").write_text("name: 'a'")
    (tmp_path / "bad.prototxt").write_text("}")
    assert main(["convert", str(tmp_path / source), str(tmp_path / target)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert said in error
    assert not (tmp_path / target).exists()


def test_usage(capsys):
    assert main(["--help"]) == 0
    assert "convert-mnist" in capsys.readouterr().out
    assert main([]) == 2
    assert main(["convert", "a"]) == 2


def test_mnist(mnist_folder, tmp_path, capsys):
    assert main(["convert-mnist", "--folder", str(tmp_path / "mnist")]) == 0
    assert "mnist_train_lmdb: 60,000 examples" in capsys.readouterr().out
    assert main(["convert-mnist", "--folder", str(tmp_path / "mnist")]) == 1
    assert "expected the name of a new folder" in capsys.readouterr().err


def test_a_process(tmp_path):
    (tmp_path / "a.prototxt").write_text(V1)
    command = [sys.executable, "-m", "nn.caffe", "convert", "a.prototxt", "b.caffemodel"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "b.caffemodel: written\n", "")
    assert [layer.name for layer in read_net(tmp_path / "b.caffemodel").layer] == ["input", "conv1", "relu1", "loss"]


def test_layers_that_share_cannot_be_written_without_their_net(tmp_path, capsys):
    h5 = pytest.importorskip("h5py")
    with h5.File(tmp_path / "w.h5", "w") as file:
        file["data/ip/1"] = [1.0]
    assert main(["convert", str(tmp_path / "w.h5"), str(tmp_path / "w.caffemodel")]) == 1
    assert "layer 'ip' shares parameters with another one, and has [1]" in capsys.readouterr().err
