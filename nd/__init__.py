"""nd: arrays for networks. What is imported here is the facade; everything runs on the current backend."""

from backends.errors import (
    BackendError,
    ChoiceError,
    ConfigurationError,
    DataError,
    DTypeError,
    FormatError,
    NdError,
    NotRecorded,
    NumericError,
    ShapeError,
)

from . import activations, checks, losses, ops, random
from .arithmetic import (
    absolute,
    add,
    addi,
    all_finite,
    argmax,
    divi,
    divide,
    equal,
    exp,
    greater,
    greater_equal,
    log,
    max,
    maximum,
    mean,
    minimum,
    muli,
    multiply,
    power,
    sign,
    sqrt,
    square,
    subi,
    subtract,
    sum,
    sum_into,
    tanh,
    where,
)
from .blas import affine_gradients, axpby, batched_gemm, dot, gemm, svd
from .channels import channel_sums
from .convert import astype, dtype_name, is_array, item, synchronize, to_host
from .convolution import col2im, im2col
from .create import arange, as_array, create, create_uninitialized, eye, full, ones, staged, zeros
from .elementwise import Elementwise, Summed
from .executioner import add_hook, exec, execRandom, remove_hook
from .memory import Workspace
from .parallel import Work, lanes, run_lanes, split_examples
from .program import Program, record, traceable
from .random import rand, randn
from .rows import pull_rows, scatter_add
from .shape import (
    activation_like,
    assign,
    concat,
    copy,
    fill,
    permute,
    reshape,
    reshape_view,
    to_activation_order,
    transpose,
)
from .state import backend, default_dtype, set_backend, set_default_dtype, use_backend
