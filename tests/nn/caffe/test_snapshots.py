"""Weights and solver states in files, binary and HDF5; HDF5 that other programs wrote, and damaged files of it."""

import os
import subprocess

import h5py
import numpy as np
import pytest

import nd
from nn.caffe import SavedState, array_to_blobproto, parse_text, read_state, read_weights, write_state, write_weights
from nn.files.hdf5 import read_hdf5, write_hdf5
from tests.cells import every_row

RUN = subprocess.run
W, B = np.arange(6, dtype="float32").reshape(2, 3), np.array([0.5, -0.5], "float32")
NET = """
name: "n"
layer { name: "in" type: "Input" top: "x" }
layer { name: "a/b" type: "InnerProduct" bottom: "x" top: "y" param { name: "w" } param { } }
layer { name: "c" type: "InnerProduct" bottom: "y" top: "z" param { name: "w" } }
"""


def net(diff=False):
    message = parse_text(NET, "NetParameter")
    for layer, arrays in ((1, (W, B)), (2, (W, 2 * B))):
        message.layer[layer].blobs.extend(array_to_blobproto(array, -array if diff else None) for array in arrays)
    return message


def saved(path, isolated=False):
    """Name -> index -> values, and gradients where they are there."""
    return {
        layer.name: {
            index: [nd.to_host(array).tolist() for array in blob[:2] if array is not None]
            for index, blob in layer.blobs.items()
        }
        for layer in read_weights(path, isolated)
    }


def test_binary_weights(tmp_path):
    write_weights(net(), tmp_path / "w.caffemodel")
    w, b = W.tolist(), B.tolist()
    assert saved(tmp_path / "w.caffemodel") == {"a/b": {0: [w], 1: [b]}, "c": {0: [w], 1: [[1.0, -1.0]]}}
    write_weights(net(True), tmp_path / "w.caffemodel")
    assert saved(tmp_path / "w.caffemodel")["a/b"][1] == [b, [-0.5, 0.5]]


@every_row("isolated", [False, True])
def test_hdf5_weights(isolated, tmp_path):
    """A shared parameter stands there once; gradients always."""
    path = tmp_path / "w.caffemodel.h5"
    write_weights(net(), path)
    w, b = W.tolist(), B.tolist()
    assert saved(path, isolated) == {"a/b": {0: [w], 1: [b]}, "c": {1: [[1.0, -1.0]]}}
    with h5py.File(path) as file:
        assert file["data/a/b/0"][()].tolist() == w
        assert file["data/a/b/0"].dtype == "float32"
        assert sorted(file) == ["data"]
    write_weights(net(True), path)
    with h5py.File(path) as file:
        assert sorted(file["diff/c"]) == ["0", "1"]
        assert file["diff/c/1"][()].tolist() == [-1.0, 1.0]
    assert saved(path)["c"] == {1: [[1.0, -1.0], [-1.0, 1.0]]}


def test_old_weights_say_so(tmp_path):
    path = tmp_path / "old.caffemodel"
    old = parse_text(
        "layers { name: 'a' type: INNER_PRODUCT blobs { num: 1 channels: 1 height: 1 width: 2 data: [1, 2] } }",
        "NetParameter",
    )
    path.write_bytes(old.SerializeToString())
    (layer,) = read_weights(path)
    assert (layer.name, layer.blobs[0].is_legacy, layer.blobs[0].data.shape) == ("a", True, (1, 1, 1, 2))


def test_a_blob_that_is_wrong_is_named(tmp_path):
    path = tmp_path / "w.caffemodel"
    message = net()
    message.layer[2].blobs[1].shape.dim[0] = 7
    path.write_bytes(message.SerializeToString())
    with pytest.raises(
        nd.FormatError, match=r"w\.caffemodel: layer 2 'c' \(InnerProduct\): blob 1: .*\[7\].* got 2 in data"
    ):
        read_weights(path)


# ---- states

