"""Model zips that are truncated, corrupt, hostile, or something else: a typed error, and no harm done."""

import random
import struct
import zipfile
import zlib

import numpy as np
import pytest

import nd
from nd import serde
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.files.serializer import COEFFICIENTS, CONFIGURATION, UPDATER_STATE
from tests.nn.files.test_hostile_zips import refuse

MEGABYTE = 1 << 20
ZEROS = 2048  # megabytes that a bomb unpacks to
LENGTHS = 60  # truncations tried, besides the last bytes
every_so_many_bytes = pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])


def conf(n_in=2, n_out=3):
    return NeuralNetConfiguration(seed=1, updater="nesterovs").list(
        DenseLayer(n_in=n_in, n_out=n_out), OutputLayer(n_in=n_out, n_out=2)
    )


@pytest.fixture(scope="module")
def network():
    net = MultiLayerNetwork(conf()).init()
    net.fit([[1.0, 2.0]], [[0.0, 1.0]])
    return net


@pytest.fixture
def model(network, tmp_path):
    path = tmp_path / "model.zip"
    network.save(path)
    return path


def entries_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_entries(path, entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def load(path):
    return MultiLayerNetwork.load(path)


# ---- damage


def test_every_truncation_is_a_format_error(model, tmp_path):
    content = model.read_bytes()
    rng = random.Random(5)
    lengths = {*range(20), *range(len(content) - 30, len(content)), *rng.sample(range(len(content)), LENGTHS)}
    cut = tmp_path / "cut.zip"
    for length in sorted(lengths):
        cut.write_bytes(content[:length])
        with pytest.raises(nd.FormatError, match=r"cut\.zip: expected a model zip, got (an empty file|.*truncated)"):
            load(cut)


@every_so_many_bytes
@pytest.mark.slow
def test_flipped_bits_are_found_or_change_nothing(model, network, tmp_path, step):
    """The checksums see to the contents; of the rest only what says nothing (dates) may differ."""
    content = model.read_bytes()
    expected, state = nd.to_host(network.params()), nd.to_host(network.updater_state())
    rng, flipped, wrong = random.Random(6), tmp_path / "flipped.zip", {}
    for position in range(0, len(content), step):
        damaged = bytearray(content)
        damaged[position] ^= 1 << rng.randrange(8)
        flipped.write_bytes(damaged)
        try:
            again = load(flipped)
            same = (nd.to_host(again.params()) == expected).all() and (
                again.updater_state().shape[1] == 0 or (nd.to_host(again.updater_state()) == state).all()
                or not nd.to_host(again.updater_state()).any()  # the entry's name was hit: loaded without its state
            )  # fmt: skip
            if not same:
                wrong[position] = "other numbers"
        except nd.NdError:
            pass
        except Exception as error:
            wrong[position] = repr(error)
    assert wrong == {}


@every_so_many_bytes
def test_every_bit_of_the_headers(model, tmp_path, step):
    """In the first local header and in the central directory, where the flags and the method are."""
    content = model.read_bytes()
    flipped, wrong = tmp_path / "flipped.zip", {}
    central = content.index(b"PK\x01\x02")
    for position in (*range(30), *range(central, central + 46)):
        for bit in range(position % step, 8, step):
            damaged = bytearray(content)
            damaged[position] ^= 1 << bit
            flipped.write_bytes(damaged)
            try:
                load(flipped)
            except nd.NdError:
                pass
            except Exception as error:
                wrong[position - central if position >= central else position, bit] = repr(error)
    assert wrong == {}


@pytest.mark.parametrize("name", [CONFIGURATION, COEFFICIENTS])
def test_a_missing_entry(model, name):
    entries = entries_of(model)
    del entries[name]
    write_entries(model, entries)
    with pytest.raises(nd.FormatError, match=rf"model\.zip: expected an entry '{name}', got \[.*Deeplearning4j model"):
        load(model)


def test_an_archive_of_something_else(tmp_path):
    path = write_entries(tmp_path / "photos.zip", {"a.jpg": b"\xff\xd8", "b.txt": b"hello"})
    with pytest.raises(nd.FormatError, match=r"photos.* entry 'configuration\.json', got \['a\.jpg', 'b\.txt'\]"):
        load(path)
    path = write_entries(tmp_path / "empty.zip", {})
    with pytest.raises(nd.FormatError, match=r"empty\.zip: expected an entry 'configuration\.json', got \[\]"):
        load(path)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "an empty file"), (b"PK", "another kind"), (b"<html></html>", "HTML"), (bytes(500), "another kind"),
        (b"PK\x03\x04" + bytes(100), "another kind"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_zip(content, kind, tmp_path):
    path = tmp_path / "model.zip"
    path.write_bytes(content)
    with pytest.raises(nd.FormatError, match=rf"model\.zip: expected a model zip, got .*{kind}"):
        load(path)


def test_paths_without_a_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        load(tmp_path / "nothing.zip")
    with pytest.raises(IsADirectoryError, match="expected a file, got a folder"):
        load(tmp_path)


# ---- contents that do not fit

COUNT = 3 * 2 + 3 + 3 * 2 + 2


@pytest.mark.parametrize("entry", [COEFFICIENTS, UPDATER_STATE])
@pytest.mark.parametrize("shape", [(1, COUNT - 1), (1, COUNT + 1), (1, 1), (2, COUNT), (COUNT + 1,)])
def test_a_vector_of_another_length(model, entry, shape):
    entries = entries_of(model)
    entries[entry] = serde.to_bytes(np.ones(shape, np.float32))
    write_entries(model, entries)
    with pytest.raises(nd.FormatError, match=rf"{entry} must hold {COUNT} numbers.*got {int(np.prod(shape))}"):
        load(model)


@pytest.mark.parametrize("entry", [COEFFICIENTS, UPDATER_STATE])
@pytest.mark.parametrize("content", [b"", b"\x00", b"not an array at all", bytes(100)])
def test_an_entry_that_is_no_array(model, entry, content):
    entries = entries_of(model)
    entries[entry] = content
    write_entries(model, entries)
    with pytest.raises(nd.FormatError, match=r"\S"):
        load(model)


def test_an_array_that_is_cut_off(model):
    entries = entries_of(model)
    whole = entries[COEFFICIENTS]
    for length in range(len(whole)):
        write_entries(model, {**entries, COEFFICIENTS: whole[:length]})
        with pytest.raises(nd.FormatError, match=r"\S"):
            load(model)


@pytest.mark.parametrize("text", [b"", b"{}", b"null", b"\xff\xfe{", b'{"confs": []}', b"[" * 50_000])
def test_a_configuration_that_is_none(model, text):
    entries = entries_of(model)
    entries[CONFIGURATION] = text
    write_entries(model, entries)
    with pytest.raises(nd.FormatError, match=r"configuration|expected a model zip, got 'utf-8' codec"):
        load(model)


def test_a_model_with_layers_that_do_not_exist_here_is_refused(model):
    entries = entries_of(model)
    entries[CONFIGURATION] = entries[CONFIGURATION].replace(b"layers.DenseLayer", b"layers.HyperDenseLayer")
    write_entries(model, entries)
    said = r"confs\[0\]\.layer: layer: unknown class '.*HyperDenseLayer'\. Did you mean 'DenseLayer'\? Make a layer of"
    with pytest.raises(nd.ChoiceError, match=said) as caught:
        load(model)
    assert len(str(caught.value)) < 250


def test_a_layer_of_java_s_that_cannot_run_here_is_no_unknown_one(model):
    entries = entries_of(model)
    entries[CONFIGURATION] = entries[CONFIGURATION].replace(b"layers.DenseLayer", b"layers.TFOpLayer")
    write_entries(model, entries)
    said = r"layer: TFOpLayer runs a graph of TensorFlow's, which this library cannot\.$"
    with pytest.raises(nd.ChoiceError, match=said) as caught:
        load(model)
    assert len(str(caught.value)) < 120


# ---- made to do harm


@pytest.mark.parametrize("name", [
    "/etc/passwd", "../outside", "objects/../../outside", "..", "C:/windows/outside", "C:outside", "\\outside",
    "..\\outside", "objects\\..\\..\\outside", "//host/share",
])  # fmt: skip
def test_names_that_lead_outside_are_refused(name, model, network, tmp_path):
    write_entries(model, {**entries_of(model), name: b"x"})
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(nd.FormatError, match=r"model\.zip: unsafe entry name .*(outside|'/etc/passwd'|'\.\.'|//host)"):
        load(model)
    assert sorted(tmp_path.rglob("*")) == before


def deflated_zeros(megabytes):
    """Return raw deflate data that unpack to that many megabytes of zeros, made without packing them."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first, block = (packer.compress(bytes(MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + block * (megabytes - 1) + b"\x03\x00"


def write_bomb(path, entries, name, megabytes, claimed):
    """Write a zip by hand in which one entry claims a size and unpacks to another."""
    packed = {key: (zlib.compress(data, wbits=-15), len(data), zlib.crc32(data)) for key, data in entries.items()}
    packed[name] = (deflated_zeros(megabytes), claimed, 0)
    out, directory = b"", b""
    for key, (data, size, crc) in packed.items():
        fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, crc, len(data), size, len(key), 0)
        directory += struct.pack("<4sH", b"PK\x01\x02", 20) + fields
        directory += struct.pack("<HHHII", 0, 0, 0, 0, len(out)) + key.encode()
        out += b"PK\x03\x04" + fields + key.encode() + data
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, len(packed), len(packed), len(directory), len(out), 0)
    path.write_bytes(out + directory + end)
    return path


def test_the_bomb_is_one(tmp_path, model):
    path = write_bomb(tmp_path / "small.zip", {"other": b"text"}, "zeros", 3, 3 * MEGABYTE)
    with zipfile.ZipFile(path) as archive:
        assert archive.read("other") == b"text"
        with archive.open("zeros") as stream:
            assert stream.read(3 * MEGABYTE - 1) == bytes(3 * MEGABYTE - 1)
    assert path.stat().st_size < 10_000


@pytest.mark.parametrize("name", [CONFIGURATION, COEFFICIENTS, UPDATER_STATE])
@pytest.mark.parametrize("claimed", ["what it holds", "what is expected"])
def test_a_decompression_bomb_is_refused(name, claimed, model, tmp_path):
    entries = entries_of(model)
    size = ZEROS * MEGABYTE if claimed == "what it holds" else len(entries[name])
    bomb = write_bomb(tmp_path / "bomb.zip", entries, name, ZEROS, size)
    assert bomb.stat().st_size < 5 * MEGABYTE
    refuse(load, bomb, r"must hold at most [\d,]+ bytes|configuration|array|shape|header|expected")


def test_a_configuration_that_asks_for_what_does_not_exist(model, tmp_path):
    """2e12 parameters cost nothing as long as the file does not have them."""
    entries = entries_of(model)
    entries[CONFIGURATION] = conf(n_in=1_000_000, n_out=2_000_000).to_json().encode()
    refuse(
        load,
        write_entries(tmp_path / "huge.zip", entries),
        r"coefficients\.bin must hold 2,000,00\d,\d{3},\d{3} numbers",
    )


def test_zeros_where_a_large_configuration_expects_an_array(model, tmp_path):
    """What would be of the right size is unpacked no further than its header."""
    entries = entries_of(model)
    entries[CONFIGURATION] = conf(n_in=20_000, n_out=5_000).to_json().encode()
    bomb = write_bomb(tmp_path / "bomb.zip", entries, COEFFICIENTS, 400, 400 * MEGABYTE)
    refuse(load, bomb, r"\S")
