"""TextGenerationLSTM: characters, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from nd.arguments import Count, Long
from optimize import RmsProp, Updater

from ..conf.multilayer import MultiLayerConfiguration
from ..layers import GravesLSTM, RnnOutputLayer
from ..networks.multilayer import MultiLayerNetwork
from .zoo_model import Network, ZooModel, ZooType

_UPDATER = RmsProp(0.01)


@dataclass(frozen=True, kw_only=True)
class TextGenerationLSTM(ZooModel):
    """Two LSTM layers that predict the next character of a text.

    Parameters
    ----------
    total_unique_characters : int
        Outputs of the network.
    max_length : int
        Time steps of a text, for `meta_data` alone: the network takes series of any length.
    input_shape : (time steps, characters), optional
        Without it of `max_length` and `total_unique_characters`. `num_classes` has no effect.

    Notes
    -----
    The other parameters are those of `ZooModel`. Source: ``org.deeplearning4j.zoo.model.TextGenerationLSTM``.
    Differs: Java's class needs an input shape, and its seed is always 12345, which is the default here.
    """

    seed: Long = 12345
    total_unique_characters: Count = 47
    max_length: Count = 40
    input_shape: Sequence[Count] = ()
    updater: str | Updater = _UPDATER
    network: ClassVar[type[Network]] = MultiLayerNetwork
    zoo_type: ClassVar[ZooType] = ZooType.RNN
    axes: ClassVar[tuple[str, ...]] = ("time steps", "characters")

    def _usual_shape(self) -> tuple[int, ...]:
        return self.max_length, self.total_unique_characters

    def conf(self) -> MultiLayerConfiguration:
        settings = self._settings(weight_init="xavier", l2=0.001)
        return settings.list(
            GravesLSTM(n_in=self.input_shape[1], n_out=256, activation="tanh"),
            GravesLSTM(n_out=256, n_in=256, activation="tanh"),
            RnnOutputLayer(loss="mcxent", n_in=256, n_out=self.total_unique_characters, activation="softmax"),
            backprop_type="truncated_bptt",
            tbptt_fwd_length=50,
            tbptt_back_length=50,
        )
