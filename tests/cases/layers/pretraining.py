"""Rows of layers that are pretrained, as they are in a network that is trained on labels."""

from nn import (
    RBM,
    AutoEncoder,
    BernoulliReconstructionDistribution,
    CompositeReconstructionDistribution,
    GaussianReconstructionDistribution,
    LossFunctionWrapper,
    VariationalAutoencoder,
)

from .base import ROWS, LayerCase, every
from .core import ACTIVATION_ORACLES


def dense(activation):
    """Return the oracle of one dense layer."""
    return lambda x, params: ACTIVATION_ORACLES[activation](x @ params["W"] + params["b"])


def encoder(activation, latent, layers):
    """Return the oracle of the way to the means of z."""

    def means(x, params):
        for number in range(layers):
            x = ACTIVATION_ORACLES[activation](x @ params[f"e{number}W"] + params[f"e{number}b"])
        return ACTIVATION_ORACLES[latent](x @ params["pZXMeanW"] + params["pZXMeanb"])

    return means


PRETRAINING_CASES = {
    "auto_encoder": every(
        [
            LayerCase("sigmoid", AutoEncoder(n_out=4, activation="sigmoid"), ROWS, dense("sigmoid")),
            LayerCase(
                "tanh", AutoEncoder(n_out=3, activation="tanh", corruption_level=0.0, sparsity=0.1), ROWS, dense("tanh")
            ),
        ],
        silences=True,
    ),
    "rbm": every(
        [
            LayerCase("binary", RBM(n_out=4, k=2), ROWS, dense("sigmoid")),
            LayerCase("softmax", RBM(n_out=4, hidden_unit="softmax", visible_unit="linear"), ROWS, dense("softmax")),
            LayerCase("rectified", RBM(n_out=4, hidden_unit="rectified", visible_unit="gaussian"), ROWS, dense("relu")),
            LayerCase(
                "identity", RBM(n_out=4, hidden_unit="identity", visible_unit="identity"), ROWS, dense("identity")
            ),
            LayerCase("gaussian", RBM(n_out=4, hidden_unit="gaussian"), ROWS, dense("identity"), draws=True),
        ],
        silences=True,
    ),
    "variational_autoencoder": every(
        [
            LayerCase(
                "gaussian",
                VariationalAutoencoder(
                    n_out=2, activation="tanh", encoder_layer_sizes=(6, 4), decoder_layer_sizes=(4, 6), num_samples=2
                ),
                ROWS,
                encoder("tanh", "identity", 2),
            ),
            LayerCase(
                "composite",
                VariationalAutoencoder(
                    n_out=2, activation="softplus", pzx_activation="tanh", encoder_layer_sizes=(4,),
                    decoder_layer_sizes=(3,),
                    reconstruction_distribution=CompositeReconstructionDistribution(
                        (2, 3), (GaussianReconstructionDistribution(), BernoulliReconstructionDistribution())
                    ),
                ),
                ROWS,
                encoder("softplus", "tanh", 1),
            ),
            LayerCase(
                "loss",
                VariationalAutoencoder(
                    n_out=2, activation="relu", encoder_layer_sizes=(4,), decoder_layer_sizes=(3,),
                    reconstruction_distribution=LossFunctionWrapper("tanh", "mse"),
                ),
                ROWS,
                encoder("relu", "identity", 1),
            ),
        ],
        silences=True,
    ),
}  # fmt: skip
"""Name in LAYERS -> rows."""
