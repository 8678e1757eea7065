"""A training step as ONNX: forward, loss, backward and update as plain operators, which a stock runtime carries out."""

from .step import training_model as training_model
