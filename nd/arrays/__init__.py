"""Creation, computation and change of arrays."""
