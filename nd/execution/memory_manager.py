"""ND4J's memory manager, for programs that call it; Python has nothing to manage."""

from __future__ import annotations

import gc

from ..classes import ExplainedType


class MemoryManager(metaclass=ExplainedType):
    """Collects garbage on demand; the settings of Java's collector are taken and change nothing."""

    def invoke_gc(self) -> None:
        """Free what nothing refers to any more."""
        gc.collect()

    def invoke_gc_occasionally(self) -> None:
        """Do nothing: Python frees arrays when nothing refers to them."""

    def set_auto_gc_window(self, milliseconds: int) -> None:
        """Do nothing."""

    def set_occasional_gc_frequency(self, calls: int) -> None:
        """Do nothing."""

    def toggle_periodic_gc(self, enabled: bool) -> None:
        """Do nothing."""


def get_memory_manager() -> MemoryManager:
    """Return the object that takes Java's calls about memory.

    Examples
    --------
    >>> get_memory_manager().invoke_gc_occasionally()
    """
    return MemoryManager()
