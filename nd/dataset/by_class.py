"""Methods of a DataSet that go by the classes of its examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from backends.errors import DataError, ShapeError, describe_shape
from nd.arguments import checked
from nd.dataset.checks import check_count
from nd.dataset.examples import Examples


class ByClass(Examples):
    """Methods for labels [N, classes], where an example's class is the place of its row's largest number."""

    features: Any
    labels: Any
    features_mask: Any
    labels_mask: Any

    def label_counts(self) -> dict[int, int]:
        """Return class -> number of its examples, for the classes that have some.

        Raises
        ------
        DataError
            There are no labels.
        ShapeError
            The labels are not [N, classes].
        """
        classes, counts = np.unique(self._classes("label_counts"), return_counts=True)
        return dict(zip(classes.tolist(), counts.tolist(), strict=True))

    @checked
    def filter_by(self, classes: Sequence[int]) -> Self:
        """Return the examples of those classes, in the order of this DataSet.

        Raises
        ------
        DataError
            There are no labels, or no example of these classes.
        ShapeError
            The labels are not [N, classes].
        """
        return self.get(self._of("filter_by", classes))

    @checked
    def filter_and_strip(self, classes: Sequence[int]) -> Self:
        """Return the examples of those classes with one label column a class, in the order of `classes`.

        Raises
        ------
        DataError
            There are no labels, no example of these classes, no such class, or one is given twice.
        ArgumentError
            It is no list of whole numbers.
        ShapeError
            The labels are not [N, classes].

        Notes
        -----
        Source: org.nd4j.linalg.dataset.DataSet.filterAndStrip. Differs: Java changes the DataSet.
        """
        last = self._class_count("filter_and_strip") - 1
        columns = [check_count("DataSet.filter_and_strip", "a class", number, 0, last) for number in classes]
        if len(set(columns)) < len(columns):
            raise DataError(f"DataSet.filter_and_strip: expected each class once, got {columns}.")
        chosen = self.get(self._of("filter_and_strip", columns))
        chosen.labels = chosen.labels[:, np.array(columns)]
        if self.class_names is not None:
            chosen.class_names = [self.class_names[column] for column in columns]
        if chosen.labels_mask is not None and chosen.labels_mask.shape[1:] == self.labels.shape[1:]:
            chosen.labels_mask = chosen.labels_mask[:, np.array(columns)]
        return chosen

    def sort_by_label(self) -> None:
        """Reorder the examples: one of each class in turn as long as all have one, then the rest class by class.

        So minibatches hold all classes alike. The order within a class stays; this DataSet then holds new arrays.

        Raises
        ------
        DataError
            There are no labels.
        ShapeError
            The labels are not [N, classes].

        Notes
        -----
        Source: org.nd4j.linalg.dataset.DataSet.sortByLabel. Differs: Java leaves rows out when it goes from one turn
        to the next, and takes turns only where every label column has an example.
        """
        of_class = self._classes("sort_by_label")
        members = [np.flatnonzero(of_class == number) for number in np.unique(of_class)]
        turns = min(len(places) for places in members)
        in_turn = np.stack([places[:turns] for places in members], axis=1).ravel()
        reordered = self.get(np.concatenate([in_turn, *(places[turns:] for places in members)]))
        vars(self).update(vars(reordered))

    def _of(self, who: str, classes: Sequence[int]) -> np.ndarray:
        of_class = self._classes(who)
        places = np.flatnonzero(np.isin(of_class, np.asarray(classes)))
        if not places.size:
            raise DataError(
                f"DataSet.{who}: expected examples of classes {list(classes)}, got none; there are "
                f"{np.unique(of_class).tolist()}."
            )
        return places

    def _classes(self, who: str) -> np.ndarray:
        """Class numbers [N], on the host."""
        from nd.serde import as_host

        self._class_count(who)
        return np.argmax(as_host(self.labels), axis=1)

    def _class_count(self, who: str) -> int:
        if self.labels is None:
            raise DataError(f"DataSet.{who}: expected labels, got none in {self!r}.")
        if len(self.labels.shape) != 2:
            raise ShapeError(f"DataSet.{who}: expected labels [N, classes], got {describe_shape(self.labels.shape)}.")
        return int(self.labels.shape[1])
