"""What killed processes leave of the files that they wrote, and what must not be taken for it."""

import errno
import os
import signal
import subprocess
import sys

import pytest

from nd.files.writing import CLOCK, PARTIAL, remove_leftover_folders, remove_leftovers, replacing

try:
    import fcntl
except ImportError:
    fcntl = None

posix = pytest.mark.skipif(fcntl is None, reason="rights, links and locks of POSIX")


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


KILLED = """
import os, signal, sys
from nd.files.writing import replacing
with replacing("save", sys.argv[1]) as file:
    file.write(b"part")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_while_saving(path):
    done = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(names(path.parent)) == 1 + path.exists()


@posix
def test_what_a_killed_process_left_goes_with_the_next_file_of_that_name(tmp_path):
    killed_while_saving(tmp_path / "f[1]")
    with replacing("save", tmp_path / "g") as file:
        file.write(b"of another name")
    assert len(names(tmp_path)) == 2
    with replacing("save", tmp_path / "f[1]") as file:
        file.write(b"new")
    assert names(tmp_path) == ["f[1]", "g"]


@posix
def test_or_on_request(tmp_path):
    killed_while_saving(tmp_path / "a_1.zip")
    remove_leftovers(tmp_path, "b_*.zip")
    assert len(names(tmp_path)) == 1
    remove_leftovers(tmp_path, "a_*.zip")
    assert names(tmp_path) == []
    remove_leftovers(tmp_path / "nowhere", "a_*.zip")


@posix
def test_what_is_being_written_stays(tmp_path):
    """Another process looks, as one in another container would: no process number tells it who writes."""
    look = f"from nd.files.writing import remove_leftovers; remove_leftovers({str(tmp_path)!r}, 'f')"
    with replacing("save", tmp_path / "f") as file:
        file.write(b"new")
        before = names(tmp_path)
        remove_leftovers(tmp_path, "f")
        subprocess.run([sys.executable, "-c", look], check=True)
        os.utime(tmp_path / before[0], (0, 0))  # even if it looks old
        subprocess.run([sys.executable, "-c", look], check=True)
        assert names(tmp_path) == before
    assert (tmp_path / "f").read_bytes() == b"new"


@posix
@pytest.mark.parametrize(("hours", "stays"), [(23, True), (25, False)])
def test_what_another_machine_began_stays_for_a_day(hours, stays, tmp_path):
    """Its lock may not be seen here."""
    foreign = tmp_path / f".f.00000000-0123456789abcdef{PARTIAL}"
    foreign.touch()
    written = foreign.stat().st_mtime - 3600 * hours
    os.utime(foreign, (written, written))
    remove_leftovers(tmp_path, "f")
    assert foreign.exists() is stays


@posix
def test_without_locks_nothing_of_today_is_removed(tmp_path, monkeypatch):
    killed_while_saving(tmp_path / "f")

    def no_locks(*arguments):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    remove_leftovers(tmp_path, "f")
    assert len(names(tmp_path)) == 1
    with replacing("save", tmp_path / "f") as file:
        file.write(b"new")
    assert (tmp_path / "f").read_bytes() == b"new"


@posix
def test_what_is_no_file_of_ours_is_let_be(tmp_path):
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / f".f.x{PARTIAL}").symlink_to("mine")
    os.mkfifo(tmp_path / f".f.y{PARTIAL}")
    (tmp_path / f".f.z{PARTIAL}").mkdir()
    before = names(tmp_path)
    remove_leftovers(tmp_path, "f")
    assert names(tmp_path) == before


KILLED_AT_EVERY_CALL = """
import os, pathlib, signal, sys
from nd.files import writing

CALLS = "open fstat unlink replace fsync close listdir stat fchmod".split()
folder = pathlib.Path(sys.argv[1])

def save():
    with writing.replacing("save", folder / "f") as file:
        file.write(b"new")

def save_until(number):
    counted = iter(range(1, number))
    def dying(call):
        def run(*arguments, **named):
            if next(counted, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **named)
        return run
    for name in CALLS:
        setattr(os, name, dying(getattr(os, name)))
    save()
    os._exit(0)

number, status, seen = 0, 1, set()
while status:
    number += 1
    (folder / f".f.00000000-0123456789abcdef{writing.PARTIAL}").touch()  # another machine's: the time is asked
    child = os.fork()
    if not child:
        save_until(number)
    status = os.waitpid(child, 0)[1]
    seen |= {path.suffix for path in folder.iterdir()} - {""}
    (folder / f".f.00000000-0123456789abcdef{writing.PARTIAL}").unlink(missing_ok=True)
    save()
    left = [path.name for path in folder.iterdir()]
    assert left == ["f"], (number, left)
print(number > 15, sorted(seen))
"""


@posix
@pytest.mark.slow
def test_killed_at_any_call_nothing_stays_behind_the_next_file(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT_EVERY_CALL, tmp_path], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == f"True {sorted((CLOCK, PARTIAL))}\n"


@posix
def test_a_clock_that_somebody_else_removes_is_no_error(tmp_path, monkeypatch):
    """Two processes save at a time, and one takes the other's for a leftover."""
    (tmp_path / f".f.00000000-0123456789abcdef{PARTIAL}").touch()
    told = os.fstat

    def told_and_gone(handle):
        for path in tmp_path.glob(f".*{CLOCK}"):
            path.unlink()
        return told(handle)

    monkeypatch.setattr(os, "fstat", told_and_gone)
    remove_leftovers(tmp_path, "f")
    assert names(tmp_path) == [f".f.00000000-0123456789abcdef{PARTIAL}"]


@posix
def test_a_clock_of_somebody_else_is_let_be(tmp_path):
    for name, content in (
        (f".cuckoo{CLOCK}", b""),
        (f".0123456789abcdef{CLOCK}", b"12"),
        (f"0123456789abcdef{CLOCK}", b""),
    ):
        (tmp_path / name).write_bytes(content)
    before = names(tmp_path)
    remove_leftovers(tmp_path, "*")
    assert names(tmp_path) == before


@posix
@pytest.mark.parametrize(("hours", "stays"), [(23, True), (25, False)])
def test_a_download_that_was_cut_off_stays_for_a_day(hours, stays, tmp_path):
    folder = tmp_path / ".download-x"
    folder.mkdir()
    (folder / "file").write_bytes(b"part")
    written = folder.stat().st_mtime - 3600 * hours
    for path in (folder / "file", folder):
        os.utime(path, (written, written))
    remove_leftover_folders(tmp_path, ".download-*")
    assert names(tmp_path) == ([".download-x"] if stays else [])
