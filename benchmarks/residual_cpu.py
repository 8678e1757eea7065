"""Time a residual network's training step, and its predictions, on the CPU against PyTorch.

It is that of `examples/residual_digits.py`: 21 convolutions with batch normalisation, Adam with L2.
"""

from interleaved import INFERENCE, TRAINING, main

if __name__ == "__main__":
    main(__doc__, ["residual"], [16, 64, 256], [TRAINING, INFERENCE])
