"""Files that Keras wrote, with the outputs that Keras recorded."""

import pathlib

import numpy as np
import pytest

import nd
from nn.keras import graph_of

CLOSE = 1e-5


def compared(net, xs, ys):
    """Compare outputs, of all examples and of the first alone."""
    for stop in (None, 1):
        given = net.output(*(x[:stop] for x in xs))
        given = given if isinstance(given, (list, tuple)) else [given]
        assert len(given) == len(ys)
        for ours, theirs in zip(given, ys, strict=True):
            ours = nd.to_host(ours)
            assert ours.shape == theirs[:stop].shape
            np.testing.assert_allclose(ours, theirs[:stop], rtol=CLOSE, atol=CLOSE)


def of_zoo(path):
    """Compare a model of the zoo in both forms."""
    with np.load(path) as recorded:
        arrays = dict(recorded)
    xs, ys = ([arrays[f"{key}{at}"] for at in range(9) if f"{key}{at}" in arrays] for key in "xy")
    for suffix in (".keras", ".h5"):
        compared(graph_of(path.with_suffix(suffix), isolated=False), xs, ys)


def recorded_of(path):
    """Return inputs and outputs of one of Deeplearning4j's models, whose outputs are labels where predictions are."""
    import h5py

    def arrays(group):
        kept = []
        group.visititems(lambda _, one: kept.append(np.asarray(one)) if hasattr(one, "shape") else None)
        return kept

    with h5py.File(path, "r") as file:
        return arrays(file["inputs"]), arrays(file.get("predictions", file["outputs"]))


def forms_of(path):
    """Return what can be loaded of one of Deeplearning4j's models: whole, and a configuration with weights."""
    start = str(path).removesuffix("_inputs_and_outputs.h5")
    model, config, weights = (pathlib.Path(start + end) for end in ("_model.h5", "_config.json", "_weights.h5"))
    return model, (weights, config)


@pytest.mark.parametrize("kind", ["cnn1", "cnn2", "cnn3", "functional", "mlp", "rnn"])
def test_a_model_of_each_kind_computes_what_keras_recorded(keras_reference, kind):
    of_zoo(min((keras_reference / "zoo").glob(f"{kind}_*.npz")))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cnn1", "cnn2", "cnn3", "functional", "mlp", "rnn"])
def test_all_models_of_the_zoo_compute_what_keras_recorded(keras_reference, kind):
    paths = sorted((keras_reference / "zoo").glob(f"{kind}_*.npz"))
    assert len(paths) == 10
    for path in paths:
        of_zoo(path)


def models_of_dl4j(folder):
    """Return the 35 models that have recorded outputs."""
    paths = sorted((folder / "dl4j").glob("*/*_inputs_and_outputs.h5"))
    assert len(paths) == 35
    return paths


def test_models_of_deeplearning4j_compute_what_keras_recorded(keras_reference):
    for path in models_of_dl4j(keras_reference)[::2]:
        compared(graph_of(forms_of(path)[0], isolated=False), *recorded_of(path))


@pytest.mark.slow
def test_all_models_of_deeplearning4j_compute_what_keras_recorded_whole_and_from_two_files(keras_reference):
    for path in models_of_dl4j(keras_reference):
        model, pair = forms_of(path)
        for files in ((model,), pair):
            compared(graph_of(*files, isolated=False), *recorded_of(path))


def test_configurations_alone_become_networks_with_weights_of_their_own(keras_reference):
    paths = sorted((keras_reference / "dl4j").glob("*/*_config.json"))
    paths = [path for path in paths if not path.with_name(path.name.replace("config.json", "weights.h5")).exists()]
    assert len(paths) == 13
    for path in paths[::4]:
        net = graph_of(path)
        assert net.num_params() == sum(nd.to_host(array).size for array in net.param_table().values()) > 0
