"""Ctrl-C, for the floors above."""

from backends.interrupts import Handling, Held

__all__ = ["Handling", "Held"]
