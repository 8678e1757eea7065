"""Weights in files of Keras: numbered by class as Keras 3 stores them, or by the layers' names as `.h5` always did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nd import FormatError
from nd.arguments import shown

from ...files.hdf5_tree import Hdf5Tree, StoredArray
from .names import GATES, Expected, expected, snake_case, wrapped
from .structure import INPUT, Entry, Part

Named = Sequence[tuple[str, StoredArray]]
"""Weights, each with its name in the file."""
Raw = Mapping[Entry, Named]
"""Layer -> its weights as they are in the file."""
_WRAPPED = ("layer", "forward_layer", "backward_layer", "cell")
_OLDER_CONTAINER = "_layer_checkpoint_dependencies"


# ---- Keras 3's


def numbered(part: Part, tree: Hdf5Tree) -> Raw:
    """Return the weights of a file whose groups are ``layers/dense_1/vars``.

    Raises
    ------
    FormatError
        A layer that has weights has none there.

    Notes
    -----
    Layers are numbered by class, in the order of the model, those without weights, too. Keras 2.12 to 2.15 count those
    with weights twice there. Source: Keras, saving_lib.py, ``_save_container_state``.
    """
    children: dict[str, list[str]] = {}
    for path in tree.attributes:
        above, _, last = path.rpartition("/")
        children.setdefault(above, []).append(last)
    return dict(_numbered(part, tree, "", children))


def _numbered(
    part: Part, tree: Hdf5Tree, above: str, children: Mapping[str, Sequence[str]]
) -> Iterator[tuple[Entry, Sequence[tuple[str, StoredArray]]]]:
    older = _joined(above, _OLDER_CONTAINER) in tree.attributes
    container = _joined(above, _OLDER_CONTAINER if older else "layers")
    counts: dict[str, int] = {}
    for entry in part.entries[part.begins :]:
        name = snake_case(entry.written_class)
        if entry.class_name.startswith("keras.ops."):
            continue  # no layer
        number = counts.get(name, 0)
        known = expected(entry.class_name, entry.config)
        counts[name] = number + (2 if older and (entry.inner or (known and known.names)) else 1)
        group = f"{container}/{name}_{number}" if number else f"{container}/{name}"
        if entry.inner is not None:
            yield from _numbered(entry.inner, tree, group, children)
        else:
            yield entry, list(_arrays(tree, group, children))


def _joined(above: str, last: str) -> str:
    return f"{above}/{last}" if above else last


def _arrays(tree: Hdf5Tree, group: str, children: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, StoredArray]]:
    """Yield the weights of a layer's own, then those of what it wraps."""
    stored = _joined(group, "vars")
    for number in range(len(children.get(stored, ()))):
        array = tree.arrays.get(f"{stored}/{number}")
        if array is not None:
            yield str(number), array
    for inner in _WRAPPED:
        if inner in children.get(group, ()):
            yield from _arrays(tree, f"{group}/{inner}", children)
    cells = f"{group}/cells"
    for cell in sorted(children.get(cells, ()), key=lambda name: (len(name), name)):
        yield from _arrays(tree, f"{cells}/{cell}", children)


# ---- by names


def named(part: Part, tree: Hdf5Tree, root: str) -> Raw:
    """Return the weights of a file whose groups have the layers' names, and say the weights' names.

    Raises
    ------
    FormatError
        A weight that is named is not there, or the layers that have weights are not as many as those of the model.

    Notes
    -----
    Where names differ the order counts, as in Keras. Source: Keras, legacy_h5_format.py.
    """
    groups = _groups(tree, root)
    if not groups and _has_weights(part):
        raise FormatError(
            f"expected layer_names of Keras' weights, got {shown(sorted(tree.attributes.get(root, ())))}."
        )
    raw: dict[Entry, Named] = {}
    if all(entry.name in groups for entry in _owners(part, groups)):
        for entry in _owners(part, groups):
            _allot(entry, groups[entry.name], raw)
        return raw
    stored = {name: arrays for name, arrays in groups.items() if arrays}
    owners = [entry for entry in part.entries if _has_weights(entry)]
    if len(owners) != len(stored):
        raise FormatError(
            f"the file of weights must have {len(owners)} layers that have some, got {len(stored)}: "
            f"{shown(list(stored))}."
        )
    for entry, arrays in zip(owners, stored.values(), strict=True):
        _allot(entry, arrays, raw)
    return raw


