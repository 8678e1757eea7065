"""The last tier: what a backend may lack, a schedule above all. Without it everything runs at once, and unrecorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

from backends.typing import Array

from . import memory
from .dispatch import primitive
from .errors import BackendError
from .generic import formulas, normalizing
from .scheduling import Meeting, Task, UpdatePlan, Work, WorkPlan, in_one_piece
from .signatures import Lrn, Series


class Powers:
    """What only some backends can do, and how the others go on without it."""

    compiles: ClassVar[bool] = False
    """Whether `run_formula` makes one kernel of a formula."""
    uploads: Any = None
    """An object that copies host data without waiting, where there is something better than `from_host`."""
    stages = False
    """Whether `staged` ever returns anything."""
    multiplies_bool = False
    """Whether False and True are 0 and 1 in a product with floats."""
    joins_products: ClassVar[bool] = False
    """Whether products with matrices whose rows lie side by side in memory are one."""
    looks_at_indices = True
    """Whether an index that is no row's raises at once."""
    cached_elements = 1 << 62
    """Of an array that is worked on in one piece: all of them, where launches cost."""
    settings: Any = None
    """The context variable of its array library that `quiet` changes."""
    silent: ClassVar[bool] = False
    """Whether its calls are reported to nobody, because they are being recorded."""
    reports: ClassVar[bool] = False
    """Whether somebody listens to its calls, see `backends.reporting`."""
    needs_no_hold = False
    """Whether a single light task runs as well without `run_tasks`, which is most often one of microseconds."""
    keeps_addresses = False
    """Whether a recording knows memory by its address, and does not keep it."""

    # ---- primitives of which a backend may have none

    lrn = primitive(Lrn[Array], normalizing.lrn)
    lrn_back = normalizing.lrn_back
    lstm = primitive(Series[Array], formulas.lstm)
    lstm_back = formulas.lstm_back
    run_formula = formulas.run_formula
    sum_formula = formulas.sum_formula

    # ---- warnings and memory

    def quiet(self) -> AbstractContextManager[object]:
        """Return a context manager in which the backend does not warn of numbers that are not finite."""
        return nullcontext()

    def quietly(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function as in `quiet`, at less cost; it does not see context variables."""
        return function(*arguments)

    check_memory = memory.check_memory_of
    snapshot = memory.snapshot

    def is_ready(self, x: object, dtype: str) -> bool:
        """Tell at once whether `x` is an array of this backend and dtype; False where that takes a closer look."""
        return False

    def staged(self, array: Any, dtype: str, buffer: Callable[[], Array]) -> Array | None:
        """Return a numpy array ``[N, ...]`` in `buffer()`, an activation; None where `from_host` does as well."""
        return None

    def is_staged(self, array: Array) -> bool:
        """Tell whether an array is what `staged` has returned, memory that nothing else writes."""
        return False

    def computed(self, name: str, run: Callable[..., Any], *arguments: Any) -> Any:
        """Call ``run(*arguments)``, which consists of calls of primitives and may be heard as one, by that name."""
        return run(*arguments)

    # ---- recording

    def recorder(self) -> Any:
        """Return the backend on which `nd.record` records a computation; None where there is none."""
        return None

    def traceable(self, x: Array) -> Array:
        """Return a view of `x` for computations that are recorded."""
        return x

    @property
    def replays_on(self) -> Any:
        """The backend on which what is recorded here is replayed: itself where it records nothing."""
        return self

    def noted(self, call: Callable[[], object]) -> None:
        """Make a call of the host's; a recording makes it again at that place, in every replay."""
        call()

    lasting = memory.lasting

    def random_moved(self, n: int) -> None:
        """Take note that the generator of the last draws has moved on by n, for backends that repeat draws."""

    def deferred_memory(self, count: int, dtype: str) -> Array | None:
        """Return a vector of zeros for numbers that the device decides by, as the host does not wait for it.

        None where an operation is over when it returns, so that the host decides.
        """
        return None

    # ---- work side by side

    def plan_work(self, examples: int, work: Work | None) -> WorkPlan:
        """Return the division of so many examples, of that cost per example; None: they stay together."""
        return in_one_piece(examples)

    def plan_shards(self, count: int, meet: bool) -> tuple[tuple[int, int], ...]:
        """Return first and last, behind it, of the shards of a minibatch that every worker computes.

        Each has a part of the tree of halves, see `subtrees`; where they `meet`, one shard.

        Raises
        ------
        BackendError
            Shards that meet cannot run side by side.
        """
        if meet:
            raise BackendError(
                f"shards: layers whose examples meet, as in batch normalisation, must run side by side, which "
                f"{type(self).__name__} does not do. Leave shards out, or train on the CPU."
            )
        return ((0, count),)

    def plan_update(self, length: int) -> UpdatePlan:
        """Return the division of an update of so many parameters."""
        return UpdatePlan(((0, length),), max(length, 1), 0)

    def meeting(self, count: int) -> Meeting:
        """Return where so many workers exchange numbers, as many as a plan has."""
        return Meeting()

    def run_tasks(self, tasks: Sequence[Task], light: bool = False, meeting: Meeting | None = None) -> list[object]:
        """Run tasks that do not depend on one another, as many as a plan has workers; return their results.

        `light` tasks have no product that is worth more than one worker. Those that take the seats of a meeting run
        side by side in any case.
        """
        return [task() for task in tasks]

    def run_in_turn(self, tasks: Sequence[Task], light: bool = False) -> list[object]:
        """Run such tasks one after the other in this thread; their numbers are those of `run_tasks`."""
        return [task() for task in tasks]
