"""Networks in files and as copies."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self, TypeVar

import nd
from nd.arguments import Natural, checked
from nd.files.reading import Source
from nd.files.writing import Target
from nd.state import Restoring, kept_backend, selector_of
from optimize import OptimizerState
from optimize.step import StepResult

from ..terms import late
from ..terms.input_type import InputType
from .core import NetworkCore

Other = TypeVar("Other", bound=NetworkCore)
_MADE_ANEW = frozenset({"engine", "listeners"})
"""Attributes that a copy makes itself; what it goes on from is put into its own engine."""


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
    def save(
        self,
        path: Target,
        save_updater: bool = True,
        normalizer: object = None,
        *,
        opset: Natural | None = None,
        ir_version: Natural | None = None,
        input_types: Sequence[InputType | None] | None = None,
        masks: bool = False,
        training_step: bool = False,
    ) -> None:
        """Write a DL4J 1.0 model zip, named arrays (``.npz``, ``.safetensors``), a model of ONNX or Keras (``.keras``).

        The ending of `path` says which, see `nn.files.serializer.write_model`. The settings behind `normalizer` are
        those of ``.onnx``, see `nn.onnx.write_onnx`; a model of Keras has `input_types` of them.
        """
        network = self
        told = {"opset": opset, "ir_version": ir_version, "input_types": input_types}
        told |= {"masks": masks or None, "training_step": training_step or None}
        settings = {name: value for name, value in told.items() if value is not None}
        with network.lock:
            network.updater.guard.settle(network)
            late("write_model")(network, path, save_updater, normalizer, **settings)

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
        with self.lock, Restoring(), self.engine.on_backend():
            self.updater.guard.settle(self)
            twin.random = self.random.copy()
            twin.engine.make(twin.conf, params, twin.random)
            for own, other in zip(self.classes_of, twin.classes_of, strict=True):
                other.names = own.names
            nd.assign(twin.updater_state(), state)
            if self.engine.solver is not None:
                twin.get_optimizer().set_state(self.engine.solver.optimizer.get_state())
        return twin

    def __getstate__(self) -> dict[str, object]:
        """Return arrays of its own: another thread may train on while they are written."""
        with self.lock:
            return self._state_now()

    def _state_now(self) -> dict[str, object]:
        kept = {name: value for name, value in vars(self).items() if name not in _MADE_ANEW}
        engine = self.engine
        if not engine.is_made:
            return {"kept": kept, "classes_of": engine.classes_of}
        kept["random"] = self.random.copy()
        with Restoring(), engine.on_backend():
            self.updater.guard.settle(self)
            learned = OptimizerState() if engine.solver is None else engine.solver.optimizer.get_state()
            return {
                "kept": kept,
                "classes_of": engine.classes_of,
                "backend": selector_of(self.backend),
                "params": nd.to_host(nd.copy(self.params())),
                "updater_state": nd.to_host(nd.copy(self.updater_state())),
                "learned": learned._replace(vectors=tuple(map(nd.to_host, learned.vectors))),
                "progress": (engine.progress.awaited, engine.progress.now()),
                "pretraining": (
                    engine.pretraining,
                    {number: one.training_state() for number, one in engine.learners.items()},
                ),
                "score": self.score(),
                "state": tuple(map(nd.to_host, engine.state)),
                "stored": tuple(None if one is None else nd.to_host(nd.copy(one)) for one in engine.stored or ()),
            }

    def __setstate__(self, state: dict[str, Any]) -> None:
        kept = state["kept"]
        NetworkCore.__init__(self, kept["conf"])
        vars(self).update(kept)
        self.engine.classes_of = state["classes_of"]
        if "params" not in state:
            return
        with Restoring(), kept_backend(type(self).__name__, state.get("backend")):
            self._made_again(state)

    def _made_again(self, state: dict[str, Any]) -> None:
        """Put back what was learned, on the current backend."""
        engine, dtype = self.engine, self.dtype
        engine.make(self.conf, state["params"], self.random)  # the thread's own generator stays
        self.set_updater_state(state["updater_state"])
        learned = state["learned"]
        if learned.numbers or learned.vectors:
            vectors = tuple(nd.as_array(vector, dtype) for vector in learned.vectors)
            self.get_optimizer().set_state(learned._replace(vectors=vectors))
        engine.progress.awaited, engine.progress.last = state["progress"]
        engine.pretraining, learners = state.get("pretraining", (None, {}))
        if learners:
            from .pretraining import learner_of  # which most programs do not need

            for number, learned_by_one in learners.items():
                learner_of(self, number).set_training_state(learned_by_one)  # type: ignore[arg-type]
        engine.last = StepResult(state["score"], 0.0, 0, engine.vectors.gradients, known_score=state["score"])
        engine.state = tuple(nd.as_array(array, dtype) for array in state["state"])
        stored = (None if array is None else nd.as_array(array, dtype) for array in state["stored"])
        engine.stored = tuple(stored) or None

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        network = self
        twin = memo[id(self)] = type(self).__new__(type(self))
        state = copy.deepcopy(self.__getstate__(), memo)
        if not network.is_init_called():
            twin.__setstate__(state)
            return twin
        with Restoring(), network.engine.on_backend():
            twin.__setstate__(state)
        return twin
