"""Layers of every network: dense, embedding, activation, dropout."""
