// CUDA's words, and what CuPy's own kernels begin with, so that both are compiled once.
#pragma once
#include "kernel.h"
#include <cupy/complex.cuh>
#include <cupy/carray.cuh>
#include <cupy/atomics.cuh>
#include <cupy/math_constants.h>
