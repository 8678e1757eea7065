"""UniformMultiNormalizer: shared by normalizers that change all inputs, and all outputs or none, in one way."""

from __future__ import annotations

import struct
from abc import abstractmethod
from typing import Any, BinaryIO, Self

from nd.dataset.normalizers.base import FittedNormalizer
from nd.dataset.normalizers.body import read_flag, read_row, write_flag, write_rows
from nd.dataset.normalizers.multi import FittedMultiNormalizer
from nd.files.serde_buffers import read_number

_NOT_FITTED = -1


class UniformMultiNormalizer(FittedMultiNormalizer):
    """Normalizers of one kind, one for each input, and for each output where `fit_label` is said.

    Notes
    -----
    Source: org.nd4j.linalg.dataset.api.preprocessor.AbstractMultiDataSetNormalizer.
    """

    @abstractmethod
    def single(self) -> FittedNormalizer:
        """Return a normalizer for one array, which has learnt nothing."""

    def new_normalizer(self, group: str, index: int) -> FittedNormalizer | None:
        return self.single() if group == "features" or self.fits_labels else None

    def set_feature_stats(self, rows: Any) -> None:
        """Set the numbers of all inputs: for each a pair of rows [columns], as ``(mean, std)`` or ``(lower, upper)``.

        Raises
        ------
        ConfigurationError
            They are no pairs of rows of so many finite numbers.
        """
        self.set_rows("set_feature_stats", "features", rows)

    def set_label_stats(self, rows: Any) -> None:
        """Set the numbers of all outputs, and that labels are to be changed. Same errors."""
        before, self.fits_labels = self.fits_labels, True
        try:
            self.set_rows("set_label_stats", "labels", rows)
        except BaseException:
            self.fits_labels = before
            raise

    def write_body(self, stream: BinaryIO) -> None:
        groups = ["features", "labels"] if self.fits_labels else ["features"]
        fitted = [self.fitted_group(group, "save") for group in groups]
        counts = [*map(len, fitted), _NOT_FITTED][:2]
        write_flag(stream, self.fits_labels)
        stream.write(struct.pack(">2i", *counts))
        self.write_settings(stream)
        singles = [each for of_group in fitted for each in of_group.values()]
        write_rows(stream, [each.fitted("features", "save")[name] for each in singles for name in each.rows])

    @classmethod
    def read_body(cls, stream: BinaryIO) -> Self:
        fits_labels = read_flag(stream)
        counts = [read_number(stream, ">i", f"the number of {name}") for name in ("inputs", "outputs")]
        normalizer = cls.read_settings(stream)
        normalizer.set_feature_stats([(read_row(stream), read_row(stream)) for _ in range(counts[0])])
        if fits_labels:
            normalizer.set_label_stats([(read_row(stream), read_row(stream)) for _ in range(counts[1])])
        return normalizer
