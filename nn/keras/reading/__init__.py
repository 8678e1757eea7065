"""Files of Keras as `KerasModel`."""
