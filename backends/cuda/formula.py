"""Formulas element by element, written down as C: the one Python text of a formula serves every backend.

A formula is a function of arrays that treats every element for itself and writes some of them in place, with the
facade's functions or operators. `Formula.trace` runs it once on symbols, which stand for single elements, on a backend
whose operations write C. What cannot be said of one element, a reduction or a random draw, raises `NotElementwise`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn

from ..base import DTYPES, Backend
from ..errors import BackendError

REALS = ("float32", "float64")


class NotElementwise(BackendError):
    """The formula does something that no element can do for itself."""


class Symbol:
    """One element of an array, as the variable that holds it at this point of the formula.

    Parameters
    ----------
    emitter : the backend that writes
    code : str
        C expression of its value now.
    dtype : str
        "float32", "float64", or "bool" for comparisons.
    shape : tuple of int, optional
        Of an argument; ``()`` for a number.
    summed : bool
        Whether this is the element's share of a sum over all elements.
    """

    def __init__(
        self, emitter: _Emitter, code: str, dtype: str, shape: tuple[int, ...] | None = None, summed: bool = False
    ) -> None:
        self.emitter, self.code, self.dtype, self._shape, self.summed = emitter, code, dtype, shape, summed
        self.written = False

    def be_number(self) -> None:
        """Stand for one number, which was computed from numbers alone."""
        self._shape = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Of an argument; a formula that asks for it is traced anew for every shape."""
        if self._shape is None:
            raise NotElementwise("formula: expected to need the shape of its arguments only.")
        self.emitter.knows_shape = True
        return self._shape

    @property
    def ndim(self) -> int:
        """Of an argument; 1 for a result of vectors."""
        return 1 if self._shape is None else len(self._shape)

    def set(self, other: object) -> Symbol:
        """Let this array's element be that of another array from now on."""
        self.code = self.emitter.real(other)
        self.written = True
        return self

    def __bool__(self) -> bool:
        raise NotElementwise("formula: expected no decision on a value, got one.")

    def __getattr__(self, name: str) -> NoReturn:
        raise NotElementwise(f"formula: expected operations on single elements, got .{name} of an array.")

    def __getitem__(self, key: Element) -> Any:
        raise NotElementwise("formula: expected operations on single elements, got a part of an array.")

    def __iter__(self) -> NoReturn:
        raise NotElementwise("formula: expected operations on single elements, got a loop over them.")

    def __neg__(self) -> Symbol:
        return self.emitter.write(f"-{self.emitter.real(self)}")

    def __add__(self, other: Number) -> Symbol:
        return self.emitter.add(self, other)

    def __sub__(self, other: Number) -> Symbol:
        return self.emitter.subtract(self, other)

    def __mul__(self, other: Number) -> Symbol:
        return self.emitter.multiply(self, other)

    def __truediv__(self, other: Number) -> Symbol:
        return self.emitter.divide(self, other)

    def __rsub__(self, other: Number) -> Symbol:
        return self.emitter.subtract(other, self)

    def __rtruediv__(self, other: Number) -> Symbol:
        return self.emitter.divide(other, self)

    def __pow__(self, other: Number) -> Symbol:
        return self.emitter.power(self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __gt__(self, other: Number) -> Symbol:
        return self.emitter.compare(self, ">", other)

    def __ge__(self, other: Number) -> Symbol:
        return self.emitter.compare(self, ">=", other)

    def __lt__(self, other: Number) -> Symbol:
        return self.emitter.compare(self, "<", other)

    def __le__(self, other: Number) -> Symbol:
        return self.emitter.compare(self, "<=", other)

    def __and__(self, other: Symbol) -> Symbol:
        return self.emitter.write(f"{self.code} && {other.code}", "bool")

    def __or__(self, other: Symbol) -> Symbol:
        return self.emitter.write(f"{self.code} || {other.code}", "bool")


Number = Symbol | float
# What overrides of Backend's methods take, as NumpyArray in backends/typing.py: mypy looks up what they use of symbols.
Element = Symbol | Any


class _Functions:
    """The functions that formulas take from the namespace of arrays."""

    def __init__(self, emitter: _Emitter) -> None:
        self.astype = lambda x, dtype, copy=True: emitter.astype(x, dtype)
        self.expm1 = lambda x: emitter.call("expm1", x)
        self.log1p = lambda x: emitter.call("log1p", x)

    def __getattr__(self, name: str) -> NoReturn:
        raise NotElementwise(f"formula: expected operations on single elements, got {name}.")


class _Emitter(Backend):
    """The backend on which a formula runs while it is written down.

    Parameters
    ----------
    dtype : {"float32", "float64"}
        The C text's ``real``.

    Attributes
    ----------
    lines : list of str
        C statements, every one of which defines one variable.
    """

    name = "formula"
    silent = True  # its numbers are names
    multiplies_bool = True
    knows_shape = False

    def __init__(self, dtype: str) -> None:
        self.real_dtype = dtype
        self.dtypes = {name: name for name in DTYPES}
        self.lines: list[str] = []
        self.xp = _Functions(self)
        self.device = None

    # ---- writing

    def write(self, code: str, dtype: str | None = None) -> Symbol:
        """Define a variable; return it."""
        name, kind = f"v{len(self.lines)}", dtype or self.real_dtype
        self.lines.append(f"const {'bool' if kind == 'bool' else 'real'} {name} = {code};")
        return Symbol(self, name, kind)

    def real(self, x: object) -> str:
        """Return the C expression of a number; comparisons are 0 and 1."""
        if isinstance(x, Symbol):
            if x.summed:
                raise NotElementwise("formula: expected sums to be multiplied by numbers and added to sums only.")
            return f"(real){x.code}" if x.dtype == "bool" else x.code
        if not isinstance(x, (int, float)):
            raise NotElementwise(f"formula: expected numbers and the arrays it was given, got {type(x).__name__}.")
        if math.isfinite(x):
            return f"(real)({float(x)!r})"
        return f"({'-' if x < 0 else ''}(real)__int_as_float({'0x7fffffff' if math.isnan(x) else '0x7f800000'}))"

    def stored(self, value: object, out: Element | None) -> Any:
        return value if out is None else out.set(value)

    def _binary(self, x: Number, operator: str, y: Number, out: Symbol | None) -> Symbol:
        if getattr(x, "summed", False) or getattr(y, "summed", False):
            return self._of_sums(x, operator, y)
        result = self.write(f"{self.real(x)} {operator} {self.real(y)}")
        if _is_number(x) and _is_number(y):
            result.be_number()
        return self.stored(result, out)

    def _of_sums(self, x: Number, operator: str, y: Any) -> Symbol:
        """Return an expression of sums, as the same of every element's shares in them."""
        summed = [getattr(operand, "summed", False) for operand in (x, y)]
        number = [_is_number(x), _is_number(y)]
        linear = {"+": all(summed), "-": all(summed), "*": any(number), "/": number[1]}[operator]
        if not linear:
            raise NotElementwise("formula: expected sums to be multiplied by numbers and added to sums only.")
        codes = [term.code if is_sum else self.real(term) for term, is_sum in zip((x, y), summed, strict=True)]
        result = self.write(f"{codes[0]} {operator} {codes[1]}")
        result.summed = True
        return result

    def call(self, function: str, *arguments: Number, out: Symbol | None = None) -> Symbol:
        return self.stored(self.write(f"{function}({', '.join(map(self.real, arguments))})"), out)

    def compare(self, x: Number, operator: str, y: Number, out: Symbol | None = None) -> Symbol:
        """Return a comparison, or store it as 0 or 1."""
        return self.stored(self.write(f"{self.real(x)} {operator} {self.real(y)}", "bool"), out)

    # ---- operations that formulas may ask for

    def is_array(self, x: object) -> bool:
        return isinstance(x, Symbol)

    def fits(self, x: object, like: object) -> bool:
        return isinstance(x, Symbol)  # a single element, of no shape

    def dtype_name(self, x: Element) -> str:
        return x.dtype

    def astype(self, x: Element, dtype: str) -> Any:
        if dtype != self.real_dtype:
            raise NotElementwise(f"formula: expected {self.real_dtype} throughout, got {dtype}.")
        return self.write(self.real(x)) if x.dtype == "bool" else x

    def assign(self, target: Element, source: object) -> Any:
        return target.set(source)

    def copy(self, x: Element) -> Any:
        return self.write(self.real(x))

    def fill(self, x: Element, value: float) -> Any:
        return x.set(value)

    def add(self, x: Element, y: Element, out: Element | None = None) -> Any:
        return self._binary(x, "+", y, out)

    def subtract(self, x: Element, y: Element, out: Element | None = None) -> Any:
        return self._binary(x, "-", y, out)

    def multiply(self, x: Element, y: Element, out: Element | None = None) -> Any:
        return self._binary(x, "*", y, out)

    def divide(self, x: Element, y: Element, out: Element | None = None) -> Any:
        return self._binary(x, "/", y, out)

    def maximum(self, x: Element, y: Element, out: Element | None = None) -> Any:
        return self.call("larger", x, y, out=out)

    def minimum(self, x: Element, y: Element, out: Element | None = None) -> Any:
        return self.call("smaller", x, y, out=out)

    def power(self, x: Element, y: Element, out: Element | None = None) -> Any:
        return self.square(x, out) if y == 2 else self.call("pow", x, y, out=out)

    def square(self, x: Element, out: Element | None = None) -> Any:
        return self._binary(x, "*", x, out)

    def exp(self, x: Element, out: Element | None = None) -> Any:
        return self.call("exp", x, out=out)

    def log(self, x: Element, out: Element | None = None) -> Any:
        return self.call("log", x, out=out)

    def sqrt(self, x: Element, out: Element | None = None) -> Any:
        return self.call("sqrt", x, out=out)

    def absolute(self, x: Element, out: Element | None = None) -> Any:
        return self.call("fabs", x, out=out)

    def sign(self, x: Element, out: Element | None = None) -> Any:
        return self.call("sign_of", x, out=out)

    def tanh(self, x: Element, out: Element | None = None) -> Any:
        return self.call("tanh", x, out=out)

    def cos(self, x: Element, out: Element | None = None) -> Any:
        return self.call("cos", x, out=out)

    def sin(self, x: Element, out: Element | None = None) -> Any:
        return self.call("sin", x, out=out)

    def greater(self, x: Element, y: Element, out: Element | None = None) -> Any:
        return self.compare(x, ">", y, out)

    def greater_equal(self, x: Element, y: Element, out: Element | None = None) -> Any:
        return self.compare(x, ">=", y, out)

    def equal(self, x: Element, y: Element, out: Element | None = None) -> Any:
        return self.compare(x, "==", y, out)

    def where(self, condition: Element, x: object, y: object) -> Any:
        return self.write(f"{condition.code} ? {self.real(x)} : {self.real(y)}")

    def item(self, x: Element) -> float:
        raise NotElementwise("formula: expected no decision on a value, got one.")

    def random_raw(self, root: int, node: int, n: int) -> NoReturn:
        raise NotElementwise("formula: expected no random draws, got one.")

    random_uniform = random_raw  # type: ignore[assignment]

    def sum(self, x: Element, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
        if axis is not None or keepdims:
            raise NotElementwise("formula: expected a sum over everything, got one along an axis.")
        total = self.write(self.real(x))
        total.summed = True
        return total

    def dot(self, x: Element, y: Element, out: object = None) -> Any:
        if out is not None:
            raise NotElementwise("formula: expected a sum that is returned, got one for an array.")
        return self.sum(self.multiply(x, y))

    def max(self, x: Element, axis: object = None, keepdims: bool = False) -> NoReturn:
        raise NotElementwise("formula: expected operations on single elements, got a reduction.")

    mean = max

    def asarray(self, data: object, dtype: str) -> NoReturn:
        raise NotElementwise("formula: expected no new arrays, got one.")


def _is_number(x: object) -> bool:
    return not isinstance(x, Symbol) or (not x.summed and x.ndim == 0)


class Formula:
    """A formula on its way into C.

    Parameters
    ----------
    dtype : {"float32", "float64"}
        The C text's ``real``.
    """

    def __init__(self, dtype: str) -> None:
        self._emitter = _Emitter(dtype)

    @property
    def knows_shape(self) -> bool:
        """Whether the formula asked for a shape."""
        return self._emitter.knows_shape

    def symbol(self, code: str, shape: tuple[int, ...]) -> Symbol:
        """Return the symbol of an argument; `code` is the C variable that holds its element."""
        return Symbol(self._emitter, code, self._emitter.real_dtype, shape)

    def trace(
        self,
        formula: Callable[..., object],
        symbols: Sequence[Symbol],
        current: Callable[[Backend], AbstractContextManager[object]],
    ) -> tuple[Any, list[str]]:
        """Run a formula; return its result, and the C statements that compute its symbols: number i defines ``vi``.

        Parameters
        ----------
        current : callable
            Makes a backend the facade's current one for a ``with`` block.

        Raises
        ------
        NotElementwise
            It is no formula of single elements.
        """
        with current(self._emitter):
            result = formula(*symbols)
        return result, self._emitter.lines
