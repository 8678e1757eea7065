"""More rows than a net takes at once: minibatch by minibatch, the last one filled up with zeros."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import nd
from nd.checks import check_choice, describe_shape
from nd.typing import Array

if TYPE_CHECKING:
    from .running import RunningNet

Arrays = dict[str, Array]


def forward_all(net: RunningNet, blobs: Sequence[str], arrays: Mapping[str, Any]) -> Arrays:
    """Run rows of all inputs forward; see `Net.forward_all`."""
    names = [check_choice("forward_all", "blob", name, net.blobs) for name in dict.fromkeys([*net.outputs, *blobs])]
    parts: dict[str, list[Array]] = {name: [] for name in names}
    for batch, rows in _minibatches("forward_all", net, arrays, net.inputs):
        with net.network.lock:  # results are the net's memory until they are copied
            net.forward(list(blobs), **batch)
            _collect("forward_all", net, parts, "data", rows)
    return _joined(parts)


def forward_backward_all(
    net: RunningNet, blobs: Sequence[str], diffs: Sequence[str], arrays: Mapping[str, Any]
) -> tuple[Arrays, Arrays]:
    """Run rows of all inputs forward, and of diffs of outputs back; see `Net.forward_backward_all`."""
    who = "forward_backward_all"
    data: dict[str, list[Array]] = {name: [] for name in dict.fromkeys([*net.outputs, *blobs])}
    gradients: dict[str, list[Array]] = {name: [] for name in dict.fromkeys([*net.inputs, *diffs])}
    given = {name: values for name, values in arrays.items() if name in net.inputs}
    epsilons = {name: values for name, values in arrays.items() if name not in net.inputs}
    wanted = [*net.inputs, *(net.outputs if epsilons else ())]
    for batch, rows in _minibatches(who, net, {**given, **epsilons}, wanted):
        with net.network.lock:
            net.forward(list(blobs), **{name: batch[name] for name in net.inputs})
            net.backward(list(diffs), **{name: batch[name] for name in epsilons})
            _collect(who, net, data, "data", rows)
            _collect(who, net, gradients, "diff", rows)
    return _joined(data), _joined(gradients)


def _minibatches(
    who: str, net: RunningNet, arrays: Mapping[str, Any], names: Sequence[str]
) -> Iterator[tuple[dict[str, Array], int]]:
    """Yield arrays of as many rows as the blobs have, and how many of them are there."""
    if not names or set(arrays) != set(names):
        raise nd.ConfigurationError(
            f"{who}: arrays must be given for {', '.join(names) or 'the inputs of a net that has some'}, got "
            f"{', '.join(arrays) or 'none'}."
        )
    given = {name: nd.as_array(values, net.dtype) for name, values in arrays.items()}
    counts = {name: array.shape[0] if array.ndim else 0 for name, array in given.items()}
    sizes = {name: (*net.blobs[name].shape, 0)[0] for name in names}
    if len(set(counts.values())) > 1 or len(set(sizes.values())) > 1 or 0 in (*counts.values(), *sizes.values()):
        raise nd.ShapeError(
            f"{who}: arrays must have equally many rows, and their blobs too, got {counts} for blobs of {sizes}."
        )
    total, size = counts[names[0]], sizes[names[0]]
    for start in range(0, total, size):
        stop = min(start + size, total)
        yield {name: _filled_up(array[start:stop, ...], size) for name, array in given.items()}, stop - start


def _filled_up(rows: Array, size: int) -> Array:
    """Return rows with zeros behind them."""
    missing = size - rows.shape[0]
    if not missing:
        return rows
    return nd.concat([rows, nd.zeros(missing, *rows.shape[1:], dtype=nd.dtype_name(rows))], 0)


def _collect(who: str, net: RunningNet, parts: dict[str, list[Array]], which: str, rows: int) -> None:
    """Copy the rows of blobs that belong to rows that were given."""
    for name, collected in parts.items():
        blob, size = net.blobs[name], net.blobs[net.inputs[0]].shape[0]
        if blob.shape[:1] != (size,):
            raise nd.ShapeError(
                f"{who}: blob {name!r} must have {size} rows as the inputs have, got {describe_shape(blob.shape)}. Ask "
                "a net without it, or call forward for each minibatch."
            )
        collected.append(nd.copy(getattr(blob, which)[:rows, ...]))


def _joined(parts: dict[str, list[Array]]) -> Arrays:
    return {name: nd.concat(arrays, 0) if len(arrays) > 1 else arrays[0] for name, arrays in parts.items()}
