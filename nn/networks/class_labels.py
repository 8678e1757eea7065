"""Classes as a network takes them: numbers and texts where the last layer leaves no doubt, one-hot labels always."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import nd
from nd.activations import Sigmoid, Softmax
from nd.arguments import shown
from nd.checks import describe_shape
from nd.dataset import DataSet, MultiDataSet
from nd.dataset.class_labels import check_class_numbers, class_numbers, name_list, one_hot_places, text_classes
from nd.losses import LossBinaryXENT, LossMCXENT, LossSparseMCXENT
from nd.typing import Array

from ..conf.data_formats import channels_last, inward, outward
from ..step.minibatch import arrays_of

if TYPE_CHECKING:
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
        Of the classes, in the order of their numbers; None until they are known.
    """

    def __init__(self, conf: NetworkConfiguration, output: int = 0) -> None:
        nodes, number = conf.nodes, conf.output_nodes[output]
        last: Any = nodes[number].conf.innermost
        self.columns = 0
        while number >= 0 and not self.columns:  # that of the nearest layer before, where the last one has none
            node = nodes[number]
            self.columns = int(getattr(node.conf, "n_out", None) or 0)
            number = node.inputs[0] if len(node.inputs) == 1 else -1
        axes = getattr(last.runtime, "axes", None) or getattr(last, "axes", None)  # of places
        self.rank = 2 + (len(axes) if isinstance(axes, tuple) else 0)
        data_format = conf.formats.outputs[output]
        self._last = data_format if channels_last(data_format) else None
        self.classes = self._classes(getattr(last, "loss", None), getattr(last, "activation", None))
        self._names: tuple[str, ...] | None = None

    def _classes(self, loss: Any, activation: Any) -> int:
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
            self._names = None
            return
        listed = tuple(names) if not isinstance(names, str) else (names,)
        fits = len(listed) == len(set(listed)) == self.classes and all(isinstance(name, str) for name in listed)
        if not fits:
            raise nd.ConfigurationError(
                f"class_names: must be {self.classes} different texts, one for each class of the last layer, got "
                f"{list(listed)!r}."
            )
        self._names = listed

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
            return one_hot_places(nd.to_host(labels).reshape(labels.shape[0], *labels.shape[2:]), self.classes)
        if rank != self.rank - 1 or not rank:
            return labels  # which the loss refuses
        if not self.classes:
            raise nd.ShapeError(
                f"labels: expected one column for each of the {self.columns or 'n_out'} outputs, got "
                f"{describe_shape(labels.shape)}. Classes become one-hot with nd.dataset.one_hot(labels, n); numbers "
                "one column with labels.reshape(-1, 1)."
            )
        if self.columns > 1:
            return one_hot_places(labels, self.classes)
        check_class_numbers("labels", labels, self.classes)
        return nd.to_host(labels).reshape(labels.shape[0], 1, *labels.shape[1:])

    def formed_set(self, data: DataSet) -> DataSet:
        """Return a DataSet whose labels are formed, itself where they are already."""
        labels = data.labels
        formed = None if labels is None else self.formed(labels)
        return data if formed is labels else DataSet(data.features, formed, data.features_mask, data.labels_mask)

    # ---- all labels of a call

    def numbers(self, who: str, labels: Any, learn: bool = False) -> Any:
        """Return texts and categories as class numbers ``[N, ...]``; other labels as they are.

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
        texts = text_classes(labels)
        if texts is None or len(texts[0].shape) not in (1, 2, self.rank - 1):
            return labels.to_numpy() if hasattr(labels, "to_numpy") else labels  # a column of a table
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
        if self.names is not None:
            return class_numbers(who, labels, self.names)
        if len(names) != self.classes:
            raise nd.DataError(
                f"{who}: labels must be of {self.classes} classes, as the last layer has, got {len(names)}: "
                f"{name_list(names)}. Where some are missing, set network.class_names to the names of all."
            )
        if learn:
            self.names = names
        return numbers

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
        keys: list[Any] = [*range(self.classes), *(self.names or ())]
        weights = [1.0] * self.classes
        for key, weight in class_weight.items():
            if isinstance(key, bool) or key not in keys:
                raise nd.ConfigurationError(f"{who}: class_weight: classes are {name_list(keys)}, got {key!r}.")
            weights[keys.index(key) % self.classes] = weight
        return weights

    def data_set(self, who: str, features: Any, labels: Any, learn: bool = False) -> DataSet:
        """Return arrays as a DataSet, labels of any kind as numbers that `formed` takes."""
        return DataSet(features, self.numbers(who, labels, learn))


def formed_by(classes_of: Sequence[ClassLabels], data: MultiDataSet) -> MultiDataSet:
    """Return a minibatch whose labels are as the losses of all outputs take them, itself where they are already."""
    given = list(data.labels or ())
    labels = [classes.formed(labels) for classes, labels in zip(classes_of, given, strict=False)]
    labels += given[len(classes_of) :]
    if all(after is before for after, before in zip(labels, given, strict=True)):
        return data
    return MultiDataSet(data.features, labels, data.features_masks, data.labels_masks)


def paired(
    who: str, classes_of: Sequence[ClassLabels], inputs: int, features: Any, labels: Any, learn: bool = False
) -> DataSet | MultiDataSet:
    """Return features and labels as a minibatch: as `data_set`, or of lists where there are several of one of them."""
    if inputs == len(classes_of) == 1:
        return classes_of[0].data_set(who, features, labels, learn)
    of_outputs = arrays_of(labels, len(classes_of))
    if len(of_outputs) != len(classes_of) or len(arrays_of(features, inputs)) != inputs:
        raise nd.DataError(
            f"{who}: expected a list of {inputs} features and a list of {len(classes_of)} labels, got "
            f"{shown(features)} and {shown(labels)}. Or give a MultiDataSet(features, labels)."
        )
    numbers = [classes.numbers(who, one, learn) for classes, one in zip(classes_of, of_outputs, strict=True)]
    return MultiDataSet(arrays_of(features, inputs), numbers)
