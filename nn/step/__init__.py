"""One step: nodes forward and backward, parts of a minibatch, parameters and gradients."""
