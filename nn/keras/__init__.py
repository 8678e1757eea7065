"""Files of Keras 1, 2 and 3, read and written."""
