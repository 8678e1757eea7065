"""Networks that Deeplearning4j 1.0.0-M1.1 or M2.1 ran, repeated with its parameters: outputs, gradients, training.

A folder has what Java wrote of one network: conf.json, arrays.npz, scores.txt, model.zip (after training). Arrays: x,
y and masks xm, ym; params0; out, of inference with the masks; grad, of the first minibatch; params1 and updater1 after
the fits that scores.txt lists. Or, of series in pieces: step0, step1, ..., of one step each; again, of the whole series
behind them; cleared, of three steps from a new beginning; state_NAME of layer 0 after these.
"""

import pathlib
import warnings
from contextlib import contextmanager

import numpy as np

import nd
from nd.dataset import DataSet
from nn import MultiLayerConfiguration, MultiLayerNetwork

OUTPUT, GRADIENT, CURVE, PARAMETERS, STATE = 2e-5, 2e-5, 5e-5, 1e-4, 2e-4
"""Largest distance over largest number."""
IN_DOUBLE = 1e-4
"""Of these, where Java computed in double precision."""
DRAWN = 1e-6
"""Of weights from a seed."""
DRAWN_EXACTLY = 280
"""Of 348 networks, how many begin with Java's weights to the last bit, at least: 289 where this was written. Others
have a number whose logarithm or cosine is rounded another way."""
FEW = pathlib.Path(__file__).parent / "cases" / "java_runs"
"""A handful of them, so that a clone alone is held against Java; written by Deeplearning4j, Apache License 2.0."""
ELSEWHERE = {
    "data": "nd/dataset/test_java_data.py",
    "graph": "test_java_graphs.py",
    "pretrain": "test_java_pretraining.py",
    "rbm": "test_java_pretraining.py",
}
"""Folders of Java's runs that other tests repeat -> these tests."""
HERE = sorted(
    f"{path.parent.parent.name}/{path.parent.name}"
    for path in FEW.glob("*/*/conf.json")
    if path.parent.parent.name not in ELSEWHERE
)


def distance(ours, theirs):
    """Return the largest distance over the largest number, infinity where shapes or what is finite differ."""
    ours, theirs = (np.asarray(nd.to_host(each), np.float64).ravel() for each in (ours, theirs))
    finite = np.isfinite(theirs)
    if ours.shape != theirs.shape or (np.isfinite(ours) != finite).any():
        return float("inf")
    if not finite.any():
        return 0.0
    return np.abs(ours - theirs)[finite].max() / (np.abs(theirs[finite]).max() + 1e-12)


class Run:
    """One network of Java's."""

    def __init__(self, folder):
        self.folder = folder
        self.text = (folder / "conf.json").read_text()
        with np.load(folder / "arrays.npz") as arrays:
            self.arrays = {name: arrays[name] for name in arrays.files}
        scores = folder / "scores.txt"
        lines = scores.read_text().split("\n") if scores.exists() else []
        words = [line.split() for line in lines if line and not line.startswith(("layer ", "order "))]
        self.fits = [float(value) for name, value in words if name == "fit"]
        self.scores = {name: float(value) for name, value in words if name != "fit"}

    def __getattr__(self, name):
        return self.arrays.get(name)

    def network(self):
        net = MultiLayerNetwork(MultiLayerConfiguration.from_json(self.text)).init()
        net.set_params(self.params0.reshape(-1))
        return net

    def data(self):
        return DataSet(self.x, self.y, self.xm, self.ym)

    def output_of(self, net):
        return net.output(self.x, features_mask=self.xm, labels_mask=self.ym)

    def set_minibatch(self, net):
        net.set_input(self.x)
        net.set_labels(self.y)
        net.set_masks(self.xm, self.ym)

    def loaded(self):
        return MultiLayerNetwork.load(self.folder / "model.zip")

    @property
    def scale(self):
        """What tolerances are multiplied by: Java computed the run in single or in double precision."""
        return IN_DOUBLE if self.params0 is not None and self.params0.dtype == np.float64 else 1.0


