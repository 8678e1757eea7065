"""normalizer.bin in a model zip: put in, replaced, found again; the classes themselves are a stand-in here.

What stands in for `nd.dataset.normalizers` keeps its bytes as they are, in the frame that Java writes.
"""

import sys
import types
import zipfile

import numpy as np
import pytest

import nd
from nn import (
    DenseLayer,
    ModelFile,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    add_normalizer_to_model,
    restore_normalizer,
)

FRAME = b"\x00\x0aNORMALIZER" + b"\x00\x00\x00\x01" + b"\x00\x0bIMAGE_VGG16"


class Scaler:
    def __init__(self, body=b""):
        self.body = body

    def __eq__(self, other):
        return self.body == other.body


@pytest.fixture(autouse=True)
def normalizers(monkeypatch):
    module = types.ModuleType("nd.dataset.normalizers")
    module.normalizer_to_bytes = lambda normalizer: FRAME + normalizer.body
    module.normalizer_from_bytes = lambda data: Scaler(data.removeprefix(FRAME))
    monkeypatch.setitem(sys.modules, "nd.dataset.normalizers", module)


@pytest.fixture
def network():
    conf = NeuralNetConfiguration(seed=1, updater="adam").list(
        DenseLayer(n_in=2, n_out=3), OutputLayer(n_in=3, n_out=2)
    )
    return MultiLayerNetwork(conf).init()


def contents(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_model_is_saved_with_its_normalizer(network, tmp_path):
    path = tmp_path / "net.zip"
    network.save(path, normalizer=Scaler(b"body"))
    assert contents(path)["normalizer.bin"] == FRAME + b"body"
    assert restore_normalizer(path) == Scaler(b"body")
    assert ModelFile.read(path).normalizer_bytes == FRAME + b"body"
    np.testing.assert_array_equal(nd.to_host(MultiLayerNetwork.load(path).params()), nd.to_host(network.params()))


def test_a_model_without_one(network, tmp_path):
    network.save(tmp_path / "net.zip")
    assert restore_normalizer(tmp_path / "net.zip") is None
    assert ModelFile.read(tmp_path / "net.zip").normalizer_bytes is None


@pytest.mark.parametrize("before", [None, b"older"])
def test_one_is_added_and_everything_else_stays(before, network, tmp_path):
    path = tmp_path / "net.zip"
    network.save(path, normalizer=None if before is None else Scaler(before))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("objects/mine", bytes(range(256)) * 9000, zipfile.ZIP_STORED)
        archive.writestr("empty", b"")
    expected = contents(path)
    add_normalizer_to_model(path, Scaler(b"new"))
    assert contents(path) == {**expected, "normalizer.bin": FRAME + b"new"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["net.zip"]
    with zipfile.ZipFile(path) as archive:
        assert archive.getinfo("objects/mine").compress_type == zipfile.ZIP_STORED
        assert archive.getinfo("coefficients.bin").date_time == (1980, 1, 1, 0, 0, 0)


def test_a_file_of_java_gets_one(reference, tmp_path):
    source = reference / "regression" / "071" / "071_ModelSerializer_Regression_CG_LSTM_1.zip"
    path = tmp_path / "graph.zip"
    path.write_bytes(source.read_bytes())
    add_normalizer_to_model(path, Scaler(b"x"))
    assert contents(path) == {**contents(source), "normalizer.bin": FRAME + b"x"}


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip at all"])
def test_a_damaged_file_stays_as_it_is(content, tmp_path):
    path = tmp_path / "net.zip"
    path.write_bytes(content)
    with pytest.raises(nd.FormatError, match=r"net\.zip: expected a model zip"):
        add_normalizer_to_model(path, Scaler())
    assert path.read_bytes() == content
    assert [entry.name for entry in tmp_path.iterdir()] == ["net.zip"]


def test_a_damaged_entry_leaves_the_file_as_it_is(network, tmp_path):
    path = tmp_path / "net.zip"
    network.save(path)
    content = bytearray(path.read_bytes())
    content[content.index(b"coefficients.bin") + 30] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(nd.FormatError, match=r"net\.zip: expected a model zip"):
        add_normalizer_to_model(path, Scaler())
    assert path.read_bytes() == content


def test_what_cannot_be_written_is_an_os_error(network, tmp_path, monkeypatch):
    path = tmp_path / "net.zip"
    network.save(path)
    before = path.read_bytes()

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match=r"add_normalizer_to_model: the file must be written whole, got No space left"):
        add_normalizer_to_model(path, Scaler())
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"\xac\xed\x00\x05sr", bytes(1 << 20)])
def test_another_kind_of_entry_is_refused(content, network, tmp_path):
    path = tmp_path / "net.zip"
    network.save(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("normalizer.bin", content)
    with pytest.raises(nd.FormatError, match=r"normalizer\.bin must begin with b'.*NORMALIZER'"):
        restore_normalizer(path)
