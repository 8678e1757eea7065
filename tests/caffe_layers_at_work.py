"""One layer of Caffe's at work, made of its text and called as a net calls it."""

import numpy as np

import nd
from nn.caffe import parse_text
from nn.caffe.layers import layer_class
from nn.caffe.layers.base import CaffeLayerConf, check_counts
from nn.vertices import VertexContext
from tests.layers_at_work import memory_of_gradients


class LayerAtWork:
    """A layer for bottoms of some shapes, with blobs that are zeros at first."""

    def __init__(self, kind, text, *shapes, phase="TRAIN", tops=1, dtype="float64"):
        names = "".join(f'bottom: "b{number}" ' for number in range(len(shapes)))
        names += "".join(f'top: "t{number}" ' for number in range(tops))
        message = parse_text(f'name: "it" type: "{kind}" {names} {text}', "LayerParameter")
        probe = layer_class(kind)(CaffeLayerConf(message, phase, shapes), "layer 'it'", dtype)
        check_counts(probe)
        self.tops = [tuple(shape) for shape in probe.top_shapes(shapes)]
        conf = CaffeLayerConf(message, phase, shapes, tuple(probe.blobs(shapes)), tuple(self.tops))
        self.layer, self.phase, self.dtype = layer_class(kind)(conf, "layer 'it'", dtype), phase, dtype
        self.params, self.grads = memory_of_gradients(self.layer), memory_of_gradients(self.layer)
        self.buffers = nd.Buffers(dtype)

    def forward(self, *xs, needs=None):
        """Return the tops as NumPy's arrays; of one top that."""
        xs = [nd.create(np.asarray(x), self.dtype) for x in xs]
        needs = needs or (True,) * len(xs)
        ctx = VertexContext(self.phase == "TRAIN", self.buffers, (None,) * len(xs), needs, {})
        tops, self.kept, _ = self.layer.propagate(xs, (), self.params, ctx)
        if self.layer.outputs == 1:
            return nd.to_host(nd.copy(tops))
        return [nd.to_host(nd.copy(top)) for top in tops]

    def backward(self, *epsilons):
        """Return dL/d(bottoms) after `forward`, None for those that have none."""
        given = tuple(nd.create(np.asarray(epsilon), self.dtype) for epsilon in epsilons)
        below = self.layer.backpropagate(given if len(given) > 1 else given[0], self.kept, self.grads)
        return [None if one is None else nd.to_host(nd.copy(one)) for one in below]
