"""Packages that only a few functions need: they are extras of the distribution and imported when asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from backends.errors import ConfigurationError
from backends.extras import install_command

if TYPE_CHECKING:
    from types import ModuleType


def optional(who: str, module: str, package: str, extra: str) -> ModuleType:
    """Import a module of an optional package.

    Raises
    ------
    ConfigurationError
        It is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise
        raise ConfigurationError(
            f"{who}: needs the package {package}, got none. Install it: {install_command(extra)}."
        ) from error
