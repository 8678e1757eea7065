"""Archives that were made to do harm, read both as a network and as a ModelFile: typed errors, bounded memory."""

import json
import stat
import struct
import subprocess
import sys
import time
import tracemalloc
import warnings
import zipfile
import zlib

import numpy as np
import pytest

import nd
from nd import serde
from nn import DenseLayer, ModelFile, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.files.serializer import COEFFICIENTS, CONFIGURATION, UPDATER_STATE

MEGABYTE = 1 << 20
MOST_MEMORY = 50e6  # bytes that refusing a file may take
MOST_SECONDS = 10.0
PROCESS = 1500 * MEGABYTE  # address space that a whole process may have: Python and NumPy take a third of it
READERS = {"network": MultiLayerNetwork.load, "file": ModelFile.read}


@pytest.fixture(params=READERS)
def load(request):
    return READERS[request.param]


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    conf = NeuralNetConfiguration(seed=1, updater="nesterovs").list(
        DenseLayer(n_in=2, n_out=3), OutputLayer(n_in=3, n_out=2)
    )
    path = tmp_path_factory.mktemp("model") / "model.zip"
    MultiLayerNetwork(conf).init().save(path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, entries, method=zipfile.ZIP_DEFLATED, **more):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in {**entries, **more}.items():
            archive.writestr(name, content)
    return path


def refuse(load, path, match):
    """Refuse within bounds of memory and time."""
    started = time.thread_time()
    tracemalloc.start()
    try:
        with pytest.raises(nd.FormatError, match=match):
            load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST_MEMORY
    assert time.thread_time() - started < MOST_SECONDS


@pytest.mark.parametrize("name", [CONFIGURATION, COEFFICIENTS, "objects/other"])
def test_the_same_entry_twice(name, entries, load, tmp_path):
    path = write(tmp_path / "twice.zip", {**entries, "objects/other": b"x"})
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
        warnings.simplefilter("ignore")  # Python's own, of what is done here on purpose
        archive.writestr(name, b"{}")
    refuse(load, path, rf"expected every entry once, got '{name}' twice")


def test_a_link(entries, load, tmp_path):
    path = write(tmp_path / "link.zip", {name: content for name, content in entries.items() if name != COEFFICIENTS})
    info = zipfile.ZipInfo(COEFFICIENTS)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(info, b"/etc/passwd")
    refuse(load, path, r"entry 'coefficients\.bin' must hold data, got a symbolic link")


def with_flags(path, name, flags):
    """Set general purpose flags of an entry, in both of its headers."""
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        local = archive.getinfo(name).header_offset
    central = content.rindex(b"PK\x01\x02", 0, content.rindex(name.encode()))
    for place in (local + 6, central + 8):
        content[place : place + 2] = struct.pack("<H", flags)
    path.write_bytes(content)
    return path


def test_an_encrypted_entry(entries, load, tmp_path):
    path = with_flags(write(tmp_path / "secret.zip", entries), UPDATER_STATE, 1)
    refuse(load, path, r"entry 'updaterState\.bin' must not be encrypted")


@pytest.mark.parametrize(("method", "number"), [(zipfile.ZIP_BZIP2, 12), (zipfile.ZIP_LZMA, 14)])
def test_another_packer(method, number, entries, load, tmp_path):
    """Java has none of them, and their dictionaries can ask for gigabytes."""
    refuse(load, write(tmp_path / "odd.zip", entries, method), rf"must be stored or deflated, got method {number}")


@pytest.mark.quick_rows(1)
def test_a_configuration_of_too_many_bytes(entries, load, tmp_path):
    path = write(tmp_path / "long.zip", entries, **{CONFIGURATION: b" " * (65 * MEGABYTE)})
    refuse(load, path, r"entry 'configuration\.json' must hold at most 67,108,864 bytes, got 68,157,440")


@pytest.mark.parametrize("opened", ["[", '{"a":', '{"layer":'])
@pytest.mark.parametrize("depth", [101, 990, 100_000])
def test_values_that_lie_too_deep(opened, depth, entries, load, tmp_path):
    closed = "]" if opened == "[" else "}"
    confs = opened * depth + "1" + closed * depth
    path = write(tmp_path / "deep.zip", entries, **{CONFIGURATION: f'{{"confs": [{confs}]}}'})
    refuse(load, path, r"at most 100 levels|RecursionError")


@pytest.mark.parametrize("text", ["9" * 5000, "1e999", "-1e999", "NaN"])
def test_numbers_that_are_none(text, entries, load, tmp_path):
    document = entries[CONFIGURATION].decode().replace('"nin" : 2', f'"nin" : {text}')
    path = write(tmp_path / "number.zip", entries, **{CONFIGURATION: document})
    with pytest.raises((nd.FormatError, nd.ConfigurationError), match=r"integer|expected JSON"):
        load(path)