STATE = SavedState(70_000_000, "snapshots/x.caffemodel", 3, [W, B, 2 * W])


@every_row("name", ["s.solverstate", "s.solverstate.h5"])
def test_states(name, tmp_path):
    write_state(STATE, tmp_path / name)
    got = read_state(tmp_path / name)
    assert got[:3] == STATE[:3]
    assert got.extra == b""
    for array, expected in zip(got.history, STATE.history, strict=True):
        np.testing.assert_array_equal(array, expected)
    write_state(STATE._replace(history=[]), tmp_path / name)
    assert read_state(tmp_path / name).history == []


def test_a_state_of_hdf5_as_caffe_writes_it(tmp_path):
    """Numbers in arrays of one, the text with a zero at its end; twelve arrays come in the order of numbers."""
    path = tmp_path / "s.solverstate.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("iter", data=np.array([5], "int32"))
        file.create_dataset("current_step", data=np.array([1], "int32"))
        file.create_dataset("learned_net", data=np.bytes_(b"w.caffemodel\0"))
        for number in range(12):
            file.create_dataset(f"history/{number}", data=np.full((2,), number, "float32"))
    state = read_state(path)
    assert state[:3] == (5, "w.caffemodel", 1)
    assert [float(array[0]) for array in state.history] == list(range(12))
    write_state(state, path)
    with h5py.File(path) as file:
        assert file["learned_net"].dtype == "S13"
        assert file["iter"].shape == (1,)


@every_row(
    ("datasets", "said"),
    [
        ({"iter": np.array([1])}, r"expected a whole number 'current_step', got none"),
        ({"iter": np.array([1, 2]), "current_step": 0}, r"expected a whole number 'iter', got int64 \[2\]"),
        ({"iter": np.array([1.5]), "current_step": 0}, r"expected a whole number 'iter', got float64 \[1\]"),
        (
            {"iter": 1, "current_step": 0, "history/0": [1.0], "history/2": [1.0]},
            r"expected a history of 0 to 1, got history/0, history/2",
        ),
    ],
)
def test_states_that_are_wrong(datasets, said, tmp_path):
    path = tmp_path / "s.h5"
    with h5py.File(path, "w") as file:
        for name, value in datasets.items():
            file.create_dataset(name, data=value)
    with pytest.raises(nd.FormatError, match=rf"s\.h5: {said}"):
        read_state(path)


def test_weights_are_no_state_and_a_state_no_weights(tmp_path):
    write_state(STATE, tmp_path / "s.h5")
    with pytest.raises(nd.FormatError, match=r"expected weights, got the state of a solver\. Read it with read_state"):
        read_weights(tmp_path / "s.h5")
    write_weights(net(), tmp_path / "w.h5")
    with pytest.raises(nd.FormatError, match=r"expected a whole number 'iter', got none"):
        read_state(tmp_path / "w.h5")
    write_state(STATE, tmp_path / "s.solverstate")
    write_weights(net(), tmp_path / "w.caffemodel")
    with pytest.raises(nd.FormatError, match="expected the bytes of a NetParameter"):
        read_weights(tmp_path / "s.solverstate")
    with pytest.raises(
        nd.FormatError, match=r"of a SolverState, got something else than its 'iter' in field 1\. Is it"
    ):
        read_state(tmp_path / "w.caffemodel")
    with open(tmp_path / "w.h5", "rb") as file, pytest.raises(nd.FormatError, match=r"got a file of HDF5"):
        read_weights(file)


# ---- HDF5


