"""How computations run: op by op, by several workers, recorded."""
