"""Models of Keras as networks that compute the same, and can be trained on."""
