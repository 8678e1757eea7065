"""Time the training step of perceptrons on the CPU against PyTorch: 784-64-10 and 784-1000-10, Nesterovs with L2."""

from interleaved import main

if __name__ == "__main__":
    main(__doc__, ["784-64-10", "784-1000-10"], [64, 256])
