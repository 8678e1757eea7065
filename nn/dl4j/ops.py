"""Ops with Java's arguments, ND4J's factory of ops, and its wrapper of BLAS."""

from __future__ import annotations

from typing import Any

import nd
from nd import ops
from nd.checks import check_choice
from nd.typing import Array


def _java_dropout(kind: Any, x: Array, arguments: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """Return the op of ``(x, p)``, which is in place, or ``(x, z, p)``; by names as in `nd.ops`."""
    if not arguments:
        return kind(x, **settings)
    if len(arguments) == 1:
        return kind(x, arguments[0], x) if not settings else kind(x, arguments[0], **settings)
    z, p, *length = arguments
    if len(length) > 1:
        raise nd.ArgumentError(f"{kind.__name__}: expected x, z, p and perhaps a length, got {1 + len(arguments)}.")
    return kind(x, p, z, **settings)


def DropOut(x: Array, *z_and_p: Any, **settings: Any) -> ops.DropOut:
    """Return the op ``DropOut(x, p)``, in place as Java's, or ``DropOut(x, z, p)``; see `nd.ops.DropOut`."""
    return _java_dropout(ops.DropOut, x, z_and_p, settings)


def DropOutInverted(x: Array, *z_and_p: Any, **settings: Any) -> ops.DropOutInverted:
    """Return the op ``DropOutInverted(x, p)``, in place as Java's, or ``(x, z, p)``; see `nd.ops.DropOutInverted`."""
    return _java_dropout(ops.DropOutInverted, x, z_and_p, settings)


def LegacyDropOutInverted(x: Array, *z_and_p: Any, **settings: Any) -> ops.LegacyDropOutInverted:
    """Return the op of generators without native state, with the arguments and the values of `DropOutInverted`."""
    return _java_dropout(ops.LegacyDropOutInverted, x, z_and_p, settings)


class OpFactory:
    """ND4J's factory of ops by their names."""

    @staticmethod
    def createTransform(name: str, x: Array, *y_and_z: Array | None) -> ops.Op:
        """Return a transform of that name: ``(name, x)``, ``(name, x, z)`` or ``(name, x, y, z)``.

        Raises
        ------
        ChoiceError
            No op has the name.
        """
        kind: Any = ops.OPS[check_choice("createTransform", "op", name.lower(), ops.OPS)]
        *y, z = y_and_z or (None,)
        return kind(x, *y, z=z)


class Blas:
    """Operations on vectors and matrices: all levels of BLAS in one."""

    @staticmethod
    def asum(x: Array) -> float:
        """Return Σ |x|."""
        return nd.item(nd.sum(nd.absolute(x)))

    @staticmethod
    def axpy(*n_alpha_x_y: Any) -> Array:
        """Add alpha * x to y, in place: ``axpy(n, alpha, x, y)`` or ``axpy(alpha, x, y)``; return y."""
        alpha, x, y = n_alpha_x_y[-3:]
        return nd.addi(y, nd.multiply(x, float(alpha)))

    @staticmethod
    def dot(*n_alpha_x_y: Any) -> float:
        """Return Σ x y of ``dot(x, y)`` or ``dot(n, alpha, x, y)``."""
        x, y = n_alpha_x_y[-2:]
        return nd.item(nd.sum(nd.multiply(x, y)))

    @staticmethod
    def iamax(x: Array) -> int:
        """Return the index of the first element whose absolute value is largest."""
        return int(nd.item(nd.argmax(nd.reshape(nd.absolute(x), (-1,)), 0)))

    @staticmethod
    def nrm2(x: Array) -> float:
        """Return √(Σ x²)."""
        return nd.item(nd.sqrt(nd.sum(nd.square(x))))

    @staticmethod
    def scal(*n_alpha_x: Any) -> Array:
        """Multiply x by alpha, in place: ``scal(n, alpha, x)`` or ``scal(alpha, x)``; return x."""
        alpha, x = n_alpha_x[-2:]
        return nd.muli(x, float(alpha))

    @staticmethod
    def gemm(a: Array, b: Array, c: Array | None = None) -> Array:
        """Return the product of two matrices, in c where it is given."""
        return nd.gemm(a, b, c)

    @classmethod
    def level1(cls) -> type[Blas]:
        """Return the operations on vectors."""
        return cls

    level3 = level1
