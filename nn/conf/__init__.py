"""Configuration of layers and networks."""
