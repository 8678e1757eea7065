"""Layers that are pretrained: they learn from their input alone before a network is trained on labels."""
