"""Networks as ONNX files, and back: `net.save("net.onnx")` and `nn.load("net.onnx")`. Extra: ``[onnx]``."""
