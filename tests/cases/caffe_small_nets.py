"""Small nets of Caffe, as texts: those whose behaviour Caffe's own tests describe, written anew."""

GAUSSIAN = 'weight_filler { type: "gaussian" std: %s }'


def dims(shape):
    return " ".join(f"dim: {size}" for size in shape)


def data(*shapes, name="data", tops=("data",), filler='type: "gaussian" std: 1'):
    """A layer that draws its tops anew for every pass, by one filler or one for each."""
    each = "".join(f"shape {{ {dims(shape)} }} " for shape in shapes)
    written = "".join(f'top: "{top}" ' for top in tops)
    fillers = [filler] if isinstance(filler, str) else filler
    filled = " ".join(f"data_filler {{ {one} }}" for one in fillers)
    drawn = f"dummy_data_param {{ {each} {filled} }}"
    return f'layer {{ name: "{name}" type: "DummyData" {written} {drawn} }}\n'


def inputs(**shapes):
    """A layer whose tops the caller fills."""
    each = "".join(f"shape {{ {dims(shape)} }} " for shape in shapes.values())
    written = "".join(f'top: "{top}" ' for top in shapes)
    return f'layer {{ name: "inputs" type: "Input" {written} input_param {{ {each} }} }}\n'


def layer(name, kind, bottoms, tops, settings=""):
    """A layer by its blobs, names with spaces between them."""
    read = "".join(f'bottom: "{bottom}" ' for bottom in bottoms.split())
    written = "".join(f'top: "{top}" ' for top in tops.split())
    return f'layer {{ name: "{name}" type: "{kind}" {read} {written} {settings} }}\n'


def product(name, bottom, top, n_out, settings="", std=1.0, bias=True):
    """A layer of weights."""
    filler = GAUSSIAN % std
    told = f"inner_product_param {{ num_output: {n_out} bias_term: {str(bias).lower()} {filler} }}"
    return layer(name, "InnerProduct", bottom, top, f"{settings} {told}")


def tiny(head="", accuracy=False):
    """Data, a product with multipliers, and a softmax loss whose top has another name than its layer."""
    fillers = ('type: "gaussian" std: 0.01', 'type: "constant" value: 0')
    text = f'{head} name: "tiny"\n' + data((5, 2, 3, 4), (5,), tops=("data", "label"), filler=fillers)
    text += product(
        "innerproduct",
        "data",
        "innerproduct",
        1000,
        "param { lr_mult: 1 decay_mult: 1 } param { lr_mult: 2 decay_mult: 0 }",
        0.01,
    )
    text += layer("loss", "SoftmaxWithLoss", "innerproduct label", "top_loss")
    return text + (layer("loss", "Accuracy", "innerproduct label", "accuracy") if accuracy else "")


def euclidean(head="", label_settings=""):
    """A product of the data against a label of its shape, or against a product of the label where it has settings."""
    text = f"{head}\n" + data((5, 2, 3, 4), (5, 10), tops=("data", "label"))
    text += product("innerproduct", "data", "innerproduct", 10)
    bottoms = "innerproduct label"
    if label_settings:
        text += product("ip_fake_labels", "label", "fake_labels", 10, label_settings)
        bottoms = "innerproduct fake_labels"
    return text + layer("loss", "EuclideanLoss", bottoms, "")


def tricky():
    """A softmax loss whose label comes out of a layer that could be trained."""
    text = data((5, 2, 3, 4), (5, 1), tops=("data", "label")) + product("innerproduct", "data", "innerproduct", 6)
    text += product("ip_fake_labels", "label", "fake_labels", 1, bias=False)
    return text + layer("loss", "SoftmaxWithLoss", "innerproduct fake_labels", "")


