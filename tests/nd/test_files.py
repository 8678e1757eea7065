"""Files that are there whole or not at all."""

import errno
import itertools
import os
import stat
import subprocess
import sys

import pytest

from backends.errors import ConfigurationError
from nd.files import writing as files
from nd.files.writing import PARTIAL, create_first_free, replacing

try:
    import fcntl
except ImportError:
    fcntl = None

posix = pytest.mark.skipif(fcntl is None, reason="rights, links and locks of POSIX")


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
from nd.files.writing import replacing
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


@posix
def test_a_planted_link_is_not_followed(tmp_path, monkeypatch):
    """Whoever can write into the folder, and guesses the name, has nothing overwritten by it."""
    drawn = iter(["guessed", "another"])
    monkeypatch.setattr(files, "_random", lambda count: next(drawn))
    (tmp_path / "victim").write_bytes(b"victim")
    planted = tmp_path / f".f.{files._machine()}-guessed{PARTIAL}"
    planted.symlink_to("victim")
    with replacing("save", tmp_path / "f") as file:
        file.write(b"new")
    assert (tmp_path / "victim").read_bytes() == b"victim"
    assert (tmp_path / "f").read_bytes() == b"new"
    assert not (tmp_path / "f").is_symlink()
    assert next(drawn, None) is None


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_the_rights_stay_those_of_the_file_before(mode, tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    path.chmod(mode)
    with replacing("save", path) as file:
        (partial,) = (tmp_path / name for name in names(tmp_path) if name != "f")
        assert stat.S_IMODE(partial.stat().st_mode) == mode
        file.write(b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", mode)


@posix
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_those_that_the_umask_leaves(mask, mode, tmp_path):
    before = os.umask(mask)
    try:
        with replacing("save", tmp_path / "f") as file:
            file.write(b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == mode


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_stays(tmp_path):
    (tmp_path / "f").write_bytes(b"old")
    os.chown(tmp_path / "f", 1234, 1235)
    with replacing("save", tmp_path / "f") as file:
        file.write(b"new")
    found = (tmp_path / "f").stat()
    assert (found.st_uid, found.st_gid) == (1234, 1235)


@posix
def test_nor_does_an_owner_that_cannot_be_kept_prevent_it(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    (tmp_path / "f").write_bytes(b"old")
    monkeypatch.setattr(os, "fchown", refuse)
    real = os.fstat
    changed = lambda handle: os.stat_result((*real(handle)[:4], 4321, *real(handle)[5:10]))  # noqa: E731
    monkeypatch.setattr(os, "fstat", changed)
    with replacing("save", tmp_path / "f") as file:
        file.write(b"new")
    assert (tmp_path / "f").read_bytes() == b"new"


# ---- what cannot be written


def test_a_folder_that_is_missing(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match=r"save: the folder must exist, got none. Make it first") as caught,
        replacing("save", tmp_path / "none" / "f"),
    ):
        raise AssertionError("the block must not be entered")
    assert "Free some space" not in str(caught.value)


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "Free some space, or choose another folder"),
        (errno.EACCES, "Choose a folder that you may write to"),
        (errno.EIO, "Choose another folder"),
    ],
)
def test_the_remedy_is_of_the_fault(number, remedy, tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(number, "as the system says")

    monkeypatch.setattr(os, "fsync", fail)
    said = rf"save: the file must be written whole, got as the system says; the one before is untouched. {remedy}: "
    with pytest.raises(OSError, match=said) as caught, replacing("save", tmp_path / "f") as file:
        file.write(b"new")
    assert caught.value.errno == number
    assert names(tmp_path) == []


def test_the_name_of_a_folder(tmp_path):
    with (
        pytest.raises(IsADirectoryError, match=r"save: expected the name of a file, got a folder"),
        replacing("save", tmp_path),
    ):
        raise AssertionError("the block must not be entered")


def test_names_as_long_as_the_system_takes_them(tmp_path):
    for name in ("n" * 255, "\u00e4" * 127):
        with replacing("save", tmp_path / name) as file:
            file.write(b"new")
        assert (tmp_path / name).read_bytes() == b"new"
    assert len(names(tmp_path)) == 2


def test_a_name_that_is_too_long(tmp_path):
    message = r"save: expected the name of a file, got .*\. Give one .* of at most 255 bytes"
    with pytest.raises(ConfigurationError, match=message), replacing("save", tmp_path / ("n" * 400)):
        raise AssertionError("the block must not be entered")
    assert names(tmp_path) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_device_that_is_full():
    message = r"save: the file must be written whole, got .*\. Free some space, or choose another folder: '/dev/full'"
    with pytest.raises(OSError, match=message), replacing("save", "/dev/full") as file:
        file.write(b"new")


# ---- a name that nothing has


def candidates(folder):
    return (folder / str(number) for number in itertools.count(1))


def test_the_first_free_name(tmp_path):
    (tmp_path / "1").write_bytes(b"old")
    (tmp_path / "2").symlink_to("nowhere")
    path = create_first_free("save", lambda: candidates(tmp_path), lambda file: file.write(b"new"))
    assert (path.name, path.read_bytes(), (tmp_path / "1").read_bytes()) == ("3", b"new", b"old")
    assert names(tmp_path) == ["1", "2", "3"]


def test_where_there_are_no_hard_links(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "1").write_bytes(b"old")
    path = create_first_free("save", lambda: candidates(tmp_path), lambda file: file.write(b"new"))
    assert (path.name, path.read_bytes(), names(tmp_path)) == ("2", b"new", ["1", "2"])


def test_when_all_names_are_taken(tmp_path):
    (tmp_path / "1").write_bytes(b"old")
    with pytest.raises(FileExistsError, match=r"save: the file must be written whole, got all names are taken"):
        create_first_free("save", lambda: [tmp_path / "1"], lambda file: file.write(b"new"))
    assert ((tmp_path / "1").read_bytes(), names(tmp_path)) == (b"old", ["1"])


# ---- what is no ordinary file


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
