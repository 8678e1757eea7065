"""What is refused to copies and pickles."""

from __future__ import annotations

from typing import ClassVar, NoReturn

from nd import ConfigurationError


class Uncopied:
    """Base of what holds open readers, and memory that others see: it cannot be copied or pickled.

    Attributes
    ----------
    instead : str
        A sentence that says what to do.
    """

    instead: ClassVar[str]

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Raise ConfigurationError: called by `pickle`, and by `copy` and `deepcopy`."""
        raise ConfigurationError(f"{type(self).__name__}: it cannot be copied or pickled. {self.instead}")
