"""The pictures in a folder, and the classes that its folders are."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from backends.errors import ConfigurationError, DataError
from nd.dataset.class_labels import name_list

ENDINGS = (
    ".bmp", ".gif", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp",
)  # fmt: skip


class Pictures(NamedTuple):
    """Files of pictures, and what classes they are of."""

    names: list[str]
    """Paths within the folder, with "/" between their parts."""
    classes: list[int] | None
    """Of each file, the number of its class; None where there are none."""
    class_names: tuple[str, ...] | None


def pictures_in(
    who: str, folder: str, endings: Sequence[str], labels: bool | None, class_names: Sequence[str] | None
) -> Pictures:
    """Return the pictures of a folder, sorted: by class where its folders are classes.

    Parameters
    ----------
    who : str
        For messages.
    folder : str
    endings : sequence of str
        Of the files' names, in lower case.
    labels : bool or None
        Whether the folders in it are classes; None: where there are some.
    class_names : sequence of str or None
        The folders that are classes, in their order; None: all, sorted.

    Raises
    ------
    ConfigurationError
        `class_names` are given twice, or for no labels.
    DataError
        There are no pictures, one lies beside the folders of the classes, or a class has none or no folder.
    OSError
        The folder cannot be read.
    """
    if class_names is not None and not len(class_names):
        raise ConfigurationError(f"{who}: class_names must be folders in '{folder}', got none. Name some.")
    folders, beside = _inside(folder, endings)
    if labels is None:
        labels = class_names is not None or bool(folders)
    if not labels:
        if class_names is not None:
            raise ConfigurationError(f"{who}: class_names are for labels, got labels=False with them. Leave one out.")
        names = sorted(files_under(folder, endings))
        if not names:
            raise _no_pictures(who, folder, endings)
        return Pictures(names, None, None)
    if class_names is None and beside:
        raise DataError(
            f"{who}: '{folder}': pictures must lie in the folders of their classes, got '{beside[0]}' beside them. "
            "Move it, name the classes with class_names, or pass labels=False."
        )
    return _by_class(who, folder, endings, folders, class_names)


def _by_class(
    who: str, folder: str, endings: Sequence[str], folders: list[str], class_names: Sequence[str] | None
) -> Pictures:
    wanted = tuple(folders if class_names is None else class_names)
    missing = [name for name in wanted if name not in folders]
    if missing or len(set(wanted)) < len(wanted):
        problem = DataError if missing else ConfigurationError
        raise problem(
            f"{who}: class_names must be different folders in '{folder}', which are {name_list(folders)}, got "
            f"{name_list(missing or wanted)}."
        )
    names: list[str] = []
    classes: list[int] = []
    for number, name in enumerate(wanted):
        inside = sorted(files_under(os.path.join(folder, name), endings))
        if not inside and class_names is None:
            raise DataError(
                f"{who}: '{folder}': every folder is a class and must have pictures, got none in '{name}'. Remove it, "
                "or name the classes with class_names."
            )
        names += [f"{name}/{file}" for file in inside]
        classes += [number] * len(inside)
    if not names:
        raise _no_pictures(who, folder, endings)
    return Pictures(names, classes, wanted)


def _no_pictures(who: str, folder: str, endings: Sequence[str]) -> DataError:
    return DataError(f"{who}: '{folder}' must have pictures, got no file that ends in {', '.join(endings)}.")


def _inside(folder: str, endings: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names of the folders and of the pictures that lie directly in a folder, sorted."""
    folders, pictures = [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                folders.append(entry.name)
            elif entry.name.lower().endswith(tuple(endings)) and entry.is_file():
                pictures.append(entry.name)
    return sorted(folders), sorted(pictures)


def files_under(folder: str, endings: Sequence[str] = ("",), recursive: bool = True) -> Iterator[str]:
    """Yield the files in a folder, and in those in it, whose names have one of the endings, in no order.

    Parameters
    ----------
    folder : str
    endings : sequence of str
        In lower case; names may have either.
    recursive : bool
        Whether to look into the folders in it.

    Notes
    -----
    Paths are within the folder, with "/" between their parts. Names that begin with a point are left out, which systems
    make by themselves, and so are pipes and devices. Links are followed, but not into a folder that they lie in.
    """
    wanted = tuple(endings)
    to_do: list[tuple[str, str, tuple[str, ...]]] = [(folder, "", ())]
    while to_do:
        path, within, linked = to_do.pop()
        with os.scandir(path) as entries:
            seen = [entry for entry in entries if not entry.name.startswith(".")]
        folders = {entry.name for entry in seen if entry.is_dir()}
        for entry in seen:
            if entry.name not in folders and entry.name.lower().endswith(wanted) and entry.is_file():
                yield within + entry.name
        if recursive:
            inside = [(entry, _chain(entry, path, linked)) for entry in seen if entry.name in folders]
            to_do += [(entry.path, f"{within}{entry.name}/", chain) for entry, chain in inside if chain is not None]


def _chain(entry: os.DirEntry[str], path: str, linked: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the real folders that the links on the way to a folder lie in; None where it is one of them."""
    if not entry.is_symlink():
        return linked
    target, here = os.path.realpath(entry.path), os.path.realpath(path)
    above = (*linked, here)
    if any(place == target or place.startswith(target + os.sep) for place in above):
        return None
    return above


def chosen(pictures: Pictures, places: Iterable[int]) -> Pictures:
    """Return some of the pictures, in the order of their places."""
    kept = list(places)
    classes = None if pictures.classes is None else [pictures.classes[place] for place in kept]
    return Pictures([pictures.names[place] for place in kept], classes, pictures.class_names)


def part_for_validation(pictures: Pictures, fraction: float) -> set[int]:
    """Return the places of a fraction of each class's pictures, rounded.

    Notes
    -----
    The names alone decide, by their SHA-256: a picture that is added, or a folder that is moved, leaves nearly all
    others in the part in which they are.
    """
    groups: dict[int, list[int]] = {}
    for place in range(len(pictures.names)):
        groups.setdefault(0 if pictures.classes is None else pictures.classes[place], []).append(place)
    held_out: set[int] = set()
    for places in groups.values():
        by_digest = sorted(places, key=lambda place: hashlib.sha256(os.fsencode(pictures.names[place])).digest())
        held_out.update(by_digest[: int(fraction * len(places) + 0.5)])
    return held_out


def digest_of(pictures: Pictures) -> str:
    """Return a text that other files, or other classes of them, have another of."""
    digest = hashlib.sha256("\0".join(pictures.class_names or ()).encode("utf-8", "surrogateescape"))
    for name in pictures.names:
        digest.update(b"\0" + os.fsencode(name))
    return digest.hexdigest()[:32]
