"""What the host CUDA says where it cannot be built or does not fit."""

import importlib.metadata
import shutil
import sys

import pytest

from tests.cuda_on_host import build
from tests.cuda_on_host.build import HERE, KNOWN, HostCudaError


def versions(**installed):
    def version(name):
        if name not in installed:
            raise importlib.metadata.PackageNotFoundError(name)
        return installed[name]

    return version


def test_a_release_of_cupy_that_nobody_has_tried(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", versions(**{"cupy-cuda13x": "99.0.0"}))
    with pytest.raises(HostCudaError, match=rf"is known to fit CuPy .*{KNOWN[-1]}, got 99.0.0. Add it to KNOWN"):
        build.cupy_version()


def test_without_cupy(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", versions())
    with pytest.raises(HostCudaError, match="needs the package cupy-cuda13x to be installed"):
        build.cupy_version()


def test_without_a_compiler(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(HostCudaError, match=r"needs g\+\+ to be installed"):
        build.build(tmp_path)


def test_without_the_headers(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", versions())
    with pytest.raises(HostCudaError, match="needs CUDA's headers, got no package nvidia-cuda-runtime"):
        build._headers_version()


def test_a_program_that_fails_says_what_it_said():
    with pytest.raises(HostCudaError, match=r"failed:\nno such thing"):
        build.run([sys.executable, "-c", "import sys; sys.exit('no such thing')"])


@pytest.mark.parametrize(
    ("installed", "message"),
    [
        ("14.9.9", r"built for CuPy 14\.2\.0, got 14\.9\.9: run make cupy-check CUPY=14\.9\.9"),
        ("14.2.0", "where it was built: run make"),
    ],
)
def test_another_release_than_it_was_built_for_or_another_place(installed, message, monkeypatch, tmp_path):
    text = (HERE / "finder.py").read_text().replace("@VERSION@", "14.2.0").replace("@FOLDER@", str(tmp_path / "gone"))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(importlib.metadata, "version", versions(**{"cupy-cuda13x": installed}))
    exec(compile(text, "finder.py", "exec"), {})
    with pytest.raises(ImportError, match=message):
        sys.meta_path[0].find_spec("cupy_backends.cuda")