# ---- what is compared: each returns the distance and what it may be


def output(run):
    return distance(run.output_of(run.network()), run.out), OUTPUT * run.scale


def score(run):
    return distance([run.network().score(run.data())], [run.scores["eval_score"]]), OUTPUT * run.scale


def gradient(run):
    net = run.network()
    run.set_minibatch(net)
    net.compute_gradient_and_score()
    return distance(net.flattened_gradients(), run.grad), GRADIENT * run.scale


def training(run):
    """The scores of the fits, the parameters and the updater's state after them, each in its own tolerance."""
    net, found = run.network(), []
    for _ in run.fits:
        net.fit(run.data())
        found.append(net.score())
    apart = [max(distance([ours], [theirs]) for ours, theirs in zip(found, run.fits, strict=True)) / CURVE]
    apart.append(distance(net.params(), run.params1) / PARAMETERS)
    if run.updater1 is not None:
        apart.append(distance(net.updater_state(), run.updater1) / STATE)
    return max(apart), run.scale


def in_steps(run):
    """A series step by step with stored states, the whole behind it, its first steps after clearing; the states."""
    net = run.network()
    apart = [distance(net.rnn_time_step(run.x[:, :, t]), run.arrays[f"step{t}"]) for t in range(run.x.shape[2])]
    apart.append(distance(net.rnn_time_step(run.x), run.again))
    net.rnn_clear_previous_state()
    apart.append(distance(net.rnn_time_step(run.x[:, :, :3]), run.cleared))
    ours = net.rnn_get_previous_state(0)
    theirs = {name.removeprefix("state_"): array for name, array in run.arrays.items() if name.startswith("state_")}
    if set(ours) != set(theirs):
        return float("inf"), OUTPUT
    return max([*apart, *(distance(ours[name], array) for name, array in theirs.items())]), OUTPUT * run.scale


def saved(run):
    """Java's zip: the parameters to the bit, the outputs of them."""
    net = run.loaded()
    apart = distance(net.params(), run.params1) / 1e-7
    if run.out1 is not None:
        apart = max(apart, distance(run.output_of(net), run.out1) / (OUTPUT * run.scale))
    return apart, 1.0


@contextmanager
def drawn_as_by(release):
    """Let networks draw what a release of Java draws."""
    nd.random.set_release(release)
    try:
        yield
    finally:
        nd.random.set_release("1.0.0-beta7")  # the default


def initial(run):
    with drawn_as_by("1.0.0-M2.1" if run.folder.parent.name == "m21" else "1.0.0-M1.1"):
        net = MultiLayerNetwork(MultiLayerConfiguration.from_json(run.text)).init()
    return distance(net.params(), run.params0), DRAWN


NEEDS = {
    initial: "params0",
    output: "out",
    score: "eval_score",
    gradient: "grad",
    training: "params1",
    in_steps: "step0",
    saved: "params1",
}


def differences(run, needs=NEEDS):
    """Return name of a quantity -> what is wrong with it."""
    found = {}
    for quantity, needed in needs.items():
        changed = quantity is initial and (run.folder / "base.zip").exists()  # whose parameters were another network's
        if changed or (needed not in run.arrays and needed not in run.scores):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                apart, most = quantity(run)
        except nd.NdError as error:
            found[quantity.__name__] = f"{type(error).__name__}: {error}"
        else:
            if not apart <= most:
                found[quantity.__name__] = f"{apart:.1e}, at most {most:.1e}"
    return found


