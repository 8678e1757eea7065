"""Networks as .npz and .safetensors, read by NumPy and safetensors themselves, and damaged ones."""

import json
import zipfile

import numpy as np
import pytest
import safetensors.numpy

import nd
from nd.files.archives import reading_arrays
from nn import ConvolutionLayer, DenseLayer, InputType, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.files.exchange import read_array_file, write_array_file
from optimize import Adam

KINDS = ("npz", "safetensors")
X = np.random.default_rng(3).normal(size=(5, 16)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1]]


def network(**settings):
    conf = NeuralNetConfiguration(seed=3, updater=Adam(0.01), iterations=2, **settings).list(
        ConvolutionLayer(n_out=2, kernel_size=2, activation="tanh"),
        DenseLayer(n_out=4, activation="relu"),
        OutputLayer(n_out=3, activation="softmax"),
        input_type=InputType.convolutional_flat(4, 4, 1),
    )
    net = MultiLayerNetwork(conf).init()
    net.fit(X, Y)
    return net


def host(x):
    return np.array(nd.to_host(x))


def load_plainly(path):
    """Read a file without this library."""
    if path.suffix == ".safetensors":
        return safetensors.numpy.load_file(path)
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


@pytest.mark.parametrize("kind", KINDS)
def test_there_and_back(kind, backend, tmp_path):
    net, path = network(), tmp_path / f"net.{kind}"
    write_array_file(net, path)
    plain = load_plainly(path)
    for key, view in net.param_table().items():
        np.testing.assert_array_equal(plain[key], host(view))
    again = read_array_file(path)
    np.testing.assert_array_equal(host(again.output(X)), host(net.output(X)))
    assert (again.iteration_count, again.epoch_count, again.conf.iterations) == (2, 0, 2)
    assert again.conf.layers == net.conf.layers
    net.fit(X, Y)
    again.fit(X, Y)
    np.testing.assert_array_equal(host(again.params()), host(net.params()))


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_updater(kind, tmp_path):
    write_array_file(network(dtype="float64"), tmp_path / f"net.{kind}", save_updater=False)
    assert "updater_state" not in load_plainly(tmp_path / f"net.{kind}")
    assert not host(read_array_file(tmp_path / f"net.{kind}").updater_state()).any()


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(nd.ChoiceError, match=r"unknown ending of the file '\.h5'"):
        write_array_file(network(), tmp_path / "net.h5")
    with pytest.raises(FileNotFoundError, match=r"missing\.npz"):
        read_array_file(tmp_path / "missing.npz")


def rewritten(path, arrays, metadata):
    if path.suffix == ".npz":
        np.savez(path, **arrays, **({} if metadata is None else {"__metadata__": np.array(json.dumps(metadata))}))
    else:
        safetensors.numpy.save_file(arrays, path, metadata)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"1_W": None}, r"expected an array '1_W', got "),
        ({"1_W": np.zeros((3, 4), np.float32)}, r"'1_W' must hold numbers \[18, 4\], got float32 \[3, 4\]"),
        ({"0_b": np.array([[True, False]])}, r"'0_b' must hold numbers \[1, 2\], got bool"),
        ({"configuration": None}, r"expected metadata with 'configuration'"),
        ({"configuration": "[]"}, r"expected DL4J's MultiLayerConfiguration"),
        ({"settings": "{"}, r"settings must be JSON"),
        ({"settings": "[" * 100_000}, r"settings must be JSON"),
        ({"settings": "{}"}, r"must have version 1, got None"),
    ],
)
def test_files_with_something_else_in_them(kind, change, message, tmp_path):
    path = tmp_path / f"net.{kind}"
    net = network()
    write_array_file(net, path)
    arrays = {key: host(view) for key, view in net.param_table().items()}
    metadata = {"configuration": net.conf.layers and _conf_json(net), "settings": json.dumps({"version": 1})}
    for name, value in change.items():
        target = metadata if name in metadata else arrays
        if value is None:
            del target[name]
        else:
            target[name] = value
    rewritten(path, arrays, metadata)
    with pytest.raises(nd.FormatError, match=message) as caught:
        read_array_file(path)
    assert str(path) in str(caught.value)


def _conf_json(net):
    from dataclasses import replace

    return replace(net.conf, base=replace(net.conf.base, iterations=1)).to_json()


