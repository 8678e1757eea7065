"""Ctrl-C and forked processes, for the floors above."""

from backends.forks import PATIENCE, tell_of_forks
from backends.interrupts import Finally, Handling, Held

__all__ = ["PATIENCE", "Finally", "Handling", "Held", "tell_of_forks"]
