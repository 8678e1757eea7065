// What the parts of the host CUDA share: work that is queued on streams, when it runs, and what a capture makes of it.
#pragma once

#include <cuda_runtime_api.h>
#include <library_types.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace host {

// A piece of work, of a stream or of a graph. `after` must have run before; work that has run forgets it.
struct Operation {
    std::function<void()> run;
    std::vector<std::shared_ptr<Operation>> after;
    bool done = false;
};
typedef std::shared_ptr<Operation> Work;

struct Graph {
    std::vector<Work> nodes;  // in the order in which they were captured
};

struct Stream;

// What is being captured: the stream that began it and those that joined it.
struct Capture {
    cudaStreamCaptureMode mode;
    std::thread::id thread;
    Stream *origin;
    std::vector<Stream *> streams;
    std::shared_ptr<Graph> graph = std::make_shared<Graph>();
    bool invalid = false;
    bool ended = false;
};

struct Stream {
    bool legacy = false, blocking = true;
    bool destroyed = false;        // but with work to do
    int priority = 0;
    Work last;                     // the last work that was queued
    std::vector<Work> ends;        // of a capture: what the next node comes after
    std::shared_ptr<Capture> capture;
};

struct Event {
    bool timed = true;
    bool recorded = false;
    Work at;                       // what it waits for; nothing if that has run
    std::vector<Work> ends;        // of a capture
    std::shared_ptr<Capture> capture;
    double seconds = 0;            // when it was recorded
};

// How the device behaves, by words of the environment's HOST_CUDA, separated by commas.
struct Modes {
    bool late;       // work runs when somebody waits for it, and no more than that
    bool tight;      // an array ends where a page ends that nobody may touch, and what was freed is gone
    bool reverse;    // threads of a block, and nodes of a graph, in the opposite order
    bool keep_subnormals;  // float32 numbers below 1.2e-38 are kept, though the compiler was told -ftz=true
    bool watched;    // AddressSanitizer watches kernels and memory
};
extern const Modes modes;

// Held by every call: one thing happens at a time.
extern std::recursive_mutex everything;
typedef std::lock_guard<std::recursive_mutex> Lock;

extern cudaError_t lost;           // the error after which the device does no more, cudaSuccess as long as it does

Stream *stream_of(cudaStream_t handle);        // null for a handle that is no stream
cudaError_t failed(cudaError_t error);         // remember it for cudaGetLastError, and return it
void log_call(const std::string &what);        // for tests that count

// Queue work on a stream, or add it to what the stream captures.
cudaError_t submit(Stream *stream, std::function<void()> run);
// Queue work on a stream, captured or not; it comes also after something else, if that is given.
void queue(Stream *stream, std::function<void()> run, const Work &also);
// Whether a call that may be unsafe, or that uses the default stream, is refused because something is captured.
cudaError_t unsafe_call();
cudaError_t uses_legacy_stream();
// Run a piece of work and what comes before it.
void complete(const Work &work);
void complete_everything();

// Device and pinned memory.
struct Block {
    char *start;
    size_t size;
    bool device;                   // else pinned
    void *base;                    // of what was mapped
    size_t mapped;
};
const Block *block_of(const void *address);    // null for memory that is none of CUDA's
cudaError_t allocate(void **address, size_t size, bool device);
void release(const Block *block);
bool inside(const void *address, size_t size); // a whole range lies in one block, or in none of CUDA's
size_t free_memory();
size_t total_memory();

}  // namespace host
