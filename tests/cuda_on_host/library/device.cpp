// The one device there is, and the names of errors.
#include "engine.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace host;

static const int VERSION = CUDART_VERSION;

// HOST_CUDA_DEVICES=0 is a machine without a device, HOST_CUDA_DRIVER=12080 one with an old driver, 0 one without any;
// HOST_CUDA_PROCESSORS and HOST_CUDA_CAPABILITY say what device it is.
static int setting(const char *name, int otherwise)
{
    const char *given = getenv(name);
    return given ? atoi(given) : otherwise;
}

static cudaError_t usable()
{
    int driver = setting("HOST_CUDA_DRIVER", VERSION);
    if (!driver || driver / 1000 < VERSION / 1000)
        return cudaErrorInsufficientDriver;
    return setting("HOST_CUDA_DEVICES", 1) ? cudaSuccess : cudaErrorNoDevice;
}

extern "C" {

cudaError_t cudaDriverGetVersion(int *version) { *version = setting("HOST_CUDA_DRIVER", VERSION); return cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int *version) { *version = VERSION; return cudaSuccess; }

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = usable() == cudaSuccess;
    return failed(usable());
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return failed(usable());
}

cudaError_t cudaSetDevice(int device)
{
    return failed(usable() ? usable() : device ? cudaErrorInvalidDevice : cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    if (device)
        return failed(cudaErrorInvalidDevice);
    memset(properties, 0, sizeof *properties);
    strcpy(properties->name, "the host's processor");
    properties->totalGlobalMem = total_memory();
    properties->sharedMemPerBlock = properties->sharedMemPerMultiprocessor = 48 << 10;
    properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = properties->maxThreadsPerMultiProcessor = 1024;
    properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
    properties->maxThreadsDim[2] = 64;
    properties->maxGridSize[0] = 0x7fffffff;
    properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
    properties->major = setting("HOST_CUDA_CAPABILITY", 75) / 10;
    properties->minor = setting("HOST_CUDA_CAPABILITY", 75) % 10;
    properties->multiProcessorCount = setting("HOST_CUDA_PROCESSORS", 2);
    properties->concurrentKernels = properties->unifiedAddressing = properties->asyncEngineCount = 1;
    properties->managedMemory = properties->canMapHostMemory = 1;
    return failed(usable());
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    cudaDeviceProp properties;
    if (cudaError_t error = cudaGetDeviceProperties(&properties, device))
        return error;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = properties.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: case cudaDevAttrMaxBlockDimY: *value = 1024; break;
    case cudaDevAttrMaxBlockDimZ: *value = 64; break;
    case cudaDevAttrMaxGridDimX: *value = properties.maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: case cudaDevAttrMaxGridDimZ: *value = 65535; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = properties.sharedMemPerBlock; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = 65536; break;
    case cudaDevAttrMultiProcessorCount: *value = properties.multiProcessorCount; break;
    case cudaDevAttrComputeCapabilityMajor: *value = properties.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = properties.minor; break;
    case cudaDevAttrConcurrentKernels: case cudaDevAttrUnifiedAddressing: case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrCanMapHostMemory: *value = 1; break;
    case cudaDevAttrMemoryPoolsSupported: case cudaDevAttrCooperativeLaunch: case cudaDevAttrIntegrated:
    case cudaDevAttrManagedMemory: case cudaDevAttrPageableMemoryAccess: *value = 0; break;
    default: *value = 0;
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int size, int) { snprintf(id, size, "0000:00:00.0"); return cudaSuccess; }
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *) { *device = 0; return cudaSuccess; }
cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) { *can = 0; return cudaSuccess; }

static const struct { cudaError_t error; const char *name, *text; } ERRORS[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const char *cudaGetErrorName(cudaError_t error)
{
    for (const auto &each : ERRORS)
        if (each.error == error)
            return each.name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (const auto &each : ERRORS)
        if (each.error == error)
            return each.text;
    return "unrecognized error code";
}

}  // extern "C"