def _owners(part: Part, groups: Mapping[str, Named]) -> Iterator[Entry]:
    """Yield what has weights, a model in the model as one, or by its layers where Keras 1 stored those."""
    for entry in part.entries:
        if entry.inner is not None and entry.name not in groups and any(name in groups for name in _names(entry.inner)):
            yield from _owners(entry.inner, groups)
        elif _has_weights(entry):
            yield entry


def _names(part: Part) -> Iterator[str]:
    for entry in part.entries:
        yield entry.name
        if entry.inner is not None:
            yield from _names(entry.inner)


def _groups(tree: Hdf5Tree, root: str) -> dict[str, list[tuple[str, StoredArray]]]:
    """Return the layers' names with their weights, in the order of the file."""
    attributes = tree.attributes.get(root, {})
    count = attributes.get("nb_layers")
    if isinstance(count, int):  # Keras 0
        names = [f"layer_{number}" for number in range(min(count, len(tree.attributes)))]
    else:
        names = texts(attributes, "layer_names")
    return {name: list(_weights(tree, _joined(root, name))) for name in names}


def _weights(tree: Hdf5Tree, group: str) -> Iterator[tuple[str, StoredArray]]:
    attributes = tree.attributes.get(group, {})
    count = attributes.get("nb_params")
    names = texts(attributes, "weight_names")
    if isinstance(count, int):
        names = [f"param_{number}" for number in range(min(count, len(tree.arrays)))]
    for name in names:
        path = f"{group}/{name}".replace("//", "/")
        if path not in tree.arrays:
            raise FormatError(f"expected an array {path!r}, which weight_names has, got none.")
        yield name, tree.arrays[path]


def texts(attributes: Mapping[str, object], name: str) -> list[str]:
    """Return texts of an attribute, which Keras cuts into ``name0``, ``name1``, ... where they are many."""
    value = attributes.get(name)
    if isinstance(value, list):
        return [text for text in value if isinstance(text, str)]
    found: list[str] = []
    number = 0
    while isinstance(piece := attributes.get(f"{name}{number}"), list):
        found += [text for text in piece if isinstance(text, str)]
        number += 1
    return found


def _has_weights(entry: Entry | Part) -> bool:
    inner = entry if isinstance(entry, Part) else entry.inner
    if inner is not None:
        return any(_has_weights(one) for one in inner.entries)
    known = expected(entry.class_name, entry.config)  # type: ignore[union-attr]
    return bool(known and known.names)


def _allot(entry: Entry, arrays: Named, raw: dict[Entry, Named]) -> None:
    """Give a layer its weights; of a model, which says those of all its layers at once, to each its own."""
    if entry.inner is None:
        raw[entry] = arrays
        return
    for gates in (False, True):
        trained, others = _slots(entry, gates)
        owners = trained + others
        if len(owners) == len(arrays):
            break
    else:
        raise FormatError(f"model {entry.name!r} must have {len(owners)} weights for its layers, got {len(arrays)}.")
    taken: dict[Entry, list[tuple[str, StoredArray]]] = {}
    for owner, array in zip(owners, arrays, strict=True):
        taken.setdefault(owner, []).append(array)
    raw.update(taken)


def _slots(entry: Entry, gates: bool) -> tuple[list[Entry], list[Entry]]:
    """Return the layer of every trained weight, and of the others, in the order of the file.

    Parameters
    ----------
    gates : bool
        Whether every gate has weights of its own, as in Keras 1.
    """
    trained: list[Entry] = []
    others: list[Entry] = []
    if entry.inner is not None:
        for inner in entry.inner.entries:
            more_trained, more_others = _slots(inner, gates)
            trained += more_trained
            others += more_others
    elif entry.class_name != INPUT:
        known = expected(entry.class_name, entry.config) or Expected((), ())
        count = len(known.trained) * (_gates(entry) if gates else 1)
        trained, others = [entry] * count, [entry] * len(known.others)
    return (trained, others) if entry.trainable else ([], trained + others)


def _gates(entry: Entry) -> int:
    return GATES.get(wrapped(entry.config.get("layer"))[0] or entry.class_name, 1)
