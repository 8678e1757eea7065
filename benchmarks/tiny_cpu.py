"""Time the training step of a 2-20-2 network on the CPU against PyTorch: nothing but overhead."""

from interleaved import main

if __name__ == "__main__":
    main(__doc__, ["2-20-2"], [50])
