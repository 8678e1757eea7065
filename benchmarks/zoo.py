"""Forward of every model of the zoo: one example, in a process of its own. Seconds and memory.

``python -m benchmarks.zoo [MODEL ...]`` prints the rows of the table in docs/zoo.md.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

SETTINGS: dict[str, dict[str, object]] = {
    "AlexNet": {"num_classes": 1000},
    "Darknet19": {"num_classes": 1000},
    "FaceNetNN4Small2": {"num_classes": 1000},
    "InceptionResNetV1": {"num_classes": 1000},
    "LeNet": {"num_classes": 10},
    "NASNet": {"num_classes": 1000, "num_blocks": 4, "stem_filters": 32, "skip_reduction": False},
    "ResNet50": {"num_classes": 1000},
    "SimpleCNN": {"num_classes": 10},
    "SqueezeNet": {"num_classes": 1000},
    "TextGenerationLSTM": {},
    "TinyYOLO": {"num_classes": 20},
    "UNet": {},
    "VGG16": {"num_classes": 1000},
    "VGG19": {"num_classes": 1000},
    "Xception": {"num_classes": 1000},
    "YOLO2": {"num_classes": 80},
}
REPEATS = 3


def peak_memory() -> float:
    """Return the most memory that the process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name: str) -> None:
    """Print a row: input, parameters, seconds until there are weights, seconds of a forward pass, memory."""
    import numpy as np

    from nn import zoo

    model = getattr(zoo, name)(**SETTINGS[name])
    start = time.perf_counter()
    net = model.init()
    built = time.perf_counter() - start
    shape = tuple(model.input_shape)
    if name == "TextGenerationLSTM":
        shape = shape[::-1]
    elif name in ("LeNet", "VGG16", "VGG19"):
        shape = (int(np.prod(shape)),)
    x = np.random.default_rng(0).random((1, *shape), np.float32)
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        net.output(x)
        seconds.append(time.perf_counter() - start)
    said = " x ".join(str(size) for size in model.input_shape)
    print(
        f"| {name} | {said} | {net.num_params():,} | {built:.1f} | {seconds[0]:.2f} | {min(seconds):.2f} | "
        f"{peak_memory():,.0f} |",
        flush=True,
    )


def main(names: list[str]) -> None:
    """Measure these models, or all."""
    print("| model | input | parameters | init, s | first output, s | output, s | memory, MB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for name in names or sorted(SETTINGS):
        subprocess.run([sys.executable, "-m", "benchmarks.zoo", "--one", name], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2])
    else:
        main(sys.argv[1:])
