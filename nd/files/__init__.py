"""Files of arrays: reading and writing them, checked."""
