"""The flat parameter vector and its named views: the only place that knows the order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import nd
from nd.arguments import Checked
from nd.checks import UnknownKeyError, suggestion
from nd.typing import Array


class LayerParams(dict[str, Array]):
    """Name -> parameter of a layer, or its gradient.

    Parameters
    ----------
    specs : callable
        Returns the specs of all of them.
    views : iterable of (str, array)
    """

    def __init__(self, specs: Callable[[], Iterable[ParamSpec]], views: Iterable[tuple[str, Array]] = ()) -> None:
        super().__init__(views)
        self._specs = specs

    def __missing__(self, name: str) -> Array:
        listed = f"expected one of {', '.join(self)}" if self else "got a layer whose param_specs returns none"
        raise UnknownKeyError(f"layer: unknown parameter {name!r}, {listed}.{suggestion('parameter', str(name), self)}")

    def __call__(self) -> Array:
        """Return all of them as a vector ``[1, n]``, as they lie in the network's: Java's ``layer.params()``."""
        return joined((self[spec.name], spec.order) for spec in self._specs())


def joined(arrays: Iterable[tuple[Array, str | None]]) -> Array:
    """Return arrays as one vector ``[1, n]``, each in its order: "c", or "f", which None stands for."""
    stretches = [nd.reshape(x if order == "c" else nd.transpose(x), (-1,)) for x, order in arrays]
    return nd.reshape(nd.concat(stretches, 0), (1, -1))


@dataclass(frozen=True)
class ParamSpec(Checked):
    """One parameter of a layer, in the order in which the layer's parameters lie in the vector.

    Parameters
    ----------
    name : str
        ``"W"``, ``"b"``.
    shape : tuple of int
    order : {"f", "c"}
        The order in which the stretch of the vector is reshaped. "f" is that of DL4J's ``DefaultParamInitializer``,
        which custom layers there use; its convolutions and SameDiff layers have "c".
    bias : bool
        Biases start at bias_init and have their own regularisation and updater.
    fan_in, fan_out : float
        For the initialisation of weights.
    trainable : bool
        False for a parameter that never gets a gradient.
    initial : float or sequence of float, optional
        The value that every element starts with, or those of as many equal stretches; without it a weight is drawn, and
        a bias has the layer's bias_init.
    penalised : bool
        False for a parameter that is neither a weight nor a bias, such as gamma and beta of a batch normalisation: the
        layer's penalties, its weight noise and constraints on weights or on biases pass it by.
    running : bool
        The parameter is not trained but follows the minibatches: backprop writes how far it goes into its part of the
        gradient vector, and that is subtracted whatever the updater, the step function or a line search say. Gradient
        normalisation of the layer includes it. It is never penalised or noised.
    divided : bool
        Whether a running parameter's part of the gradient vector is divided by the number of examples, as others' are.
    recurrent : bool
        Whether a weight starts as the layer's `weight_init_recurrent` says, where that is given.
    lstm : bool
        Whether it is one of LSTM units of tanh and sigmoid.
    pretrained : bool
        Whether pretraining alone trains it, such as a visible bias: backprop leaves it, and writes zeros.
    fans_since_m2 : tuple of float, optional
        fan_in and fan_out in Java since 1.0.0-M2, where they are others; see `nd.random.set_release`.
    """

    name: str
    shape: tuple[int, ...]
    order: str = "f"
    bias: bool = False
    fan_in: float = 0.0
    fan_out: float = 0.0
    trainable: bool = True
    initial: float | tuple[float, ...] | None = None
    penalised: bool = True
    running: bool = False
    divided: bool = True
    recurrent: bool = False
    lstm: bool = False
    pretrained: bool = False
    fans_since_m2: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        nd.checks.check_choice("ParamSpec", "order", self.order, ("f", "c"))

    @property
    def _is_weight(self) -> bool:
        """Whether settings for weights hold for it."""
        return self.penalised and not self.bias and not self.running

    @property
    def length(self) -> int:
        """Elements of the vector."""
        return math.prod(self.shape)


def shapes_of(specs: Iterable[ParamSpec]) -> dict[str, tuple[int, ...]]:
    """Return name -> shape, in the order of the flat vector."""
    return {spec.name: spec.shape for spec in specs}


@dataclass(frozen=True)
class ParamView:
    """The place of a parameter: ``vector[0, start:stop]``, reshaped.

    Parameters
    ----------
    layer : int
        Number of the layer or vertex in the order of the vector.
    name : str
        Its name among the parameters' keys.
    """

    layer: int
    name: str
    spec: ParamSpec
    start: int
    stop: int

    @property
    def key(self) -> str:
        """Name in the network's table: ``"0_W"``, in a graph ``"conv1_W"``."""
        return f"{self.name}_{self.spec.name}"

    def flat(self, vector: Array) -> Array:
        """View the parameter as ``[n]``, in the vector's order."""
        return vector[0, self.start : self.stop]

    def of(self, vector: Array, first: int = 0) -> Array:
        """View the parameter in its own shape, in a vector that may begin with element `first` of the whole."""
        flat = vector[0, self.start - first : self.stop - first]
        return nd.reshape_view(flat, self.spec.shape, self.spec.order)


