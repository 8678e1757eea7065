from __future__ import annotations

import gzip
import hashlib
import shutil
import socket
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

from backends.errors import DataError, FormatError
from nd.dataset import MnistDataSetIterator, fetch

TINY = b"\x00\x00\x08\x01" + b"\x00\x00\x00\x03" + bytes([7, 8, 9])
TINY_FILE = fetch.IdxFile("tiny-idx1-ubyte", (3,), hashlib.sha256(TINY).hexdigest())


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that ND_DATA_DIR names; the cache is empty too, and nothing can be downloaded."""

    def refuse(url: str, target: Path) -> None:
        raise OSError("no network")

    monkeypatch.setattr(fetch, "fetch_url", refuse)
    monkeypatch.setattr(fetch, "_cache_folder", lambda folder="mnist": tmp_path / "cache" / folder)
    monkeypatch.setenv("ND_DATA_DIR", str(tmp_path / "given"))
    (tmp_path / "given" / "mnist").mkdir(parents=True)
    return tmp_path / "given" / "mnist"


def written(folder: Path, content: bytes) -> Path:
    path = folder / "tiny-idx1-ubyte"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("content", [TINY, gzip.compress(TINY, mtime=0)])
def test_read_idx_takes_both_forms(tmp_path: Path, content: bytes) -> None:
    array = fetch.read_idx(written(tmp_path, content), TINY_FILE)
    assert array.tolist() == [7, 8, 9]
    assert array.dtype == np.uint8
    assert not array.flags.writeable


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"expected 11 bytes, uncompressed, got only 0 \(truncated\)\. Delete it"),
        (TINY[:6], r"expected 11 bytes, uncompressed, got only 6 \(truncated\)"),
        (TINY[:-1], r"expected 11 bytes, uncompressed, got only 10 \(truncated\)"),
        (gzip.compress(TINY[:-1], mtime=0), r"expected 11 bytes, uncompressed, got only 10 \(truncated\)"),
        (TINY + b"\0", "expected 11 bytes, uncompressed, got more"),
        (b"<html>not found</html>", r"expected the IDX header 00000801 00000003 of \[3\] bytes, got 3c68746d 6c3e6e6f"),
        (b"\x00\x00\x08\x03" + TINY[4:], "expected the IDX header 00000801 00000003 .*, got 00000803 00000003"),
        (TINY[:-1] + b"\0", "expected SHA-256 [0-9a-f]{64} of the uncompressed file, got [0-9a-f]{64}"),
        (gzip.compress(TINY, mtime=0)[:-4], "expected a whole gzip file, got a damaged one"),
        (gzip.compress(TINY, mtime=0)[:10] + b"\xff" * 20, "expected a whole gzip file, got a damaged one"),
        (gzip.compress(TINY, mtime=0)[:-8] + b"\0" * 8, "expected a whole gzip file, got a damaged one: CRC"),
    ],
)
def test_read_idx_refuses_damaged_files(tmp_path: Path, content: bytes, message: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(FormatError, match=f"MNIST: '{path}': {message}"):
        fetch.read_idx(path, TINY_FILE)


def test_decompression_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where files are read is seen how much is read of them."""
    bomb = written(tmp_path, gzip.compress(TINY + bytes(50_000_000)))
    sizes = []
    monkeypatch.setattr(fetch, "_read_bounded", lambda path, limit, read=fetch._read_bounded: noted(read(path, limit)))

    def noted(content: bytes) -> bytes:
        sizes.append(len(content))
        return content

    with pytest.raises(FormatError, match="expected 11 bytes, uncompressed, got more"):
        fetch.read_idx(bomb, TINY_FILE)
    assert sizes == [12]


def test_missing_files_are_explained(offline: Path) -> None:
    with pytest.raises(DataError, match="Set ND_DATA_DIR to a folder that has it in mnist/, or use Digits") as caught:
        MnistDataSetIterator(64)
    message = str(caught.value)
    hosts = "storage.googleapis.com and ossci-datasets.s3.amazonaws.com"
    looked = f"no such file in '{offline}', '{offline.parents[1] / 'cache' / 'mnist'}'"
    assert f"{looked}, and no download ({hosts}: no network)." in message
    assert len(traceback.format_exception(caught.value, limit=0)) == 1  # nothing about what it was caused by
    assert not fetch.mnist_available()
    assert not fetch.mnist_available(download=False)


