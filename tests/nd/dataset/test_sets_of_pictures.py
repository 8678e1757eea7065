"""CIFAR-10, Fashion-MNIST and EMNIST: files made here in the published forms, with checksums of their own."""

from __future__ import annotations

import gzip
import hashlib
import io
import struct
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from backends.errors import ArgumentError, ChoiceError, ConfigurationError, DataError, FormatError
from nd.dataset import (
    Cifar10DataSetIterator,
    EmnistDataSetIterator,
    FashionMnistDataSetIterator,
    cifar10,
    emnist,
    fashion_mnist,
    fetch,
)
from nd.dataset.java_random import JavaRandom
from nn import dl4j

RNG = np.random.default_rng(8)
IMAGES = np.zeros((10_000, 28, 28), np.uint8)
IMAGES[:50] = RNG.integers(0, 256, (50, 28, 28))
LABELS = RNG.integers(0, 10, 10_000, dtype=np.uint8)
IDX = {
    "images-idx3-ubyte": struct.pack(">4I", 0x803, *IMAGES.shape) + IMAGES.tobytes(),
    "labels-idx1-ubyte": struct.pack(">2I", 0x801, 10_000) + LABELS.tobytes(),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that ND_DATA_DIR names; the cache is empty, and nothing can be downloaded."""

    def refuse(url: str, target: Path) -> None:
        raise OSError("no network")

    monkeypatch.setattr(fetch, "fetch_url", refuse)
    monkeypatch.setattr(fetch, "_cache_folder", lambda folder="mnist": tmp_path / "cache" / folder)
    monkeypatch.setenv("ND_DATA_DIR", str(tmp_path / "given"))
    for name in ("cifar-10", "emnist", "fashion-mnist"):
        (tmp_path / "given" / name).mkdir(parents=True)
    return tmp_path / "given"


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Return a file of 120 pictures, where there are 10,000 in one."""
    monkeypatch.setattr(cifar10, "_PER_FILE", 120)
    return RNG.integers(0, 10, (120, 3073), dtype=np.uint8).tobytes()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# ---- CIFAR-10


@pytest.mark.parametrize("within", ["", "cifar-10-batches-bin"])
def test_cifar_10(folder: Path, monkeypatch: pytest.MonkeyPatch, records: bytes, within: str) -> None:
    monkeypatch.setitem(cifar10._SHA256, "test_batch.bin", sha256(records))
    place = folder / "cifar-10" / within
    place.mkdir(exist_ok=True)
    (place / "test_batch.bin").write_bytes(records)
    rows = np.frombuffer(records, np.uint8).reshape(-1, 3073)
    pixels = rows[:, 1:].reshape(-1, 3, 32, 32)
    iterator = Cifar10DataSetIterator(8, train=False, shuffle=False)
    first = iterator.next()
    assert (len(iterator), iterator.total_outcomes(), iterator.input_columns()) == (15, 10, 3)
    assert list(iterator.class_names or []) == cifar10.CLASS_NAMES
    np.testing.assert_array_equal(first.features, pixels[:8] / np.float32(255))
    np.testing.assert_array_equal(first.labels, np.eye(10)[rows[:8, 0]])
    assert first.features.dtype == np.float32
    assert first.features.flags.f_contiguous is False
    assert first.features.transpose(1, 2, 3, 0).flags.c_contiguous  # the batch innermost
    java = Cifar10DataSetIterator(8, train=False, shuffle=False, scale=False, channel_order="bgr").next()
    np.testing.assert_array_equal(java.features, pixels[:8, ::-1])
    some = Cifar10DataSetIterator(30, train=False, seed=3, num_examples=100)
    assert [data_set.num_examples() for data_set in some] == [30, 30, 30, 10]
    state = some.state()
    some.reset()
    again = Cifar10DataSetIterator(30, train=False, num_examples=100)
    again.restore(state)
    again.reset()
    np.testing.assert_array_equal(again.next().features, some.next().features)
    with pytest.raises(ArgumentError, match="Cifar10DataSetIterator: channel_order must be 'rgb' or 'bgr'"):
        Cifar10DataSetIterator(8, channel_order="gbr")  # type: ignore[arg-type]


def test_cifar_10_is_downloaded_as_an_archive(folder: Path, monkeypatch: pytest.MonkeyPatch, records: bytes) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as archive:
        for name, content in (("test_batch.bin", records), ("readme.html", b"x"), ("../data_batch_9.bin", b"y")):
            info = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    monkeypatch.setitem(cifar10._SHA256, "test_batch.bin", sha256(records))
    asked = []

    def serve(url: str, target: Path) -> None:
        asked.append(url)
        target.write_bytes(stream.getvalue())

    monkeypatch.setattr(fetch, "fetch_url", serve)
    with pytest.raises(DataError, match=r"no download \(www.cs.toronto.edu: CIFAR-10: 'cifar-10-binary.tar.gz': expe"):
        Cifar10DataSetIterator(8, train=False)  # another archive than the published one
    cache = folder.parent / "cache" / "cifar-10"
    assert list(cache.iterdir()) == []
    good = fetch.Source(**{**vars(cifar10.CIFAR_10), "digest": sha256(stream.getvalue())})
    monkeypatch.setattr(cifar10, "CIFAR_10", good)
    assert Cifar10DataSetIterator(8, train=False).next().num_examples() == 8
    assert [path.name for path in cache.iterdir()] == ["test_batch.bin"]
    assert asked == ["https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"] * 2
    Cifar10DataSetIterator(8, train=False)
    assert len(asked) == 2


# ---- Fashion-MNIST


def test_fashion_mnist(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in IDX.items():
        packed = gzip.compress(content, 1, mtime=0)
        (folder / "fashion-mnist" / f"t10k-{name}.gz").write_bytes(packed)
        monkeypatch.setitem(fashion_mnist._PACKED, f"t10k-{name}", sha256(packed))
    first = FashionMnistDataSetIterator(5, train=False, shuffle=False).next()
    np.testing.assert_array_equal(first.features, IMAGES[:5].reshape(5, 784) / np.float32(255))
    np.testing.assert_array_equal(first.labels, np.eye(10)[LABELS[:5]])
    assert first.class_names is None
    assert FashionMnistDataSetIterator(5, False).class_names == fashion_mnist.CLASS_NAMES
    fetch._arranged.cache_clear()
    monkeypatch.setitem(fashion_mnist._PACKED, "t10k-labels-idx1-ubyte", "0" * 64)
    with pytest.raises(
        FormatError, match=r"Fashion-MNIST: '.*labels-idx1-ubyte.gz': expected SHA-256 0+, got .*Delete"
    ):
        FashionMnistDataSetIterator(5, train=False)


def test_fashion_mnist_is_no_mnist(folder: Path) -> None:
    (folder / "fashion-mnist" / "t10k-images-idx3-ubyte").write_bytes(IDX["images-idx3-ubyte"])
    message = (
        r"Fashion-MNIST: expected 't10k-images-idx3-ubyte.gz', got no such file in .*fashion-mnist.* and no download "
        r"\(fashion-mnist.s3.* and storage.googleapis.com: no network\). Set ND_DATA_DIR .* in fashion-mnist/\.$"
    )
    with pytest.raises(DataError, match=message):
        FashionMnistDataSetIterator(5, train=False)


# ---- EMNIST


@pytest.mark.parametrize("packed", [False, True])
def test_emnist_is_upright(folder: Path, packed: bool) -> None:
    for name, content in IDX.items():
        path = folder / "emnist" / f"emnist-mnist-test-{name}"
        path.write_bytes(content) if not packed else path.with_name(f"{path.name}.gz").write_bytes(
            gzip.compress(content, 1)
        )
    iterator = EmnistDataSetIterator(EmnistDataSetIterator.Set.MNIST, 5, train=False, shuffle=False)
    first = iterator.next()
    np.testing.assert_array_equal(first.features, IMAGES[:5].transpose(0, 2, 1).reshape(5, 784) / np.float32(255))
    np.testing.assert_array_equal(first.labels, np.eye(10)[LABELS[:5]])
    binary = EmnistDataSetIterator("MNIST", 5, train=False, shuffle=False, binarize=True).next()
    np.testing.assert_array_equal(binary.features, IMAGES[:5].transpose(0, 2, 1).reshape(5, 784) > 30)
    assert iterator.class_names == [*"0123456789"]


def test_emnist_is_downloaded_as_an_archive(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in IDX.items():
            archive.writestr(f"gzip/emnist-mnist-test-{name}.gz", gzip.compress(content, 1))
        archive.writestr("gzip/emnist-mnist-mapping.txt", "0 48")
    content = stream.getvalue()
    monkeypatch.setattr(fetch, "fetch_url", lambda url, target: target.write_bytes(content))
    good = fetch.Source(**{**vars(emnist.EMNIST), "digest": hashlib.md5(content, usedforsecurity=False).hexdigest()})
    monkeypatch.setattr(emnist, "EMNIST", good)
    assert EmnistDataSetIterator("mnist", 5, train=False).next().num_examples() == 5
    assert sorted(path.name for path in (folder.parent / "cache" / "emnist").iterdir()) == [
        f"emnist-mnist-test-{name}.gz" for name in sorted(IDX)
    ]
    with pytest.raises(DataError, match=r"'gzip.zip' must have 'emnist-digits-test-images-idx3-ubyte.gz', got no such"):
        EmnistDataSetIterator("digits", 5, train=False)


def test_classes_of_emnist() -> None:
    """As the paper counts them: 62, 47, 26 and 10."""
    counts = {str(name): len(classes) for name, (_, _, _, classes) in emnist._SETS.items()}
    assert counts == {"balanced": 47, "complete": 62, "digits": 10, "letters": 26, "merge": 47, "mnist": 10}
    assert "".join(emnist._SETS[emnist.EmnistSet.MERGE][3][36:]) == "abdefghnqrt"
    letters = emnist._letters(IMAGES[:2], np.array([1, 26], np.uint8))[1]
    assert letters.tolist() == [0, 25]


def test_emnist_refusals(folder: Path) -> None:
    with pytest.raises(
        ChoiceError, match=r"EmnistDataSetIterator: unknown data_set 'ballanced', .* Did you mean 'balanced'"
    ):
        EmnistDataSetIterator("ballanced", 5)
    message = (
        r"EMNIST: expected 'emnist-letters-train-images-idx3-ubyte' or .*, from gzip.zip, got no such file in .*emnist"
    )
    with pytest.raises(DataError, match=message):
        EmnistDataSetIterator("letters", 5)
    path = folder / "emnist" / "emnist-mnist-test-images-idx3-ubyte"
    path.write_bytes(IDX["images-idx3-ubyte"][:-1])
    path.with_name("emnist-mnist-test-labels-idx1-ubyte").write_bytes(IDX["labels-idx1-ubyte"])
    with pytest.raises(FormatError, match=r"EMNIST: .* expected 7840016 bytes, uncompressed, got only 7840015"):
        EmnistDataSetIterator("mnist", 5, train=False)


# ---- by Java's names


def test_cifar_10_with_javas_arguments(folder: Path, monkeypatch: pytest.MonkeyPatch, records: bytes) -> None:
    monkeypatch.setitem(cifar10._SHA256, "test_batch.bin", sha256(records))
    (folder / "cifar-10" / "test_batch.bin").write_bytes(records)
    plain = dl4j.Cifar10DataSetIterator(120, dl4j.DataSetType.TEST).next()
    rows = np.frombuffer(records, np.uint8).reshape(-1, 3073)[JavaRandom(123).permutation(120)]
    np.testing.assert_array_equal(plain.features, rows[:, 1:].reshape(-1, 3, 32, 32)[:, ::-1])
    small = dl4j.Cifar10DataSetIterator(8, [16, 20], dl4j.DataSetType.TEST, dl4j.FlipImageTransform(1), 123).next()
    flipped = dl4j.FlipImageTransform(1).transform(plain.features[:8])
    np.testing.assert_array_equal(small.features, dl4j.ResizeImageTransform(20, 16).transform(flipped))
    random = dl4j.Cifar10DataSetIterator(8, None, "test", dl4j.FlipImageTransform(dl4j.Random(3)))
    assert not random.async_supported()
    with pytest.raises(ConfigurationError, match="Cifar10DataSetIterator: expected the set to train or to test"):
        dl4j.Cifar10DataSetIterator(8, dl4j.DataSetType.VALIDATION)


def test_emnist_with_javas_arguments(folder: Path) -> None:
    for name, content in IDX.items():
        (folder / "emnist" / f"emnist-mnist-test-{name}").write_bytes(content)
    name = dl4j.EmnistDataSetIterator.Set.MNIST
    order = JavaRandom(5).permutation(10_000)[:4]
    first = dl4j.EmnistDataSetIterator(name, 4, False, 5).next()
    np.testing.assert_array_equal(first.features * np.float32(255), IMAGES[order].transpose(0, 2, 1).reshape(4, -1))
    binary = dl4j.EmnistDataSetIterator(name, 4, True, False, False, 5).next()
    np.testing.assert_array_equal(binary.features, IMAGES[:4].transpose(0, 2, 1).reshape(4, -1) > 30)
    assert dl4j.EmnistDataSetIterator.numLabels(dl4j.EmnistDataSetIterator.Set.BALANCED) == 47
    with pytest.raises(ConfigurationError, match="EmnistDataSetIterator: expected set, batch and train and seed"):
        dl4j.EmnistDataSetIterator(name, 4, False, 5, 6)
