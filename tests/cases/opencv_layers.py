"""Random settings of the types of Caffe's layers that OpenCV's dnn computes, each for a net of that one layer.

What OpenCV 4 computes otherwise than Caffe is left out, with the reason beside it. It does not know these types:
ArgMax, BatchReindex, Bias, Clip, Embed, Im2col, Reduction, Reorg, SPP, Threshold, Upsample, recurrent layers, losses.
"""

from typing import NamedTuple


class Drawn(NamedTuple):
    """A layer, drawn."""

    settings: str
    """Of its message."""
    bottoms: tuple
    """Shapes."""
    tops: int = 1
    positive: bool = False
    """Whether the bottoms are above 0."""


def number(rng, low, high):
    return int(rng.integers(low, high + 1))


def real(rng, low, high):
    return round(float(rng.uniform(low, high)), 3)


def chance(rng):
    return bool(rng.integers(2))


def images(rng, least=1, channels=None):
    """Return a shape ``[N, C, H, W]`` with at least so many rows and columns."""
    return (
        number(rng, 1, 3),
        channels or number(rng, 1, 6),
        number(rng, least, least + 8),
        number(rng, least, least + 8),
    )


def any_shape(rng):
    """Return a shape of two to four axes."""
    return tuple(number(rng, 1, 6) for _ in range(number(rng, 2, 4)))


def _word(value):
    return str(value).lower()


def _pair(rng, name, low, high, of_two="{}_{}"):
    """Return one field for both axes, or two; and both numbers."""
    if chance(rng):
        value = number(rng, low, high)
        return f"{name}: {value} ", (value, value)
    rows, columns = number(rng, low, high), number(rng, low, high)
    short = name.removesuffix("_size")
    return f"{of_two.format(short, 'h')}: {rows} {of_two.format(short, 'w')}: {columns} ", (rows, columns)


# ---- windows


def _sliding(rng, num_output, group, farthest=2):
    kernel, sizes = _pair(rng, "kernel_size", 1, 4)
    stride, _ = _pair(rng, "stride", 1, 3)
    dilation = number(rng, 1, farthest)
    pad, pads = _pair(rng, "pad", 0, 2)
    bias = _word(chance(rng))
    least = max(dilation * (size - 1) + 1 - 2 * border for size, border in zip(sizes, pads, strict=True))
    settings = f"num_output: {num_output} group: {group} {kernel}{stride}{pad}dilation: {dilation} bias_term: {bias}"
    return f"convolution_param {{ {settings} }}", max(least, 1)


def convolution(rng):
    group = number(rng, 1, 3)
    settings, least = _sliding(rng, group * number(rng, 1, 4), group)
    return Drawn(settings, (images(rng, least, group * number(rng, 1 if group == 1 else 2, 3)),))


def convolution_of_volumes(rng):
    sizes = [number(rng, 1, 3) for _ in range(3)]
    strides = [number(rng, 1, 2) for _ in range(3)]
    fields = "".join(f"kernel_size: {size} stride: {step} " for size, step in zip(sizes, strides, strict=True))
    shape = (number(rng, 1, 2), number(rng, 1, 3), *(size + number(rng, 0, 3) for size in sizes))
    return Drawn(f"convolution_param {{ num_output: {number(rng, 1, 4)} {fields}}}", (shape,))


def depthwise(rng):
    """Return one without dilation: OpenCV's first column is wrong for kernels of 3, dilation 2 and pad 1."""
    channels = number(rng, 2, 4)
    settings, least = _sliding(rng, channels, channels, farthest=1)
    return Drawn(settings, (images(rng, least, channels),))


def deconvolution(rng):
    """Return one without dilation, which OpenCV leaves out, and pad < kernel, else it writes beside its memory."""
    group = number(rng, 1, 3)
    kernel, sizes = _pair(rng, "kernel_size", 1, 4)
    stride, _ = _pair(rng, "stride", 1, 3)
    pad, _ = _pair(rng, "pad", 0, min(sizes) - 1)
    fields = f"num_output: {group * number(rng, 1, 3)} group: {group} bias_term: {_word(chance(rng))}"
    shape = images(rng, 5, group * number(rng, 1, 3))
    return Drawn(f"convolution_param {{ {fields} {kernel}{stride}{pad}}}", (shape,))


def pooling(rng):
    """Return windows that lie side by side, or overlap: others may begin behind the image, where Caffe has -FLT_MAX.

    `round_mode` is left out, which OpenCV does not know.
    """
    kind = ("MAX", "AVE")[number(rng, 0, 1)]
    if number(rng, 0, 5) == 0:
        return Drawn(f"pooling_param {{ pool: {kind} global_pooling: true }}", (images(rng),))
    kernel, sizes = _pair(rng, "kernel_size", 1, 4)
    stride, _ = _pair(rng, "stride", 1, min(sizes))
    pad, _ = _pair(rng, "pad", 0, min(sizes) - 1)
    return Drawn(f"pooling_param {{ pool: {kind} {kernel}{stride}{pad}}}", (images(rng, max(sizes)),))


