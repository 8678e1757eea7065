"""Weights from files: which file is meant, whether it is that one, and whether it fits."""

from __future__ import annotations

import os
import zlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nd
from nd.checks import check_choice
from nd.files.reading import Source, name_of, opening_to_seek

from ..conf.nodes import NetworkConfiguration
from ..files.serializer import restore_model

if TYPE_CHECKING:
    from .zoo_model import Pretrained, ZooModel

_PIECE = 1 << 20  # bytes


def restore(model: ZooModel, path: Source | None, pretrained_type: str | None, checksum: bool) -> Any:
    """Return a network from a file, see `ZooModel.init_pretrained`."""
    who = f"{type(model).__name__}.init_pretrained"
    known = _files(model, who, pretrained_type)
    if path is None:
        path = _kept_by_java(model, who, known)
    compares = bool(checksum and known)
    with opening_to_seek(who, path, b"PK") as file:
        start = file.tell()
        if compares:
            _check_sum(who, name_of(path), file, known)
        file.seek(start)
        network = restore_model(file, kind=model.network)
    if not compares:
        _check_shapes(who, name_of(path), model, network.conf)
    return model.as_restored(network)


def _files(model: ZooModel, who: str, pretrained_type: str | None) -> dict[str, Pretrained]:
    """Return Deeplearning4j's files that are meant."""
    files = {name: model.pretrained_file(name) for name in sorted(model.pretrained)}
    known = {name: file for name, file in files.items() if file is not None}
    if pretrained_type is None:
        return known
    if not known:
        raise nd.ConfigurationError(
            f"{who}: Deeplearning4j must have weights of {pretrained_type!r}, got none of any kind for this model. "
            "Give the path of a network that was saved, and no type."
        )
    name = check_choice(who, "weights", str(pretrained_type).lower(), known)
    return {name: known[name]}


def _kept_by_java(model: ZooModel, who: str, known: dict[str, Pretrained]) -> str:
    """Return the path of a file that Deeplearning4j has downloaded; raise ConfigurationError if there is none."""
    folder = Path.home() / ".deeplearning4j" / "models" / model.model_name()
    for file in known.values():
        if (folder / file.file).is_file():
            return os.fspath(folder / file.file)
    if not known:
        raise nd.ConfigurationError(
            f"{who}: path must be that of a network that was saved, as Deeplearning4j has no weights of this model, "
            "got none. Give a path."
        )
    addresses = ", ".join(f"{model.pretrained_url(name)} ({name})" for name in known)
    raise nd.ConfigurationError(
        f"{who}: path must be that of Deeplearning4j's file of weights, got none, and there is none in {folder}. "
        f"Download {addresses}, and give its path."
    )


def _check_sum(who: str, name: str, file: Any, known: dict[str, Pretrained]) -> None:
    """Raise FormatError unless the Adler-32 of the rest of a file is one that is known."""
    value = 1
    while piece := file.read(_PIECE):
        value = zlib.adler32(piece, value)
    if value not in {one.checksum for one in known.values()}:
        expected = ", ".join(f"{one.checksum} of {one.file}" for one in known.values())
        raise nd.FormatError(
            f"{who}: {name} must have the Adler-32 checksum {expected}, got {value}. If it is a network of your own, "
            "say checksum=False; if not, it is damaged, and must be downloaded again."
        )


def _check_shapes(who: str, name: str, model: ZooModel, of_file: NetworkConfiguration) -> None:
    """Raise ShapeError unless a file's parameters have the shapes of the model's, in any order."""
    there = _shapes(of_file)
    expected = _shapes(model.with_classes_of(of_file).conf())
    if there != expected:
        missing, more = (_said(one) for one in (expected - there, there - expected))
        raise nd.ShapeError(
            f"{who}: {name} must have the parameters of {type(model).__name__}, got {more} in the place of {missing}. "
            "Give the settings that it was made with, or read it with nn.load."
        )


def _shapes(conf: NetworkConfiguration) -> Counter[tuple[str, tuple[int, ...]]]:
    return Counter((spec.name, tuple(spec.shape)) for node in conf.nodes for spec in node.conf.param_specs())


def _said(shapes: Counter[tuple[str, tuple[int, ...]]]) -> str:
    several = [f"{name} {list(shape)}" for name, shape in list(shapes)[:3]]
    return ", ".join(several) + (", ..." if len(shapes) > 3 else "") if several else "none"
