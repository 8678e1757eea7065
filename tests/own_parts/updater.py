"""Lion: the sign of a mean of the gradient and of its running mean (Chen et al. 2023)."""

from dataclasses import dataclass

import nd
from nn import register
from optimize import Schedule, Updater


@register
@dataclass(frozen=True)
class SignOfMeans(Updater):
    pure = True
    learning_rate: float | Schedule = 1e-3
    beta1: float = 0.9
    beta2: float = 0.99
    state_names = ("M",)

    def coefficients(self, iteration, epoch):
        return (self.learning_rate_at(iteration, epoch),)

    def apply(self, gradient, states, scratch, coefficients):
        (m,) = states
        nd.assign(scratch, self.beta1 * m + (1.0 - self.beta1) * gradient)
        nd.assign(m, self.beta2 * m + (1.0 - self.beta2) * gradient)
        nd.multiply(nd.sign(scratch), coefficients[0], gradient)
