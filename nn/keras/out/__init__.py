"""Networks as files of Keras 3."""
