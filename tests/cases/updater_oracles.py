"""What updaters subtract, in float64, written another way: as sums over all gradients so far."""

import numpy as np


def decayed_sum(terms, decay):
    """Row t is the sum over i <= t of decay^(t - i) * terms[i]."""
    return np.stack([sum(decay ** (t - i) * terms[i] for i in range(t + 1)) for t in range(len(terms))])


def rates_of(value, count):
    """Return the values of a number or a schedule at iterations 0 .. count - 1 as a column."""
    numbers = [value.value_at(t, 0) if hasattr(value, "value_at") else value for t in range(count)]
    return np.array(numbers, np.float64)[:, None]


def adam_oracle(updater, gradients):
    """Kingma and Ba's algorithm 1, with both corrections; DL4J's epsilon is added before the correction of v."""
    t = np.arange(1, len(gradients) + 1)[:, None]
    m_corrected = decayed_sum((1 - updater.beta1) * gradients, updater.beta1) / (1 - updater.beta1**t)
    v_shrink = 1 - updater.beta2**t
    v_corrected = decayed_sum((1 - updater.beta2) * gradients**2, updater.beta2) / v_shrink
    rates = rates_of(updater.learning_rate, len(gradients))
    return rates * m_corrected / (np.sqrt(v_corrected) + updater.epsilon / np.sqrt(v_shrink))


def nesterovs_oracle(updater, gradients):
    """Multiplied out: update = (1 + mu) lr g - mu^2 v_before."""
    steps = rates_of(updater.learning_rate, len(gradients)) * gradients
    momenta = rates_of(updater.momentum, len(gradients))
    updates, v = [], np.zeros_like(gradients[0])
    for step, mu in zip(steps, momenta, strict=True):
        updates.append((1 + mu) * step - mu * mu * v)
        v = mu * v - step
    return np.stack(updates)


def sgd_oracle(updater, gradients):
    return gradients * rates_of(updater.learning_rate, len(gradients))


def first_mean(updater, gradients):
    """Adam's m, and its correction."""
    t = np.arange(1, len(gradients) + 1)[:, None]
    return decayed_sum((1 - updater.beta1) * gradients, updater.beta1), 1 - updater.beta1**t


def corrected_like_adam(updater, m, m_shrink, v):
    """Both means corrected, epsilon added before the correction of v."""
    v_shrink = 1 - updater.beta2 ** np.arange(1, len(m) + 1)[:, None]
    rates = rates_of(updater.learning_rate, len(m))
    return rates * (m / m_shrink) / (np.sqrt(v / v_shrink) + updater.epsilon / np.sqrt(v_shrink))


def adabelief_oracle(updater, gradients):
    m, m_shrink = first_mean(updater, gradients)
    terms = (1 - updater.beta2) * (gradients - m) ** 2 + updater.epsilon
    return corrected_like_adam(updater, m, m_shrink, decayed_sum(terms, updater.beta2))


def adadelta_oracle(updater, gradients):
    """Zeiler's algorithm 1: update = RMS of the updates before / RMS of the gradients so far * gradient."""
    updates = []
    for t in range(len(gradients)):
        rms = []
        for so_far in (updates, list(gradients[: t + 1])):
            mean = sum((1 - updater.rho) * updater.rho**age * x**2 for age, x in enumerate(reversed(so_far)))
            rms.append(np.sqrt(mean + updater.epsilon))
        updates.append(rms[0] / rms[1] * gradients[t])
    return np.stack(updates)


def adagrad_oracle(updater, gradients):
    rates = rates_of(updater.learning_rate, len(gradients))
    return rates * gradients / (np.sqrt(1e-6 + np.cumsum(gradients**2, axis=0)) + updater.epsilon)


def adamax_oracle(updater, gradients):
    """Kingma and Ba's equation 10: u is the largest of beta2^age * |g|."""
    m, m_shrink = first_mean(updater, gradients)
    u = [np.max([updater.beta2 ** (t - i) * abs(gradients[i]) for i in range(t + 1)], axis=0) for t in range(len(m))]
    return rates_of(updater.learning_rate, len(m)) * m / m_shrink / np.stack(u)


def amsgrad_oracle(updater, gradients):
    v = decayed_sum((1 - updater.beta2) * gradients**2, updater.beta2)
    return corrected_like_adam(updater, *first_mean(updater, gradients), np.maximum.accumulate(v))


def nadam_oracle(updater, gradients):
    """With m one step further, on the same gradient."""
    m, m_shrink = first_mean(updater, gradients)
    ahead = updater.beta1 * m + (1 - updater.beta1) * gradients
    v = decayed_sum((1 - updater.beta2) * gradients**2, updater.beta2)
    return rates_of(updater.learning_rate, len(m)) * ahead / m_shrink / (np.sqrt(v) + updater.epsilon)


def rmsprop_oracle(updater, gradients):
    t = np.arange(1, len(gradients) + 1)[:, None]
    v = decayed_sum((1 - updater.rms_decay) * gradients**2, updater.rms_decay) + updater.epsilon * updater.rms_decay**t
    return rates_of(updater.learning_rate, len(gradients)) * gradients / (np.sqrt(v) + updater.epsilon)
