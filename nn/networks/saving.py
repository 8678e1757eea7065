"""Networks in files and as copies."""

from __future__ import annotations

import copy
from typing import Any, Self, TypeVar

import nd
from nd.arguments import Natural, checked
from nd.files.reading import Source
from nd.files.writing import Target
from nd.state import Restoring, kept_backend, selector_of
from optimize import OptimizerState
from optimize.step import StepResult

from ..terms import late
from .core import NetworkCore

Other = TypeVar("Other", bound=NetworkCore)


class Saved(NetworkCore):
    """Writes a network to files, reads it, and copies it.

    Notes
    -----
    A network can be pickled and copied (``pickle``, ``copy``, ``joblib``, ``multiprocessing``). Each copy is
    independent, a shallow one too: it has parameters, states of updater and optimizer, counters, the progress of `fit`
    and the stored state of series of its own, and the attributes that somebody has given it, but no listeners, as a
    file has none: they hold open files, windows and other networks. A copy is on the network's own backend, and so
    is what is read from a pickle, but in a block of `nd.use_backend`: there on that one. `clone` and the files have no
    stored state of series, as in Java.
    """

    @checked
    def save(self, path: Target, save_updater: bool = True, normalizer: object = None) -> None:
        """Write a DL4J 1.0 model zip, or named arrays as ``.npz`` and ``.safetensors``, as the ending of `path` says.

        See `nn.files.serializer.write_model`.
        """
        network = self
        with network.lock:
            network.updater.guard.settle(network)
            late("write_model")(network, path, save_updater, normalizer)

    def check_saveable(self) -> None:
        """Raise ConfigurationError where a file could not hold the network, before it is trained for long."""
        late("check_saveable")(self)

    @classmethod
    @checked
    def load(cls, path: Source, load_updater: bool = True, strict: bool = True) -> Self:
        """Read what `save` or any DL4J release since 0.5 wrote; see `nn.files.serializer.restore_model`."""
        return late("restore_model")(path, load_updater, strict, cls)

    @checked
    def save_checkpoint(self, path: Target, save_updater: bool = True) -> None:
        """Write a model zip from which training continues bit for bit; see `nn.files.checkpoint`."""
        network = self
        with network.lock:
            late("write_checkpoint")(network, path, save_updater)

    @classmethod
    @checked
    def load_checkpoint(cls, path: Source, number: Natural | None = None) -> Self:
        """Read a checkpoint, or from a folder the newest complete one, or that number; see `nn.files.checkpoint`."""
        return late("read_checkpoint")(path, number, cls)

    # ---- copies

    @property
    def configuration(self) -> Any:
        """The configuration, with the counts as they are now."""
        return self.conf.with_counts(self.iteration_count, self.epoch_count)

    def clone(self) -> Self:
        """Return an independent copy: configuration, parameters, counters, state of updater, optimizer, generator."""
        with self.lock:
            self.updater.guard.settle(self)  # which may put the counters back
            return self._copied_into(type(self)(self.configuration))

    def _copied_into(self, twin: Other) -> Other:
        """Make a network of the same nodes an independent copy, but for its configuration; return it."""
        params, state = self.params(), self.updater_state()
        with self.lock, Restoring(), self.on_backend():
            self.updater.guard.settle(self)
            twin.make(params, self.random.copy())
            for own, other in zip(self.classes_of, twin.classes_of, strict=True):
                other.names = own.names
            nd.assign(twin.updater_state(), state)
            if self.solver is not None:
                twin.current_solver().optimizer.set_state(self.solver.optimizer.get_state())
        return twin

    def __getstate__(self) -> dict[str, object]:
        """Return arrays of its own: another thread may train on while they are written."""
        network = self
        with network.lock:
            return self._state_now()

    def _state_now(self) -> dict[str, object]:
        network = self
        kept = {name: value for name, value in vars(network).items() if name not in self._not_copied}
        if not network.is_init_called():
            return {"kept": kept}
        kept["random"], learners = network.random.copy(), vars(network).get("learners", {})
        with Restoring(), network.on_backend():
            network.updater.guard.settle(network)
            learned = OptimizerState() if network.solver is None else network.solver.optimizer.get_state()
            return {
                "kept": kept,
                "backend": selector_of(network.backend),
                "params": nd.to_host(nd.copy(network.params())),
                "updater_state": nd.to_host(nd.copy(network.updater_state())),
                "learned": learned._replace(vectors=tuple(map(nd.to_host, learned.vectors))),
                "progress": (network.progress.awaited, network.progress.now()),
                "pretraining": {number: one.training_state() for number, one in learners.items()},
                "score": network.score(),
                "state": tuple(map(nd.to_host, network.state)),
                "stored": tuple(None if one is None else nd.to_host(nd.copy(one)) for one in network.stored or ()),
            }

    def __setstate__(self, state: dict[str, Any]) -> None:
        network = self
        kept = state["kept"]
        NetworkCore.__init__(network, kept["conf"])
        vars(network).update(kept)
        if "params" not in state:
            return
        with Restoring(), kept_backend(type(self).__name__, state.get("backend")):
            self._made_again(state)

    def _made_again(self, state: dict[str, Any]) -> None:
        """Put back what was learned, on the current backend."""
        network, kept = self, state["kept"]
        network.make(state["params"], kept["random"])  # the thread's own generator stays
        network.set_updater_state(state["updater_state"])
        learned = state["learned"]
        if learned.numbers or learned.vectors:
            vectors = tuple(nd.as_array(vector, network.dtype) for vector in learned.vectors)
            network.current_solver().optimizer.set_state(learned._replace(vectors=vectors))
        network.progress.awaited, network.progress.last = state["progress"]
        if state.get("pretraining"):
            from .pretraining import learner_of  # which most programs do not need

            for number, kept_one in state["pretraining"].items():
                learner_of(network, number).set_training_state(kept_one)  # type: ignore[arg-type]
        network.last = StepResult(state["score"], 0.0, 0, network.vectors.gradients, known_score=state["score"])
        network.state = tuple(nd.as_array(array, network.dtype) for array in state["state"])
        stored = (None if array is None else nd.as_array(array, network.dtype) for array in state["stored"])
        network.stored = tuple(stored) or None

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        network = self
        twin = memo[id(self)] = type(self).__new__(type(self))
        state = copy.deepcopy(self.__getstate__(), memo)
        if not network.is_init_called():
            twin.__setstate__(state)
            return twin
        with Restoring(), network.on_backend():
            twin.__setstate__(state)
        return twin
