"""Time LeNet's training step on the CPU against PyTorch: forward, backward, Nesterovs with L2, one minibatch."""

from interleaved import main

if __name__ == "__main__":
    main(__doc__, ["lenet"], [16, 64, 256, 1024])
