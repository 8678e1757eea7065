// Streams, events and captures: the order of work. Rules are those of the CUDA programming guide, sections "Asynchronous
// Concurrent Execution" and "CUDA Graphs, Creating a Graph Using Stream Capture", whose sentences stand beside them.
#include "engine.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

namespace host {

std::recursive_mutex everything;
cudaError_t lost = cudaSuccess;
static std::vector<std::shared_ptr<Capture>> captures;      // that have not ended
static std::set<Stream *> streams;
static thread_local cudaError_t last_error = cudaSuccess;

static bool mode(const char *word)
{
    const char *given = getenv("HOST_CUDA");
    std::string text = std::string(",") + (given ? given : "") + ",";
    return text.find(std::string(",") + word + ",") != std::string::npos;
}
const Modes modes = {mode("late"), mode("tight"), mode("reverse"), mode("noftz"), mode("watched")};

static Stream *legacy_stream()
{
    static Stream *stream = [] {
        Stream *made = new Stream;
        made->legacy = true;
        streams.insert(made);
        return made;
    }();
    return stream;
}

static Stream *stream_of_thread()
{
    static thread_local Stream *stream = nullptr;
    if (!stream)
        streams.insert(stream = new Stream);
    return stream;
}

Stream *stream_of(cudaStream_t handle)
{
    if (!handle || handle == cudaStreamLegacy)
        return legacy_stream();
    if (handle == cudaStreamPerThread)
        return stream_of_thread();
    Stream *stream = (Stream *)handle;
    return streams.count(stream) && !stream->destroyed ? stream : nullptr;
}

cudaError_t failed(cudaError_t error)
{
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

static std::string calls;

void log_call(const std::string &what)
{
    calls += what + "\n";
}

// ---- when work runs

void complete(const Work &wanted)
{
    std::vector<Work> open;
    if (wanted)
        open.push_back(wanted);
    while (!open.empty()) {
        Work work = open.back();
        if (!work->done && !work->after.empty()) {
            Work before = work->after.back();
            if (!before->done) {
                open.push_back(before);
                continue;
            }
            work->after.pop_back();
            continue;
        }
        open.pop_back();
        if (!work->done) {
            work->done = true;
            if (work->run && lost == cudaSuccess)
                work->run();
            work->run = nullptr;
        }
    }
}

void complete_everything()
{
    for (Stream *stream : std::vector<Stream *>(streams.begin(), streams.end()))
        complete(stream->last);
}

// "The legacy default stream is an implicit stream which synchronizes with all other streams in the same CUcontext
// except for non-blocking streams": it waits for them, and they wait for it.
static std::vector<Work> comes_after(Stream *stream)
{
    std::vector<Work> after;
    auto add = [&](const Work &work) {
        if (work && !work->done)
            after.push_back(work);
    };
    add(stream->last);
    if (stream->legacy)
        for (Stream *other : streams)
            if (other->blocking)
                add(other->last);
    if (!stream->legacy && stream->blocking)
        add(legacy_stream()->last);
    return after;
}

void queue(Stream *stream, std::function<void()> run, const Work &also)
{
    Work work = std::make_shared<Operation>();
    work->after = comes_after(stream);
    if (also && !also->done)
        work->after.push_back(also);
    work->run = std::move(run);
    stream->last = work;
    if (!modes.late)
        complete(work);
}

// ---- captures

static cudaError_t invalidate(const std::shared_ptr<Capture> &capture, cudaError_t error)
{
    capture->invalid = true;
    return failed(error);
}

// "Potentially unsafe API calls are prohibited" while any thread captures in global mode, while this thread does in
// thread-local mode, and never in relaxed mode (cudaThreadExchangeStreamCaptureMode).
cudaError_t unsafe_call()
{
    for (const auto &capture : captures) {
        bool own = capture->thread == std::this_thread::get_id();
        if (capture->mode == cudaStreamCaptureModeGlobal || (capture->mode == cudaStreamCaptureModeThreadLocal && own))
            return invalidate(capture, cudaErrorStreamCaptureUnsupported);
    }
    return lost;
}

// "When any stream in the same context is being captured, and it was not created with cudaStreamNonBlocking, any
// attempted use of the legacy stream is invalid."
cudaError_t uses_legacy_stream()
{
    for (const auto &capture : captures)
        for (Stream *stream : capture->streams)
            if (stream->blocking)
                return invalidate(capture, cudaErrorStreamCaptureImplicit);
    return cudaSuccess;
}

static cudaError_t add_node(Stream *stream, std::function<void()> run)
{
    Capture &capture = *stream->capture;
    // "Until then, any further operations on the streams will return an error."
    if (capture.invalid)
        return failed(cudaErrorStreamCaptureInvalidated);
    Work node = std::make_shared<Operation>();
    node->after = stream->ends;
    node->run = std::move(run);
    capture.graph->nodes.push_back(node);
    stream->ends = {node};
    return cudaSuccess;
}

cudaError_t submit(Stream *stream, std::function<void()> run)
{
    if (!stream)
        return failed(cudaErrorInvalidResourceHandle);
    if (lost != cudaSuccess)
        return failed(lost);
    if (stream->capture)
        return add_node(stream, std::move(run));
    if (stream->legacy)
        if (cudaError_t error = uses_legacy_stream())
            return error;
    queue(stream, std::move(run), nullptr);
    return failed(lost);
}

static void leave(Stream *stream)
{
    stream->capture = nullptr;
    stream->ends.clear();
}

static bool reaches(const std::vector<Work> &ends, const Work &wanted)
{
    std::vector<Work> open(ends);
    std::set<Operation *> seen;
    while (!open.empty()) {
        Work work = open.back();
        open.pop_back();
        if (work == wanted)
            return true;
        if (seen.insert(work.get()).second)
            open.insert(open.end(), work->after.begin(), work->after.end());
    }
    return false;
}

// "All the streams that were joined to the capture must be joined back to the origin stream before it ends."
static bool joined(const Capture &capture)
{
    for (Stream *stream : capture.streams)
        for (const Work &work : stream->ends)
            if (!reaches(capture.origin->ends, work))
                return false;
    return true;
}

static cudaError_t end_capture(Stream *stream, std::shared_ptr<Graph> &graph)
{
    if (!stream->capture)
        return failed(cudaErrorIllegalState);
    std::shared_ptr<Capture> capture = stream->capture;
    // "Capture must have been initiated via a call to cudaStreamBeginCapture" on this very stream,
    if (capture->origin != stream)
        return invalidate(capture, cudaErrorStreamCaptureUnmatched);
    // and "if the mode is not cudaStreamCaptureModeRelaxed, cudaStreamEndCapture must be called on the same thread".
    if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
        return invalidate(capture, cudaErrorStreamCaptureWrongThread);
    bool whole = capture->invalid || joined(*capture);
    for (Stream *each : capture->streams)
        leave(each);
    captures.erase(std::find(captures.begin(), captures.end(), capture));
    capture->ended = true;
    if (capture->invalid)
        return failed(cudaErrorStreamCaptureInvalidated);
    if (!whole)
        return failed(cudaErrorStreamCaptureUnjoined);
    graph = capture->graph;
    return cudaSuccess;
}

static cudaError_t wait_event(Stream *stream, Event *event)
{
    // "If cudaEventRecord has not been called, this is a no-op."
    if (!event->recorded)
        return cudaSuccess;
    if (event->capture && !event->capture->ended) {
        if (stream->legacy)
            return invalidate(event->capture, cudaErrorStreamCaptureImplicit);
        // "It is invalid to merge two separate capture graphs."
        if (stream->capture && stream->capture != event->capture) {
            stream->capture->invalid = true;
            return invalidate(event->capture, cudaErrorStreamCaptureMerge);
        }
        if (event->capture->invalid)
            return failed(cudaErrorStreamCaptureInvalidated);
        // "A stream that waits on a captured event joins the capture."
        if (!stream->capture) {
            stream->capture = event->capture;
            event->capture->streams.push_back(stream);
        }
        stream->ends.insert(stream->ends.end(), event->ends.begin(), event->ends.end());
        return cudaSuccess;
    }
    // "The captured work may not depend on work that is not captured."
    if (stream->capture)
        return invalidate(stream->capture, cudaErrorStreamCaptureIsolation);
    if (event->capture)
        return failed(cudaErrorCapturedEvent);
    if (lost == cudaSuccess)
        queue(stream, nullptr, event->at);
    return failed(lost);
}

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// "It is invalid to synchronize or query the execution status of a captured event."
static cudaError_t may_be_asked(Event *event)
{
    if (!event->capture)
        return cudaSuccess;
    if (event->capture->ended)
        return failed(cudaErrorCapturedEvent);
    return invalidate(event->capture, cudaErrorCapturedEvent);
}

// "It is invalid to synchronize or query the execution status of a stream which is being captured", and a call on the
// device or its default stream "when any associated stream is being captured".
static cudaError_t may_be_asked(Stream *stream)
{
    if (stream->capture)
        return invalidate(stream->capture, cudaErrorStreamCaptureUnsupported);
    return stream->legacy ? uses_legacy_stream() : cudaSuccess;
}

}  // namespace host

using namespace host;

extern "C" {

cudaError_t cudaGetLastError() { cudaError_t error = last_error; last_error = cudaSuccess; return error; }
cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaDeviceSynchronize()
{
    Lock lock(everything);
    log_call("synchronize device");
    for (const auto &capture : std::vector<std::shared_ptr<Capture>>(captures))
        return invalidate(capture, cudaErrorStreamCaptureUnsupported);
    complete_everything();
    return failed(lost);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *made, unsigned flags, int priority)
{
    Lock lock(everything);
    if (flags > cudaStreamNonBlocking)
        return failed(cudaErrorInvalidValue);
    Stream *stream = new Stream;
    stream->blocking = flags != cudaStreamNonBlocking;
    stream->priority = priority;
    streams.insert(stream);
    *made = (cudaStream_t)stream;
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *made) { return cudaStreamCreateWithPriority(made, cudaStreamDefault, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *made, unsigned flags)
{
    return cudaStreamCreateWithPriority(made, flags, 0);
}

// "In case the device is still doing work in the stream when cudaStreamDestroy() is called, the function will return
// immediately": the device still has that work to do.
cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    Lock lock(everything);
    Stream *stream = stream_of(handle);
    if (!stream || stream->legacy)
        return failed(cudaErrorInvalidResourceHandle);
    if (stream->capture)
        return invalidate(stream->capture, cudaErrorStreamCaptureInvalidated);
    stream->destroyed = true;
    if (!stream->last || stream->last->done) {
        streams.erase(stream);
        delete stream;
    }
    return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned *flags)
{
    Lock lock(everything);
    Stream *stream = stream_of(handle);
    if (!stream)
        return failed(cudaErrorInvalidResourceHandle);
    *flags = stream->blocking ? cudaStreamDefault : cudaStreamNonBlocking;
    return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int *priority)
{
    Lock lock(everything);
    Stream *stream = stream_of(handle);
    if (!stream)
        return failed(cudaErrorInvalidResourceHandle);
    *priority = stream->priority;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    Lock lock(everything);
    Stream *stream = stream_of(handle);
    if (!stream)
        return failed(cudaErrorInvalidResourceHandle);
    log_call("synchronize stream");
    if (cudaError_t error = may_be_asked(stream))
        return error;
    for (const Work &work : comes_after(stream))
        complete(work);
    return failed(lost);
}

cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    Lock lock(everything);
    Stream *stream = stream_of(handle);
    if (!stream)
        return failed(cudaErrorInvalidResourceHandle);
    if (cudaError_t error = may_be_asked(stream))
        return error;
    return lost != cudaSuccess ? failed(lost) : comes_after(stream).empty() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned)
{
    Lock lock(everything);
    Stream *stream = stream_of(handle);
    return stream && event ? wait_event(stream, (Event *)event) : failed(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode)
{
    Lock lock(everything);
    Stream *stream = stream_of(handle);
    if (!stream)
        return failed(cudaErrorInvalidResourceHandle);
    // "Stream capture can be used on any CUDA stream except cudaStreamLegacy (the NULL stream)."
    if (stream->legacy)
        return failed(cudaErrorStreamCaptureUnsupported);
    if (stream->capture)
        return failed(cudaErrorIllegalState);
    auto capture = std::make_shared<Capture>();
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->origin = stream;
    capture->streams = {stream};
    stream->capture = capture;
    captures.push_back(capture);
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *made)
{
    Lock lock(everything);
    *made = nullptr;
    Stream *stream = stream_of(handle);
    if (!stream)
        return failed(cudaErrorInvalidResourceHandle);
    std::shared_ptr<Graph> graph;
    if (cudaError_t error = end_capture(stream, graph))
        return error;
    *made = (cudaGraph_t) new std::shared_ptr<Graph>(graph);
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus *status)
{
    Lock lock(everything);
    Stream *stream = stream_of(handle);
    if (!stream)
        return failed(cudaErrorInvalidResourceHandle);
    *status = cudaStreamCaptureStatusNone;
    // "If called on cudaStreamLegacy while a blocking stream of the device is capturing, it returns an error."
    if (stream->legacy)
        return uses_legacy_stream();
    if (stream->capture)
        *status = stream->capture->invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *made, unsigned flags)
{
    Lock lock(everything);
    Event *event = new Event;
    event->timed = !(flags & cudaEventDisableTiming);
    *made = (cudaEvent_t)event;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *made) { return cudaEventCreateWithFlags(made, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    Lock lock(everything);
    delete (Event *)event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t on)
{
    Lock lock(everything);
    Stream *stream = stream_of(on);
    Event *event = (Event *)handle;
    if (!stream || !event)
        return failed(cudaErrorInvalidResourceHandle);
    if (lost != cudaSuccess)
        return failed(lost);
    if (stream->legacy)
        if (cudaError_t error = uses_legacy_stream())
            return error;
    if (stream->capture && stream->capture->invalid)
        return failed(cudaErrorStreamCaptureInvalidated);
    event->recorded = true;
    event->capture = stream->capture;
    event->ends = stream->ends;
    event->at = nullptr;
    event->seconds = now();
    if (!stream->capture) {
        event->at = std::make_shared<Operation>();
        event->at->after = comes_after(stream);
    }
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t handle)
{
    Lock lock(everything);
    Event *event = (Event *)handle;
    if (cudaError_t error = may_be_asked(event))
        return error;
    if (cudaError_t error = unsafe_call())
        return failed(error);
    bool ready = true;
    if (event->at)
        for (const Work &work : event->at->after)
            ready = ready && work->done;
    return ready ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle)
{
    Lock lock(everything);
    Event *event = (Event *)handle;
    log_call("synchronize event");
    if (cudaError_t error = may_be_asked(event))
        return error;
    complete(event->at);
    return failed(lost);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t first, cudaEvent_t second)
{
    Lock lock(everything);
    Event *start = (Event *)first, *end = (Event *)second;
    if (!start->recorded || !end->recorded || !start->timed || !end->timed)
        return failed(cudaErrorInvalidResourceHandle);
    for (Event *event : {start, end})
        if (cudaError_t error = may_be_asked(event))
            return error;
    if ((start->at && !start->at->done) || (end->at && !end->at->done))
        if (modes.late)
            return cudaErrorNotReady;
    *milliseconds = float(1e3 * (end->seconds - start->seconds));
    return cudaSuccess;
}

// What was called since the last time, one word or two on a line: for tests that count.
const char *host_cuda_calls()
{
    Lock lock(everything);
    static std::string taken;
    taken.swap(calls);
    calls.clear();
    return taken.c_str();
}

}  // extern "C"
