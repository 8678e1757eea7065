"""What the methods of networks take, as minibatches: arrays, tables, pairs of them, data sets, and iterables of those.

Numbers of other libraries become arrays in `nd.intake`; here it is decided what is features, labels, or a minibatch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any

import nd
from nd.arguments import shown
from nd.dataset import DataSet, MultiDataSet
from nd.dataset.checks import numbers_of
from nd.dataset.examples import Examples
from nd.dataset.iterator import MinibatchIterator, is_pair, iterator_over
from nd.dataset.pre_processor import looked_at
from nd.intake import is_holder
from nd.typing import Array

if TYPE_CHECKING:
    from .core import NetworkCore

# ---- features alone


def inputs_of(
    network: NetworkCore, who: str, given: Sequence[object], count: int | None = None
) -> tuple[Sequence[object], Sequence[object]]:
    """Return the features of every input, and their masks, none of none.

    Parameters
    ----------
    network : NetworkCore
    who : str
        For messages.
    given : sequence
        An array for every input; or one list of them, where the network takes several; or one minibatch.
    count : int, optional
        Of inputs, where they are not the network's.

    Raises
    ------
    DTypeError, ShapeError
        They are no numbers.
    """
    if given and all(map(nd.is_array, given)):  # the usual case
        return given, ()
    if len(given) == 1 and isinstance(given[0], Examples):
        parts = given[0].multi
        masked = any(mask is not None for mask in parts.features_masks)
        return parts.features, parts.features_masks if masked else ()
    count = len(network.conf.input_names) if count is None else count
    arrays = listed(network, given[0], count) if len(given) == 1 else given
    return [_features(who, x) for x in arrays], ()


def unmasked_inputs_of(
    network: NetworkCore, who: str, given: Sequence[object], count: int | None = None
) -> Sequence[object]:
    """Return the same for methods in which masks have no part; raise DataError where a minibatch has one."""
    features, masks = inputs_of(network, who, given, count)
    if masks:
        raise nd.DataError(f"{who}: features must come without a mask, got a data set with one. Give its features.")
    return features


def feature_batches(x: object) -> Iterator[object] | None:
    """Yield the features of every minibatch of an iterator or iterable, or the minibatch; None where x is features."""
    if isinstance(x, MinibatchIterator):
        return looked_at(x)
    if isinstance(x, (Examples, str, bytes)) or is_holder(x) or not isinstance(x, Iterable):
        return None
    if isinstance(x, (list, tuple)) and not (x and (isinstance(x[0], Examples) or _is_minibatch(x[0]))):
        return None
    return map(features_in, x)


def features_in(item: object) -> object:
    """Return the features of what an iterable has handed out: the first of features and labels, or what it is."""
    return item[0] if isinstance(item, (list, tuple)) and item else item


def _is_minibatch(item: object) -> bool:
    """Tell whether an element of a list is features with labels; a list of two arrays of one shape is features."""
    if not isinstance(item, (list, tuple)) or len(item) < 2 or not is_holder(item[1]):
        return False
    first = item[0]
    if isinstance(first, (list, tuple)):  # of several inputs
        return isinstance(item, tuple) and bool(first) and is_holder(first[0])
    if isinstance(item, tuple):
        return all(map(is_holder, item))
    shapes = [tuple(getattr(array, "shape", ())) for array in item]
    return len(item) == 2 and len(shapes[0]) > 1 and shapes[0] != shapes[1] and shapes[0][:1] == shapes[1][:1]


def listed(network: NetworkCore, given: Any, count: int, examples: int = 1) -> list[Any]:
    """Return the arrays of so many inputs or outputs: of several the items of a list, of one what is given.

    A network that takes several takes one in a list too, as Java's arrays of arrays: ``[y]`` with a row for each of so
    many examples.
    """
    if not isinstance(given, (list, tuple)):
        return [given]
    if count > 1:
        return list(given)
    inner = given[0] if len(given) == 1 and MultiDataSet in network._data_types else None
    shape: Sequence[int] = getattr(inner, "shape", ()) if is_holder(inner) else ()
    rows = shape[0] if shape else len(inner) if isinstance(inner, (list, tuple)) else 1
    return list(given) if len(shape) > 1 or rows == examples > 1 else [given]


def _features(who: str, x: object) -> object:
    if nd.is_array(x):
        return x
    try:
        return numbers_of(who, x)
    except nd.DTypeError as error:
        if is_holder(x) or "masked" in str(error):
            raise
        raise nd.DTypeError(
            f"{who}: x must be features [N, ...], numbers, got {shown(x)}. Give an array, a table or a DataSet."
        ) from error


# ---- features with labels


def paired(
    network: NetworkCore, who: str, features: object, labels: object, learn: bool = False
) -> DataSet | MultiDataSet:
    """Return features and labels as a minibatch: a MultiDataSet of lists where there are several of one of them.

    Texts become class numbers in the network's order; `learn` as in `ClassLabels.numbers`.
    """
    classes_of, inputs = network.classes_of, len(network.conf.input_names)
    xs = listed(network, features, inputs)
    shape = getattr(xs[0], "shape", ())
    shape = shape if isinstance(shape, tuple) else ()
    ys = listed(network, labels, len(classes_of), shape[0] if shape else len(xs[0]) if isinstance(xs[0], list) else 1)
    if len(xs) != inputs or len(ys) != len(classes_of):
        raise nd.DataError(
            f"{who}: expected a list of {inputs} features and a list of {len(classes_of)} labels, got "
            f"{shown(features)} and {shown(labels)}. Or give a MultiDataSet(features, labels)."
        )
    arrays = [_settled(network, f"{who}: features", x) for x in xs]
    known = {id(x): array for x, array in zip(xs, arrays, strict=True)}  # labels that are features stay so
    for number, (classes, y) in enumerate(zip(classes_of, ys, strict=True)):
        if id(y) not in known:
            ys[number] = _settled(network, f"{who}: labels", classes.numbers(who, y, learn))
        else:
            ys[number] = known[id(y)]
    return DataSet(arrays[0], ys[0]) if inputs == len(classes_of) == 1 else MultiDataSet(arrays, ys)


def masked(
    network: NetworkCore,
    who: str,
    features: object,
    labels: object,
    features_mask: object,
    labels_masks: Sequence[object],
) -> DataSet | MultiDataSet:
    """Return features, labels and their masks, each an array or a list of them, as a minibatch: Java's four arrays.

    Raises
    ------
    CallError
        What stands behind the labels are no two masks.
    DataError, DTypeError
        There are no labels, or something is no array.
    """
    labels_mask = labels_masks[0]
    if len(labels_masks) > 1 or isinstance(features_mask, Number) or isinstance(labels_mask, Number):
        from nd.calls import besides  # which programs without mistakes do not need

        raise besides(who, ("data", "labels", "epochs"), labels_masks, "batch_size")
    if labels is None:
        raise nd.DataError(f"{who}: labels must stand between the features and the masks, got None.")
    batch = paired(network, who, features, labels, network.iteration_count == 0).as_multi()
    masks = [None if mask is None else listed(network, mask, count, 2)
             for mask, count in ((features_mask, len(batch.features)), (labels_mask, len(batch.labels)))]  # fmt: skip
    whole = MultiDataSet(batch.features, batch.labels, *masks)
    return whole if len(batch.features) > 1 or len(batch.labels) > 1 else whole.to_data_set()


def _settled(network: NetworkCore, who: str, x: object) -> Array:
    """Return an array as it is, and lists and tables as one of the network's dtype: once, not in every step."""
    if nd.is_array(x):
        return x
    array = numbers_of(who, x)
    return array.astype(network.dtype) if isinstance(x, (list, tuple)) or hasattr(x, "to_numpy") else array


