"""Zip files that an error ends: the error comes out, and nothing passes for a whole archive."""

import io
import zipfile

import pytest

from nd.files.zips import ZipFile


def test_an_error_within_an_entry_comes_out_itself_and_no_archive_is_completed():
    file = io.BytesIO()

    def interrupted():
        with ZipFile(file, "w") as archive:
            archive.writestr("first", b"1")
            entry = archive.open("second", "w")  # Ctrl-C comes before it is closed
            raise KeyboardInterrupt(f"second, {entry.closed}")

    with pytest.raises(KeyboardInterrupt, match="second, False"):
        interrupted()
    assert not zipfile.is_zipfile(file)


def test_without_an_error_it_is_whole():
    file = io.BytesIO()
    with ZipFile(file, "w") as archive:
        archive.writestr("first", b"1")
    with ZipFile(file) as archive:
        assert archive.read("first") == b"1"
