"""Time LeNet's predictions on the CPU against PyTorch in inference mode, softmax included."""

from interleaved import INFERENCE, main

if __name__ == "__main__":
    main(__doc__, ["lenet"], [1, 64, 1024], [INFERENCE])
