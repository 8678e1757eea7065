"""What is written under a name is what its ending says, or it is refused; of every method that writes a file."""

import ast
import functools
import io
import zipfile

import numpy as np
import pytest

import nd
import nn
from nd.dataset import DataSet, ImagePreProcessingScaler, MultiDataSet
from nd.files.archives import write_arrays
from nd.files.reading import KNOWN_ENDINGS
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.caffe import SavedState, proto, write_mean, write_message, write_state, write_weights
from nn.cli import main
from nn.dl4j import CollectScoresIterationListener, MiniBatchFileDataSetIterator, ModelSerializer, Nd4j
from nn.keras import write_keras
from optimize import CheckpointListener, HtmlReportListener, TensorBoardListener
from optimize.earlystopping import LocalFileModelSaver
from tests.source_files import library, nodes

X = np.ones((4, 2), "float32")
LAYERS = (DenseLayer(n_in=2, n_out=3), OutputLayer(n_in=3, n_out=2, activation="softmax"))
BEGINS = {
    ".bin": b"", ".binaryproto": b"", ".caffemodel": b"\x0a\x01n", ".h5": b"\x89HDF", ".hdf5": b"\x89HDF",
    ".prototxt": b'name: "n"', ".solverstate": b"\x08\x01", ".csv": b"", ".dot": b"digraph",
    ".gv": b"digraph", ".htm": b"<!DOCTYPE", ".html": b"<!DOCTYPE", ".npy": b"\x93NUMPY", ".npz": b"PK",
    ".json": b"{", ".keras": b"PK", ".onnx": b"\x08\x0a", ".safetensors": b"", ".svg": b"<svg", ".tsv": b"",
    ".txt": b"", ".zip": b"PK", "": b"", ".best": b"",
}  # fmt: skip
"""Ending -> how such a file begins."""
UNKNOWN = ("", ".best", ".bin")
"""Endings that say nothing."""


@pytest.fixture(scope="module")
def net():
    return MultiLayerNetwork(NeuralNetConfiguration(seed=1, updater="adam").list(*LAYERS)).init()


def with_normalizer(path, net):
    """Put a normalizer into a model zip of that name."""
    with io.BytesIO() as model:
        net.save(model)
        path.write_bytes(model.getvalue())
    try:
        nn.add_normalizer_to_model(path, ImagePreProcessingScaler())
    except nd.ConfigurationError:
        path.unlink()
        raise


@functools.cache
def trace_of(net):
    """Return a trace of a step of the network."""
    return net.trace(X, np.eye(2, dtype="float32")[[0, 1, 1, 0]])


def command(name, path, net, *more):
    """Run a command of ``python -m nn`` that writes `path`; what it refuses is an error here too."""
    model, table = path.with_name("model.zip"), path.with_name("table.csv")
    net.save(model)
    table.write_text("1,2\n3,4\n")
    arguments = ["--csv", str(table), "--out", str(path)] if name == "predict" else [str(path)]
    if main([name, str(model), *arguments]):
        raise nd.ConfigurationError("the command has said why, with the ending")


def proof(path, net):
    """Write a proof into `path`."""
    net.save(path.with_name("model.zip"))
    arguments = map(str, (path.with_name("model.zip"), path.with_name("model.npz"), "--proof", 2, "--json", path))
    if main(["convert", *arguments]):
        raise nd.ConfigurationError("the command has said why, with the ending")


