// Device memory and pinned memory. Manual of the runtime API, cudaMalloc: "The memory is not cleared." It is all ones
// (NaN, -1) until somebody writes it.
#include "engine.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>

namespace host {

static const size_t TOTAL = size_t(4) << 30, ARENA = size_t(1) << 42;
static std::map<const char *, Block> blocks;
static size_t used = 0;

size_t total_memory() { return TOTAL; }
size_t free_memory() { return TOTAL - used; }

// An arena of addresses that nobody may touch: an array ends where such addresses begin, and none is given twice.
static char *tight_memory(size_t size, void **base, size_t *mapped)
{
    static char *arena = nullptr, *next = nullptr;
    size_t page = sysconf(_SC_PAGESIZE);
    if (!arena) {
        void *made = mmap(nullptr, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (made == MAP_FAILED)
            return nullptr;
        arena = next = (char *)made;
    }
    *mapped = (size + page - 1) / page * page;
    *base = next;
    if (next + *mapped + page > arena + ARENA || mprotect(next, *mapped, PROT_READ | PROT_WRITE))
        return nullptr;
    next += *mapped + page;
    return (char *)*base + *mapped - size;
}

static char *plain_memory(size_t size, void **base)
{
    if (modes.watched)
        *base = malloc(size);  // whose ends AddressSanitizer knows
    else if (posix_memalign(base, 512, size))
        *base = nullptr;
    return (char *)*base;
}

cudaError_t allocate(void **address, size_t size, bool device)
{
    *address = nullptr;
    if (!size)
        return cudaSuccess;
    if (device && size > free_memory())
        return failed(cudaErrorMemoryAllocation);
    Block block = {nullptr, size, device, nullptr, 0};
    bool tight = modes.tight && device && !modes.watched;
    block.start = tight ? tight_memory(size, &block.base, &block.mapped) : plain_memory(size, &block.base);
    if (!block.start)
        return failed(cudaErrorMemoryAllocation);
    memset(block.start, 0xFF, size);
    blocks[block.start] = block;
    used += device ? size : 0;
    *address = block.start;
    return cudaSuccess;
}

const Block *block_of(const void *address)
{
    auto after = blocks.upper_bound((const char *)address);
    if (after == blocks.begin())
        return nullptr;
    const Block &block = std::prev(after)->second;
    return (const char *)address < block.start + block.size ? &block : nullptr;
}

bool inside(const void *address, size_t size)
{
    const Block *block = block_of(address);
    return !block || (const char *)address + size <= block->start + block->size;
}

void release(const Block *block)
{
    used -= block->device ? block->size : 0;
    if (block->mapped) {
        mprotect(block->base, block->mapped, PROT_NONE);
        madvise(block->base, block->mapped, MADV_DONTNEED);
    } else {
        if (!modes.watched)
            memset(block->start, 0xFF, block->size);
        free(block->base);
    }
    blocks.erase(block->start);
}

static const Block *begins(void *address, bool device)
{
    auto found = blocks.find((const char *)address);
    return found == blocks.end() || found->second.device != device ? nullptr : &found->second;
}

}  // namespace host

using namespace host;

extern "C" {

// Manual, cudaThreadExchangeStreamCaptureMode: "During stream capture (see cudaStreamBeginCapture), some actions, such
// as a call to cudaMalloc, may be unsafe." So are those that free it, and those of pinned memory.
cudaError_t cudaMalloc(void **address, size_t size)
{
    Lock lock(everything);
    if (cudaError_t error = unsafe_call())
        return failed(error);
    return allocate(address, size, true);
}

// Manual, cudaFree: "For all other pointers, this API may perform implicit synchronization." It does, as CuPy expects.
cudaError_t cudaFree(void *address)
{
    Lock lock(everything);
    if (!address)
        return cudaSuccess;
    if (cudaError_t error = unsafe_call())
        return failed(error);
    const Block *block = begins(address, true);
    if (!block)
        return failed(cudaErrorInvalidValue);
    complete_everything();
    release(block);
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **address, size_t size, unsigned)
{
    Lock lock(everything);
    if (cudaError_t error = unsafe_call())
        return failed(error);
    return allocate(address, size, false);
}

// The manual says nothing of waiting: a copy that is still to run finds no memory there, and the device is lost.
cudaError_t cudaFreeHost(void *address)
{
    Lock lock(everything);
    if (!address)
        return cudaSuccess;
    if (cudaError_t error = unsafe_call())
        return failed(error);
    const Block *block = begins(address, false);
    if (!block)
        return failed(cudaErrorInvalidValue);
    release(block);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    Lock lock(everything);
    *free = free_memory();
    *total = total_memory();
    return failed(lost);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *address)
{
    Lock lock(everything);
    const Block *block = block_of(address);
    memset(attributes, 0, sizeof *attributes);
    attributes->type = !block ? cudaMemoryTypeUnregistered : block->device ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
    attributes->device = block ? 0 : -1;
    attributes->devicePointer = block ? (void *)address : nullptr;
    attributes->hostPointer = block && block->device ? nullptr : (void *)address;
    return cudaSuccess;
}

// Memory of one array, for the tight mode's pool: freed when the work that is now queued on a stream has run, which is
// when a pool may give it to somebody else.
void *host_cuda_tight_malloc(size_t size)
{
    Lock lock(everything);
    void *address;
    return allocate(&address, size, true) == cudaSuccess ? address : nullptr;
}

void host_cuda_tight_free(void *address, cudaStream_t on)
{
    Lock lock(everything);
    Stream *stream = stream_of(on);
    auto free_now = [address] {
        if (const Block *block = begins(address, true))
            release(block);
    };
    if (stream) {
        queue(stream, free_now, nullptr);
    } else {
        complete_everything();  // the stream is gone: its pool gives everything back, by cudaFree
        free_now();
    }
}

}  // extern "C"