def test_a_failed_download_is_told_in_a_few_words() -> None:
    """As requests raises it: an error around an error around the operating system's."""
    error = OSError("Max retries exceeded with url: /x (Caused by NameResolutionError(...))")
    error.__context__ = OSError("HTTPSConnection(host='x', port=443): Failed to resolve 'x'")
    error.__context__.__cause__ = socket.gaierror(-2, "Name or service not known")
    assert fetch._reason(error) == "Name or service not known"
    assert fetch._reason(OSError("404 Client Error: Not Found.")) == "404 Client Error: Not Found"
    assert fetch._reason(TimeoutError()) == "TimeoutError"


def test_missing_pooch_is_explained(offline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.delenv("ND_DATA_DIR", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DataError, match=r"in nowhere, as .* \(the package pooch is not .*pip install .pooch>=1\.8"):
        fetch.download_file(TINY_FILE)


def test_a_damaged_file_is_not_replaced_by_another(offline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "fetch_url", lambda url, target: pytest.fail("must not download"))
    header = bytes.fromhex("00000803 0000ea60 0000001c 0000001c")
    (offline / "train-images-idx3-ubyte").write_bytes(header + bytes(1000))
    with pytest.raises(FormatError, match=r"expected 47040016 bytes, uncompressed, got only 1016 \(truncated\)"):
        MnistDataSetIterator(64)


def test_download_takes_the_first_good_mirror(offline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = {fetch.MIRRORS[0]: b"<html>log in</html>", fetch.MIRRORS[1]: gzip.compress(TINY, mtime=0)}
    asked = []

    def serve(url: str, target: Path) -> None:
        asked.append(url)
        target.write_bytes(served[url.removesuffix("tiny-idx1-ubyte.gz")])

    monkeypatch.setattr(fetch, "fetch_url", serve)
    path = fetch.download_file(TINY_FILE)
    assert asked == [f"{mirror}tiny-idx1-ubyte.gz" for mirror in fetch.MIRRORS]
    assert path == offline.parents[1] / "cache" / "mnist" / "tiny-idx1-ubyte.gz"
    assert fetch.find_file(TINY_FILE) == path
    assert [p.name for p in path.parent.iterdir()] == ["tiny-idx1-ubyte.gz"]


def test_a_bad_download_is_not_kept(offline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "fetch_url", lambda url, target: target.write_bytes(TINY[:-1]))
    with pytest.raises(DataError, match=r"got only 10 \(truncated\)"):
        fetch.download_file(TINY_FILE)
    assert list((offline.parents[1] / "cache" / "mnist").iterdir()) == []


def test_fetch_url_stores_what_pooch_downloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pooch = pytest.importorskip("pooch")
    calls = []

    class Downloader:
        def __init__(self, timeout: float) -> None:
            calls.append(timeout)

        def __call__(self, url: str, target: str, pooch: object) -> None:
            Path(target).write_bytes(url.encode())

    monkeypatch.setattr(pooch, "HTTPDownloader", Downloader)
    fetch.fetch_url("https://example.org/x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == b"https://example.org/x"
    assert calls == [10]


def test_nd_data_dir_comes_before_the_cache(offline: Path) -> None:
    cache = offline.parents[1] / "cache" / "mnist"
    cache.mkdir(parents=True)
    in_cache = written(cache, TINY)
    assert fetch.find_file(TINY_FILE) == in_cache
    given = written(offline, TINY)
    assert fetch.find_file(TINY_FILE) == given


def test_mnist_is_the_real_one(mnist_folder: Path) -> None:
    images, labels = fetch.load_mnist(train=True)
    assert images.shape == (60000, 784)
    assert labels[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert np.bincount(labels).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    test_images, test_labels = fetch.load_mnist(train=False)
    assert test_images.shape == (10000, 784)
    assert test_labels[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    assert round(float(images.mean()) / 255, 4) == 0.1307
    assert fetch.mnist_available(download=False)


def test_files_are_decoded_once(mnist_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fetch.load_mnist(train=False)
    (tmp_path / "mnist").mkdir()
    for path in mnist_folder.glob("t10k-labels*"):
        shutil.copy(path, tmp_path / "mnist")
    reads = []

    def noted(path: Path, file: fetch.IdxFile) -> np.ndarray:
        reads.append(path.name)
        return np.zeros(file.shape, np.uint8)

    monkeypatch.setattr(fetch, "read_idx", noted)
    first, second = fetch.load_mnist(train=False), fetch.load_mnist(train=False)
    assert reads == []
    assert np.shares_memory(first[0], second[0])
    monkeypatch.setenv("ND_DATA_DIR", str(tmp_path))
    fetch._load(fetch.MNIST_FILES["test labels"])
    assert len(reads) == 1, "another file is read anew"
    fetch._decoded.cache_clear()