MODEL = (".keras", ".npz", ".onnx", ".safetensors", ".zip", *UNKNOWN)
WRITERS = {
    "CollectScoresIterationListener.exportScores": (
        lambda path, net: CollectScoresIterationListener().exportScores(path), (".csv", ".tsv", ".txt", *UNKNOWN)
    ),
    "DataSet.save": (lambda path, net: DataSet(X, X).save(path), UNKNOWN),
    "ModelSerializer.writeModel": (lambda path, net: ModelSerializer.writeModel(net, path), MODEL),
    "MultiDataSet.save": (lambda path, net: MultiDataSet([X], [X]).save(path), UNKNOWN),
    "Nd4j.writeAsNumpy": (lambda path, net: Nd4j.writeAsNumpy(nd.create(X), path), (".npy", *UNKNOWN)),
    "Normalizer.save": (lambda path, net: ImagePreProcessingScaler().save(path), UNKNOWN),
    "add_normalizer_to_model": (lambda path, net: with_normalizer(path, net), (".zip", *UNKNOWN)),
    "nd.serde.save": (lambda path, net: nd.serde.save(path, X), UNKNOWN),
    "nn.caffe.write_mean": (lambda path, net: write_mean(X[None], path), (".binaryproto", *UNKNOWN)),
    "nn.caffe.write_message": (
        lambda path, net: write_message(proto.NetParameter(name="n"), path),
        (".binaryproto", ".caffemodel", ".prototxt", ".txt", *UNKNOWN),
    ),
    "nn.caffe.write_state": (
        lambda path, net: write_state(SavedState(1, "", 0, []), path),
        (".binaryproto", ".h5", ".hdf5", ".solverstate", *UNKNOWN),
    ),
    "nn.caffe.write_weights": (
        lambda path, net: write_weights(proto.NetParameter(name="n"), path),
        (".binaryproto", ".caffemodel", ".h5", ".hdf5", *UNKNOWN),
    ),
    "net.picture": (lambda path, net: net.picture(path), (".dot", ".gv", ".svg")),
    "net.save": (lambda path, net: net.save(path), MODEL),
    "net.save_checkpoint": (lambda path, net: net.save_checkpoint(path), (".zip", *UNKNOWN)),
    "net.to_computation_graph().save": (lambda path, net: net.to_computation_graph().save(path), MODEL),
    "python -m nn convert": (
        lambda path, net: command("convert", path, net), (".bin", ".keras", ".npz", ".onnx", ".safetensors", ".zip")
    ),
    "python -m nn convert --json": (lambda path, net: proof(path, net), (".json", *UNKNOWN)),
    "python -m nn picture": (lambda path, net: command("picture", path, net), (".dot", ".gv", ".svg")),
    "python -m nn predict": (lambda path, net: command("predict", path, net), (".csv", ".txt", *UNKNOWN)),
    "nn.keras.write_keras": (lambda path, net: write_keras(net, path), (".keras", *UNKNOWN)),
    "trace.save": (lambda path, net: trace_of(net).save(path), (".npz",)),
    "trace.to_html": (lambda path, net: trace_of(net).to_html(path), (".html", ".htm", *UNKNOWN)),
    "write_arrays": (lambda path, net: write_arrays(path, {"x": nd.create(X)}, {}), (".npz", ".safetensors")),
}  # fmt: skip
"""Method -> a call of it, and the endings that it takes."""


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_an_ending_is_obeyed_or_refused(name, net, tmp_path):
    write, allowed = WRITERS[name]
    if ".safetensors" in allowed:
        pytest.importorskip("safetensors")
    refused = (
        {".json", ".pt"} - set(allowed) if name.startswith("python") else {*KNOWN_ENDINGS, *UNKNOWN} - set(allowed)
    )
    for ending in allowed:
        path = tmp_path / f"file{ending if ending != allowed[0] else ending.upper()}"
        write(path, net)
        assert path.read_bytes().startswith(BEGINS[ending]), f"{name} writes something else into {path.name}"
    for ending in sorted(refused):
        path = tmp_path / f"file{ending}"
        with pytest.raises((nd.ConfigurationError, nd.ChoiceError), match=rf"file{ending}'|ending|kind of file"):
            write(path, net)
        assert not path.exists(), f"{name} has written {path.name}"


def test_every_file_of_the_library_is_written_as_one_of_a_kind():
    """So that a method that is new says which endings it takes."""
    calls = [
        (path, node)
        for path, text in library()
        if "replacing(" in text
        for node in nodes(text)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "replacing"
    ]
    assert [path for path, node in calls if len(node.args) != 3] == []
    assert {path for path, _ in calls} == {
        "nd/dataset/normalizers/files.py", "nd/dataset/storage.py",
        "nd/files/archives.py", "nd/files/npy.py", "nd/serde.py", "nn/caffe/files.py", "nn/files/hdf5.py",
        "nn/cli/convert.py", "nn/cli/predict.py", "nn/dl4j/listeners.py",
        "nn/files/archive.py", "nn/keras/out/writing.py", "nn/onnx/writing.py", "nn/pictures/files.py",
        "nn/trace/page.py",
        "optimize/listeners/checkpoint_folder.py", "optimize/listeners/html_report.py",
    }, "a new writer: give it a line in WRITERS, if it is public"  # fmt: skip


