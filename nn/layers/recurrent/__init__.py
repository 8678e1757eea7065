"""Recurrent layers, and layers around others over series."""
