"""The base of every op: inputs x and y, the result z, and one formula."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from backends.base import Backend
from backends.errors import DTypeError, ShapeError, describe_shape
from nd.arguments import checked, shown
from nd.classes import ExplainedType
from nd.state import backend as current_backend
from nd.typing import Array

Dimension = int | tuple[int, ...] | None


def leaves_of(values: object) -> tuple[Any, ...]:
    """Return arrays and numbers in nested tuples and lists; other objects are left out."""
    if isinstance(values, (tuple, list)):
        return tuple(leaf for value in values for leaf in leaves_of(value))
    return (values,) if hasattr(values, "shape") or isinstance(values, (int, float)) else ()


class Op(metaclass=ExplainedType):
    """One operation on arrays; `nd.exec` computes z from x and y.

    Parameters
    ----------
    x : array
    y : array or number, optional
    z : array, optional
        Receives the result; z is x for in place, else it shares no memory with x or y. Without it z is a new array.
    shape : tuple of int, optional
        Of the result; by default that of x.
    dtype : str, optional
        Of the result; by default that of x.

    Raises
    ------
    ShapeError
        z has not the shape of the result.
    DTypeError
        x is not an array, or z has another dtype than the result.
    BackendError
        One is an array of another library than the current backend's.
    """

    random: ClassVar[bool] = False
    """Whether the op draws random numbers: then it is for `nd.execRandom`."""
    java_number: ClassVar[int | None] = None
    """The number by which ND4J's native code knows the op, unique within a kind (transforms, reductions, scalars ...).

    A class says it for itself alone; None where Java has no such op, or calls it by name.
    """

    @checked
    def __init__(
        self,
        x: Array,
        y: Array | float | None = None,
        z: Array | None = None,
        shape: tuple[int, ...] | None = None,
        dtype: str = "",
    ) -> None:
        current_backend().look_at(self.who, (x, y, z))
        self.check_array("x", x)
        self.x, self.y, self.z = x, y, z
        if z is None:
            return
        self.check_array("z", z)
        expected = tuple(x.shape if shape is None else shape)
        if tuple(z.shape) != expected:
            raise ShapeError(
                f"{self.who}: z must be {describe_shape(expected)}, got {describe_shape(z.shape)}. "
                "Leave z out to get a new array."
            )
        expected_dtype, got = dtype or dtype_name(x), dtype_name(z)
        if expected_dtype != got:
            raise DTypeError(f"{self.who}: z must be {expected_dtype}, got {got}. Leave z out to get a new array.")

    @property
    def op_num(self) -> int | None:
        """The number by which ND4J calls the op, within its kind; None where it calls it by name."""
        number: int | None = vars(type(self)).get("java_number")
        return number

    @property
    def extra_args(self) -> tuple[float, ...]:
        """The op's numbers, in ND4J's order: a probability, a mean and a standard deviation."""
        return ()

    seconds = 0.0
    """Time that the op took, for hooks."""

    @classmethod
    def of_call(cls, x: Any, y: Any = None, z: Any = None, **fields: object) -> Self:
        """Return the op of a call of a primitive, which takes these arguments as they are: nothing is checked.

        Parameters
        ----------
        x, y, z : array, number or None
            x and y may have any shapes that broadcast.
        **fields : object
            Further attributes of the op.
        """
        op = cls.__new__(cls)
        op.x, op.y, op.z = x, y, z
        vars(op).update(fields)
        return op

    @property
    def inputs(self) -> tuple[Any, ...]:
        """Arrays and numbers that the op reads: x and y."""
        return tuple(value for value in (self.x, self.y) if value is not None)

    @property
    def outputs(self) -> tuple[Array, ...]:
        """Arrays that the op has written: z, once it has run."""
        return () if self.z is None else (self.z,)

    @property
    def result(self) -> Any:
        """What a network goes on with: z, and what an op keeps for its derivative."""
        return self.z

    @property
    def who(self) -> str:
        """Name of the op in messages and traces."""
        return type(self).__name__

    def run(self) -> Array:
        """Compute z on the current backend and return it; `nd.exec` and `nd.execRandom` call this.

        Raises
        ------
        BackendError
            An array belongs to another backend.
        """
        backend = current_backend()
        backend.look_at(self.who, (self.x, self.y, self.z))  # the op may have been made on another backend
        result = self._compute(backend)
        if self.z is None:
            if not backend.is_array(result):  # NumPy returns a scalar in the place of an array of rank 0
                result = backend.assign(backend.empty((), backend.dtype_name(result)), result)
            self.z = result
        elif result is not self.z:
            backend.assign(self.z, result)
        return self.z

    def _compute(self, backend: Backend) -> Array:
        """Return z where a primitive wrote into it, else a new array; x and y stay as they are."""
        raise NotImplementedError

    def check_array(self, name: str, array: Array) -> None:
        """Raise DTypeError unless an operand is an array of numbers."""
        kind = getattr(getattr(array, "dtype", None), "kind", "f")
        is_array = isinstance(getattr(array, "shape", None), tuple) and hasattr(array, "dtype")  # no module's functions
        if not is_array or kind not in "fiub":
            raise DTypeError(
                f"{self.who}: {name} must be an array of numbers, got {shown(array)}. Make one with nd.create."
            )

    def check_same_dtype(self, x: Array, y: Array) -> None:
        """Raise DTypeError unless both operands have one dtype."""
        expected, got = dtype_name(x), dtype_name(y)
        if expected != got:
            raise DTypeError(f"{self.who}: y must be {expected} as x, got {got}. Convert one with nd.astype.")


def dtype_name(array: Array) -> str:
    """Name a dtype without asking the backend, which is not chosen before the op runs."""
    return str(array.dtype).rpartition(".")[2]


def normal_axes(who: str, dimension: Dimension, x: Array) -> tuple[int, ...]:
    """Return the axes that `dimension` names, counted from the front; all of them for None."""
    rank = len(x.shape)
    if dimension is None:
        return tuple(range(rank))
    axes = (dimension,) if isinstance(dimension, int) else tuple(dimension)
    if any(not -rank <= axis < rank for axis in axes) or len({axis % rank for axis in axes}) != len(axes):
        raise ShapeError(
            f"{who}: dimension must name different axes of x {describe_shape(x.shape)}, got {dimension}. "
            f"Axes go from 0 to {rank - 1}."
        )
    return tuple(sorted(axis % rank for axis in axes))
