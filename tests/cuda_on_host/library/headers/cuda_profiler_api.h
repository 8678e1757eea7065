// The two functions of the profiler that CuPy's runtime module declares.
#pragma once
#include <cuda_runtime_api.h>
extern "C" cudaError_t cudaProfilerStart(void);
extern "C" cudaError_t cudaProfilerStop(void);
