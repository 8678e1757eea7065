"""Tensors of a graph that is being written, with which one computes: every operation adds a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..draft import WORDS, OnnxDraft


@dataclass(frozen=True)
class Tensor:
    """A tensor by its name. Numbers beside it in a formula become constants of its dtype.

    Attributes
    ----------
    draft : OnnxDraft
        Takes the nodes.
    name : str
    dtype : str
    """

    draft: OnnxDraft
    name: str
    dtype: str

    def op(self, op: str, *others: Tensor | float, dtype: str = "", **attributes: Any) -> Tensor:
        """Add a node with this tensor first and others behind it; return its output, by default of the same dtype."""
        names = [self.name, *(self.like(other).name for other in others)]
        return Tensor(self.draft, self.draft.node(op, names, **attributes), dtype or self.dtype)

    def like(self, value: Tensor | float) -> Tensor:
        """Return a number as a constant of this dtype; a tensor comes back."""
        if isinstance(value, Tensor):
            return value
        return Tensor(self.draft, self.draft.number(value, self.dtype), self.dtype)

    def ints(self, *values: int) -> Tensor:
        """Return a constant vector of int64."""
        return Tensor(self.draft, self.draft.ints(*values), "int64")

    def shape(self) -> Tensor:
        """Return the sizes, a vector of int64."""
        return self.op("Shape", dtype="int64")

    def cast(self, dtype: str) -> Tensor:
        """Return the numbers in another dtype."""
        return self if dtype == self.dtype else self.op("Cast", to=WORDS[dtype], dtype=dtype)

    def reshape(self, *sizes: int) -> Tensor:
        """Return it in another shape: -1 for what is left, 0 for the size that it has there."""
        return self.op("Reshape", self.ints(*sizes))

    def reshape_to(self, *parts: Tensor) -> Tensor:
        """Return it in the shape that vectors of int64 are together."""
        return self.op("Reshape", parts[0].op("Concat", *parts[1:], axis=0))

    def lengths(self, axes: Sequence[int]) -> Tensor:
        """Return the sizes of axes that follow one another, a vector of int64."""
        return self.op("Shape", start=axes[0], end=axes[-1] + 1, dtype="int64")

    def reshape_as(self, other: Tensor) -> Tensor:
        """Return it in the shape of another tensor."""
        return self.op("Reshape", other.shape())

    def transpose(self, *axes: int) -> Tensor:
        """Return it with its axes in another order."""
        return self.op("Transpose", perm=list(axes))

    def expand_as(self, other: Tensor) -> Tensor:
        """Repeat it until it has another tensor's shape."""
        return self.op("Expand", other.shape())

    def sum(self, axes: Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """Return the sum along axes, along all by default."""
        given = () if axes is None else (self.ints(*axes),)
        return self.op("ReduceSum", *given, keepdims=int(keepdims))

    def mean(self, axes: Sequence[int]) -> Tensor:
        """Return the mean along axes, which stay with size 1."""
        return self.op("ReduceMean", self.ints(*axes), keepdims=1)

    def holds(self, comparison: str, other: Tensor | float) -> Tensor:
        """Return 1 where a comparison (an operator of ONNX) holds, else 0, in this dtype."""
        return self.op(comparison, other, dtype="bool").cast(self.dtype)

    def where(self, comparison: str, other: Tensor | float, yes: Tensor | float, no: Tensor | float) -> Tensor:
        """Return one or the other, as a comparison with `other` holds."""
        condition = self.op(comparison, other, dtype="bool")
        return condition.op("Where", self.like(yes), self.like(no), dtype=self.dtype)

    def clip(self, low: float, high: float) -> Tensor:
        """Return it held between two numbers."""
        return self.op("Max", low).op("Min", high)

    def zeros(self) -> Tensor:
        """Return zeros of this shape."""
        return self.like(0.0).op("Expand", self.shape())

    def square(self) -> Tensor:
        """Return the squares."""
        return self * self

    def exp(self) -> Tensor:
        """Return e to the power of it."""
        return self.op("Exp")

    def log(self) -> Tensor:
        """Return the natural logarithm."""
        return self.op("Log")

    def sqrt(self) -> Tensor:
        """Return the square root."""
        return self.op("Sqrt")

    def abs(self) -> Tensor:
        """Return the absolute value."""
        return self.op("Abs")

    def sign(self) -> Tensor:
        """Return -1, 0 or 1."""
        return self.op("Sign")

    def sigmoid(self) -> Tensor:
        """Return 1 / (1 + exp(-x))."""
        return self.op("Sigmoid")

    def __neg__(self) -> Tensor:
        return self.op("Neg")

    def __add__(self, other: Tensor | float) -> Tensor:
        return self.op("Add", other)

    def __sub__(self, other: Tensor | float) -> Tensor:
        return self.op("Sub", other)

    def __mul__(self, other: Tensor | float) -> Tensor:
        return self.op("Mul", other)

    def __truediv__(self, other: Tensor | float) -> Tensor:
        return self.op("Div", other)

    def __pow__(self, other: Tensor | float) -> Tensor:
        return self.op("Pow", other)

    def __radd__(self, other: float) -> Tensor:
        return self.like(other) + self

    def __rsub__(self, other: float) -> Tensor:
        return self.like(other) - self

    def __rmul__(self, other: float) -> Tensor:
        return self.like(other) * self

    def __rtruediv__(self, other: float) -> Tensor:
        return self.like(other) / self

    def __rpow__(self, other: float) -> Tensor:
        return self.like(other) ** self
