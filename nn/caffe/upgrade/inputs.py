"""What changed in 2016: a net's inputs are a layer, and BatchNorm's parameters are no solver's."""

from __future__ import annotations

from nd import ConfigurationError

from ..schema import Message, new

_LEGACY_AXES = 4
_STATISTICS = 3  # parameters of a BatchNorm layer: sums of means and of variances, and by what they are divided


def upgrade_inputs(net: Message, who: str) -> None:
    """Make a first layer, of type Input and with that name, of the fields `input` and `input_shape` or `input_dim`.

    Inputs without any shape, as old caffemodels have them, are dropped.

    Raises
    ------
    ConfigurationError
        There are not as many shapes as inputs.
    """
    if not net.input:
        return
    shapes = _shapes(net, who)
    if shapes:
        layer = new("LayerParameter", name="input", type="Input", top=net.input)
        layer.input_param.shape.extend(new("BlobShape", dim=shape) for shape in shapes)
        net.layer.insert(0, layer)
    for field in ("input", "input_shape", "input_dim"):
        net.ClearField(field)


def upgrade_batch_norms(net: Message, who: str) -> None:
    """Set both multipliers of a BatchNorm layer's three parameters to 0; names, which share them, are kept."""
    for layer in net.layer:
        if layer.type == "BatchNorm" and len(layer.param) == _STATISTICS:
            for spec in layer.param:
                spec.lr_mult = spec.decay_mult = 0.0


def _shapes(net: Message, who: str) -> list[list[int]]:
    shapes = [list(shape.dim) for shape in net.input_shape]
    if not shapes:
        dims = list(net.input_dim)
        if len(dims) % _LEGACY_AXES:
            raise ConfigurationError(f"{who}: input_dim must be 4 numbers for each input, got {dims}.")
        shapes = [dims[first : first + _LEGACY_AXES] for first in range(0, len(dims), _LEGACY_AXES)]
    if shapes and len(shapes) != len(net.input):
        raise ConfigurationError(
            f"{who}: expected a shape for each input, got inputs {list(net.input)} and shapes {shapes}."
        )
    return shapes