def test_a_refusal_says_what_to_do(net, tmp_path):
    for ending, remedy in {
        ".json": r"a text of JSON\. The configuration alone is net\.conf\.to_json\(\)\. Name it '.*net\.zip'",
        ".h5": r"a file of HDF5, Keras's\. A model of Keras 3 is written by net\.save under \.keras\. Name it",
        ".pkl": r"a pickle of Python's\. A pickle is written by pickle\.dump\(net, file\)",
        ".pt": r"a model of PyTorch\. What PyTorch's programs read of it is written by net\.save under \.safetensors",
    }.items():
        with pytest.raises(
            nd.ConfigurationError, match=rf"save: expected a name for a model zip of Deeplearning4j, .*{remedy}"
        ):
            net.save(tmp_path / f"net{ending}")
    with pytest.raises(nd.ConfigurationError, match=r"no place for a normalizer, got ImagePre.* network as a \.zip"):
        net.save(tmp_path / "net.npz", normalizer=ImagePreProcessingScaler())
    with pytest.raises(nd.ConfigurationError, match=r"a model of ONNX has no place for a normalizer, got ImagePre"):
        net.save(tmp_path / "net.onnx", normalizer=ImagePreProcessingScaler())
    with pytest.raises(nd.ConfigurationError, match=r"save: opset must be for a model of ONNX.* got .*net\.zip'"):
        net.save(tmp_path / "net.zip", opset=18)


def test_a_report_is_refused_before_anything_is_trained():
    pytest.importorskip("matplotlib")
    for ending in KNOWN_ENDINGS.keys() - {".htm", ".html"}:
        with pytest.raises(nd.ConfigurationError, match=rf"HtmlReportListener: expected a name for a .*'x{ending}'"):
            HtmlReportListener(f"x{ending}")
    for ending in (".htm", ".html", *UNKNOWN):
        assert HtmlReportListener(f"x{ending}").path.suffix == ending


@pytest.mark.parametrize(
    "make",
    [
        lambda path: CheckpointListener(path, save_every_n_epochs=1),
        LocalFileModelSaver,
        lambda path: MiniBatchFileDataSetIterator(DataSet(X, X), 2, False, path),
        TensorBoardListener,
    ],
    ids=["CheckpointListener", "LocalFileModelSaver", "MiniBatchFileDataSetIterator", "TensorBoardListener"],
)
def test_a_folder_has_no_name_of_a_file(make, tmp_path):
    with pytest.raises(nd.ConfigurationError, match=r"expected a name for a folder, got '.*best\.zip'.*Leave the"):
        make(tmp_path / "best.zip")
    assert not (tmp_path / "best.zip").exists()
    (tmp_path / "old.zip").mkdir()  # of an earlier release
    make(tmp_path / "old.zip")


@pytest.mark.parametrize("ending", [".npz", ".safetensors"])
def test_named_arrays_are_loaded_as_they_were_saved(ending, net, tmp_path):
    if ending == ".safetensors":
        pytest.importorskip("safetensors")
    path = tmp_path / f"net{ending}"
    trained = net.clone()
    trained.fit(X, [[1.0, 0.0]] * 4, epochs=2)
    for network in (trained, trained.to_computation_graph()):
        network.save(path)
        for again in (nn.load(path), type(network).load(str(path))):
            assert type(again) is type(network)
            assert again.conf == network.configuration
            np.testing.assert_array_equal(again.params(), network.params())
            np.testing.assert_array_equal(again.updater_state(), network.updater_state())
        assert not np.any(nn.load(path, load_updater=False).updater_state())
    with pytest.raises(nd.FormatError, match=rf"net{ending}: expected a MultiLayerNetwork, got a ComputationGraph"):
        MultiLayerNetwork.load(path)
    if ending == ".npz":
        assert "configuration.json" not in zipfile.ZipFile(path).namelist()


def test_what_has_another_content_than_its_name_says(net, tmp_path):
    np.savez(tmp_path / "a.npz", x=X)
    (tmp_path / "k.h5").write_bytes(bytes(100))
    net.save(tmp_path / "m.zip")
    (tmp_path / "m.zip").rename(tmp_path / "m.npz")
    with pytest.raises(nd.FormatError, match=r"k\.h5: expected a model zip, .*By its name it is a file of HDF5"):
        nn.load(tmp_path / "k.h5")
    with pytest.raises(nd.FormatError, match=r"a\.npz: expected metadata with 'configuration', got none"):
        nn.load(tmp_path / "a.npz")
    np.testing.assert_array_equal(nn.load(tmp_path / "m.npz").params(), net.params())