@pytest.mark.slow
def test_a_vector_that_unpacks_to_more_than_any_honest_file(entries, load, tmp_path):
    """1e8 parameters of value 0: 400 MB in 400 kB."""
    document = json.loads(entries[CONFIGURATION])
    document["confs"][0]["layer"].update(nin=50_000_000, nout=2)
    document["confs"][1]["layer"].update(nin=2)
    path = tmp_path / "zeros.zip"
    n = 50_000_000 * 2 + 2 + 2 * 2 + 2
    head = serde.to_bytes(np.zeros((1, 1), np.float32))[:-4]
    head = head.replace(struct.pack(">qqqq", 2, 1, 1, 1), struct.pack(">qqqq", 2, 1, n, 1), 1)
    head = head[: head.rindex(b"\x00\x05FLOAT") - 8] + struct.pack(">q", n) + b"\x00\x05FLOAT"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(CONFIGURATION, json.dumps(document))
        with archive.open(COEFFICIENTS, "w") as stream:
            stream.write(head)
            for _ in range(n * 4 // MEGABYTE):
                stream.write(bytes(MEGABYTE))
            stream.write(bytes(n * 4 % MEGABYTE))
    refuse(load, path, r"entry 'coefficients\.bin' must hold at most 268,435,456 bytes in a file of this size")


def test_a_layer_of_ones_own_opens_no_door(entries, tmp_path):
    """Where nothing says how many parameters there are, the file's own length does."""
    document = json.loads(entries[CONFIGURATION])
    document["confs"][0]["layer"]["@class"] = "com.example.Mine"
    path = tmp_path / "mine.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(CONFIGURATION, json.dumps(document))
        with archive.open(COEFFICIENTS, "w") as stream:
            for _ in range(100):
                stream.write(bytes(MEGABYTE))
    refuse(ModelFile.read, path, r"entry 'coefficients\.bin' must hold at most [\d,]+ bytes, got 104,857,600")


@pytest.mark.parametrize("claimed", [0, 1, 2**31, 2**32 - 2])
@pytest.mark.parametrize("name", [CONFIGURATION, COEFFICIENTS])
def test_lengths_that_are_not_true(claimed, name, entries, load, tmp_path):
    path = write(tmp_path / "claims.zip", entries)
    content = bytearray(path.read_bytes())
    central = content.rindex(b"PK\x01\x02", 0, content.rindex(name.encode()))
    content[central + 24 : central + 28] = struct.pack("<I", claimed)
    path.write_bytes(content)
    refuse(load, path, r"must hold at most|expected|configuration")


@pytest.mark.parametrize("length", [2**31 - 1, 2**40, 2**62, 2**63 - 1, -1])
@pytest.mark.parametrize("where", ["shape", "data"])
def test_arrays_that_claim_huge_lengths(length, where, entries, load, tmp_path):
    array = bytearray(entries[COEFFICIENTS])
    first = array.index(b"MIXED_DATA_TYPES") + 16
    place = first if where == "shape" else array.index(b"MIXED_DATA_TYPES", first) + 16
    array[place : place + 8] = struct.pack(">q", length)
    refuse(load, write(tmp_path / "huge.zip", entries, **{COEFFICIENTS: bytes(array)}), r"read_array: ")


IN_A_SMALL_PROCESS = """
import resource, sys
import nd
from nn import ModelFile, MultiLayerNetwork
nd.backend()
resource.setrlimit(resource.RLIMIT_AS, ({most}, {most}))
refused = []
for path in sys.argv[1:]:
    for read in (MultiLayerNetwork.load, ModelFile.read):
        try:
            read(path)
        except nd.NdError as error:
            refused.append(type(error).__name__)
print(*refused)
"""


def deflated_zeros(megabytes):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first, block = (packer.compress(bytes(MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + block * (megabytes - 1) + b"\x03\x00"


@pytest.mark.slow
def test_a_process_with_little_memory_gets_through_all_of_them(entries, tmp_path):
    """Under a limit of the system: what tracemalloc does not see counts as well."""
    paths = []
    for name in (CONFIGURATION, COEFFICIENTS, UPDATER_STATE, "normalizer.bin"):
        path = write(tmp_path / f"{name}.zip", {key: content for key, content in entries.items() if key != name})
        put_bomb(path, name, deflated_zeros(3000), 3000 * MEGABYTE)
        paths.append(str(path))
    wide = json.dumps({"confs": [[{}] * 3_000_000]})
    paths.append(str(write(tmp_path / "wide.zip", entries, **{CONFIGURATION: wide})))
    program = IN_A_SMALL_PROCESS.format(most=PROCESS)
    run = subprocess.run([sys.executable, "-c", program, *paths], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    # a network has no use for normalizer.bin, and does not look at it
    assert run.stdout.split() == ["FormatError"] * 9


def put_bomb(path, name, packed, size):
    """Append an entry whose compressed data are given, by rewriting the directory of a stand-in of the same length."""
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr(name, packed)
        offset = archive.getinfo(name).header_offset
    content = bytearray(path.read_bytes())
    central = content.rindex(b"PK\x01\x02", 0, content.rindex(name.encode()))
    content[offset + 8 : offset + 10] = content[central + 10 : central + 12] = struct.pack("<H", zipfile.ZIP_DEFLATED)
    content[offset + 22 : offset + 26] = content[central + 24 : central + 28] = struct.pack("<I", size)
    path.write_bytes(content)
