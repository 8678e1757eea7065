"""Random nets of layers that OpenCV's dnn computes as Caffe does: chains and branches, with layers in place."""

from .opencv_layers import chance, number, real

KINDS = ("Convolution", "InPlace", "InPlace", "Pooling", "LRN", "BatchNorm", "Eltwise", "Concat", "Slice", "Reshape")


class RandomNet:
    """The text of a net while it is drawn.

    Parameters
    ----------
    rng : numpy Generator
    layers : int
        To draw, beside those that end it.
    """

    def __init__(self, rng, layers):
        self.rng, self.parts, self.shapes = rng, [], {}
        shape = (number(rng, 1, 3), number(rng, 2, 4), number(rng, 8, 12), number(rng, 8, 12))
        dims = " ".join(f"dim: {length}" for length in shape)
        self.parts.append(f'layer {{ name: "data" type: "Input" top: "data" input_param {{ shape {{ {dims} }} }} }}')
        self.shapes["data"] = shape
        self.unread = ["data"]
        for _ in range(layers):
            self.draw()
        self.end()

    @property
    def text(self):
        return "\n".join(self.parts)

    def add(self, kind, bottoms, shapes, settings="", in_place=False):
        """Add a layer; return the names of its tops."""
        name = f"l{len(self.parts)}"
        tops = (
            list(bottoms) if in_place else [name if len(shapes) == 1 else f"{name}_{at}" for at in range(len(shapes))]
        )
        blobs = " ".join([f'bottom: "{blob}"' for blob in bottoms] + [f'top: "{blob}"' for blob in tops])
        self.parts.append(f'layer {{ name: "{name}" type: "{kind}" {blobs} {settings} }}')
        self.unread = [blob for blob in self.unread if blob not in bottoms] + tops
        self.shapes.update(zip(tops, shapes, strict=True))
        return tops

    def pick(self):
        """Return a blob of images: the newest, or any one, which then has several readers."""
        blobs = [blob for blob, shape in self.shapes.items() if len(shape) == 4 and min(shape[2:]) > 2]
        return blobs[-1] if number(self.rng, 0, 3) else blobs[number(self.rng, 0, len(blobs) - 1)]

    def draw(self):
        rng = self.rng
        blob, kind = self.pick(), KINDS[number(rng, 0, len(KINDS) - 1)]
        shape = self.shapes[blob]
        if kind == "Convolution":
            self.convolution(blob)
        elif kind == "InPlace":
            if blob in self.unread and blob != "data":  # Caffe refuses to write what others have read
                simple = ("ReLU", "TanH", "Sigmoid", "ELU", "AbsVal", "Dropout")
                at = number(rng, 0, 5)
                self.add(simple[at], [blob], [shape], in_place=simple[at] != "AbsVal")
        elif kind == "Pooling":
            sizes = [-(-(length - 3) // 2) + 1 for length in shape[2:]]
            of = ("MAX", "AVE")[number(rng, 0, 1)]
            self.add(kind, [blob], [(*shape[:2], *sizes)], f"pooling_param {{ pool: {of} kernel_size: 3 stride: 2 }}")
        elif kind == "LRN":
            self.add(kind, [blob], [shape], "lrn_param { local_size: 3 alpha: 0.5 }")
        elif kind == "BatchNorm":
            (top,) = self.add(kind, [blob], [shape])
            self.add("Scale", [top], [shape], "scale_param { bias_term: true }", in_place=chance(rng))
        else:
            getattr(self, kind.lower())(blob, shape)

    def convolution(self, blob, outputs=None):
        shape, outputs = self.shapes[blob], outputs or number(self.rng, 2, 6)
        settings = f"convolution_param {{ num_output: {outputs} kernel_size: 3 pad: 1 }}"
        return self.add("Convolution", [blob], [(shape[0], outputs, *shape[2:])], settings)[0]

    def eltwise(self, blob, shape):
        operation = ("SUM", "MAX", "PROD")[number(self.rng, 0, 2)]
        other = self.convolution(blob, shape[1])
        self.add("Eltwise", [blob, other], [shape], f"eltwise_param {{ operation: {operation} }}")

    def concat(self, blob, shape):
        first, second = self.convolution(blob), self.convolution(blob)
        channels = self.shapes[first][1] + self.shapes[second][1]
        self.add("Concat", [first, second], [(shape[0], channels, *shape[2:])])

    def slice(self, blob, shape):
        point = number(self.rng, 1, shape[1] - 1) if shape[1] > 1 else None
        if point:
            shapes = [(shape[0], count, *shape[2:]) for count in (point, shape[1] - point)]
            self.add("Slice", [blob], shapes, f"slice_param {{ slice_point: {point} }}")

    def reshape(self, blob, shape):
        turned = (shape[0], shape[1], shape[3], shape[2])
        dims = f"dim: 0 dim: 0 dim: {shape[3]} dim: -1"
        self.add("Reshape", [blob], [turned], f"reshape_param {{ shape {{ {dims} }} }}")

    def end(self):
        """Take all that nobody reads to scores."""
        for blob in list(self.unread):
            outputs = number(self.rng, 2, 5)
            rows = (self.shapes[blob][0], outputs)
            (top,) = self.add("InnerProduct", [blob], [rows], f"inner_product_param {{ num_output: {outputs} }}")
            slope = f"relu_param {{ negative_slope: {real(self.rng, 0, 1)} }}"
            self.add(*(("Softmax", [top], [rows]) if chance(self.rng) else ("ReLU", [top], [rows], slope, True)))
