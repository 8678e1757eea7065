"""Convolutions, and what changes the size of images, series and volumes."""
