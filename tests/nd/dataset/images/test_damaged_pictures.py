"""Files that are no pictures, damaged, too large, or not for us: named, and refused or skipped by choice."""

import json
import logging
import os
import pathlib

import numpy as np
import pytest

import nd
from nd.dataset import ImageFolderIterator
from nd.dataset.images import decoding

pytest.importorskip("PIL")
from PIL import Image

from tests.nd.dataset.images.pictures import pets, picture, reasons_of, save


def bytes_of(folder, name, **options):
    path = folder.parent / f"whole{pathlib.Path(name).suffix}"
    save(path, picture(9, 40, 40), **options)
    return path.read_bytes()


DAMAGED = {
    "truncated.jpg": (lambda whole: whole[: len(whole) // 2], "truncated"),
    "truncated.png": (lambda whole: whole[: len(whole) // 2], "truncated"),
    "broken.png": (
        lambda whole: whole[:60] + bytes(20) + whole[80:],
        "broken|CRC|distance|invalid|incorrect|checksum|bad",
    ),
    "empty.jpg": (lambda whole: b"", "an empty file"),
    "text.gif": (lambda whole: b"this is no picture", "18 bytes that are no picture"),
    "header.jpg": (lambda whole: whole[:3], "3 bytes that are no picture"),
    "header.png": (lambda whole: whole[:20], "Truncated"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_named(name, tmp_path):
    damage, why = DAMAGED[name]
    pets(tmp_path / "pets", 3, 3)
    content = damage(bytes_of(tmp_path / "pets", name))
    (tmp_path / "pets" / "dog" / name).write_bytes(content)
    iterator = ImageFolderIterator(tmp_path / "pets", 3, 4, shuffle=False)
    assert iterator.next().num_examples() == 3
    for _ in range(2):  # it is an error again
        message = rf"ImageFolderIterator: '.*{name}' must be a picture that can be decoded, got .*({why})"
        with pytest.raises(nd.FormatError, match=message):
            list(iterator)
    (tmp_path / "pets" / "dog" / name).write_bytes(bytes_of(tmp_path / "pets", "whole.png"))
    assert sum(data_set.num_examples() for data_set in iterator) == 1
    (tmp_path / "pets" / "dog" / name).write_bytes(content)
    iterator = ImageFolderIterator(tmp_path / "pets", 3, 4, damaged="skip")
    assert sum(data_set.num_examples() for data_set in iterator) == 6
    assert list(reasons_of(iterator)) == [name]


def test_pictures_that_are_not_for_networks(tmp_path, monkeypatch):
    pets(tmp_path, 2, 2)
    Image.fromarray(np.ones((4, 4), np.float32)).save(tmp_path / "cat" / "float.tif")
    Image.fromarray(np.ones((4, 4), np.int32)).save(tmp_path / "cat" / "int.tif")
    save(tmp_path / "cat" / "large.png", picture(1, 30, 30))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 200)
    iterator = ImageFolderIterator(tmp_path, 2, 4, damaged="skip")
    assert sum(data_set.num_examples() for data_set in iterator) == 4
    reasons = reasons_of(iterator)
    assert reasons["float.tif"] == "a picture of 32 bits a channel (Pillow's mode F)"
    assert reasons["int.tif"] == "a picture of 32 bits a channel (Pillow's mode I)"
    assert reasons["large.png"].startswith("DecompressionBombError: ")


def test_a_damaged_exif_leaves_a_picture_as_it_is(tmp_path):
    pixels = picture(2)
    save(tmp_path / "a.png", pixels, exif=b"Exif\0\0MM\0*\0\0\0\x08\xff\xff")
    data = ImageFolderIterator(tmp_path, 1, (6, 5), scale=False).next()
    np.testing.assert_array_equal(data.features[0].transpose(1, 2, 0), pixels)


def test_files_that_are_gone_or_closed(tmp_path, caplog):
    pets(tmp_path, 3, 3)
    iterators = [ImageFolderIterator(tmp_path, 4, 3, damaged=damaged, shuffle=False) for damaged in ("raise", "skip")]
    (tmp_path / "cat" / "0.png").unlink()
    (tmp_path / "cat" / "1.png").unlink()
    (tmp_path / "cat" / "1.png").mkdir()
    (tmp_path / "dog" / "2.png").chmod(0)
    with pytest.raises(FileNotFoundError, match=r"0\.png"):
        iterators[0].next()
    with caplog.at_level(logging.WARNING):
        sizes = [data_set.num_examples() for _ in range(2) for data_set in iterators[1]]
    closed = not os.access(tmp_path / "dog" / "2.png", os.R_OK)  # root may read everything
    assert sizes == [2, 2 - closed] * 2
    assert (
        len([record for record in caplog.records if "ImageFolderIterator skips" in record.getMessage()]) == 2 + closed
    )
    assert "0.png" in caplog.text


def test_errors_of_the_system_are_not_skipped(tmp_path, monkeypatch):
    pets(tmp_path, 1, 1)
    iterator = ImageFolderIterator(tmp_path, 4, 3, damaged="skip", workers=0)

    def too_many(*arguments):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("os.open", too_many)
    with pytest.raises(OSError, match="Too many open files"):
        iterator.next()
    monkeypatch.undo()
    assert iterator.next().num_examples() == 2


def test_minibatches_of_nothing_but_damaged_files_are_passed_over(tmp_path):
    pets(tmp_path, 4, 4)
    for number in (0, 1):
        (tmp_path / "cat" / f"{number}.png").write_bytes(b"")
        (tmp_path / "dog" / f"{number + 2}.png").write_bytes(b"")
    iterator = ImageFolderIterator(tmp_path, 2, 3, damaged="skip", shuffle=False)
    assert [iterator.batch_paths for _ in iterator] == [
        [str(tmp_path / kind / f"{number}.png") for number in numbers]
        for kind, numbers in (("cat", (2, 3)), ("dog", (0, 1)))
    ]
    assert not iterator.has_next()
    iterator.reset()
    assert iterator.next(1).num_examples() == 1
    assert iterator.next(5).num_examples() == 3
    assert not iterator.has_next()
    for path in tmp_path.rglob("*.png"):
        path.write_bytes(b"")
    iterator = ImageFolderIterator(tmp_path, 2, 3, damaged="skip")
    with pytest.raises(nd.DataError, match=r"some of the 8 pictures must be readable, got '.*png' \(an empty file\)"):
        iterator.has_next()


def test_what_is_decoded_ahead_stays_behind_damaged_files(tmp_path, monkeypatch):
    pets(tmp_path, 8, 8)
    for number in range(0, 8, 2):
        (tmp_path / "cat" / f"{number}.png").write_bytes(b"")
    decoded, of_file = [], decoding.opened
    monkeypatch.setattr(decoding, "opened", lambda path: decoded.append(path) or of_file(path))
    for workers in (0, 2):
        iterator = ImageFolderIterator(tmp_path, 1, 3, damaged="skip", workers=workers)
        assert len(list(iterator)) == 12
        assert sorted(decoded) == iterator.paths
        decoded.clear()


def test_a_state_knows_skipped_files(tmp_path):
    """Minibatches have the places that they would have without damage, wherever a run goes on."""
    pets(tmp_path, 9, 8)
    for name in ("cat/3.png", "dog/0.png", "dog/1.png"):
        (tmp_path / name).write_bytes(b"")

    def make():
        return ImageFolderIterator(tmp_path, 3, 3, damaged="skip", seed=5)

    iterator = make()
    for taken in range(14):
        if not iterator.has_next():
            iterator.reset()
        iterator.next()
        other = make()
        other.restore(json.loads(json.dumps(iterator.state())))
        ends = [[data_set.features.tobytes() for _ in range(2) for data_set in each] for each in (other, make())]
        assert ends[0] != ends[1]
        again = make()
        again.restore(iterator.state())
        assert [data_set.features.tobytes() for _ in range(2) for data_set in again] == ends[0], taken


def test_other_files_have_other_states(tmp_path):
    pets(tmp_path, 2, 2)
    state = ImageFolderIterator(tmp_path, 2, 3).state()
    ImageFolderIterator(tmp_path, 2, 5, channels=1).restore(state)
    for options in (
        {"class_names": ["dog", "cat"]},
        {"labels": False},
        {"subset": "train", "validation_fraction": 0.5},
    ):
        with pytest.raises(
            nd.DataError, match=r"restore: (files|examples) must be .* of an iterator over other data\?"
        ):
            ImageFolderIterator(tmp_path, 2, 3, **options).restore(state)
    (tmp_path / "dog" / "1.png").rename(tmp_path / "dog" / "2.png")
    with pytest.raises(nd.DataError, match=r"ImageFolderIterator\.restore: files must be '\w+', got '\w+'"):
        ImageFolderIterator(tmp_path, 2, 3).restore(state)
    (tmp_path / "dog" / "2.png").rename(tmp_path / "dog" / "1.png")
    tmp_path.rename(tmp_path.parent / "moved")
    ImageFolderIterator(tmp_path.parent / "moved", 2, 3).restore(state)


def test_large_files_are_read_as_small_ones(tmp_path):
    pixels = save(tmp_path / "a.bmp", picture(1, 300, 400))
    assert (tmp_path / "a.bmp").stat().st_size > 1 << 18
    iterator = ImageFolderIterator(tmp_path, 1, (300, 400), scale=False)
    np.testing.assert_array_equal(iterator.next().features[0].transpose(1, 2, 0), pixels)
    (tmp_path / "a.bmp").write_bytes((tmp_path / "a.bmp").read_bytes()[: 1 << 18])
    with pytest.raises(nd.FormatError, match=r"a\.bmp' must be a picture that can be decoded, got .*truncated"):
        list(iterator)