def test_what_hdf5_may_hold(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["big"] = np.array([1.5, 2.5], ">f8")
        file["half"] = np.array([1.5], "f2")
        file["bytes"] = np.array([[1, 2]], "u1")
        file["a/b/text"] = "Grüße"
        file["none"] = np.zeros((0, 3), "f4")
        file.create_dataset("packed", data=np.ones((40, 40), "f4"), compression="gzip", chunks=(8, 8))
    arrays, texts = read_hdf5(path)
    assert {name: (nd.dtype_name(array), tuple(array.shape)) for name, array in arrays.items()} == {
        "big": ("float64", (2,)), "half": ("float32", (1,)), "bytes": ("int64", (1, 2)), "none": ("float32", (0, 3)),
        "packed": ("float32", (40, 40)),
    }  # fmt: skip
    assert arrays["big"].tolist() == [1.5, 2.5]
    assert texts == {"a/b/text": "Grüße"}
    again = read_hdf5(path, isolated=True)
    assert again.texts == texts
    assert {name: array.tolist() for name, array in again.arrays.items()} == {
        name: array.tolist() for name, array in arrays.items()
    }


def elsewhere(path):
    other = path.with_name("secret.raw")
    other.write_bytes(bytes(8))
    with h5py.File(path, "w") as file:
        file.create_dataset("x", shape=(2,), dtype="f4", external=[(os.fspath(other), 0, 8)])


def virtual(path):
    with h5py.File(path, "w") as file:
        layout = h5py.VirtualLayout(shape=(2,), dtype="f4")
        layout[:] = h5py.VirtualSource("other.h5", "x", shape=(2,))
        file.create_virtual_dataset("x", layout)


def huge(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", shape=(1 << 20, 1 << 20), dtype="f4", chunks=(1024, 1024))


def compound(path):
    with h5py.File(path, "w") as file:
        file["x"] = np.zeros(2, [("a", "i4"), ("b", "f4")])


def texts(path):
    with h5py.File(path, "w") as file:
        file["x"] = ["a", "b"]


REFUSED = {
    elsewhere: r"'x' must be in the file itself, got numbers in another one",
    virtual: r"'x' must be in the file itself, got numbers in another one",
    huge: r"arrays must take at most [\d,]+ bytes, .* got 4,398,046,511,104",
    compound: r"'x' must hold numbers or a text, got \[\('a', '<i4'\)",
    texts: r"'x' must be one text, got texts \[2\]",
    lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(200)): r"expected a file of HDF5, got ",
    lambda path: path.write_bytes(b"no"): r"expected a file of HDF5, got ",
}


@every_row("isolated", [False, True])
def test_what_is_refused(isolated, tmp_path):
    """A process of its own, which is started for every file, says it in the same words: of four it is asked."""
    for number, (write, said) in enumerate([*REFUSED.items()][:: len(REFUSED) // 3 if isolated else 1]):
        path = tmp_path / f"{isolated}-{number}.h5"
        write(path)
        with pytest.raises(nd.FormatError, match=rf"^{path}: {said}"):
            read_hdf5(path, isolated)


def test_links_into_other_files_are_not_followed(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = [1.0]
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["out"] = h5py.ExternalLink("other.h5", "x")
        file["nowhere"] = h5py.SoftLink("/no")
        file["group/round"] = h5py.SoftLink("/group")
        file["own"] = [2.0]
    assert list(read_hdf5(tmp_path / "x.h5").arrays) == ["own"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("os.kill(os.getpid(), 11)", r"libhdf5 must read the file, got a crash \(signal 11\)\. It is damaged"),
        ("sys.exit('so it is')", r"so it is"),
        ("time.sleep(60)", r"libhdf5 must read the file, got no end in 1 seconds"),
    ],
)
def test_a_crash_of_the_child_is_an_error(code, said, tmp_path, monkeypatch):
    """The child's program is another one here: which damage crashes libhdf5 changes with its version."""
    path = tmp_path / "x.h5"
    write_hdf5(path, {"x": nd.zeros(1)})

    def run(command, **named):
        return RUN([command[0], "-c", f"import os, sys, time; {code}"], **named)

    monkeypatch.setattr("nn.files.hdf5_tree.subprocess.run", run)
    monkeypatch.setattr("nn.files.hdf5_tree._SECONDS", 1)  # else the test would take a minute
    with pytest.raises(nd.FormatError, match=said):
        read_hdf5(path, isolated=True)
