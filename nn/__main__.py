"""``python -m nn``: look into model files, convert, evaluate and use them."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
