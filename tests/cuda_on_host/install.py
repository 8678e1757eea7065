"""Installs the host CUDA into the environment of the Python that runs this."""

import os
import pathlib
import sys
import sysconfig

from .build import HERE, LIBRARIES, HostCudaError, build, cupy_version


def install(folder):
    """Build into `folder` what is missing, and let every process of this environment find it."""
    made = build(folder)
    text = (HERE / "finder.py").read_text()
    values = {"FOLDER": made, "VERSION": cupy_version(), "LIBRARIES": " ".join(LIBRARIES)}
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    place = pathlib.Path(sysconfig.get_path("purelib"))
    for name, content in (("host_cuda.py", text), ("host_cuda.pth", "import host_cuda\n")):
        path, new = place / name, place / f"{name}.{os.getpid()}"
        if not path.exists() or path.read_text() != content:  # others may just start
            new.write_text(content)
            new.replace(path)
    return made


if __name__ == "__main__":
    try:
        install(pathlib.Path(sys.argv[1]).resolve())
    except HostCudaError as error:
        sys.exit(f"cupy-check: {error}")
