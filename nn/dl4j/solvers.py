"""Step functions as Java has them, one class each, and truncated backprop by its name."""

from __future__ import annotations

from typing import Any, ClassVar

import nd
from nd.typing import Array
from optimize.step import get_step_function

from ..terms.enums import BackpropType


class StepFunction(str):
    """A step function: a name that goes wherever a configuration takes one, with Java's `step`."""

    __slots__ = ()
    named: ClassVar[str]

    def __new__(cls) -> StepFunction:
        return super().__new__(cls, cls.named)

    def step(self, params: Array, direction: Array, step: float = 1.0) -> None:
        """Change `params` along `direction`, in place.

        Notes
        -----
        Source: DL4J ``org.deeplearning4j.optimize.stepfunctions``.
        """
        get_step_function(self.named)(params, direction, step)


class DefaultStepFunction(StepFunction):
    """params += step * direction."""

    __slots__ = ()
    named = "default"


class GradientStepFunction(StepFunction):
    """params += direction."""

    __slots__ = ()
    named = "gradient"


class NegativeDefaultStepFunction(StepFunction):
    """params -= step * direction."""

    __slots__ = ()
    named = "negative_default"


class NegativeGradientStepFunction(StepFunction):
    """params -= direction."""

    __slots__ = ()
    named = "negative_gradient"


def do_truncated_bptt(network: Any, x: object, y: object, *masks: object) -> None:
    """Train on one minibatch of series, segment by segment: ``doTruncatedBPTT(x, y, features mask, labels mask)``.

    Raises
    ------
    ConfigurationError
        The network is not configured for truncated backprop.
    """
    kind = network.conf.backprop_type
    if kind != BackpropType.TRUNCATED_BPTT:
        raise nd.ConfigurationError(
            f"doTruncatedBPTT: the network must have truncated backprop, got {str(kind)!r}. "
            "Call backpropType(BackpropType.TruncatedBPTT)."
        )
    network.fit(x, y, *masks)
