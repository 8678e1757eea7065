"""Weights in files of Keras: numbered by class as Keras 3 stores them, or by the layers' names as `.h5` always did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nd import FormatError
from nd.arguments import shown

from ...files.hdf5_tree import Hdf5Tree, StoredArray
from .names import expected, snake_case
from .structure import INPUT, Entry, Part

Raw = Mapping[Entry, Sequence[tuple[str, StoredArray]]]
"""Layer -> its weights as they are in the file, each with the last part of its name."""
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
    for wrapped in _WRAPPED:
        if wrapped in children.get(group, ()):
            yield from _arrays(tree, f"{group}/{wrapped}", children)
    cells = f"{group}/cells"
    for cell in sorted(children.get(cells, ()), key=lambda name: (len(name), name)):
        yield from _arrays(tree, f"{cells}/{cell}", children)


# ---- by names


def named(part: Part, tree: Hdf5Tree, root: str) -> Raw:
    """Return the weights of a file whose groups have the layers' names, and say the weights' names.

    Raises
    ------
    FormatError
        A weight that is named is not there, or a model in the model has others than its layers must have.
    """
    groups = _groups(tree, root)
    if not groups:
        raise FormatError(f"expected layer_names of Keras' weights, got {shown(sorted(tree.attributes[root]))}.")
    raw: dict[Entry, Sequence[tuple[str, StoredArray]]] = {}
    missing: list[Entry] = []
    _by_name(part, groups, raw, missing)
    left = [name for name, arrays in groups.items() if arrays and name not in _names(part)]
    wanted = [entry for entry in missing if _has_weights(entry)]
    if wanted and len(left) == len(wanted):  # other names, the same layers: Keras, too, goes by their order
        for entry, name in zip(wanted, left, strict=True):
            _allot(entry, groups[name], raw)
    return raw


def _by_name(
    part: Part,
    groups: Mapping[str, Sequence[tuple[str, StoredArray]]],
    raw: dict[Entry, Sequence[tuple[str, StoredArray]]],
    missing: list[Entry],
) -> None:
    for entry in part.entries:
        if entry.name in groups:
            _allot(entry, groups[entry.name], raw)
        elif entry.inner is not None and any(name in groups for name in _names(entry.inner)):
            _by_name(entry.inner, groups, raw, missing)  # Keras 1 stored the layers of chains in chains as its own
        else:
            missing.append(entry)


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


def _has_weights(entry: Entry) -> bool:
    if entry.inner is not None:
        return any(_has_weights(inner) for inner in entry.inner.entries)
    known = expected(entry.class_name, entry.config)
    return bool(known and known.names)


def _allot(
    entry: Entry, arrays: Sequence[tuple[str, StoredArray]], raw: dict[Entry, Sequence[tuple[str, StoredArray]]]
) -> None:
    """Give a layer its weights; of a model, which says those of all its layers at once, to each its own."""
    if entry.inner is None:
        raw[entry] = arrays
        return
    trained, others = _slots(entry)
    slots = trained + others
    if len(slots) != len(arrays):
        raise FormatError(f"model {entry.name!r} must have {len(slots)} weights for its layers, got {len(arrays)}.")
    taken: dict[Entry, list[tuple[str, StoredArray]]] = {}
    for (inner, _), array in zip(slots, arrays, strict=True):
        taken.setdefault(inner, []).append(array)
    raw.update(taken)


def _slots(entry: Entry) -> tuple[list[tuple[Entry, str]], list[tuple[Entry, str]]]:
    """Return the trained weights and the others of a layer or of a model's layers, in the order of the file."""
    trained: list[tuple[Entry, str]] = []
    others: list[tuple[Entry, str]] = []
    if entry.inner is not None:
        for inner in entry.inner.entries:
            more_trained, more_others = _slots(inner)
            trained += more_trained
            others += more_others
    elif entry.class_name != INPUT:
        known = expected(entry.class_name, entry.config)
        if known is not None:
            trained = [(entry, name) for name in known.trained]
            others = [(entry, name) for name in known.others]
    return (trained, others) if entry.trainable else ([], trained + others)
