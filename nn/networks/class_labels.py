"""Classes as a network takes them: numbers and texts where the last layer leaves no doubt, one-hot labels always."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import nd
from nd.activations import Sigmoid, Softmax
from nd.checks import describe_shape
from nd.dataset.class_labels import (
    ColumnNames,
    check_class_numbers,
    class_columns,
    class_numbers,
    name_list,
    numbers_as_names,
    one_hot_places,
    places_of_numbers,
    renumbered,
    text_classes,
)
from nd.losses import LossBinaryXENT, LossMCXENT, LossSparseMCXENT
from nd.typing import Array

from ..conf.nodes import sources_of
from ..terms.data_formats import channels_last, inward, outward

if TYPE_CHECKING:
    from nd.dataset.examples import Examples

    from ..conf.nodes import NetworkConfiguration


class ClassLabels:
    """The labels that the layer of an output stands for.

    Parameters
    ----------
    conf : NetworkConfiguration
    output : int
        Number of the output.

    Attributes
    ----------
    classes : int
        With a softmax or the loss of one-hot labels the number of outputs; 2 for a single sigmoid, or a single output
        with the loss "xent"; 0 where labels are numbers, or class numbers by themselves ("sparse_mcxent").
    columns : int
        Outputs, 0 where the layers do not tell.
    rank : int
        Of labels ``[N, columns, ...]``: 2, of series 3, of images 4, of volumes 5.
    names : tuple of str, optional
        Of the classes, in the order of their numbers; None until they are known. Where they are numbers themselves,
        others than the classes' own (those of the categories 1, 2 and 3, say), numbers among labels are names.
    """

    def __init__(self, conf: NetworkConfiguration, output: int = 0) -> None:
        nodes, number = conf.nodes, conf.output_nodes[output]
        last = nodes[number].conf.innermost
        self._output = output
        self.columns = 0
        while number >= 0 and not self.columns:  # that of the nearest layer before, where the last one has none
            node = nodes[number]
            self.columns = int(getattr(node.conf, "n_out", None) or 0)
            number = sources_of(node)[0] if len(sources_of(node)) == 1 else -1
        axes = getattr(last.runtime, "axes", None) or getattr(last, "axes", None)  # of places
        self.rank = 2 + (len(axes) if isinstance(axes, tuple) else 0)
        data_format = conf.formats.outputs[output]
        self._last = data_format if channels_last(data_format) else None
        self.classes = self._classes(getattr(last, "loss", None), getattr(last, "activation", None))
        self._names: tuple[str, ...] | None = None
        self._places: dict[float, int] | None = None  # by name, where the names are numbers
        self.named_by_numbers = False
        """Whether numbers among labels are names of classes."""

    def _classes(self, loss: object, activation: object) -> int:
        if loss is None or isinstance(loss, LossSparseMCXENT):
            return 0
        if self.columns == 1:
            return 2 if isinstance(activation, Sigmoid) or isinstance(loss, LossBinaryXENT) else 0
        return self.columns if isinstance(activation, Softmax) or isinstance(loss, LossMCXENT) else 0

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the classes, in the order of their numbers."""
        return self._names

    @names.setter
    def names(self, names: Sequence[str] | None) -> None:
        if names is None:
            self._names, self._places, self.named_by_numbers = None, None, False
            return
        listed = tuple(names) if not isinstance(names, str) else (names,)
        fits = len(listed) == len(set(listed)) == self.classes and all(isinstance(name, str) for name in listed)
        if not fits:
            raise nd.ConfigurationError(
                f"class_names: must be {self.classes} different texts, one for each class of the last layer, got "
                f"{list(listed)!r}."
            )
        self._names, self._places = listed, numbers_as_names(listed)
        self.named_by_numbers = self._places is not None

    # ---- one minibatch

    def formed(self, labels: Array) -> Array:
        """Return labels as the loss takes them: class numbers ``[N, ...]`` or ``[N, 1, ...]`` become one-hot.

        Raises
        ------
        DataError
            One is no class number.
        ShapeError
            They lack the axis of outputs where the last layer does not say that they are classes.
        """
        if self._last is None:
            return self._formed(labels)
        seen = inward(labels, self._last)
        formed = self._formed(seen)
        return labels if formed is seen else outward(formed, self._last)

    def compared(self, labels: Array, output: Array, mask: Array | None) -> tuple[Array, Array, Array | None]:
        """Return labels, outputs and the labels' mask with the channels first, as evaluations take them."""
        masked = None if mask is None else inward(mask, self._last)
        return inward(labels, self._last), inward(output, self._last), masked

    def _formed(self, labels: Array) -> Array:
        rank = len(labels.shape)
        if rank == self.rank and self.columns == 1 and self.classes and labels.shape[1] == self.classes:
            return labels[:, 1:, ...]  # one-hot, for a single output
        if rank == self.rank and (labels.shape[1] != 1 or self.columns < 2 or not self.classes):
            return labels
        if rank == self.rank and self.classes:  # [N, 1, ...] for several classes
            return self._one_hot(nd.to_host(labels).reshape(labels.shape[0], *labels.shape[2:]))
        if rank != self.rank - 1 or not rank:
            return labels  # which the loss refuses
        if not self.classes and self.rank > 2:
            return labels  # which the loss refuses, and knows the places
        if not self.classes:
            raise nd.ShapeError(
                f"labels: expected one column for each of the {self.columns or 'n_out'} outputs, got "
                f"{describe_shape(labels.shape)}. Classes become one-hot with nd.dataset.one_hot(labels, n); numbers "
                "one column with labels.reshape(-1, 1)."
            )
        return self._one_hot(labels)

    def _one_hot(self, labels: Array) -> Array:
        """Return class numbers ``[N, ...]``, or numbers that are names, as the loss takes them."""
        return self._placed(labels if self._places is None else places_of_numbers(labels, self._places))

    def _placed(self, places: Array) -> Array:
        """Return class numbers ``[N, ...]`` as the loss takes them: one-hot, or 0 and 1 for a single output."""
        if self.columns > 1:
            return one_hot_places(places, self.classes)
        check_class_numbers("labels", places, self.classes)
        return nd.to_host(places).reshape(places.shape[0], 1, *places.shape[1:])

    def _as_numbers(self, places: Array) -> Array:
        """Return class numbers, formed at once where numbers would be taken for names."""
        shape = tuple(places.shape)
        if self._places is None or (len(shape) == self.rank and (shape[1] != 1 or self.columns < 2)):
            return places
        return self._placed(nd.to_host(places).reshape(shape[0], *shape[2:]) if len(shape) == self.rank else places)

    def renamed(self, who: str, data: Examples, labels: Array, mask: Array | None, learn: bool = False) -> Array:
        """Return labels in the network's order of the classes, by the names that the data set gives its own order.

        Raises
        ------
        ConfigurationError
            The network does not know the names of its classes, and may not learn them.
        DataError
            The data set has another class.
        """
        names = data.class_names
        if names is None or not self.classes:
            return labels
        self.check_names(who, names, learn)
        if self._is_order(names):
            return self._as_numbers(labels)
        names = tuple(map(str, names))
        if mask is not None and tuple(mask.shape) == tuple(labels.shape) and labels.shape[1] > 1:
            raise nd.DataError(
                f"{who}: a mask with a number for every class needs labels in the network's order of the classes, "
                f"{name_list(self.names or ())}, got {name_list(names)}. Give a mask [N, 1]."
            )
        seen = inward(labels, self._last)
        return outward(self._as_numbers(renumbered(who, seen, names, self.names or (), self.rank)), self._last)

    def check_names(self, who: str, names: Sequence[str], learn: bool) -> None:
        """Take names for those of the classes where none are known and `learn`; raise ConfigurationError without.

        Those of columns, `ColumnNames`, are taken or left: columns have their order without them.
        """
        if self.names is not None:
            return
        if isinstance(names, ColumnNames):
            self.names = names if learn and len(names) == self.classes else None
            return
        names = tuple(map(str, names))
        if not learn:
            where = f"classes_of[{self._output}].names" if self._output else "class_names"
            raise nd.ConfigurationError(
                f"{who}: classes with names need those of the network's outputs, in their order, which are not known, "
                f"got {name_list(names)}. Set network.{where} = [...] in that order, or give class numbers."
            )
        if len(names) != self.classes:
            raise nd.DataError(
                f"{who}: labels must be of {self.classes} classes, as the last layer has, got {len(names)}: "
                f"{name_list(names)}. Where some are missing, set network.class_names to the names of all."
            )
        self.names = names

    # ---- all labels of a call

    def numbers(self, who: str, labels: Any, learn: bool = False) -> Any:
        """Return texts and categories as class numbers ``[N, ...]``, columns with names in the order of the classes.

        Other labels are returned as they are.

        Parameters
        ----------
        who : str
            For messages.
        labels : object
        learn : bool
            Remember the names of the classes, if there are none.

        Raises
        ------
        ConfigurationError
            The last layer has no classes.
        DataError
            There are others than the network knows, or not as many as it has outputs.
        """
        columns = class_columns(labels) if self.classes and self.rank == 2 else None
        if columns is not None:
            return self._by_column(who, labels, columns, learn)
        texts = text_classes(labels)
        if texts is None or len(texts[0].shape) not in (1, 2, self.rank - 1):
            return labels
        numbers, names = texts
        if len(numbers.shape) == 2 and numbers.shape[1] == 1:
            labels = numbers = numbers.reshape(-1)
            labels = [names[number] for number in numbers.tolist()]
        if len(numbers.shape) != self.rank - 1:
            return labels
        if not self.classes:
            raise nd.ConfigurationError(
                f"{who}: labels must be numbers for this last layer, got the classes {name_list(names)}. End with a "
                "softmax, or give one-hot labels, nd.dataset.one_hot(numbers, n)."
            )
        self.check_names(who, names, learn)
        known: Any = self.names
        placed: Any = numbers if names == known else class_numbers(who, labels, known)
        return self._as_numbers(placed)

    def _by_column(self, who: str, labels: object, columns: ColumnNames, learn: bool) -> object:
        """Return one-hot columns with names in the order of the classes."""
        self.check_names(who, columns, learn)
        return labels if self._is_order(columns) else renumbered(who, labels, columns, self.names or (), self.rank)

    def _is_order(self, names: Sequence[str]) -> bool:
        """Tell whether labels with these names need not be moved: columns of which none is a class stay, too."""
        known = self.names
        if isinstance(names, ColumnNames):
            return known is None or names == known or not set(names) & set(known)
        return tuple(map(str, names)) == known

    def weights(self, who: str, class_weight: Mapping[Any, float]) -> list[float]:
        """Return the weight of every class, 1 where none is given.

        Raises
        ------
        ConfigurationError
            The network has no classes, or there is no such class.
        """
        if not self.classes:
            raise nd.ConfigurationError(
                f"{who}: class_weight needs a last layer with classes (softmax, or a single sigmoid), got "
                f"{class_weight!r}. Give sample_weight."
            )
        numbers = range(self.classes) if self._places is None else self._places
        keys = [*numbers, *(self.names or ())]
        weights = [1.0] * self.classes
        given: dict[int, object] = {}
        for key, weight in class_weight.items():
            if (isinstance(key, bool) and self._places is None) or key not in keys:
                raise nd.ConfigurationError(f"{who}: class_weight: classes are {name_list(keys)}, got {key!r}.")
            number = keys.index(key) % self.classes
            if number in given:
                raise nd.ConfigurationError(
                    f"{who}: class_weight: a class must have one weight, got {given[number]!r} and {key!r}, which are "
                    "one class. Give one of them."
                )
            weights[number], given[number] = weight, key
        return weights


def formed_by(classes_of: Sequence[ClassLabels], data: Examples, who: str, learn: bool = False) -> Examples:
    """Return a minibatch whose labels are as the losses of all outputs take them, itself where they are already.

    `learn` as in `ClassLabels.numbers`.
    """
    whole = data.multi
    seen = whole.labels[:]
    if seen and whole.class_names is not None:
        seen[0] = classes_of[0].renamed(who, data, seen[0], whole.labels_masks[0], learn)
    labels = [classes.formed(labels) for classes, labels in zip(classes_of, seen, strict=False)]
    labels += seen[len(classes_of) :]
    if all(after is before for after, before in zip(labels, whole.labels, strict=True)):
        return data
    return data.with_groups(labels=labels)