def weighed(main=None, middle=None, head="force_backward: true"):
    """Two products of one blob, the second one by way of the first's; weights of the loss and of the first's top."""
    said = {
        name: "" if weight is None else f"loss_weight: {weight}" for name, weight in (("main", main), ("mid", middle))
    }
    text = f"{head}\n" + data((5, 2, 3, 4), (5,), tops=("data", "label"), filler='type: "uniform" min: -1 max: 1')
    text += product("innerproduct1", "data", "innerproduct1", 10, said["mid"])
    text += product("innerproduct2", "innerproduct1", "innerproduct2", 1)
    text += product("innerproduct3", "data", "innerproduct3", 1) + layer("truth", "Silence", "label", "")
    return text + layer("loss", "EuclideanLoss", "innerproduct2 innerproduct3", "", said["main"])


def two_products(names=("", ""), n_out=10, settings=("", ""), rates=("", ""), bias=False, head=""):
    """Two products of the same data, and half the mean squared difference; parameters of one name are one."""
    text = f"{head}\n" + data((5, 2, 3, 4), (5, 2, 3, 4), tops=("data1", "data2"), filler='type: "constant" value: 0.5')
    for number, (name, more, rate) in enumerate(zip(names, settings, rates, strict=True), 1):
        named = f"param {{ {f'name: {chr(34)}{name}{chr(34)}' if name else ''} {rate} }} {more}"
        text += product(f"innerproduct{number}", f"data{number}", f"innerproduct{number}", n_out, named, 10, bias)
    return text + layer("loss", "EuclideanLoss", "innerproduct1 innerproduct2", "")


def reshapable():
    """Layers of pictures of any size."""
    text = inputs(data=(1, 3, 100, 100))
    convolution = (
        f"convolution_param {{ num_output: 5 kernel_size: 3 stride: 2 {GAUSSIAN % 0.01} bias_filler {{ value: 0.2 }} }}"
    )
    text += layer("conv1", "Convolution", "data", "conv1", convolution)
    text += layer("relu1", "ReLU", "conv1", "conv1")
    text += layer("pool1", "Pooling", "conv1", "pool1", "pooling_param { pool: MAX kernel_size: 2 stride: 2 }")
    text += layer("norm1", "LRN", "pool1", "norm1", "lrn_param { local_size: 3 }")
    return text + layer("softmax", "Softmax", "norm1", "softmax")


def skipping(way):
    """Labels that layers compute of the data, and a loss that goes back to them or not."""
    text = data((5, 2, 3, 4), (5,), tops=("data", "label")) + layer("silence", "Silence", "label", "")
    text += product("innerproduct", "data", "innerproduct", 4)
    text += product("ip_fake_labels", "data", "fake_labels", 4) + layer(
        "argmax", "ArgMax", "fake_labels", "label_argmax"
    )
    told = f"propagate_down: true propagate_down: {way}"
    return text + layer("loss", "SoftmaxWithLoss", "innerproduct label_argmax", "", told)


def forcing(first="", head=""):
    """Two products one after the other, of which the first may be told to go back to the data."""
    text = f"{head}\n" + data((5, 2, 3, 4), (5,), tops=("data", "label"), filler='type: "constant"')
    text += product("ip1", "data", "ip1", 3, first) + product("ip2", "ip1", "ip2", 4)
    return text + layer("loss", "SoftmaxWithLoss", "ip2 label", "")


ALL_IN_ONE = (
    "layer { name: 'train_data' type: 'DummyData' top: 'data' top: 'label' include { phase: TRAIN stage: 'train' }"
    " dummy_data_param { shape { dim: 1 dim: 10 } shape { dim: 1 dim: 1 } } }\n"
    "layer { name: 'val_data' type: 'DummyData' top: 'data' top: 'label' include { phase: TEST stage: 'val' }"
    " dummy_data_param { shape { dim: 1 dim: 10 } shape { dim: 1 dim: 1 } } }\n"
    "layer { name: 'deploy_data' type: 'Input' top: 'data' include { phase: TEST stage: 'deploy' }"
    " input_param { shape { dim: 1 dim: 10 } } }\n"
    + product("ip", "data", "ip", 2)
    + "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'label' top: 'loss'"
    " include { phase: TRAIN stage: 'train' } include { phase: TEST stage: 'val' } }\n"
    "layer { name: 'pred' type: 'Softmax' bottom: 'ip' top: 'pred' include { phase: TEST stage: 'deploy' } }\n"
)
"""One text for training, validation and use."""
