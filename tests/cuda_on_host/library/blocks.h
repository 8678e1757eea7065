// Runs the threads of blocks, one at a time.
#pragma once
#include <cuda_runtime_api.h>

#include <functional>

extern "C" char dynamic_shared[48 << 10];  // of the block that runs

namespace host {

// Run a kernel for every thread of every block; cudaSuccess, or why it ended before.
cudaError_t run_grid(dim3 grid, dim3 block, const std::function<void()> &thread, bool flush_subnormals);

}
