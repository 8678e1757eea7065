"""Kernels of formulas: one launch for everything that every element does for itself, or for a sum of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from backends.cuda.formula import NotElementwise
from backends.typing import Array

from . import BLOCK, REALS, options, saying_so_if_slow
from .arguments import Plan, is_number, plan_of
from .kernel_text import Current, KernelText
from .scratch import Scratches

if TYPE_CHECKING:
    from types import ModuleType


OPTIONS = ("--fmad=false",)  # as NumPy rounds: memory bounds these kernels, not arithmetic
MOST_KERNELS = 64
"""Of one formula, for arguments that lie in memory in different ways."""
MOST_BLOCKS = 512
"""Of a sum; all leave their numbers to the last one."""
MOST_SUMS = 8
"""Of one formula."""


class Elementwise:
    """The kernels of one formula.

    Parameters
    ----------
    cupy : module
    formula : callable
        Of arrays, numbers, and arrays ``[]`` that hold a number.
    scratch : tuple of int
        Places of arguments whose contents matter neither before nor after.
    """

    def __init__(self, cupy: ModuleType, formula: Callable[..., object], scratch: tuple[int, ...]) -> None:
        self._cupy, self._formula, self._scratch = cupy, formula, scratch
        self._kernels: dict[tuple[object, ...], object] = {}
        self._of_shapes: set[tuple[object, ...]] = set()

    def run(self, arguments: Sequence[object], current: Current) -> bool:
        """Compute and return True; False, with nothing done, where no kernel serves the formula or the arguments."""
        plan = plan_of(arguments, self._scratch)
        kernel = None if plan is None else self._kernel(arguments, plan, current)
        if plan is None or kernel is None:
            return False
        if plan.total:
            kernel((-(-plan.total // BLOCK),), (BLOCK,), (*self._values(arguments), plan.layout()))
        return True

    def _values(self, arguments: Sequence[Any]) -> list[Any]:
        given = (x for place, x in enumerate(arguments) if place not in self._scratch)
        return [float(x) if is_number(x) else x for x in given]

    def _kernel(self, arguments: Sequence[object], plan: Plan, current: Current) -> Any:
        key = plan.key
        if key in self._of_shapes:
            key = (*key, *(getattr(x, "shape", None) for x in arguments))
        if key not in self._kernels:
            kernel, knows_shape = self._compile(arguments, plan, current)
            if knows_shape and key == plan.key:
                self._of_shapes.add(key)
                key = (*key, *(getattr(x, "shape", None) for x in arguments))
            self._kernels[key] = kernel
        return self._kernels[key]

    def _compile(self, arguments: Sequence[object], plan: Plan, current: Current) -> tuple[object, bool]:
        if len(self._kernels) >= MOST_KERNELS:
            return None, False
        try:
            traced = KernelText(self._formula, arguments, self._scratch, plan, current)
            text = self._text(traced)
        except NotElementwise:
            return None, False
        real = REALS[str(plan.key[0])]
        with saying_so_if_slow():
            module = self._cupy.RawModule(code=text, options=(*options(real), *OPTIONS))
            return module.get_function("formula"), traced.knows_shape

    def _text(self, traced: KernelText) -> str:
        return traced.elementwise()


class Summed(Elementwise):
    """The kernels of a formula that returns a sum over all elements."""

    def __init__(self, cupy: ModuleType, formula: Callable[..., object], scratches: Scratches) -> None:
        super().__init__(cupy, formula, ())
        self._scratches = scratches
        self.several = False
        self._sums = 0

    def totals(self, arguments: Sequence[Any], current: Current, out: Array | None = None) -> Array | None:
        """Return the sums in a vector, `out` or a new one; None where there can be no kernel for that."""
        plan = plan_of(arguments, ())
        kernel = None if plan is None or not plan.total else self._kernel(arguments, plan, current)
        if plan is None or kernel is None:
            return None
        dtype = next(x.dtype for x in arguments if getattr(x, "ndim", 0))
        scratch = self._scratches.current()
        memory = scratch.partial(dtype, MOST_BLOCKS * MOST_SUMS), scratch.arrived(1)
        result = self._cupy.empty(self._sums, dtype) if out is None else out
        blocks = min(-(-plan.total // BLOCK), MOST_BLOCKS)
        kernel((blocks,), (BLOCK,), (*self._values(arguments), *memory, result, plan.layout()))
        return result

    def _text(self, traced: KernelText) -> str:
        self.several, self._sums = isinstance(traced.result, tuple), len(traced.sums)
        if self._sums > MOST_SUMS:
            raise NotElementwise(f"formula: expected at most {MOST_SUMS} sums, got {self._sums}.")
        return traced.summed()
