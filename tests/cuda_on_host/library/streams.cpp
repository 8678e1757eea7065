// Streams, events and captures: the order of work. The sentences of the rules stand beside them, with their place: in
// the CUDA programming guide (13), section 4.2.2.1.2 Stream Capture and its parts .1 Cross-stream Dependencies and
// Events, .2 Prohibited and Unhandled Operations, .3 Invalidation; or in the manual of the runtime API, with what they
// describe.
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
static bool noting = false;        // from the first time that somebody asks

void log_call(const std::string &what)
{
    if (noting)
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

// Manual, Stream synchronization behavior: "the legacy stream first waits on all blocking streams, the action is queued
// in the legacy stream, and then all blocking streams wait on the legacy stream."
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

// Guide, 4.2.2.1.2.3: "When an invalid operation is attempted during stream capture, any associated capture graphs are
// invalidated."
static cudaError_t invalidate(const std::shared_ptr<Capture> &capture, cudaError_t error)
{
    capture->invalid = true;
    return failed(error);
}

// Manual, cudaThreadExchangeStreamCaptureMode: "If the local thread has an ongoing capture sequence that was not
// initiated with cudaStreamCaptureModeRelaxed at cuStreamBeginCapture, or if any other thread has a concurrent capture
// sequence initiated with cudaStreamCaptureModeGlobal, this thread is prohibited from potentially unsafe API calls."
cudaError_t unsafe_call()
{
    cudaError_t error = lost;
    for (const auto &capture : captures) {
        bool own = capture->thread == std::this_thread::get_id();
        if (capture->mode == cudaStreamCaptureModeGlobal || (capture->mode == cudaStreamCaptureModeThreadLocal && own))
            error = invalidate(capture, cudaErrorStreamCaptureUnsupported);
    }
    return error;
}

static bool uses_blocking_stream(const Capture &capture)
{
    return std::any_of(capture.streams.begin(), capture.streams.end(), [](Stream *each) { return each->blocking; });
}

// Guide, 4.2.2.1.2.2: "When any stream in the same context is being captured, and it was not created with
// cudaStreamNonBlocking, any attempted use of the legacy stream is invalid."
cudaError_t uses_legacy_stream()
{
    cudaError_t error = cudaSuccess;
    for (const auto &capture : captures)
        if (uses_blocking_stream(*capture))
            error = invalidate(capture, cudaErrorStreamCaptureImplicit);
    return error;
}

static cudaError_t add_node(Stream *stream, std::function<void()> run)
{
    Capture &capture = *stream->capture;
    // Guide, 4.2.2.1.2.3: "When a capture graph is invalidated, further use of any streams which are being captured or
    // captured events associated with the graph is invalid and will return an error, until stream capture is ended".
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

// Guide, 4.2.2.1.2.1: "All streams being captured to the same capture graph are taken out of capture mode upon
// cudaStreamEndCapture()."
static void end(const std::shared_ptr<Capture> &capture)
{
    for (Stream *each : capture->streams)
        leave(each);
    captures.erase(std::find(captures.begin(), captures.end(), capture));
    capture->ended = true;
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

// Guide, 4.2.2.1.2.1: "Any other streams which are being captured to the same capture graph, due to event-based
// dependencies, must also be joined back to the origin stream." One that got no work need not be.
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
    // Manual, cudaStreamEndCapture: "Capture must have been initiated on stream via a call to cudaStreamBeginCapture."
    if (capture->origin != stream)
        return invalidate(capture, cudaErrorStreamCaptureUnmatched);
    // There: "If the mode argument to cudaStreamBeginCapture was not cudaStreamCaptureModeRelaxed, this call must be
    // from the same thread as cudaStreamBeginCapture."
    if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
        return invalidate(capture, cudaErrorStreamCaptureWrongThread);
    bool whole = capture->invalid || joined(*capture);
    end(capture);
    if (capture->invalid)
        return failed(cudaErrorStreamCaptureInvalidated);
    if (!whole)
        return failed(cudaErrorStreamCaptureUnjoined);
    graph = capture->graph;
    return cudaSuccess;
}

// Guide, 4.2.2.1.2.1: "When a captured event is waited on by a stream, it places the stream in capture mode if it is
// not already, and the next item in the stream will have additional dependencies on the nodes in the captured event."
static cudaError_t join(Stream *stream, Event *event)
{
    // The legacy stream cannot be captured.
    if (stream->legacy)
        return invalidate(event->capture, cudaErrorStreamCaptureImplicit);
    // Guide, 4.2.2.1.2.2: "It is invalid to merge two separate capture graphs by waiting on a captured event from a
    // stream which is being captured and is associated with a different capture graph than the event."
    if (stream->capture && stream->capture != event->capture) {
        stream->capture->invalid = true;
        return invalidate(event->capture, cudaErrorStreamCaptureMerge);
    }
    if (event->capture->invalid)
        return failed(cudaErrorStreamCaptureInvalidated);
    if (!stream->capture) {
        stream->capture = event->capture;
        event->capture->streams.push_back(stream);
    }
    stream->ends.insert(stream->ends.end(), event->ends.begin(), event->ends.end());
    return cudaSuccess;
}

static cudaError_t wait_event(Stream *stream, Event *event)
{
    if (lost != cudaSuccess)
        return failed(lost);
    if (stream->legacy)
        if (cudaError_t error = uses_legacy_stream())
            return error;
    if (stream->capture && stream->capture->invalid)
        return failed(cudaErrorStreamCaptureInvalidated);
    if (event->capture && !event->capture->ended)
        return join(stream, event);
    // Guide, 4.2.2.1.2.2: "It is invalid to wait on a non-captured event from a stream which is being captured".
    if (stream->capture)
        return invalidate(stream->capture, cudaErrorStreamCaptureIsolation);
    // Manual, cudaErrorCapturedEvent: "The operation is not permitted on an event which was last recorded in a
    // capturing stream."
    if (event->capture)
        return failed(cudaErrorCapturedEvent);
    if (event->recorded)
        queue(stream, nullptr, event->at);
    return failed(lost);
}

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Guide, 4.2.2.1.2.2: "It is invalid to synchronize or query the execution status of a stream which is being captured
// or a captured event, because they do not represent items scheduled for execution."
static cudaError_t may_be_asked(Event *event)
{
    // Manual, cudaEventRecord: "Before the first call to cudaEventRecord(), an event represents an empty set of work".
    if (!event->recorded)
        return cudaSuccess;
    // The rule holds for "an event that was last recorded inside a capture sequence" that has ended, too.
    if (event->capture && event->capture->ended)
        return failed(cudaErrorCapturedEvent);
    if (event->capture)
        return invalidate(event->capture, cudaErrorCapturedEvent);
    return failed(unsafe_call());
}

// Streams that are not captured may be asked where an unsafe call may be made. NVIDIA's guide to CUDA graphs in deep
// learning (dl-cuda-graph), Constraints: "Operations that synchronize the CPU with the GPU are prohibited during stream
// capture."
static cudaError_t may_be_asked(Stream *stream)
{
    if (stream->capture)
        return invalidate(stream->capture, cudaErrorStreamCaptureUnsupported);
    if (stream->legacy)
        if (cudaError_t error = uses_legacy_stream())
            return error;
    return failed(unsafe_call());
}

// Whether all that an event waits for has run.
static bool reached(const Event &event)
{
    return !event.at || std::all_of(event.at->after.begin(), event.at->after.end(),
                                    [](const Work &work) { return work->done; });
}

}  // namespace host

using namespace host;

extern "C" {

cudaError_t cudaGetLastError() { cudaError_t error = last_error; last_error = cudaSuccess; return error; }
cudaError_t cudaPeekAtLastError() { return last_error; }

// Guide, 4.2.2.1.2.2: "It is also invalid to query the execution status of or synchronize a broader handle which
// encompasses an active stream capture, such as a device or context handle when any associated stream is in capture
// mode."
cudaError_t cudaDeviceSynchronize()
{
    Lock lock(everything);
    log_call("synchronize device");
    cudaError_t error = cudaSuccess;
    for (const auto &capture : captures)
        error = invalidate(capture, cudaErrorStreamCaptureUnsupported);
    if (error)
        return error;
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

// Manual, cudaStreamDestroy: "In case the device is still doing work in the stream stream when cudaStreamDestroy() is
// called, the function will return immediately": the device still has that work to do. No rule says what becomes of a
// capture: here it can no longer give a graph, and is over without its origin.
cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    Lock lock(everything);
    Stream *stream = stream_of(handle);
    if (!stream || stream->legacy)
        return failed(cudaErrorInvalidResourceHandle);
    if (std::shared_ptr<Capture> capture = stream->capture) {
        capture->invalid = true;
        capture->streams.erase(std::find(capture->streams.begin(), capture->streams.end(), stream));
        leave(stream);
        if (capture->origin == stream)
            end(capture);
    }
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
    return comes_after(stream).empty() ? cudaSuccess : cudaErrorNotReady;
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
    // Manual, cudaStreamBeginCapture: "Capture may not be initiated if stream is cudaStreamLegacy. Capture must be
    // ended on the same stream in which it was initiated, and it may only be initiated if the stream is not already in
    // capture mode."
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
    // Manual, cudaStreamIsCapturing: "if this is called on cudaStreamLegacy (the "null stream") while a blocking stream
    // on the same device is capturing, it will return cudaErrorStreamCaptureImplicit [...]. The blocking stream capture
    // is not invalidated."
    if (stream->legacy)
        for (const auto &capture : captures)
            if (uses_blocking_stream(*capture))
                return failed(cudaErrorStreamCaptureImplicit);
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
    return reached(*event) ? cudaSuccess : cudaErrorNotReady;
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

// Manual, cudaEventElapsedTime: "If cudaEventRecord() has been called on both events but one or both of them has not
// yet been completed [...], cudaErrorNotReady is returned."
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t first, cudaEvent_t second)
{
    Lock lock(everything);
    Event *start = (Event *)first, *end = (Event *)second;
    if (!start->recorded || !end->recorded || !start->timed || !end->timed)
        return failed(cudaErrorInvalidResourceHandle);
    for (Event *event : {start, end})
        if (cudaError_t error = may_be_asked(event))
            return error;
    if (!reached(*start) || !reached(*end))
        return cudaErrorNotReady;
    *milliseconds = float(1e3 * (end->seconds - start->seconds));
    return cudaSuccess;
}

// What was called since the last time, one word or two on a line: for tests that count.
const char *host_cuda_calls()
{
    Lock lock(everything);
    static std::string taken;
    noting = true;
    taken.swap(calls);
    calls.clear();
    return taken.c_str();
}

}  // extern "C"
