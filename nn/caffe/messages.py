"""Between a net and its message: parameters in the message go into the net, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import nd
from nd import ConfigurationError, ShapeError
from nd.checks import describe_shape

from .blobs import array_to_blobproto, blobproto_to_array, shape_equals
from .schema import Message, new

if TYPE_CHECKING:
    from .structure import NetStructure


def take_blobs(net: NetStructure) -> None:
    """Put arrays in the field `blobs` of layers' messages into the parameters, in the place of what fillers draw.

    Raises
    ------
    ConfigurationError, ShapeError
        They are not as many as the layer's parameters, or of other shapes.
    """
    for plan in net.assembly.layers:
        given = plan.message.blobs
        if not given:
            continue
        if len(given) != len(plan.params):
            raise ConfigurationError(
                f"{plan.label}: expected {len(plan.params)} blob(s) for its parameters, got {len(given)}."
            )
        for place, (blob, index) in enumerate(zip(given, plan.params, strict=True)):
            target = net.param_blobs[index]
            if not shape_equals(blob, target.shape):
                shape = tuple(blobproto_to_array(blob, who=plan.label).shape)
                raise ShapeError(
                    f"{plan.label}: expected {describe_shape(target.shape)} for parameter {place}, got "
                    f"{describe_shape(shape)} in its blobs."
                )
            target.write("data", nd.reshape(blobproto_to_array(blob, who=plan.label), target.shape))
        plan.message.ClearField("blobs")


def message_with_blobs(net: NetStructure, write_diff: bool) -> Message:
    """Return a net as a NetParameter: its name and the layers as they run, each with its parameters.

    Notes
    -----
    Source: BVLC Caffe, Net::ToProto.
    """
    message = new("NetParameter", name=net.name)
    for plan in net.assembly.layers:
        layer = message.layer.add()
        layer.CopyFrom(plan.message)
        for index in plan.params:
            blob = net.param_blobs[index]
            diff = blob.read("diff") if write_diff else None
            layer.blobs.append(array_to_blobproto(blob.read("data"), diff))
    return message
