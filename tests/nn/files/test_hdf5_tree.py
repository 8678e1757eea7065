"""The walk through files of HDF5, here and in a child process."""

import io
import resource
import subprocess

import h5py
import numpy as np
import pytest

import nd
from nn.files.hdf5_tree import read_tree

RUN = subprocess.run
BOTH = pytest.mark.parametrize("isolated", [False, True])


@pytest.fixture
def path(tmp_path):
    """A file with every kind of attribute and array."""
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.attrs["text"] = "é"
        file.attrs["bytes"] = np.bytes_(b"abc")
        file.attrs["texts"] = np.array([b"a", b"bc"])
        file.attrs["strings"] = ["q", "rs"]
        file.attrs["number"] = 3
        file.attrs["half"] = 0.5
        file.attrs["matrix"] = np.ones((2, 2))
        file.create_group("group").attrs["name"] = "inner"
        file["group/f4"] = np.arange(6, dtype="float32").reshape(2, 3)
        file["group/f2"] = np.arange(3, dtype="float16")
        file["group/f8"] = np.array(1.25)
        file["group/i4"] = np.array([[7]], "int32")
        file.create_dataset("group/packed", data=np.arange(1000.0), compression="gzip", shuffle=True)
        file.create_dataset("group/none", shape=(0, 3), dtype="float32")
        file["text"] = "one"
        file["texts"] = ["one", "two"]
        file["left/out"] = np.ones(3)
        file["round"] = h5py.SoftLink("/group")
    return tmp_path / "x.h5"


@BOTH
@pytest.mark.parametrize("opened", [False, True])
def test_all_of_a_file(isolated, opened, path):
    source = io.BytesIO(path.read_bytes()) if opened else path
    tree = read_tree(h5py, source, isolated, without=("left",))
    assert dict(tree.attributes[""]) == {
        "text": "é", "bytes": "abc", "texts": ["a", "bc"], "strings": ["q", "rs"], "number": 3, "half": 0.5,
        "matrix": None,
    }  # fmt: skip
    assert tree.attributes["group"] == {"name": "inner"}
    assert set(tree.arrays) == {f"group/{name}" for name in ("f4", "f2", "f8", "i4", "packed", "none")}
    assert (tree.texts, tree.others) == ({"text": "one"}, {"texts": "texts [2]"})
    with h5py.File(path) as file:
        for name, stored in tree.arrays.items():
            np.testing.assert_array_equal(stored.read(), file[name][()])
            assert stored.shape == stored.read().shape == file[name].shape
            assert stored.dtype == file[name].dtype.name
    kinds = {name.rpartition("/")[2]: stored.read().dtype.name for name, stored in tree.arrays.items()}
    assert kinds == {"f4": "float32", "f2": "float32", "f8": "float64", "i4": "int64", "packed": "float64",
                     "none": "float32"}  # fmt: skip


def huge(file):
    file.create_dataset("x", (1 << 40,), "f4", chunks=(1 << 20,))


def elsewhere(file):
    file.create_dataset("x", (3,), "f4", external=[("/etc/passwd", 0, 12)])


@BOTH
@pytest.mark.parametrize(
    ("write", "said"),
    [(huge, r"arrays must take at most 268,435,456 bytes"), (elsewhere, "'x' must be in the file itself")],
)
@pytest.mark.quick_rows(2)
def test_what_is_refused(write, said, isolated, tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        write(file)
    with pytest.raises(nd.FormatError, match=rf"x\.h5: {said}"):
        read_tree(h5py, tmp_path / "x.h5", isolated)
    with pytest.raises(nd.FormatError, match=rf"^the file: {said}"):
        read_tree(h5py, tmp_path / "x.h5", isolated, name="the file")


@pytest.mark.slow
def test_a_child_has_bounded_memory(tmp_path):
    """Each of 4000 texts is made the same one in the file, of a million letters: 4 GB from a file of one megabyte."""
    size, count = 1_000_000, 4000
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.attrs.create("texts", ["x" * size] + ["y"] * (count - 1), dtype=h5py.string_dtype())
    content = (tmp_path / "x.h5").read_bytes()
    at = content.index(size.to_bytes(4, "little"))  # of a text its length, 4 bytes, and where it lies, 12
    content = content[:at] + content[at : at + 16] * count + content[at + 16 * count :]
    (tmp_path / "x.h5").write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with pytest.raises(nd.FormatError, match=r"x\.h5: "):
        read_tree(h5py, tmp_path / "x.h5", isolated=True)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss - before < 3 << 20  # kilobytes


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("os.kill(os.getpid(), 11)", r"libhdf5 must read the file, got a crash \(signal 11\)"),
        ("sys.stdout.write('nothing')", r"libhdf5 must read the file, got Expecting value"),
        ("text = b'[{}, {\"x\": [[9], \"float32\", \"\"]}, {}, {}]';"
         "sys.stdout.buffer.write(len(text).to_bytes(8, 'big') + text)", "got cannot reshape"),
        ("bytearray(1 << 50)", "MemoryError"),
    ],
)  # fmt: skip
def test_whatever_a_child_does_is_an_error(code, said, path, monkeypatch):
    def run(command, **named):
        return RUN([command[0], "-c", f"import os, sys; {code}"], **named)

    monkeypatch.setattr("nn.files.hdf5_tree.subprocess.run", run)
    with pytest.raises(nd.FormatError, match=said):
        read_tree(h5py, path, isolated=True)
