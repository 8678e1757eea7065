"""Convolutions, and changes of the size of images, series and volumes."""