def labels_of(network: NetworkCore, who: str, given: Sequence[Any]) -> Sequence[Array]:
    """Return labels of every output, an array for each or one list of them, as the losses take them."""
    classes_of = network.classes_of
    ys = listed(network, given[0], len(classes_of)) if len(given) == 1 else list(given)
    if len(ys) != len(classes_of):
        return ys  # which the minibatch refuses
    numbers = [_settled(network, who, classes.numbers(who, y)) for classes, y in zip(classes_of, ys, strict=True)]
    return [classes.formed(y) for classes, y in zip(classes_of, numbers, strict=True)]


def minibatch(network: NetworkCore, who: str, data: Any, labels: object = None, learn: bool = False) -> Any:
    """Return one minibatch with labels as the losses take them, of features and labels, both in a tuple, or a data set.

    Raises
    ------
    DTypeError
        It is none of that, or a data set that this kind of network does not take.
    DataError
        There are no labels.
    """
    if labels is None and is_pair(data):
        data, labels = data
    if labels is not None:
        return network.engine.formed(paired(network, who, data, labels, learn), who)
    if not isinstance(data, network._data_types):
        raise nd.DTypeError(
            f"{who}: data must be a {kinds_of(network)} or (features, labels), got {shown(data)}. Wrap arrays as "
            "DataSet(x, y)."
        )
    given: Any = data
    if not given.multi.labels:
        raise nd.DataError(f"{who}: a data set needs labels, got none. Give DataSet(x, y).")
    return network.engine.formed(data, who, learn)


