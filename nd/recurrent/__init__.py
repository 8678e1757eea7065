"""Series through recurrent cells and back, step by step in time."""