def roi_pooling(rng):
    rows, columns = number(rng, 1, 4), number(rng, 1, 4)
    return Drawn(
        f"roi_pooling_param {{ pooled_h: {rows} pooled_w: {columns} spatial_scale: 0.5 }}", ((1, 3, 9, 9), (4, 5))
    )


# ---- weights


def inner_product(rng):
    shape = any_shape(rng)
    axis = number(rng, 1, len(shape) - 1)
    bias = _word(chance(rng))
    return Drawn(f"inner_product_param {{ num_output: {number(rng, 1, 9)} axis: {axis} bias_term: {bias} }}", (shape,))


def scale(rng):
    shape = images(rng)
    axis = number(rng, 0, 1)
    fields = f"axis: {axis} num_axes: {number(rng, 1, 4 - axis)} bias_term: {_word(chance(rng))}"
    return Drawn(f"scale_param {{ {fields} }}", (shape,))


def scale_by_bottom(rng):
    shape = images(rng)
    return Drawn("scale_param { axis: 0 }", (shape, shape[: number(rng, 1, 2)]))


def batch_norm(rng):
    return Drawn(f"batch_norm_param {{ eps: {real(rng, 0.001, 0.1)} }}", (images(rng),))


def prelu(rng):
    """Return one with a slope for each channel: OpenCV reads no blob without axes."""
    return Drawn("", (images(rng),))


# ---- normalisations


def lrn(rng):
    """`k` stays 1, which OpenCV takes whatever is written."""
    region = ("ACROSS_CHANNELS", "WITHIN_CHANNEL")[number(rng, 0, 1)]
    fields = f"local_size: {2 * number(rng, 0, 3) + 1} alpha: {real(rng, 0.1, 2)} beta: {real(rng, 0.3, 1.5)}"
    return Drawn(f"lrn_param {{ {fields} norm_region: {region} }}", (images(rng),))


def mvn(rng):
    """`eps` stays small: Caffe adds it to the deviation, OpenCV to the variance."""
    fields = f"normalize_variance: {_word(chance(rng))} across_channels: {_word(chance(rng))}"
    return Drawn(f"mvn_param {{ {fields} }}", (images(rng, 2),))


def normalize(rng):
    """Return one over channels with a factor for each: OpenCV has no other, and reads no blob without axes."""
    return Drawn("norm_param { across_spatial: false channel_shared: false }", (images(rng, 1, number(rng, 2, 5)),))


def softmax(rng):
    shape = any_shape(rng)
    return Drawn(f"softmax_param {{ axis: {number(rng, 0, len(shape) - 1)} }}", (shape,))


# ---- functions of every element


def _of_elements(settings="", positive=False):
    return lambda rng: Drawn(settings, (any_shape(rng),), positive=positive)


def elu(rng):
    return Drawn(f"elu_param {{ alpha: {real(rng, 0.1, 2)} }}", (any_shape(rng),))


def relu(rng):
    return Drawn(f"relu_param {{ negative_slope: {real(rng, 0, 0.9)} }}", (any_shape(rng),))


def _powers(rng, name, base):
    fields = f"{base} scale: {real(rng, 0.2, 1.5)} shift: {real(rng, 0, 1)}"
    return Drawn(f"{name} {{ {fields} }}", (any_shape(rng),), positive=True)


def power(rng):
    return _powers(rng, "power_param", f"power: {real(rng, -2, 3)}")


def exponential(rng):
    return _powers(rng, "exp_param", f"base: {(-1, real(rng, 0.5, 4))[number(rng, 0, 1)]}")


def logarithm(rng):
    """Return ln x: OpenCV leaves out base, scale and shift."""
    return Drawn("", (any_shape(rng),), positive=True)


# ---- several bottoms or tops


def concat(rng):
    shape = any_shape(rng)
    axis = number(rng, 0, len(shape) - 1)
    lengths = [number(rng, 1, 4) for _ in range(number(rng, 2, 4))]
    bottoms = tuple((*shape[:axis], length, *shape[axis + 1 :]) for length in lengths)
    return Drawn(f"concat_param {{ axis: {axis} }}", bottoms)


def slices(rng):
    """Return one with points: without them OpenCV divides by the number of tops that somebody reads."""
    shape = [number(rng, 1, 4) for _ in range(4)]
    axis, count = number(rng, 0, 3), number(rng, 2, 3)
    shape[axis] = number(rng, 4, 7)
    cuts = sorted(rng.choice(range(1, shape[axis]), count - 1, replace=False))
    points = "".join(f" slice_point: {cut}" for cut in cuts)
    return Drawn(f"slice_param {{ axis: {axis}{points} }}", (tuple(shape),), count)