def kinds_of(network: NetworkCore) -> str:
    """Return the names of the data sets that a network takes, for messages."""
    return " or a ".join(kind.__name__ for kind in network._data_types)


# ---- several minibatches


def minibatches(network: NetworkCore, who: str, data: Any, labels: object = None) -> Iterator[Any]:
    """Yield minibatches with labels as the losses take them: one of `minibatch`, or those of an iterable.

    Raises
    ------
    DTypeError, DataError
        As `minibatch`; or there are features without labels.
    """
    if labels is not None or is_pair(data) or isinstance(data, Examples):
        yield minibatch(network, who, data, labels)
        return
    check_iterable(network, who, data)
    for item in looked_at(data):
        yield minibatch(network, who, item_of(network, who, item))


def item_of(network: NetworkCore, who: str, item: Any, learn: bool = False) -> Any:
    """Return an element of an iterable as a minibatch: a data set, or two arrays, features and labels."""
    if is_pair(item, holders=(list, tuple), unless=Number):
        return paired(network, who, item[0], item[1], learn)
    if not isinstance(item, network._data_types):
        raise nd.DTypeError(f"{who}: expected a {kinds_of(network)}, got {shown(item)}. Wrap arrays as DataSet(x, y).")
    return item


def check_iterable(network: NetworkCore, who: str, data: object) -> None:
    """Raise errors unless data may be an iterable of minibatches."""
    first = data[0] if isinstance(data, (list, tuple)) and data else None
    nested = isinstance(first, list) and not (first and is_holder(first[0]))
    if isinstance(data, Examples):
        network._check_minibatch(who, data)
    if is_holder(data) or is_holder(first) or isinstance(first, Number) or nested:
        raise nd.DataError(f"{who}: features need labels, got features alone. Give both, (features, labels).")
    if not isinstance(data, Iterable) or isinstance(data, (str, bytes)):
        raise nd.DTypeError(
            f"{who}: expected features with labels, a DataSet or an iterator of them, got {shown(data)}. Wrap arrays "
            "as DataSet(x, y)."
        )


def iterator_of(network: NetworkCore, who: str, data: Any, learn: bool = False) -> MinibatchIterator[Any]:
    """Return an iterator over the minibatches of an iterable, itself or of the kind that the network needs."""
    if isinstance(data, MinibatchIterator):
        return data
    check_iterable(network, who, data)
    several = len(network.conf.input_names) > 1 or len(network.classes_of) > 1

    def convert(item: Any) -> object:
        return item_of(network, who, item, learn) if isinstance(item, (list, tuple)) else item

    return iterator_over(data, several and MultiDataSet in network._data_types, convert)
