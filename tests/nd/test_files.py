"""Files that are there whole or not at all."""

import errno
import os
import subprocess
import sys

import pytest

from nd.files import remove_leftovers, replacing


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


@pytest.mark.parametrize("before", [None, b"old"])
def test_it_is_replaced_at_the_end(before, tmp_path):
    path = tmp_path / "f"
    if before is not None:
        path.write_bytes(before)
    with replacing("save", path) as file:
        file.write(b"new")
        assert path.exists() is (before is not None)
        assert len(names(tmp_path)) == 1 + (before is not None)
    assert (path.read_bytes(), names(tmp_path)) == (b"new", ["f"])


def test_it_is_on_the_disk_before_it_has_its_name_and_the_name_after(tmp_path, monkeypatch):
    log = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *given, real=real, name=name: log.append(name) or real(*given))
    with replacing("save", tmp_path / "f") as file:
        file.write(b"new")
    assert log == ["fsync", "replace", "fsync"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_disk_that_fails(step, tmp_path, monkeypatch):
    (tmp_path / "f").write_bytes(b"old")

    def fail(*arguments):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, step, fail)
    with (
        pytest.raises(OSError, match=r"save: the file must be written whole, got Input/output error; the one before"),
        replacing("save", tmp_path / "f") as file,
    ):
        file.write(b"new")
    assert ((tmp_path / "f").read_bytes(), names(tmp_path)) == (b"old", ["f"])


def test_another_error_in_the_block_comes_out_as_it_is(tmp_path):
    with pytest.raises(KeyError, match="mine"), replacing("save", tmp_path / "f") as file:
        {}[file.write(b"part") and "mine"]
    assert names(tmp_path) == []


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
from nd.files import replacing
try:
    with replacing("save", sys.argv[1]) as file:
        file.write(bytes(1_000_000))
except OSError as error:
    print(type(error).__name__, error.errno, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX's")
def test_a_file_that_the_system_does_not_let_grow(tmp_path):
    (tmp_path / "f").write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", LIMITED, tmp_path / "f"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"OSError {errno.EFBIG} [Errno {errno.EFBIG}] save: the file must be written whole")
    assert ((tmp_path / "f").read_bytes(), names(tmp_path)) == (b"old", ["f"])


def test_leftovers_of_processes_that_are_gone(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    for name in (f".a.zip.{child.pid}.partial", f".a.zip.{os.getppid()}.partial", f".b.{child.pid}.partial", "a.zip"):
        (tmp_path / name).touch()
    (tmp_path / f".a.zip.{os.getpid()}.partial").touch()
    remove_leftovers(tmp_path, "a.zip")
    assert set(names(tmp_path)) == {f".a.zip.{os.getppid()}.partial", f".b.{child.pid}.partial", "a.zip"}


def test_a_link_stays_one(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    with replacing("save", tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes are POSIX's")
def test_a_pipe_stays_one(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as reader:
        with replacing("save", tmp_path / "pipe") as file:
            file.write(b"through")
        assert reader.communicate()[0] == b"through"
    assert (tmp_path / "pipe").is_fifo()
    assert names(tmp_path) == ["pipe"]
