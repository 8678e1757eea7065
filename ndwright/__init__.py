"""ndwright: `nn`, `nd`, `optimize` and `backends` by one name, the version, and a look at whose they are.

``ndwright.nn`` is the package ``nn`` itself, imported when it is first asked for, and so are the other three.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .aliases import Aliases
from .origins import PACKAGES, check_origins

if TYPE_CHECKING:
    import backends as backends
    import nd as nd
    import nn as nn
    import optimize as optimize

__version__ = "0.1.0"
__all__ = ["__version__", "backends", "nd", "nn", "optimize"]

check_origins()
sys.meta_path.insert(0, Aliases(f"{__name__}.", PACKAGES))


def __getattr__(name: str) -> Any:
    if name in PACKAGES:
        return import_module(f"{__name__}.{name}")
    if name[:1] == "_":  # which tools look for
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from nd.on_demand import unknown_name  # which programs without mistakes do not need

    raise unknown_name(__name__, name, __dir__())


def __dir__() -> list[str]:
    return sorted({*globals(), *PACKAGES})
