"""Tables that files of Keras are read and written by."""