class ParamLayout:
    """All parameters of a network, layer after layer.

    Parameters
    ----------
    specs : sequence, a sequence of ParamSpec for each layer
    names : sequence of str, optional
        Of the layers; without it their numbers.
    owners : mapping of (int, str) -> (int, str), optional
        Layer and name of a parameter that lies where an earlier layer's does, and that one's.

    Notes
    -----
    Source: DL4J's ``ParamInitializer`` classes; specs of convolutions put the bias first.
    """

    def __init__(
        self,
        specs: Sequence[Sequence[ParamSpec]],
        names: Sequence[str] | None = None,
        owners: Mapping[tuple[int, str], tuple[int, str]] | None = None,
    ) -> None:
        self.views: list[ParamView] = []
        self._of_layers: list[list[ParamView]] = []
        self._used: list[list[ParamView]] = []
        known: dict[tuple[int, str], ParamView] = {}
        offset = 0
        for layer, of_layer in enumerate(specs):
            name = str(layer) if names is None else names[layer]
            self._of_layers.append([])
            self._used.append([])
            for spec in of_layer:
                owner = (owners or {}).get((layer, spec.name))
                start = offset if owner is None else known[owner].start
                view = known[layer, spec.name] = ParamView(layer, name, spec, start, start + spec.length)
                self._used[-1].append(view)
                if owner is None:
                    self._of_layers[-1].append(view)
                    offset += spec.length
            self.views += self._of_layers[-1]
        self.length = offset

    def of_layer(self, layer: int) -> list[ParamView]:
        """Return the views of one layer's own parameters."""
        return self._of_layers[layer]

    def used_by(self, layer: int) -> list[ParamView]:
        """Return the views of all parameters that one layer computes with, an earlier layer's among them."""
        return self._used[layer]

    def place_of(self, layer: int) -> tuple[int, int]:
        """Return where a layer's own parameters begin in the vector, and end."""
        views = self._of_layers[layer]
        return (views[0].start, views[-1].stop) if views else (0, 0)

    def views_of(self, layer: int, vector: Array, first: int = 0) -> dict[str, Array]:
        """Return name -> view of what one layer computes with, of a vector that may begin with element `first`."""
        views = self.used_by(layer)
        return LayerParams(lambda: [view.spec for view in views], ((v.spec.name, v.of(vector, first)) for v in views))

    def is_trained(self, layer: int) -> bool:
        """Tell whether a layer has parameters to train."""
        return any(view.spec.trainable for view in self.used_by(layer))

    def table(self, vector: Array) -> dict[str, Array]:
        """Return key -> view into `vector`, in its order."""
        return {view.key: view.of(vector) for view in self.views}
