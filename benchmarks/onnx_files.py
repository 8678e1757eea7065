"""A VGG16-sized ONNX file: time and memory of reading and writing it, beside numpy.fromfile of as many bytes.

The file is as PyTorch's exporter writes VGG16, with random weights. Every figure is of a process of its own: the best
time of several, and how far its resident memory rose above what it was before (Linux tells). Prints seconds, megabytes,
and both as multiples of numpy.fromfile's time and of the file's length. Needs the package onnx; with onnxruntime its
time too.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent
CHANNELS = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0)
"""Of the convolutions; 0 for a pooling between them."""
WIDE = (4096, 4096, 1000)
PROGRAM = """
import sys, time
import numpy
def memory(name):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))
{imports}
path = sys.argv[1]
best = float("inf")
before = memory("VmRSS")
for _ in range({rounds}):
    made = None
    started = time.perf_counter()
    made = {call}
    best = min(best, time.perf_counter() - started)
print(best, (memory("VmHWM") - before) / 1024)
"""
FIGURES = {
    "numpy.fromfile": ("", "numpy.fromfile(path, numpy.float32, {length} // 4)", 5),
    "nn.load": ("import nn\nimport nn.onnx.into, onnx.reference, onnx.shape_inference", "nn.load(path)", 3),
    "onnx.load": ("import onnx", "onnx.load(path)", 3),
    "onnxruntime": ("import onnxruntime", "onnxruntime.InferenceSession(path, providers=['CPUExecutionProvider'])", 3),
    "net.save of .onnx": ("import nn\nnet = nn.load(sys.argv[1])", "net.save(path + '.again.onnx')", 2),
    "net.save of .zip": ("import nn\nnet = nn.load(sys.argv[1])", "net.save(path + '.again.zip')", 1),
}
"""What is timed -> imports and preparations, the call, and how often."""


def vgg16(path: pathlib.Path, width: int = 1) -> None:
    """Write the model; all channels and wide layers divided by `width`."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(1)
    nodes, tensors, below, before, number = [], [], "x", 3, 0

    def weights(name: str, *shape: int) -> str:
        array = rng.standard_normal(shape, np.float32) * np.float32(np.prod(shape[1:]) ** -0.5)
        tensors.append(numpy_helper.from_array(array, name))
        return name

    for channels in (size // width for size in CHANNELS):
        number += 1
        if not channels:
            nodes.append(helper.make_node("MaxPool", [below], [f"pool{number}"], kernel_shape=[2, 2], strides=[2, 2]))
            below = f"pool{number}"
            continue
        given = [below, weights(f"{number}.weight", channels, before, 3, 3), weights(f"{number}.bias", channels)]
        nodes.append(helper.make_node("Conv", given, [f"conv{number}"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"conv{number}"], [f"relu{number}"]))
        below, before = f"relu{number}", channels
    nodes.append(helper.make_node("Flatten", [below], ["flat"], axis=1))
    below, before = "flat", before * 49
    for place, size in enumerate(WIDE):
        size //= width if place < len(WIDE) - 1 else 1
        given = [below, weights(f"fc{place}.weight", size, before), weights(f"fc{place}.bias", size)]
        nodes.append(helper.make_node("Gemm", given, [f"fc{place}"], transB=1))
        below, before = f"fc{place}", size
        if place < len(WIDE) - 1:
            nodes.append(helper.make_node("Relu", [below], [f"act{place}"]))
            below = f"act{place}"
    nodes.append(helper.make_node("Softmax", [below], ["y"], axis=1))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 224, 224])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", WIDE[-1]])
    graph = helper.make_graph(nodes, "vgg16", [x], [y], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)


def figure(name: str, path: pathlib.Path) -> tuple[float, float] | None:
    """Return seconds and megabytes of one thing, in a process of its own; None where a package is missing."""
    imports, call, rounds = FIGURES[name]
    program = PROGRAM.format(imports=imports, call=call.format(length=path.stat().st_size), rounds=rounds)
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        print(f"{name}: {done.stderr.strip().splitlines()[-1]}")
        return None
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--width", type=int, default=1, help="divide channels by that, for a quick look")
    width = parser.parse_args().width
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "vgg16.onnx")
        vgg16(path, width)
        length = path.stat().st_size / 2**20
        print(f"VGG16 as ONNX, {length:.1f} MB")
        plain = 0.0
        for name in FIGURES:
            found = figure(name, path)
            if found is None:
                continue
            seconds, megabytes = found
            plain = plain or seconds
            times = f"{seconds / plain:6.1f} x fromfile, {megabytes / length:5.2f} x the file"
            print(f"{name:<18} {seconds:8.3f} s  {megabytes:8.1f} MB  {times}")


if __name__ == "__main__":
    main()
