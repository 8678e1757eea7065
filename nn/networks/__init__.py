"""Networks, and what they share: training, inference, saving."""
