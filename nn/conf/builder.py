"""The fluent style of nn's configurations; `optimize.builder` has it, for those of both floors."""

from optimize.builder import Builder, snake_case

__all__ = ["Builder", "snake_case"]
