"""The CUDA text of a formula's kernel."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from backends.base import Backend
from backends.cuda.formula import Formula, NotElementwise, Symbol

from . import source
from .arguments import NARROW, Plan, is_number, is_vector, same_memory

Current = Callable[[Backend], AbstractContextManager[object]]

NAMES = re.compile(r"\b[nvx]\d+\b")


class KernelText:
    """A formula, traced on arguments like these.

    Parameters
    ----------
    formula : callable
    arguments : sequence
        Arrays, numbers, and arrays ``[]`` that hold a number.
    scratch : sequence of int
        Places of arguments that are no parameters of the kernel.
    plan : Plan
        Of the arguments.
    current : callable
        Makes a backend the facade's current one for a ``with`` block.

    Attributes
    ----------
    result : object
        The value that the formula returned.
    knows_shape : bool
        Whether the formula asked for a shape, so that the kernel serves no other.

    Raises
    ------
    NotElementwise
        It is no formula of single elements.
    """

    def __init__(
        self,
        formula: Callable[..., object],
        arguments: Sequence[Any],
        scratch: Sequence[int],
        plan: Plan,
        current: Current,
    ) -> None:
        self._arguments, self._plan = arguments, plan
        self._kept = [place for place in range(len(arguments)) if place not in scratch]
        self._vectors = [place for place in self._kept if is_vector(arguments[place])]
        written_down = Formula(arguments[self._vectors[0]].dtype.name)
        symbols = []
        for place, argument in enumerate(arguments):
            vector = is_vector(argument)
            shape = tuple(argument.shape) if vector else ()
            symbols.append(written_down.symbol(f"{'x' if vector else 'n'}{place}", shape))
        for place in self._vectors:  # the same memory twice is one symbol
            owner = next(first for first in self._vectors if same_memory(arguments[first], arguments[place]))
            symbols[place] = symbols[owner]
        self.result, self._lines = written_down.trace(formula, symbols, current)
        self.knows_shape = written_down.knows_shape
        written = {id(symbols[place]): place for place in reversed(self._kept) if symbols[place].written}
        if any(is_number(arguments[place]) for place in written.values()):
            raise NotElementwise("formula: expected to write arrays, not numbers.")
        self._stores = {place: symbols[place].code for place in written.values()}

    def elementwise(self) -> str:
        """Return the text of a kernel that writes the formula's results.

        Raises
        ------
        NotElementwise
            It writes nothing, or an array smaller than the largest argument.
        """
        if not self._stores:
            raise NotElementwise("formula: expected to write something.")
        stores = self._store()
        body = ["const long long i = thread_number();", "if (i >= layout.total)", "    return;"]
        return self._text(("real.cu",), [*body, *self._element(list(self._stores.values())), *stores], ())

    def _store(self) -> list[str]:
        """Return the statements that write; a number is written once."""
        if any(self._arguments[place].shape != self._plan.shape for place in self._stores if place in self._vectors):
            raise NotElementwise("formula: expected to write arrays of the full shape.")
        return [
            f"a{place}[o{place}] = {code};" if place in self._vectors else f"if (i == 0) *c{place} = {code};"
            for place, code in self._stores.items()
        ]

    @property
    def sums(self) -> list[Symbol]:
        """The sums that the formula returns."""
        sums = list(self.result) if isinstance(self.result, tuple) else [self.result]
        if not sums or not all(isinstance(total, Symbol) and total.summed for total in sums):
            raise NotElementwise("formula: expected to return sums.")
        return sums

    def summed(self) -> str:
        """Return the text of a kernel that sums what the formula returns, and writes the arrays that it writes.

        Raises
        ------
        NotElementwise
            It returns no sums over all elements, or writes an array smaller than the largest argument.
        """
        codes = [total.code for total in self.sums]
        body = [
            f"real sums[{len(codes)}] = {{}};",
            "for (long long i = thread_number(); i < layout.total; i += (long long)gridDim.x * SUMMERS) {",
            *(f"    {line}" for line in self._element([*self._stores.values(), *codes])),
            *(f"    {line}" for line in self._store()),
            *(f"    sums[{place}] += {code};" for place, code in enumerate(codes)),
            "}",
            "grid_sums(sums, partial, arrived, result);",
        ]
        return self._text(("real.cu", "reductions.cu"), body, ("real *partial", "int *arrived", "real *result"))

    def _element(self, results: Sequence[str]) -> list[str]:
        """Return the statements that compute the results for element i; compilers warn of others."""
        names = {name for result in results for name in NAMES.findall(result)}
        needed = []
        for number, line in reversed(list(enumerate(self._lines))):
            if f"v{number}" in names:
                names.update(NAMES.findall(line))
                needed.append(line)
        loads = []
        for place in self._kept:
            if place in self._vectors:
                loads += [f"const real x{place} = a{place}[o{place}];"] * (f"x{place}" in names)
            elif f"n{place}" in names:
                number = is_number(self._arguments[place])
                loads.append(f"const real n{place} = {f'(real)s{place}' if number else f'*c{place}'};")
        touched = [place for place in self._vectors if place in self._stores or f"x{place}" in names]
        return [*self._offsets(touched), *loads, *reversed(needed)]

    def _offsets(self, places: Sequence[int]) -> list[str]:
        """Return the statements that find where element i of vectors lies."""
        axes, index = len(self._plan.sizes), "unsigned long long" if self._plan.total >= NARROW else "unsigned int"
        lines = [f"{index} rest = ({index})i;"] if axes > 1 else []
        for axis in range(axes - 1, 0, -1):
            lines += [
                f"const long long p{axis} = rest % ({index})layout.size[{axis}];",
                f"rest /= ({index})layout.size[{axis}];",
            ]
        lines += [f"const long long p0 = {'rest' if axes > 1 else 'i'};"] if axes and places else []
        for place in places:
            terms = [f"p{axis} * layout.stride{place}[{axis}]" for axis in range(axes)]
            lines.append(f"const long long o{place} = {' + '.join(terms) or '0'};")
        return lines

    def _parameter(self, place: int) -> str:
        if place in self._vectors:
            return f"{'' if place in self._stores else 'const '}real *a{place}"
        if is_number(self._arguments[place]):
            return f"double s{place}"
        return f"{'' if place in self._stores else 'const '}real *c{place}"

    def _text(self, files: Sequence[str], body: Sequence[str], more: Sequence[str]) -> str:
        axes = len(self._plan.sizes)
        fields = ["size", *(f"stride{place}" for place in self._vectors)] if axes else []
        parameters = ", ".join([*map(self._parameter, self._kept), *more, "const Layout layout"])
        bounds = "__launch_bounds__(256) " if more else ""
        return "\n".join([
            source(files),
            '#line 1 "formula"',
            f"struct Layout {{ long long total{''.join(f', {field}[{axes}]' for field in fields)}; }};",
            f'extern "C" __global__ void {bounds}formula({parameters})',
            "{",
            *(f"    {line}" for line in body),
            "}",
            "",
        ])  # fmt: skip
