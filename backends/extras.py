"""Packages that only a few functions need: the extras of the distribution, and the command that installs one."""

from __future__ import annotations

EXTRAS = {
    "caffe": ("protobuf>=5", "h5py>=3.11", "lmdb>=1.4", "pillow>=10"),
    "cuda12": ("cupy-cuda12x[ctk]>=14", "array-api-compat>=1.9"),
    "cuda13": ("cupy-cuda13x[ctk]>=14", "array-api-compat>=1.9"),
    "download": ("pooch>=1.8",),
    "images": ("pillow>=10",),
    "keras": ("h5py>=3.11",),
    "onednn": ("onednn-cpu-gomp>=2023.2",),
    "onnx": ("onnx>=1.16",),
    "progress": ("tqdm>=4.60",),
    "report": ("matplotlib>=3.8",),
    "safetensors": ("safetensors>=0.4",),
    "sklearn": ("scikit-learn>=1.6",),
    "tensorboard": ("tensorboardX>=2.6",),
    "torch": ("torch>=2.3", "array-api-compat>=1.16"),
}
"""Extra -> its packages, as in pyproject.toml, which an installation does not have."""


def install_command(extra: str) -> str:
    """Return the command that installs an extra's packages, wherever ndwright itself came from.

    Examples
    --------
    >>> print(install_command("onednn"))
    pip install "onednn-cpu-gomp>=2023.2"
    """
    return " ".join(["pip install", *(f'"{package}"' for package in EXTRAS[extra])])
