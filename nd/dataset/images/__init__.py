"""Pictures in files: which there are, how they are decoded, and iterators that decode ahead in threads of their own."""
