"""Random numbers that are drawn for minibatches when they are fetched, as augmentation draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nd.dataset.fetching import fetched
from nd.dataset.iterator import MinibatchIterator
from nd.random import Random

if TYPE_CHECKING:
    from .network import Network
    from .progress import Progress


class Draws:
    """Fetches minibatches for a call of fit, which draw from the network's generator, after a checkpoint the same.

    Parameters
    ----------
    network : Network

    Attributes
    ----------
    before : (int, int) or None
        State of the generator when the minibatch began to be fetched that is trained on; None between two.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.before: tuple[int, int] | None = None
        self._again: Random | None = None  # draws once more what was drawn for the minibatch that comes next

    def fetch(self, source: MinibatchIterator[Any]) -> Any:
        """Return the next minibatch."""
        if self._again is None:
            self.before = self.network.random.get_state()
        batch = fetched(source, self._again)
        self._again = None
        return batch

    def resume(self, awaited: Progress) -> None:
        """Have what was drawn for the minibatch that comes next drawn again; where steps were taken on it, apart."""
        if awaited.fetched is None:
            return
        generator = self.network.random
        if awaited.steps or awaited.segment:
            self._again, self.before = generator.copy(), awaited.fetched
            self._again.set_state(awaited.fetched)
        else:
            generator.set_state(awaited.fetched)
