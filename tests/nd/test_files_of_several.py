"""Threads and processes that write one file: whoever reads it finds what one of them has written."""

import shutil
import subprocess
import sys
import threading

import pytest

from nd.files.writing import replacing
from tests.absent import Absent


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


WRITER = """
import os, sys, time
from nd.files.writing import replacing
path, byte, end = sys.argv[1], sys.argv[2].encode(), time.monotonic() + float(sys.argv[3])
print(os.getpid(), flush=True)
while time.monotonic() < end:
    with replacing("save", path) as file:
        for _ in range(20):
            file.write(byte * 5_000)
"""


def torn_reads(path, running):
    """Return how often the file was read while others wrote it, and what was read that none of them had written."""
    count, torn = 0, []
    while running():
        if path.exists():
            content = path.read_bytes()
            count += 1
            if len(content) != 100_000 or len(set(content)) != 1:
                torn.append((len(content), set(content)))
    return count, torn


def test_threads_that_write_one_file(tmp_path):
    def write(byte):
        for _ in range(30):
            with replacing("save", tmp_path / "f") as file:
                for _ in range(20):
                    file.write(byte * 5_000)

    threads = [threading.Thread(target=write, args=(byte,)) for byte in (b"a", b"b", b"c")]
    for thread in threads:
        thread.start()
    count, torn = torn_reads(tmp_path / "f", lambda: any(thread.is_alive() for thread in threads))
    assert torn == []
    assert count > 0
    assert names(tmp_path) == ["f"]


def written_by_two(tmp_path, before, seconds):
    """Have two processes write; return their own process numbers."""
    commands = [[*before, sys.executable, "-c", WRITER, tmp_path / "f", byte, str(seconds)] for byte in "ab"]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    count, torn = torn_reads(tmp_path / "f", lambda: any(writer.poll() is None for writer in writers))
    assert [writer.returncode for writer in writers] == [0, 0]
    assert torn == []
    assert count > 0
    assert names(tmp_path) == ["f"]
    return [writer.communicate()[0].strip() for writer in writers]


@pytest.mark.slow
def test_processes_that_write_one_file(tmp_path):
    assert len(set(written_by_two(tmp_path, [], 0.6))) == 2


@pytest.mark.slow
def test_processes_of_the_same_number_that_write_one_file(tmp_path):
    """As two containers that share a volume do."""
    apart = ["unshare", "--pid", "--fork"]
    if shutil.which("unshare") is None or subprocess.run([*apart, "true"], capture_output=True, check=False).returncode:
        raise Absent("this system lets nobody make a process namespace")
    assert written_by_two(tmp_path, apart, 5.0) == ["1", "1"]
