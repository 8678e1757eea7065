"""Updates of flat vectors alone, without a network that has computed their gradient."""

from optimize.step import Gradients, StepResult, negative_gradient_step


def result_of(updater, batch_size=None, more=()):
    """Return the result of a model whose gradient lies in the updater's vector, a sum over so many examples."""
    gradients = Gradients(updater.gradient)
    gradients.written(tuple(more), None)
    return StepResult(0.0, 0.0, batch_size or 1, gradients, batch_size or 1, known_score=0.0)


def run_update(updater, batch_size, iteration, epoch, step=negative_gradient_step, more=()):
    """Update by it, divided by the batch size if there is one; return the outcome."""
    return updater.update(result_of(updater, batch_size, more), iteration, epoch, step)
