"""What makes, computes and changes arrays."""
