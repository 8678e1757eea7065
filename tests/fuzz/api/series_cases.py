"""How to call what reads series, and what reads and augments pictures."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

from nd.dataset import CSVSequenceRecordReader, DataSet, SeriesColumns

PICTURES = pathlib.Path(__file__).parents[2] / "cases" / "java_pictures"


def saved_series(folder: Any) -> list[Any]:
    """Return the paths of two series."""
    paths = [folder / f"series_{number}.csv" for number in range(2)]
    for number, path in enumerate(paths):
        path.write_text("0.5,1.5,0\n" * (number + 1))
    return paths


def reader(folder: Any) -> CSVSequenceRecordReader:
    return CSVSequenceRecordReader().initialize(saved_series(folder))


AUGMENTATIONS = (
    "ColorJitter", "CutMix", "Cutout", "Mixup", "RandomCrop", "RandomFlip", "RandomGrayscale", "RandomRotation",
    "RandomShift", "RandomZoom",
)  # fmt: skip

SERIES: dict[str, Any] = {
    "nd.dataset.augmentation.Cutout": {"size": 2},
    "nd.dataset.augmentation.RandomCrop": {"padding": 1},
    **{
        f"nd.dataset.augmentation.{name}.transform": lambda folder: {"images": np.ones((2, 3, 4, 4), np.float32)}
        for name in AUGMENTATIONS
    },
    "nd.dataset.CharacterIterator": {"text": "to be or not to be " * 4, "batch": 2, "example_length": 8},
    "nd.dataset.CharacterIterator.convert_character_to_index": {"character": "a"},
    "nd.dataset.CharacterIterator.convert_index_to_character": {"index": 3},
    "nd.dataset.CharacterIterator.decode": {"numbers": [0, 1]},
    "nd.dataset.CharacterIterator.encode": {"text": "ab"},
    "nd.dataset.CSVSequenceRecordReader.initialize": lambda folder: {"split": saved_series(folder)},
    "nd.dataset.CSVSequenceRecordReader.sequence_record": {"number": 1},
    "nd.dataset.ImageFolderIterator": {"folder": str(PICTURES), "batch": 2, "size": 4},
    "nd.dataset.LabelLastTimeStepPreProcessor.pre_process": lambda folder: {
        "data_set": DataSet(np.ones((2, 1, 3)), np.ones((2, 1, 3)), None, np.ones((2, 3))),
    },
    "nd.dataset.NumberedFileInputSplit": {"base_string": "series_%d.csv", "min_index": 0, "max_index": 1},
    "nd.dataset.RecordReaderMultiDataSetIterator": lambda folder: {
        "batch": 2, "readers": {"a": reader(folder)}, "inputs": [SeriesColumns("a", [0])],
        "outputs": [SeriesColumns("a", [1, 2])],
    },
    "nd.dataset.SequenceRecordReaderDataSetIterator": lambda folder: {
        "reader": reader(folder), "batch": 2, "num_classes": 2, "label_index": 2,
    },
    "nd.dataset.SlidingWindowDataSetIterator": {"series": np.arange(12.0).reshape(6, 2), "length": 2},
}  # fmt: skip
"""Name of a target -> good arguments, or a function of the folder that makes them."""

PREPARED_READERS: dict[str, Any] = {
    "nd.dataset.CSVSequenceRecordReader": lambda **arguments: CSVSequenceRecordReader(**arguments).initialize(
        saved_series(pathlib.Path())
    ),
}
