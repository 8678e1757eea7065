// The driver: modules, which are shared objects behind a head of 24 bytes, and launches.
#include "blocks.h"
#include "engine.h"
#include "image.h"

#include <cuda.h>
#include <dlfcn.h>
#include <xmmintrin.h>

#include <cstdio>
#include <cstring>
#include <map>

namespace host {

struct Kernel {                    // as launch.h has it
    int count;
    const size_t *sizes;
    const int *kinds;
    bool doubles;
    void (*call)(void **parameters);
};

struct Module {
    void *library;
    bool flush;
    std::map<std::string, struct Function *> functions;
};

struct Function {
    std::string name;
    const Kernel *kernel;
    bool flush;
};

// Parameters are copied when a kernel is launched: their memory is the caller's.
struct Arguments {
    std::vector<std::string> values;
    std::vector<void *> addresses;

    Arguments(const Kernel &kernel, void **given)
    {
        for (int i = 0; i < kernel.count; ++i)
            values.emplace_back((const char *)given[i], kernel.sizes[i]);
        for (std::string &value : values)
            addresses.push_back((void *)value.data());
    }
};

static CUresult as_driver(cudaError_t error)
{
    // The numbers are the same, but for the first ones.
    return error == cudaErrorMemoryAllocation ? CUDA_ERROR_OUT_OF_MEMORY : (CUresult)error;
}

static CUresult check_sizes(dim3 grid, dim3 block)
{
    bool fits = grid.x && grid.y && grid.z && block.x && block.y && block.z && grid.x <= 0x7fffffff &&
                grid.y <= 65535 && grid.z <= 65535 && block.z <= 64 && size_t(block.x) * block.y * block.z <= 1024;
    return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace host

using namespace host;

extern "C" {

CUresult cuModuleLoadData(CUmodule *made, const void *image)
{
    Lock lock(everything);
    if (cudaError_t error = unsafe_call())
        return as_driver(error);
    Image head;
    memcpy(&head, image, sizeof head);
    if (memcmp(head.magic, IMAGE_MAGIC, sizeof head.magic))
        return CUDA_ERROR_INVALID_IMAGE;
    std::string path = library_path(head, (const char *)image + sizeof head);
    void *library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "the host CUDA cannot load a kernel: %s\n", dlerror());
        return CUDA_ERROR_INVALID_IMAGE;
    }
    *made = (CUmodule) new Module{library, head.flush != 0, {}};
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }  // of work that is queued, somebody may still need it

CUresult cuModuleGetFunction(CUfunction *made, CUmodule handle, const char *name)
{
    Lock lock(everything);
    Module *module = (Module *)handle;
    Function *&function = module->functions[name];
    if (!function) {
        auto describe = (const Kernel *(*)())dlsym(module->library, (std::string("host_kernel_") + name).c_str());
        if (!describe)
            return CUDA_ERROR_NOT_FOUND;
        function = new Function{name, describe(), module->flush};
    }
    *made = (CUfunction)function;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule handle, const char *name)
{
    Lock lock(everything);
    *address = (CUdeviceptr)dlsym(((Module *)handle)->library, name);
    *size = 0;
    return *address ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuLaunchKernel(CUfunction handle, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, CUstream on, void **given, void **extra)
{
    Lock lock(everything);
    Function *function = (Function *)handle;
    dim3 grid(grid_x, grid_y, grid_z), block(block_x, block_y, block_z);
    if (CUresult wrong = check_sizes(grid, block))
        return wrong;
    if (shared > sizeof dynamic_shared)
        return CUDA_ERROR_INVALID_VALUE;
    if (extra) {
        fprintf(stderr, "not implemented: cuLaunchKernel with extra\n");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    auto arguments = std::make_shared<Arguments>(*function->kernel, given);
    Stream *stream = stream_of((cudaStream_t)on);
    log_call((stream && stream->capture ? "capture " : "launch ") + function->name);
    return as_driver(submit(stream, [=] {
        auto thread = [&] { function->kernel->call(arguments->addresses.data()); };
        log_call("run " + function->name);
        lost = run_grid(grid, block, thread, function->flush && !function->kernel->doubles);
    }));
}

// The kinds of a kernel's parameters, as launch.h has them; returns how many there are.
int host_cuda_parameters(CUfunction handle, const int **kinds)
{
    const Kernel *kernel = ((Function *)handle)->kernel;
    *kinds = kernel->kinds;
    return kernel->count;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction)
{
    *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }

static char context;

CUresult cuCtxGetCurrent(CUcontext *current) { *current = (CUcontext)&context; return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice *device) { *device = 0; return CUDA_SUCCESS; }
CUresult cuStreamGetCtx(CUstream, CUcontext *current) { return cuCtxGetCurrent(current); }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }

static const char *known(const char *text) { return strcmp(text, "unrecognized error code") ? text : nullptr; }

CUresult cuGetErrorName(CUresult error, const char **name)
{
    *name = known(cudaGetErrorName((cudaError_t)error));
    switch (error) {
    case CUDA_SUCCESS: *name = "CUDA_SUCCESS"; break;
    case CUDA_ERROR_INVALID_VALUE: *name = "CUDA_ERROR_INVALID_VALUE"; break;
    case CUDA_ERROR_OUT_OF_MEMORY: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case CUDA_ERROR_INVALID_IMAGE: *name = "CUDA_ERROR_INVALID_IMAGE"; break;
    case CUDA_ERROR_NO_BINARY_FOR_GPU: *name = "CUDA_ERROR_NO_BINARY_FOR_GPU"; break;
    case CUDA_ERROR_INVALID_HANDLE: *name = "CUDA_ERROR_INVALID_HANDLE"; break;
    case CUDA_ERROR_NOT_FOUND: *name = "CUDA_ERROR_NOT_FOUND"; break;
    case CUDA_ERROR_ILLEGAL_ADDRESS: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
    case CUDA_ERROR_LAUNCH_FAILED: *name = "CUDA_ERROR_LAUNCH_FAILED"; break;
    case CUDA_ERROR_NOT_SUPPORTED: *name = "CUDA_ERROR_NOT_SUPPORTED"; break;
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: *name = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"; break;
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED: *name = "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"; break;
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: *name = "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"; break;
    default: break;
    }
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    *text = error == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory"
            : error == CUDA_ERROR_INVALID_VALUE ? "invalid argument"
            : error == CUDA_ERROR_INVALID_IMAGE ? "device kernel image is invalid"
            : error == CUDA_ERROR_NOT_FOUND ? "named symbol not found" : cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}

}  // extern "C"
