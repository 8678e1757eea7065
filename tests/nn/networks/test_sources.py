"""Everything that reads or writes files: what it takes for one, and what it refuses before anything is opened."""

import io
import os
import socket
import subprocess
import sys
import tarfile
import zipfile

import numpy as np
import pytest

import nd
from nd.dataset import CsvDataSetIterator, DataSet, Normalizer, NormalizerStandardize, NpzDataSetIterator
from nn import DenseLayer, ModelFile, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.files.exchange import read_array_file, write_array_file
from nn.files.serializer import add_normalizer_to_model, restore_normalizer
from optimize import Adam
from tests.cells import every_row

X = np.arange(12, dtype=np.float32).reshape(4, 3)
DATA = DataSet(X, np.eye(2, dtype=np.float32)[[0, 1, 0, 1]])


def network():
    conf = NeuralNetConfiguration(seed=4, updater=Adam(0.02)).list(
        DenseLayer(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=2, activation="softmax")
    )
    net = MultiLayerNetwork(conf).init()
    net.fit(DATA)
    return net


def normalizer():
    found = NormalizerStandardize()
    found.fit(DATA)
    return found


def host(array):
    return np.array(nd.to_host(array))


# name -> (write to a file, read it, what of it to compare)
BOTH = {
    "DataSet": (DATA.save, DataSet.load, lambda found: found.features),
    "array": (lambda path: nd.serde.save(path, X), nd.serde.load, lambda found: found),
    "checkpoint": (
        lambda path: network().save_checkpoint(path),
        MultiLayerNetwork.load_checkpoint,
        lambda found: host(found.params()),
    ),
    "model": (lambda path: network().save(path), MultiLayerNetwork.load, lambda found: host(found.params())),
    "model file": (lambda path: network().save(path), ModelFile.read, lambda found: host(found.params)),
    "normalizer": (
        lambda path: normalizer().save(path),
        Normalizer.load,
        lambda found: found.transform_features(X),
    ),
    "normalizer of a model": (
        lambda path: network().save(path, normalizer=normalizer()),
        restore_normalizer,
        lambda found: found.transform_features(X),
    ),
}
PATHS = {
    "arrays": read_array_file,
    "csv": lambda path: CsvDataSetIterator(path, 2, 0, regression=True),
    "normalizer for a model": lambda path: add_normalizer_to_model(path, normalizer()),
    "npz": lambda path: NpzDataSetIterator([path], 2),
}
READERS = {**{name: read for name, (_, read, _) in BOTH.items()}, **PATHS}
WRITERS = {
    **{name: write for name, (write, _, _) in BOTH.items()},
    "arrays": lambda path: write_array_file(network(), path),
}
WRONG = {
    "number": 1,
    "flag": True,
    "none": None,
    "bytes": b"net.zip",
    "text": io.StringIO("text"),
    "object": object(),
    "empty": "",
    "zero": "net\0.zip",
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", READERS)
def test_what_is_no_file_to_read(name, wrong, capfd):
    with pytest.raises((nd.DTypeError, nd.ConfigurationError), match=r"\w+: .*(expected|must be)"):
        READERS[name](WRONG[wrong])
    os.fstat(1)  # it is still open


@every_row("wrong", WRONG)
@every_row("name", WRITERS)
def test_what_is_no_file_to_write(name, wrong):
    with pytest.raises((nd.DTypeError, nd.ConfigurationError), match=r"\w+: .*(expected|must be)"):
        WRITERS[name](WRONG[wrong])
    os.fstat(1)


@pytest.mark.parametrize("name", READERS)
def test_a_folder_to_read(name, tmp_path):
    folder = tmp_path / "folder.npz"
    folder.mkdir()
    with pytest.raises(OSError, match=r"expected a file, got a folder|must hold a complete checkpoint"):
        READERS[name](folder)


@pytest.mark.parametrize("name", WRITERS)
def test_a_folder_to_write(name, tmp_path):
    folder = tmp_path / ("folder.npz" if name == "arrays" else "folder")
    folder.mkdir()
    with pytest.raises(IsADirectoryError, match=r"expected the name of a file, got a folder"):
        WRITERS[name](folder)
    assert list(tmp_path.rglob("*")) == [folder]


@pytest.mark.skipif(sys.platform == "win32", reason="devices and pipes of POSIX")
@pytest.mark.parametrize("kind", ["device", "pipe", "socket"])
@pytest.mark.parametrize("name", READERS)
def test_what_has_no_end(name, kind, tmp_path):
    """Opening a pipe that nobody writes into would wait for ever, and a device fills the memory."""
    path = tmp_path / "endless.npz"
    if kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        os.chdir(tmp_path)  # the names of sockets are short
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("endless.npz")
    with pytest.raises(nd.FormatError, match=rf"endless\.npz' must be a file, got a {kind}\. .*give the file object"):
        READERS[name](path)


@pytest.fixture(autouse=True)
def back_again():
    folder = os.getcwd()
    yield
    os.chdir(folder)


@pytest.mark.parametrize("name", BOTH)
def test_a_file_that_is_not_there(name, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"No such file.*none\.zip"):
        READERS[name](tmp_path / "none.zip")


class Sink:
    def __init__(self):
        self.content = b""

    def write(self, data):
        self.content += bytes(data)
        return len(data)


class Source:
    """Gives few bytes at a time, as a socket does, and cannot go back."""

    def __init__(self, content):
        self.stream = io.BytesIO(content)

    def read(self, n=-1):
        return self.stream.read(min(n, 700) if n >= 0 else 700)


@pytest.mark.parametrize("name", BOTH)
def test_file_objects(name, tmp_path):
    write, read, of = BOTH[name]
    write(tmp_path / "file")
    content = (tmp_path / "file").read_bytes()
    expected = of(read(tmp_path / "file"))
    memory, sink = io.BytesIO(), Sink()
    write(memory)
    write(sink)
    assert memory.getvalue() == sink.content == content
    with open(tmp_path / "file", "rb") as opened:
        for source in (io.BytesIO(content), Source(content), opened):
            np.testing.assert_array_equal(of(read(source)), expected)
        assert not opened.closed


@pytest.mark.parametrize("name", BOTH)
def test_files_within_archives(name, tmp_path):
    write, read, of = BOTH[name]
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as outer, outer.open("inner", "w") as entry:
        write(entry)
    memory = io.BytesIO()
    write(memory)
    expected = of(read(io.BytesIO(memory.getvalue())))
    with zipfile.ZipFile(tmp_path / "outer.zip") as outer, outer.open("inner") as entry:
        np.testing.assert_array_equal(of(read(entry)), expected)
    with tarfile.open(tmp_path / "outer.tar", "w") as outer:
        info = tarfile.TarInfo("inner")
        info.size = len(memory.getvalue())
        outer.addfile(info, io.BytesIO(memory.getvalue()))
    with tarfile.open(tmp_path / "outer.tar") as outer:
        np.testing.assert_array_equal(of(read(outer.extractfile("inner"))), expected)


class _Zeros:
    def read(self, n=-1):
        assert 0 <= n <= 1 << 20
        return bytes(n)


@pytest.mark.parametrize("name", BOTH)
def test_a_stream_without_an_end_that_is_none_of_ours(name):
    with pytest.raises(nd.FormatError, match=r"must|expected"):
        READERS[name](_Zeros())


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_standard_input(tmp_path):
    """A pipe is read when the program opens it and gives the file object; a file behind a device's name is a file."""
    network().save(tmp_path / "net.zip")
    program = "import sys; from nn import MultiLayerNetwork as M; print(M.load({}).num_params())"
    content = (tmp_path / "net.zip").read_bytes()
    run = [sys.executable, "-c"]
    piped = subprocess.run([*run, program.format("sys.stdin.buffer")], input=content, capture_output=True, check=True)
    with open(tmp_path / "net.zip", "rb") as file:
        named = subprocess.run([*run, program.format("'/dev/stdin'")], stdin=file, capture_output=True, check=True)
    assert piped.stdout.split() == named.stdout.split() == [b"26"]


@pytest.mark.slow
def test_an_npz_that_unpacks_to_far_more_than_it_is(tmp_path):
    path = tmp_path / "bomb.npz"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": (300 << 20, 1)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("features.npy", "w") as entry:
        entry.write(header.getvalue())
        for _ in range(300):
            entry.write(bytes(1 << 20))
    assert path.stat().st_size < 1 << 20
    with pytest.raises(nd.FormatError, match=r"array 'features': must unpack to at most 268,435,456 bytes in a file"):
        NpzDataSetIterator([path], 2, labels=None)
