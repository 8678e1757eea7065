"""Kernels made of formulas: one launch for everything that every element does for itself."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from backends.base import Backend
from backends.formula import Formula, NotElementwise

from . import BLOCK, REALS, options, source

Array = Any
Current = Callable[[Backend], Any]

OPTIONS = ("--fmad=false",)  # as NumPy rounds: memory bounds these kernels, not arithmetic
NAMES = re.compile(r"\b[nvx]\d+\b")
DEFINITION = re.compile(r"const (real|bool) (v\d+) = (.*);")
NARROW = 1 << 31
"""Elements from which on an index takes 64 bits."""
MOST_KERNELS = 64
"""Of one formula, for arguments that lie in memory in different ways."""


class _Plan(NamedTuple):
    """How the arguments of a call lie in memory: what a kernel is made for, and what it is told."""

    key: tuple[object, ...]
    sizes: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]
    total: int


class Elementwise:
    """The kernels of one formula.

    Parameters
    ----------
    formula : callable
        Of arrays, numbers, and arrays ``[]`` that hold a number.
    scratch : tuple of int
        Places of arguments whose contents matter neither before nor after.
    """

    def __init__(self, cupy: Any, formula: Callable[..., object], scratch: tuple[int, ...]) -> None:
        self._cupy, self._formula, self._scratch = cupy, formula, scratch
        self._kernels: dict[tuple[object, ...], Any] = {}

    def run(self, arguments: Sequence[Any], current: Current) -> bool:
        """Compute; False, and nothing has been done, where the formula or the arguments are no matter for a kernel."""
        plan = _plan(arguments, self._scratch)
        if plan is None:
            return False
        kernel = self._kernels.get(plan.key)
        if kernel is None and plan.key not in self._kernels:
            kernel = self._kernels[plan.key] = self._compile(arguments, plan, current)
        if kernel is None:
            return False
        if plan.total:
            given = (each for place, each in enumerate(arguments) if place not in self._scratch)
            values = [float(each) if _is_number(each) else each for each in given]
            kernel((-(-plan.total // BLOCK),), (BLOCK,), (*values, _layout(plan)))
        return True

    def _compile(self, arguments: Sequence[Any], plan: _Plan, current: Current) -> Any:
        if len(self._kernels) >= MOST_KERNELS:
            return None
        try:
            text, real = kernel_text(self._formula, arguments, self._scratch, len(plan.sizes), plan.total, current)
        except NotElementwise:
            return None
        return self._cupy.RawModule(code=text, options=(*options(REALS[real]), *OPTIONS)).get_function("elementwise")


def _is_vector(argument: Any) -> bool:
    return getattr(argument, "ndim", 0) > 0


def _is_number(argument: Any) -> bool:
    return isinstance(argument, (int, float))


def _plan(arguments: Sequence[Any], scratch: tuple[int, ...]) -> _Plan | None:
    arrays = [each for place, each in enumerate(arguments) if place not in scratch and _is_vector(each)]
    if not arrays or arrays[0].dtype.char not in REALS or any(each.dtype != arrays[0].dtype for each in arrays):
        return None
    shape = np.broadcast_shapes(*(each.shape for each in arrays))
    aliases = tuple(next(i for i, other in enumerate(arrays) if _same(each, other)) for each in arrays)
    sizes, strides, total = _collapsed(shape, arrays)
    kinds = tuple("v" if _is_vector(each) else "n" if _is_number(each) else "c" for each in arguments)
    full = tuple(each.shape == shape for each in arrays)
    return _Plan((arrays[0].dtype.char, kinds, aliases, full, len(sizes), total >= NARROW), sizes, strides, total)


def _same(x: Array, y: Array) -> bool:
    return x is y or (x.data.ptr == y.data.ptr and x.shape == y.shape and x.strides == y.strides)


def _collapsed(
    shape: Sequence[int], arrays: Sequence[Array]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...], int]:
    """Return sizes and strides, in elements, of as few axes as say the same, the innermost in memory last."""
    strides = [_broadcast_strides(each, len(shape)) for each in arrays]
    axes = [axis for axis in range(len(shape)) if shape[axis] != 1]
    axes.sort(key=lambda axis: [-abs(each[axis]) for each in strides])
    sizes: list[int] = []
    steps: list[list[int]] = [[] for _ in arrays]
    for axis in axes:
        here = [each[axis] for each in strides]
        if sizes and all(step[-1] == own * shape[axis] for step, own in zip(steps, here, strict=True)):
            sizes[-1] *= shape[axis]
            for step, own in zip(steps, here, strict=True):
                step[-1] = own
            continue
        sizes.append(shape[axis])
        for step, own in zip(steps, here, strict=True):
            step.append(own)
    total = 1
    for size in shape:
        total *= size
    return tuple(sizes), tuple(map(tuple, steps)), total


def _broadcast_strides(x: Array, ndim: int) -> list[int]:
    own = [0 if size == 1 else stride // x.itemsize for size, stride in zip(x.shape, x.strides, strict=True)]
    return [0] * (ndim - x.ndim) + own


def _layout(plan: _Plan) -> Any:
    numbers = [plan.total, *plan.sizes, *(stride for each in plan.strides for stride in each)]
    packed = struct.pack(f"={len(numbers)}q", *numbers)
    return np.frombuffer(packed, np.dtype((np.void, len(packed))))


def kernel_text(
    formula: Callable[..., object],
    arguments: Sequence[Any],
    scratch: tuple[int, ...],
    axes: int,
    total: int,
    current: Current,
) -> tuple[str, str]:
    """Return the CUDA text of a formula's kernel for arguments like these, and the character of its dtype.

    Parameters
    ----------
    axes : int
        How many the arguments lie along.
    total : int
        Elements.

    Raises
    ------
    NotElementwise
        It is no formula of single elements, or writes what is smaller than the largest argument.
    """
    kept = [place for place in range(len(arguments)) if place not in scratch]
    vectors = [place for place in kept if _is_vector(arguments[place])]
    shape = np.broadcast_shapes(*(arguments[place].shape for place in vectors))
    written_down = Formula(arguments[vectors[0]].dtype.name)
    symbols = [
        written_down.symbol(f"{'x' if _is_vector(argument) else 'n'}{place}", getattr(argument, "ndim", 0))
        for place, argument in enumerate(arguments)
    ]
    for place in vectors:  # the same memory twice is one symbol
        owner = next(other for other in vectors if _same(arguments[other], arguments[place]))
        symbols[place] = symbols[owner]
    lines = written_down.trace(formula, symbols, current)
    written = {id(symbols[place]): place for place in reversed(vectors) if symbols[place].written}
    if not written or any(tuple(arguments[place].shape) != shape for place in written.values()):
        raise NotElementwise("formula: expected to write arrays of the full shape.")
    stored = [(place, symbols[place].code) for place in written.values()]
    needed, names = _needed(lines, [code for _, code in stored])
    touched = [place for place in vectors if place in written.values() or f"x{place}" in names]
    return _text(arguments, kept, needed, stored, names, touched, axes, total), arguments[vectors[0]].dtype.char


def _needed(lines: Sequence[str], results: Sequence[str]) -> tuple[list[str], set[str]]:
    """Return the statements that the results depend on, and every name in them: compilers warn of others."""
    names = {name for result in results for name in NAMES.findall(result)}
    needed = []
    for line in reversed(lines):
        _, defined, expression = DEFINITION.match(line).groups()  # type: ignore[union-attr]
        if defined in names:
            names.update(NAMES.findall(expression))
            needed.append(line)
    return needed[::-1], names


def _text(
    arguments: Sequence[Any],
    kept: Sequence[int],
    lines: Sequence[str],
    stores: Sequence[tuple[int, str]],
    names: set[str],
    touched: Sequence[int],
    axes: int,
    total: int,
) -> str:
    vectors = [place for place in kept if _is_vector(arguments[place])]
    written = {place for place, _ in stores}
    parameters, body = [], []
    for place in kept:
        if place in vectors:
            parameters.append(f"{'' if place in written else 'const '}real *a{place}")
        elif _is_number(arguments[place]):
            parameters.append(f"double s{place}")
            body += [f"const real n{place} = (real)s{place};"] * (f"n{place}" in names)
        else:
            parameters.append(f"const real *c{place}")
            body += [f"const real n{place} = *c{place};"] * (f"n{place}" in names)
    body += _offsets(touched, axes, total)
    body += [f"const real x{place} = a{place}[o{place}];" for place in touched if f"x{place}" in names]
    body += [*lines, *(f"a{place}[o{place}] = {code};" for place, code in stores)]
    fields = "".join([f", size[{axes}]" * bool(axes), *(f", stride{place}[{axes}]" * bool(axes) for place in vectors)])
    return "\n".join([
        source(("real.cu",)),
        '#line 1 "elementwise"',
        f"struct Layout {{ long long total{fields}; }};",
        f'extern "C" __global__ void elementwise({", ".join(parameters)}, const Layout layout)',
        "{",
        "    const long long i = thread_number();",
        "    if (i >= layout.total)",
        "        return;",
        *(f"    {line}" for line in body),
        "}",
        "",
    ])  # fmt: skip


def _offsets(vectors: Sequence[int], axes: int, total: int) -> list[str]:
    """Return the statements that find where element i of every array lies."""
    index = "unsigned long long" if total >= NARROW else "unsigned int"
    lines = [f"{index} rest = ({index})i;"] if axes > 1 else []
    for axis in range(axes - 1, 0, -1):
        lines += [
            f"const long long p{axis} = rest % ({index})layout.size[{axis}];",
            f"rest /= ({index})layout.size[{axis}];",
        ]
    lines += [f"const long long p0 = {'rest' if axes > 1 else 'i'};"] if axes else []
    for place in vectors:
        terms = [f"p{axis} * layout.stride{place}[{axis}]" for axis in range(axes)]
        lines.append(f"const long long o{place} = {' + '.join(terms) or '0'};")
    return lines
