"""The NumPy backend: workers, recording, convolution algorithms."""