@pytest.mark.parametrize("kind", KINDS)
def test_truncated_and_random_files(kind, tmp_path):
    path, rng = tmp_path / f"net.{kind}", np.random.default_rng(1)
    write_array_file(network(), path)
    whole = path.read_bytes()
    for length in [0, 1, 7, *rng.integers(8, len(whole), 40)]:
        path.write_bytes(whole[:length])
        with pytest.raises(nd.NdError, match=r"net\."):
            read_array_file(path)
    loaded = 0
    for _ in range(150):
        broken = bytearray(whole)
        for at in rng.integers(0, len(whole), 3):
            broken[at] ^= 1 << rng.integers(8)
        path.write_bytes(broken)
        try:
            read_array_file(path)
            loaded += 1  # a parameter is another number now
        except nd.NdError:
            pass
    assert loaded < 150


def test_pickles_are_not_read(tmp_path):
    class Harm:
        def __reduce__(self):
            return (open, (str(tmp_path / "harm"), "w"))

    net, path = network(), tmp_path / "net.npz"
    arrays = {key: host(view) for key, view in net.param_table().items()}
    arrays["1_b"] = np.array([[Harm()] * 4], dtype=object)
    rewritten(path, arrays, {"configuration": _conf_json(net)})
    with pytest.raises(nd.FormatError, match=r"'1_b' must hold plain numbers"):
        read_array_file(path)
    assert not (tmp_path / "harm").exists()


def test_a_header_that_claims_more_than_there_is_takes_no_memory(tmp_path):
    net, path = network(), tmp_path / "net.npz"
    arrays = {key: host(view) for key, view in net.param_table().items()}
    arrays["1_W"] = np.zeros((4000, 4000), np.float32)
    rewritten(path, arrays, {"configuration": _conf_json(net)})
    with pytest.raises(nd.FormatError, match=r"'1_W' must hold at most 2,176 bytes, got 64,000,128"):
        read_array_file(path)


def test_without_the_package(monkeypatch, tmp_path):
    import sys

    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(nd.ConfigurationError, match=r'pip install "safetensors>=0\.4", or use \.npz'):
        write_array_file(network(), tmp_path / "net.safetensors")


# ---- what parsers of other people's say


def npz_with_header(path, header):
    """Write an .npz whose one array has that text as its header."""
    text = header.encode().ljust(118) + b"\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(64))


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 20",
        "'''",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (True, 40), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
        "-" * 117,
    ],
)
def test_headers_of_npy_that_are_none(header, tmp_path):
    npz_with_header(tmp_path / "bad.npz", header)
    with (
        reading_arrays(tmp_path / "bad.npz") as file,
        pytest.raises(nd.FormatError, match=r"'a' must (be an array|hold plain)"),
    ):
        file.read("a", (2, 20), "float32")


def test_a_version_of_npy_from_the_future(tmp_path):
    with zipfile.ZipFile(tmp_path / "new.npz", "w") as archive:
        archive.writestr("a.npy", b"\x93NUMPY\x09\x09" + bytes(100))
    with (
        reading_arrays(tmp_path / "new.npz") as file,
        pytest.raises(nd.FormatError, match=r"version 1 or 2 .*\(9, 9\)"),
    ):
        file.read("a", (2,), "float32")


def test_numbers_that_numpy_does_not_know(tmp_path):
    header = json.dumps({"a": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}).encode()
    (tmp_path / "half.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    with (
        reading_arrays(tmp_path / "half.safetensors") as file,
        pytest.raises(nd.FormatError, match="'a' must hold numbers that NumPy knows"),
    ):
        file.read("a", (2,), "float32")


@pytest.mark.parametrize("kind", KINDS)
def test_a_configuration_of_billions_takes_no_memory(kind, tmp_path):
    conf = NeuralNetConfiguration(seed=1).list(OutputLayer(n_in=10**6, n_out=10**6))
    rewritten(tmp_path / f"net.{kind}", {"0_W": np.zeros((2, 2), np.float32)}, {"configuration": conf.to_json()})
    with pytest.raises(nd.FormatError, match=r"'0_W' must hold numbers \[1000000, 1000000\], got float32 \[2, 2\]"):
        read_array_file(tmp_path / f"net.{kind}")