NAN = "the score is NaN in Java, which goes on; here it raises NumericError"
DRAWS = "the draws of Java's OrthogonalDistribution are not repeated"
JAVAS_GRADIENT = "Java's gradient is not the derivative of its score"
JAVAS_SCHEDULE = "PolySchedule grows and CycleSchedule is off by a power in Java"
RAMP = "Java writes a RampSchedule without what it is made of"
NO_PENALTY = (
    "penalties of attention layers are not in Java's score; the rest is held in tests/nn/layers/test_attention.py"
)
ROUNDED = "RmsProp at 0.1 makes steps of rounding errors: both are 3e-3 from what double precision gives"
SEARCH = "Java's line searches go along the updater's output, and its LBFGS and CG are plain descent"
PAST_THE_MASK = "Java's errors go past the mask of an LSTM, so that its gradient is not the derivative of its score"
OTHER_ROWS = "Java reads the mask of TimeDistributed by time steps first, the rows by examples first"
EXCEPTIONS = {
    "ff/activation_RRELU": ({"gradient", "training"}, JAVAS_GRADIENT),
    "ff/dist_OrthogonalDistribution": ({"initial"}, DRAWS),
    "ff/loss_MEAN_ABSOLUTE_PERCENTAGE_ERROR_SOFTPLUS": (
        {"saved"}, "Java's softplus of very negative numbers is log(1 + e^x) in single precision: 0",
    ),
    "ff/loss_XENT_SOFTPLUS": ({"training"}, "NaN in Java from the third step on; finite here"),
    "ff/ocnn": ({"gradient", "training"}, JAVAS_GRADIENT),
    **{
        f"ff/loss_{loss}_{activation}": ({"training"}, NAN)
        for loss in ("MCXENT", "NEGATIVELOGLIKELIHOOD", "POISSON", "SPARSE_MCXENT")
        for activation in ("IDENTITY", "TANH")
    },
    "ff/loss_MEAN_SQUARED_LOGARITHMIC_ERROR_IDENTITY": ({"training"}, NAN),
    "conv/lrn_own": ({"gradient", "training"}, JAVAS_GRADIENT),
    "formats/image_outputs": ({"score", "training"}, "Java's score of NHWC takes the width for the channels"),
    "rnn/char_like": ({"training"}, ROUNDED),
    "train/constraint_minmax": ({"training"}, "MinMaxNorm's rate is used the other way round in Java"),
    **{f"rnn/{kind}attention{variant}": ({"score", "training"}, NO_PENALTY)
       for kind in ("recurrent", "self") for variant in ("", "_labelmask", "_mask", "_pool")},
    **{f"rnn/bi_{mode}_last": ({"gradient", "training"}, PAST_THE_MASK) for mode in ("add", "concat")},
    **{f"rnn/timedistributed_{variant}": ({"gradient", "output", "saved", "score", "training"}, OTHER_ROWS)
       for variant in ("mask", "pool", "tbptt_mask_3_3")},
    "wrapping/dropout_of_output": ({"training"}, "Java's score of a step leaves an RnnOutputLayer's dropout out"),
    **{f"wrapping/{name}": ({"gradient", "training"}, PAST_THE_MASK)
       for name in ("gap_last_bi_lstm", "mask_zero_last_mask", "mask_zero_mask")},
    **{f"train/schedule_{of}{name}Schedule": ({"training"}, JAVAS_SCHEDULE)
       for of in ("", "nesterovs_") for name in ("Cycle", "Poly")},
    **{f"train/schedule_{of}RampSchedule": ({quantity.__name__ for quantity in NEEDS} - {"in_steps"}, RAMP)
       for of in ("", "nesterovs_")},
    **{f"train/solver_{name}": ({"training"}, SEARCH)
       for name in ("CONJUGATE_GRADIENT", "LBFGS", "LINE_GRADIENT_DESCENT")},
}  # fmt: skip
"""Name -> quantities that differ, and why; one that does not differ any more is reported too."""

KINDS = {"conv": 64, "ff": 204, "m21": 10, "rnn": 102, "train": 72, "transfer": 6}
"""Folders of what can run here -> networks in them."""


def runs_of(folder):
    """Return name -> run of the networks that follow one another in a folder."""
    found = [path.parent for path in sorted(folder.glob("*/conf.json")) if "confs" in path.read_text()]
    return {
        f"{folder.name}/{path.name}": path
        for path in found
        if '"networkInputs"' not in (path / "conf.json").read_text()
    }
