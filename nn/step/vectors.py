"""The flat vectors that a network owns: parameters, gradient, updater state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import nd
from nd.random import Random
from nd.typing import Array
from optimize import NetworkUpdater, NoOp, Regularization, Segment
from optimize.gradient_normalization import NormalizedLayer
from optimize.regularization import merged, penalty_sum
from optimize.step import CELLS, Gradients, StepGuard

from ..conf.activation_memory import check_parameters
from ..conf.initial_weights import draw_params

if TYPE_CHECKING:
    from optimize.constraints import Constraining, Placed

    from ..conf.nodes import NetworkConfiguration
    from ..terms.params import ParamView


class FlatVectors:
    """Parameters and gradient ``[1, n]`` of a network on the current backend, their updater, penalties and constraints.

    Parameters
    ----------
    conf : NetworkConfiguration
    params : array ``[1, n]``, optional
        Memory of parameters that another network has, too; without it they are zeros.

    Attributes
    ----------
    params, gradient : array ``[1, n]``
    param_table : dict of key -> view
    gradients : Gradients
        Of all workers.
    penalties : list of (parameter as ``[n]``, Regularization)
    constraints : Constraining or None
        Bounds that the parameters are held to after an update.
    """

    def __init__(self, conf: NetworkConfiguration, params: Array | None = None) -> None:
        self.conf, self.backend = conf, nd.backend()
        self.layout = conf.layout()
        check_parameters(conf, self.layout.length)
        self.params = nd.zeros(1, self.layout.length, dtype=conf.base.dtype) if params is None else params
        self.gradient = nd.zeros(1, self.layout.length, dtype=conf.base.dtype)
        self.param_table = self.layout.table(self.params)
        segments = self._segments()
        self.penalties = self._penalties(pretrained=False) if conf.scores_penalties else []
        flat = nd.reshape_view(self.params, (self.layout.length,))
        decides = nd.deferred_memory(CELLS, conf.dtype) if self.layout.length else None
        scored = segments if conf.scores_penalties else ()
        self.penalty_sum = penalty_sum(scored, self.penalties, flat, deferred=decides is not None)
        self.guard = StepGuard(self.penalty_sum if self.penalties else None)
        if decides is not None:
            from optimize.device_guard import DeviceGuard  # which no host needs

            self.guard = DeviceGuard(self.penalty_sum, decides)
        self.constraints = self._constraining()
        self.updater = NetworkUpdater(
            segments, self.params, self.gradient, self._normalized(), self.guard, self.constraints
        )
        self.gradients = Gradients(self.updater.gradient)

    def _constraining(self) -> Constraining | None:
        if not any(getattr(node.conf, "constraints", None) for node in self.conf.nodes):
            return None
        from optimize.constraints import Constraining, Placed  # which most networks do not need

        placed: list[Placed] = []
        params = nd.traceable(self.params)
        for number, node in enumerate(self.conf.nodes):
            views = self.layout.views_of(number, params)
            for constraint in getattr(node.conf, "constraints", None) or ():
                constraint.check(node.conf.param_shapes(), node.label)
                names = [name for name in views if name in (constraint.params or ())]
                placed += [Placed(constraint, views[name], f"{node.label}: {name}") for name in names]
        return Constraining(placed) if placed else None

    def draw_weights(self, rng: Random) -> None:
        """Draw node after node in the order that Java has for it; biases start at their bias_init."""
        for number, node in sorted(enumerate(self.conf.nodes), key=lambda numbered: numbered[1].draw_index):
            draw_params(node.conf, self.layout.of_layer(number), self.params, rng, node.label)

    def set_updaters(self, conf: NetworkConfiguration) -> None:
        """Take the updaters of another configuration of the same layers; their state stays."""
        self.conf = conf
        self.updater.set_updaters([segment.updater for segment in self._segments()])

    def _segments(self) -> list[Segment]:
        segments = []
        for view in self.layout.views:
            spec = view.spec
            updater = NoOp() if spec.running else self.conf.updater_of(view)
            penalties = () if spec.pretrained else self._penalties_on(view)
            resting = view.layer if spec.pretrained else None
            segments.append(Segment(view.start, view.stop, updater, penalties, spec.running, spec.divided, resting))
        return segments

    def table(self, backprop_params_only: bool = False) -> dict[str, Array]:
        """Return key -> view of every parameter, or of those alone that training on labels changes."""
        resting = {view.key for view in self.layout.views if view.spec.pretrained and backprop_params_only}
        return {key: view for key, view in self.param_table.items() if key not in resting}

    def all_penalties(self, backprop_params_only: bool) -> list[tuple[Array, Regularization]]:
        """Return flat parameters and penalties on them, or on those alone that training on labels changes."""
        return self.penalties if backprop_params_only else [*self.penalties, *self._penalties(pretrained=True)]

    def _penalties(self, pretrained: bool) -> list[tuple[Array, Regularization]]:
        views = [view for view in self.layout.views if view.spec.pretrained == pretrained]
        return [(view.flat(self.params), penalty) for view in views for penalty in self._penalties_on(view)]

    def _penalties_on(self, view: ParamView) -> tuple[Regularization, ...]:
        """Return the penalties on one parameter, in the order in which they are applied."""
        spec = view.spec
        return () if spec.running or not spec.penalised else merged(self.conf.regularization_of(view))

    def _normalized(self) -> list[NormalizedLayer]:
        """Return the layers whose gradient is normalised, or the whole gradient as one."""
        threshold = self.conf.clip_norm
        if threshold is not None:
            return [NormalizedLayer("clip_l2_per_layer", threshold, (0, self.layout.length))]
        normalized = []
        for number, node in enumerate(self.conf.nodes):
            views, name = self.layout.of_layer(number), getattr(node.conf, "gradient_normalization", None)
            if views and name not in (None, "none"):
                borders = (*(view.start for view in views), views[-1].stop)
                threshold = getattr(node.conf, "gradient_normalization_threshold", None)
                normalized.append(NormalizedLayer(str(name), 1.0 if threshold is None else threshold, borders))
        return normalized


def copy_vector(who: str, source: object, target: Array) -> None:
    """Copy a vector ``[1, n]`` or ``[n]`` into ``target [1, n]``; raise ShapeError if it is of another length."""
    vector = nd.as_array(source)
    n = target.shape[1]
    if tuple(vector.shape) not in ((1, n), (n,)):
        raise nd.ShapeError(f"{who}: expected [1, {n}], got {list(vector.shape)}. Is it of another network?")
    nd.assign(target, nd.reshape(vector, (1, n)))
