"""oneDNN for the NumPy backend's heavy primitives, where it is installed: through ctypes, never required."""