def split(rng):
    return Drawn("", (any_shape(rng),), number(rng, 2, 3))


def eltwise(rng):
    shape, count, kind = any_shape(rng), number(rng, 2, 4), ("PROD", "SUM", "MAX")[number(rng, 0, 2)]
    weights = kind == "SUM" and chance(rng)
    factors = "".join(f" coeff: {real(rng, -2, 2)}" for _ in range(count if weights else 0))
    return Drawn(f"eltwise_param {{ operation: {kind}{factors} }}", (shape,) * count)


# ---- shapes


def flatten(rng):
    shape = any_shape(rng)
    start = number(rng, 1, len(shape) - 1)  # OpenCV has no arrays of one axis
    end = number(rng, start, len(shape) - 1)
    return Drawn(f"flatten_param {{ axis: {start} end_axis: {(end, end - len(shape))[number(rng, 0, 1)]} }}", (shape,))


def reshape(rng):
    shape = tuple(number(rng, 1, 4) for _ in range(4))
    fields = (
        "shape { dim: 0 dim: -1 }",
        f"shape {{ dim: {shape[1] * shape[2]} dim: 1 dim: -1 }} axis: 1",
        f"shape {{ dim: -1 dim: {shape[1]} }} axis: 1 num_axes: 2",
        "shape { dim: 0 dim: 0 dim: -1 dim: 1 }",
    )
    return Drawn(f"reshape_param {{ {fields[number(rng, 0, 3)]} }}", (shape,))


def permute(rng):
    order = " ".join(f"order: {axis}" for axis in rng.permutation(4))
    return Drawn(f"permute_param {{ {order} }}", (images(rng),))


def crop(rng):
    size, axis = [number(rng, 1, 4) for _ in range(4)], number(rng, 2, 3)
    offsets = [number(rng, 0, 3) for _ in range(4 - axis)]
    larger = [*size[:axis], *(cells + off + 1 for cells, off in zip(size[axis:], offsets, strict=True))]
    fields = " ".join(f"offset: {offset}" for offset in offsets)
    return Drawn(f"crop_param {{ axis: {axis} {fields} }}", (tuple(larger), tuple(size)))


def interp(rng):
    return Drawn(f"interp_param {{ height: {number(rng, 2, 12)} width: {number(rng, 2, 12)} }}", (images(rng, 2),))


def shuffle_channel(rng):
    group = number(rng, 1, 3)
    return Drawn(f"shuffle_channel_param {{ group: {group} }}", (images(rng, 1, group * number(rng, 1, 3)),))


def prior_box(rng):
    least = number(rng, 5, 20)
    flags = f"flip: {_word(chance(rng))} clip: {_word(chance(rng))} offset: {(0, 0.5)[number(rng, 0, 1)]}"
    sizes = f"min_size: {least} max_size: {least + 9} aspect_ratio: {real(rng, 1.5, 3)} variance: 0.1"
    return Drawn(f"prior_box_param {{ {sizes} {flags} }}", (images(rng), (1, 3, 30, 40)))


DRAWERS = {
    "AbsVal": (_of_elements(),),
    "BNLL": (_of_elements(),),
    "BatchNorm": (batch_norm,),
    "Concat": (concat,),
    "Convolution": (convolution, convolution, convolution_of_volumes),
    "ConvolutionDepthwise": (depthwise,),
    "Crop": (crop,),
    "Deconvolution": (deconvolution,),
    "Dropout": (_of_elements(),),
    "ELU": (elu,),
    "Eltwise": (eltwise,),
    "Exp": (exponential,),
    "Flatten": (flatten,),
    "InnerProduct": (inner_product,),
    "Interp": (interp,),
    "LRN": (lrn,),
    "Log": (logarithm,),
    "MVN": (mvn,),
    "Normalize": (normalize,),
    "PReLU": (prelu,),
    "Permute": (permute,),
    "Pooling": (pooling,),
    "Power": (power,),
    "PriorBox": (prior_box,),
    "ROIPooling": (roi_pooling,),
    "ReLU": (relu,),
    "ReLU6": (_of_elements(),),
    "Reshape": (reshape,),
    "Scale": (scale, scale_by_bottom),
    "ShuffleChannel": (shuffle_channel,),
    "Sigmoid": (_of_elements(),),
    "Slice": (slices,),
    "Softmax": (softmax,),
    "Split": (split,),
    "Swish": (_of_elements(),),
    "TanH": (_of_elements(),),
}
"""Type -> what draws a layer of it; in turn, where they are several."""
