"""What a net of Caffe's consists of: layers, blobs, parameters, and who goes backward."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import nd
from nd.arguments import checked
from nd.checks import check_choice
from nd.random import Random

from .assembly import AUTOMATIC, Assembly, LayerPlan
from .blob import Blob, ParamBlob
from .configuration import Training, configuration_of
from .data.layers import DataLayer
from .network import CaffeNetwork
from .passes import LayerCallback, Passes

if TYPE_CHECKING:
    from .layers.base import CaffeLayer


class NetStructure:
    """The parts of a net by name and by number.

    Parameters
    ----------
    assembly : Assembly
    dtype : str
    random : Random
        Drawn from for fillers, and by everything that draws later.
    training : Training, optional
        By a solver.
    """

    def __init__(self, assembly: Assembly, dtype: str, random: Random, training: Training | None = None) -> None:
        self.assembly, self.dtype, self.random = assembly, dtype, random
        conf = configuration_of(assembly, dtype, training)
        self.network = CaffeNetwork(conf)
        self.network.random = random
        self.network.engine.make(conf, None, random)
        engine = self.network.engine
        self._plans: list[LayerPlan] = assembly.layers
        self._all_blobs = [Blob(plan.name, plan.shape, dtype, engine.on_backend) for plan in assembly.blobs]
        for plan in self._plans:
            for blob in set(plan.tops) & set(plan.bottoms):
                self._all_blobs[blob].is_rewritten = True
        self.blobs: OrderedDict[str, Blob] = OrderedDict(
            (blob.name, blob) for blob in self._all_blobs if blob.name != AUTOMATIC
        )
        self.layers: list[CaffeLayer | DataLayer | Any] = [
            plan.data if plan.data is not None else engine.layers[plan.node or 0] for plan in self._plans
        ]
        self.param_blobs = [self._param_blob(index) for index in range(len(assembly.params))]
        self.params: OrderedDict[str, list[ParamBlob]] = OrderedDict(
            (plan.name, [self.param_blobs[index] for index in plan.params]) for plan in self._plans if plan.params
        )
        self._passes = Passes(self._plans, self._all_blobs, self.network, assembly.ways_back.layers)

    def _param_blob(self, index: int) -> ParamBlob:
        param, propagation = self.assembly.params[index], self.network.engine.propagation
        plan = self._plans[param.layer]
        node, name = plan.node or 0, param.spec.name
        views = propagation.params[node][name], propagation.grads[node][name]
        return ParamBlob(
            f"{plan.name}[{param.name or param.place}]", *views, self.network.engine.on_backend, self._whole_gradient
        )

    def _whole_gradient(self) -> None:
        """Add up what several workers have computed of the gradient, before somebody reads a part of it."""
        self.network.engine.vectors.gradients.whole()

    def forget_passes(self) -> None:
        """Have the next pass by hand go forward first: blobs show another one."""
        self._passes.forget()

    @property
    def callbacks(self) -> dict[str, list[LayerCallback]]:
        """Functions that are called around layers, with their numbers, by hook: ``"before_forward"`` and so on."""
        return self._passes.callbacks

    # ---- names

    @property
    def name(self) -> str:
        """The net's."""
        return str(self.assembly.net.name)

    @property
    def phase(self) -> str:
        """``"TRAIN"`` or ``"TEST"``."""
        return self.assembly.phase

    @property
    def layer_names(self) -> list[str]:
        """Names of all layers, in the order in which they run."""
        return [plan.name for plan in self._plans]

    _layer_names = layer_names
    """As pycaffe calls them."""

    @property
    def blob_names(self) -> list[str]:
        """Names of all blobs, in the order in which they come to be."""
        return [blob.name for blob in self._all_blobs]

    def _blob_at(self, number: int) -> Blob:
        """Return a blob by its number, also one that has no name of its own."""
        return self._all_blobs[number]

    @property
    def data_layers(self) -> list[DataLayer]:
        """The layers that bring data, in their order."""
        return [plan.data for plan in self._plans if plan.data is not None]

    @property
    def layer_dict(self) -> OrderedDict[str, Any]:
        """Name -> layer; of several with one name the last."""
        return OrderedDict(zip(self.layer_names, self.layers, strict=True))

    @property
    def bottom_names(self) -> OrderedDict[str, list[str]]:
        """Name of a layer -> names of its bottoms."""
        return OrderedDict((plan.name, [self._all_blobs[blob].name for blob in plan.bottoms]) for plan in self._plans)

    @property
    def top_names(self) -> OrderedDict[str, list[str]]:
        """Name of a layer -> names of its tops."""
        return OrderedDict((plan.name, [self._all_blobs[blob].name for blob in plan.tops]) for plan in self._plans)

    @property
    def inputs(self) -> list[str]:
        """Names of the tops of Input layers, in their order."""
        tops = [plan.tops for plan in self._plans if plan.message.type == "Input"]
        return [self._all_blobs[blob].name for of_layer in tops for blob in of_layer]

    @property
    def outputs(self) -> list[str]:
        """Names of the blobs that no layer reads, sorted."""
        return list(self.assembly.available)

    @checked
    def has_blob(self, name: str) -> bool:
        """Tell whether there is a blob of that name."""
        return name in self.blobs

    @checked
    def blob_by_name(self, name: str) -> Blob | None:
        """Return a blob, None where there is none of that name."""
        return self.blobs.get(name)

    @checked
    def has_layer(self, name: str) -> bool:
        """Tell whether there is a layer of that name."""
        return name in self.layer_names

    @checked
    def layer_by_name(self, name: str) -> Any:
        """Return a layer, None where there is none of that name."""
        return self.layer_dict.get(name)

    def _layer_number(self, who: str, layer: object, last: bool = True) -> int:
        """Return the number of a layer, by number or name; of several with one name the last, or the first.

        Raises
        ------
        ChoiceError, ConfigurationError
            There is no such layer.
        """
        names = self.layer_names
        if isinstance(layer, str):
            check_choice(who, "layer", layer, names)
            return len(names) - 1 - names[::-1].index(layer) if last else names.index(layer)
        if type(layer) is not int or not 0 <= layer < len(names):
            raise nd.ConfigurationError(f"{who}: layer must be 0..{len(names) - 1} or a layer's name, got {layer!r}.")
        return layer

    # ---- numbers

    def bottom_ids(self, layer: int) -> list[int]:
        """Return the numbers of the blobs that a layer reads."""
        return list(self._plans[self._layer_number("bottom_ids", layer)].bottoms)

    def top_ids(self, layer: int) -> list[int]:
        """Return the numbers of the blobs that a layer writes."""
        return list(self._plans[self._layer_number("top_ids", layer)].tops)

    @property
    def bottom_vecs(self) -> list[list[Blob]]:
        """Of every layer the blobs that it reads."""
        return [[self._all_blobs[blob] for blob in plan.bottoms] for plan in self._plans]

    @property
    def top_vecs(self) -> list[list[Blob]]:
        """Of every layer the blobs that it writes."""
        return [[self._all_blobs[blob] for blob in plan.tops] for plan in self._plans]

    @property
    def input_blobs(self) -> list[Blob]:
        """The blobs of `inputs`."""
        return [self.blobs[name] for name in self.inputs]

    @property
    def output_blobs(self) -> list[Blob]:
        """The blobs of `outputs`."""
        return [self.blobs[name] for name in self.outputs]

    @property
    def blob_loss_weights(self) -> OrderedDict[str, float]:
        """Name of a blob -> its weight in the loss."""
        weights = dict.fromkeys(self.blob_names, 0.0)
        for plan in self._plans:
            weights |= {
                self._all_blobs[blob].name: weight for blob, weight in zip(plan.tops, plan.loss_weights, strict=True)
            }
        return OrderedDict(weights)

    @property
    def memory_used(self) -> int:
        """Bytes of all tops; those in place and of splits are counted as often as they are there, as in Caffe."""
        elements = sum(math.prod(shape) for plan in self._plans for shape in plan.shapes)
        return elements * (8 if self.dtype == "float64" else 4)

    # ---- backward

    @property
    def layer_need_backward(self) -> list[bool]:
        """Of every layer whether it goes backward."""
        return list(self.assembly.ways_back.layers)

    @property
    def bottom_need_backward(self) -> list[list[bool]]:
        """Of every layer to which bottoms a gradient goes."""
        return [list(bottoms) for bottoms in self.assembly.ways_back.bottoms]

    # ---- parameters

    @property
    def learnable_params(self) -> list[ParamBlob]:
        """Parameters that own their memory, in their order."""
        return [self.param_blobs[index] for index in self._owners()]

    def _owners(self) -> list[int]:
        return [index for index, param in enumerate(self.assembly.params) if param.owner is None]

    @property
    def params_lr(self) -> list[float]:
        """Factors of the learning rate of `learnable_params`."""
        return [self.assembly.params[index].lr_mult for index in self._owners()]

    @property
    def has_params_lr(self) -> list[bool]:
        """Of `learnable_params` whether some layer says the factor of the learning rate."""
        return ["lr_mult" in self.assembly.params[index].said for index in self._owners()]

    @property
    def has_params_decay(self) -> list[bool]:
        """Of `learnable_params` whether some layer says the factor of the weight decay."""
        return ["decay_mult" in self.assembly.params[index].said for index in self._owners()]

    @property
    def params_weight_decay(self) -> list[float]:
        """Factors of the weight decay of `learnable_params`."""
        return [self.assembly.params[index].decay_mult for index in self._owners()]

    @property
    def param_owners(self) -> list[int]:
        """Of every parameter the number of the one whose memory it uses, -1 for its own."""
        return [-1 if param.owner is None else param.owner for param in self.assembly.params]

    @property
    def param_display_names(self) -> list[str]:
        """Of every parameter its name, or its number in its layer."""
        return [param.name or str(param.place) for param in self.assembly.params]

    @property
    def param_names_index(self) -> dict[str, int]:
        """Name of a parameter that has one -> the number of its owner."""
        named = [(param.name, index) for index, param in enumerate(self.assembly.params) if param.name]
        return dict(reversed(named))
