"""Shared objects that are damaged or for another machine, told apart before the system maps them and dies of it."""

from __future__ import annotations

import os
import re
import stat
import struct
import sys
from collections.abc import Iterator
from typing import BinaryIO

from ..errors import BackendError

HEADER = (
    "HHIQQQIHHHHHH"  # of ELF64: type, machine, version, entry, program and section headers, flags, sizes and counts
)
IDENTITY = 16  # bytes before it: magic, class, byte order, ...
PROGRAM = "IIQQQQ"  # type, flags, offset, two addresses, size in the file
_LOADED = 1  # type of a program header
_NAMES = 3  # type of a section
_MACHINES = {62: "x86_64", 183: "aarch64", 21: "ppc64", 22: "s390x", 243: "riscv64", 3: "x86", 40: "arm"}
_CACHE = "/etc/ld.so.cache"
_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")


def check_whole(path: str) -> None:
    """Raise BackendError where a shared object has lost bytes or is another machine's; of what is not there, nothing.

    Parameters
    ----------
    path : str
        Of a file; a name without folder is looked for where the system does.
    """
    if not sys.platform.startswith("linux"):
        return
    if os.sep not in path:
        path = next(iter(_found_by_the_system(path)), path)
    fault = _fault(path)
    if fault:
        raise BackendError(f"{path} is damaged: {fault}. Reinstall it: pip install --force-reinstall onednn-cpu-gomp.")


def _fault(path: str) -> str:
    """Return what is expected and what is there; "" of a file that is whole, or is not there."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            return f"expected a file, got a {'folder' if stat.S_ISDIR(status.st_mode) else 'device'}"
        with open(path, "rb") as file:
            own = _identity_of_python()
            header = file.read(IDENTITY + struct.calcsize(f"={HEADER}"))
            if len(header) < IDENTITY + struct.calcsize(f"={HEADER}") or header[:4] != b"\x7fELF":
                return f"expected a shared object, got {status.st_size:,} bytes that begin {header[:8]!r}"
            machine = _machine(header)
            if own and (header[4:6], machine) != own:
                return f"expected one for {_MACHINES.get(own[1], own[1])}, got {_MACHINES.get(machine, machine)}"
            expected = max(_ends(file, header, status.st_size), default=0)
            if expected <= status.st_size and not _has_names_of_sections(file, header):
                return "expected the names of its sections, got other bytes"
    except FileNotFoundError:
        return ""
    except struct.error:
        return f"expected headers of {struct.calcsize(f'={PROGRAM}')} bytes or more, got less"
    except OSError as error:
        return f"expected a file that can be read, got {error.strerror or error}"
    return f"expected {expected:,} bytes, got {status.st_size:,}" if expected > status.st_size else ""


def _order(header: bytes) -> str:
    return "<" if header[5] == 1 else ">"


def _machine(header: bytes) -> int:
    return struct.unpack_from(f"{_order(header)}HH", header, IDENTITY)[1]


def _ends(file: BinaryIO, header: bytes, size: int) -> Iterator[int]:
    """Yield where the tables of headers end in the file, and what is loaded of it."""
    order = _order(header)
    if header[4] != 2:  # of 32 bits, which no libdnnl has
        return
    fields = struct.unpack_from(order + HEADER, header, IDENTITY)
    programs, sections, (program_size, programs_count, section_size, sections_count) = (
        fields[4],
        fields[5],
        fields[8:12],
    )
    yield programs + program_size * programs_count
    yield sections + section_size * sections_count  # which linkers put at the end
    if programs + program_size * programs_count > size:
        return
    file.seek(programs)
    for _ in range(programs_count):
        kind, _, offset, _, _, length = struct.unpack_from(order + PROGRAM, file.read(program_size))
        yield offset + length if kind == _LOADED else 0


def _has_names_of_sections(file: BinaryIO, header: bytes) -> bool:
    """Tell whether what a linker writes last is there: where a copy was cut short there are zeros."""
    fields = struct.unpack_from(_order(header) + HEADER, header, IDENTITY)
    sections, (section_size, sections_count, of_names) = fields[5], fields[10:13]
    if header[4] != 2 or not sections or not sections_count:
        return True
    file.seek(sections + of_names * section_size)
    return struct.unpack_from(_order(header) + "II", file.read(section_size))[1] == _NAMES


def _identity_of_python() -> tuple[bytes, int] | None:
    """Return class, byte order and machine of the program that runs; None where that is hidden."""
    try:
        with open("/proc/self/exe", "rb") as file:
            header = file.read(IDENTITY + 4)
    except OSError:
        return None
    return (header[4:6], _machine(header)) if header[:4] == b"\x7fELF" else None


def _found_by_the_system(name: str) -> list[str]:
    """Return the files that the loader would take for a name, the first one first."""
    folders = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if folder]
    try:
        with open(_CACHE, "rb") as file:
            cached = re.findall(rb"\0(/[^\0]*/" + re.escape(name.encode()) + rb")(?=\0)", file.read())
    except OSError:
        cached = []
    listed = [os.path.join(folder, name) for folder in folders]
    listed += [os.fsdecode(path) for path in cached] + [os.path.join(folder, name) for folder in _FOLDERS]
    return [path for path in listed if os.path.exists(path)]
