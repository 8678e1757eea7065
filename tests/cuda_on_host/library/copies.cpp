// Copies and fills, and who waits for them. The sentences are those of the manual of the runtime API, section API
// synchronization behavior, where no other place is named.
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

// Whether an address is on the side that the kind of copy says; Manual, cudaMemcpy: "Calling cudaMemcpy() with dst and
// src pointers that do not match the direction of the copy results in an undefined behavior." Here it is an error.
static bool fits(const void *target, const void *source, size_t size, cudaMemcpyKind kind)
{
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    bool sides = kind == cudaMemcpyDefault || (on_device(target) == to_device && on_device(source) == from_device);
    return sides && inside(target, size) && inside(source, size);
}

// Memory that work will touch. If it was CUDA's, and has been freed when the work runs, the device is lost.
struct Range {
    const void *start;
    size_t size;
    bool allocated;

    Range(const void *start, size_t size) : start(start), size(size), allocated(block_of(start)) {}

    bool usable() const
    {
        if (!allocated || (block_of(start) && inside(start, size)))
            return true;
        lost = cudaErrorIllegalAddress;
        return false;
    }
};

static cudaError_t copy(void *target, const void *source, size_t size, cudaMemcpyKind kind, Stream *stream)
{
    if (!stream)
        return failed(cudaErrorInvalidResourceHandle);
    if (!size)
        return cudaSuccess;
    if (!fits(target, source, size, kind))
        return failed(cudaErrorInvalidValue);
    Range into(target, size), from(source, size);
    if (!from.allocated && !stream->capture) {
        // "If pageable memory must first be staged to pinned memory, the driver may synchronize with the stream and
        // stage the copy into pinned memory."
        auto staged = std::make_shared<std::string>((const char *)source, size);
        cudaError_t error = submit(stream, [=] {
            if (into.usable())
                memcpy(target, staged->data(), size);
        });
        if (error != cudaSuccess)
            return error;
    } else {
        // What is captured reads and writes pageable memory, too, at every launch of the graph.
        cudaError_t error = submit(stream, [=] {
            if (into.usable() && from.usable())
                memmove(target, source, size);
        });
        if (error != cudaSuccess || stream->capture)
            return error;
    }
    // "For transfers between device memory and pageable host memory, the function might be synchronous with respect to
    // host." Those to the host are, and: "For transfers from any host memory to any host memory, the function is fully
    // synchronous with respect to the host." "For all other transfers, the function should be fully asynchronous."
    if (!on_device(target) && !(on_device(source) && pinned(target)))
        complete(stream->last);
    return failed(lost);
}

// What cudaMemcpy and cudaMemset need. Guide, 4.2.2.1.2.2, of a blocking stream that is captured: "It is therefore also
// invalid to call synchronous APIs in this case."
static cudaError_t may_be_synchronous()
{
    if (cudaError_t error = uses_legacy_stream())
        return error;
    return failed(unsafe_call());
}

// "For transfers from pinned host memory to device memory, the function is synchronous with respect to the host." "For
// transfers from device to either pageable or pinned host memory, the function returns only once the copy has
// completed." "For transfers from device memory to device memory, no host-side synchronization is performed."
static cudaError_t copy_now(void *target, const void *source, size_t size, cudaMemcpyKind kind)
{
    if (cudaError_t error = may_be_synchronous())
        return error;
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
    Range into(target, size);
    return submit(stream, [=] {
        if (into.usable())
            memset(target, value, size);
    });
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

// "The cudaMemset functions are asynchronous with respect to the host except when the target memory is pinned host
// memory."
cudaError_t cudaMemset(void *target, int value, size_t size)
{
    Lock lock(everything);
    if (cudaError_t error = may_be_synchronous())
        return error;
    return fill(target, value, size, stream_of(nullptr));
}

cudaError_t cudaMemsetAsync(void *target, int value, size_t size, cudaStream_t stream)
{
    Lock lock(everything);
    return fill(target, value, size, stream_of(stream));
}

}  // extern "C"
