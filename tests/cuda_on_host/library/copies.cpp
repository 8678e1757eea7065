// Copies and fills, and who waits for them. Rules are those of "API synchronization behavior" of the runtime's manual.
#include "engine.h"

#include <cstring>

namespace host {

static bool pinned(const void *address)
{
    const Block *block = block_of(address);
    return block && !block->device;
}

static bool on_device(const void *address)
{
    const Block *block = block_of(address);
    return block && block->device;
}

// Whether an address is on the side that the kind of copy says.
static bool fits(const void *target, const void *source, size_t size, cudaMemcpyKind kind)
{
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    bool sides = kind == cudaMemcpyDefault || (on_device(target) == to_device && on_device(source) == from_device);
    return sides && inside(target, size) && inside(source, size);
}

static cudaError_t copy(void *target, const void *source, size_t size, cudaMemcpyKind kind, Stream *stream)
{
    if (!stream)
        return failed(cudaErrorInvalidResourceHandle);
    if (!size)
        return cudaSuccess;
    if (!fits(target, source, size, kind))
        return failed(cudaErrorInvalidValue);
    if (!on_device(source) && !pinned(source)) {
        // "The function will return once the pageable buffer has been copied to the staging memory."
        if (stream->capture) {
            // What a graph would read then, nobody knows: pageable memory is not copied while a stream is captured.
            stream->capture->invalid = true;
            return failed(cudaErrorStreamCaptureUnsupported);
        }
        auto staged = std::make_shared<std::string>((const char *)source, size);
        return submit(stream, [=] { memcpy(target, staged->data(), size); });
    }
    // A block that is freed before the copy is one that the copy may no longer touch.
    cudaError_t error = submit(stream, [=] {
        if (inside(target, size) && (block_of(source) || !on_device(source)))
            memmove(target, source, size);
    });
    if (error == cudaSuccess && !stream->capture && on_device(source) && !on_device(target) && !pinned(target)) {
        // "For transfers from device memory to pageable host memory, the function will return only once the copy has
        // completed."
        complete(stream->last);
        error = failed(lost);
    }
    return error;
}

// "For transfers from pinned host memory to device memory, the function is synchronous with respect to the host", and
// so are the others but those within the device.
static cudaError_t copy_now(void *target, const void *source, size_t size, cudaMemcpyKind kind)
{
    if (cudaError_t error = unsafe_call())
        return failed(error);
    Stream *stream = stream_of(nullptr);
    if (cudaError_t error = copy(target, source, size, kind, stream))
        return error;
    if (size && !(on_device(source) && on_device(target)))
        complete(stream->last);
    return failed(lost);
}

static cudaError_t fill(void *target, int value, size_t size, Stream *stream)
{
    if (!on_device(target) || !inside(target, size))
        return size ? failed(cudaErrorInvalidValue) : cudaSuccess;
    return submit(stream, [=] { memset(target, value, size); });
}

}  // namespace host

using namespace host;

extern "C" {

cudaError_t cudaMemcpy(void *target, const void *source, size_t size, cudaMemcpyKind kind)
{
    Lock lock(everything);
    log_call("copy");
    return copy_now(target, source, size, kind);
}

cudaError_t cudaMemcpyAsync(void *target, const void *source, size_t size, cudaMemcpyKind kind, cudaStream_t stream)
{
    Lock lock(everything);
    log_call("copy");
    return copy(target, source, size, kind, stream_of(stream));
}

cudaError_t cudaMemcpyPeer(void *target, int, const void *source, int, size_t size)
{
    Lock lock(everything);
    return copy_now(target, source, size, cudaMemcpyDeviceToDevice);
}

cudaError_t cudaMemcpyPeerAsync(void *target, int, const void *source, int, size_t size, cudaStream_t stream)
{
    Lock lock(everything);
    return copy(target, source, size, cudaMemcpyDeviceToDevice, stream_of(stream));
}

cudaError_t cudaMemset(void *target, int value, size_t size)
{
    Lock lock(everything);
    if (cudaError_t error = unsafe_call())
        return failed(error);
    return fill(target, value, size, stream_of(nullptr));
}

cudaError_t cudaMemsetAsync(void *target, int value, size_t size, cudaStream_t stream)
{
    Lock lock(everything);
    return fill(target, value, size, stream_of(stream));
}

}  // extern "C"
