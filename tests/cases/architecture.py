"""What tests/test_architecture.py needs to know of the files: one line for each."""

NUMPY_IN_ND = {
    "nd/archives.py",
    "nd/dataset/checks.py",
    "nd/dataset/dataset.py",
    "nd/dataset/digits.py",
    "nd/dataset/fetch.py",
    "nd/dataset/image_iterator.py",
    "nd/dataset/iris.py",
    "nd/dataset/java_random.py",
    "nd/dataset/mnist.py",
    "nd/dataset/reuse.py",
    "nd/evaluation/binary.py",
    "nd/evaluation/calibration.py",
    "nd/evaluation/confusion.py",
    "nd/evaluation/curve_columns.py",
    "nd/evaluation/curves.py",
    "nd/evaluation/histograms.py",
    "nd/evaluation/regression_sums.py",
    "nd/evaluation/roc_points.py",
    "nd/evaluation/rows.py",
    "nd/serde.py",
    "nd/serde_buffers.py",
}
"""Modules of nd whose job is the host: files on disk, decoding, counting."""

REGISTRIES = {  # table -> its file, where what it lists is defined, the common root
    "ACTIVATIONS": ("nd/activations/__init__.py", "nd/activations", "Activation"),
    "BACKENDS": ("backends/__init__.py", "backends", "Backend"),
    "CONSTRAINTS": ("optimize/constraints.py", "optimize/constraints.py", "LayerConstraint"),
    "DISTRIBUTIONS": ("nn/conf/distributions.py", "nn/conf/distributions.py", "Distribution"),
    "DROPOUTS": ("nn/conf/dropout.py", "nn/conf/dropout.py", "IDropout"),
    "LAYERS": ("nn/layers/__init__.py", "nn/layers", "LayerConf"),
    "LOSSES": ("nd/losses/__init__.py", "nd/losses", "Loss"),
    "OPS": ("nd/ops/__init__.py", "nd/ops", "Op"),
    "OPTIMIZERS": ("optimize/solvers/__init__.py", "optimize/solvers", "def optimize"),
    "PREPROCESSORS": ("nn/preprocessors.py", "nn/preprocessors.py", "InputPreProcessor"),
    "REGULARIZATIONS": ("optimize/regularization.py", "optimize/regularization.py", "Regularization"),
    "SCHEDULES": ("optimize/schedules.py", "optimize/schedules.py", "Schedule"),
    "STEP_FUNCTIONS": ("optimize/step_functions.py", "optimize/step_functions.py", "_step"),
    "UPDATERS": ("optimize/updaters/__init__.py", "optimize/updaters", "Updater"),
    "WEIGHT_NOISES": ("nn/conf/weight_noise.py", "nn/conf/weight_noise.py", "IWeightNoise"),
}
