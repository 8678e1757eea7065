// Graphs: captured work that is launched again as one piece.
#include "engine.h"

#include <algorithm>

namespace host {

struct Executable {
    std::vector<std::function<void()>> steps;
    Work last;                     // the last launch
};

// Guide, 4.2.1 Graph Structure: "An operation may be scheduled at any time once the nodes on which it depends are
// complete." In reverse, the last one that is ready is next.
static std::vector<std::function<void()>> in_order(const Graph &graph)
{
    std::vector<std::function<void()>> steps;
    if (!modes.reverse) {
        for (const Work &node : graph.nodes)
            steps.push_back(node->run);
        return steps;
    }
    std::vector<Work> left(graph.nodes), done;
    auto ready = [&](const Work &node) {
        return std::all_of(node->after.begin(), node->after.end(), [&](const Work &before) {
            return std::find(done.begin(), done.end(), before) != done.end();
        });
    };
    while (!left.empty()) {
        auto next = std::find_if(left.rbegin(), left.rend(), ready);
        done.push_back(*next);
        steps.push_back((*next)->run);
        left.erase(std::next(next).base());
    }
    return steps;
}

}  // namespace host

using namespace host;

extern "C" {

// Guide, 4.2.2: "Instantiation takes a snapshot of the graph template".
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long)
{
    Lock lock(everything);
    Executable *executable = new Executable;
    executable->steps = in_order(**(std::shared_ptr<Graph> *)graph);
    *made = (cudaGraphExec_t) new std::shared_ptr<Executable>(executable);
    return cudaSuccess;
}

// Manual, cudaGraphLaunch: "Each launch is ordered behind both any previous work in stream and any previous launches of
// graphExec." Within a capture, it is one more node.
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t on)
{
    Lock lock(everything);
    std::shared_ptr<Executable> executable = *(std::shared_ptr<Executable> *)graph;
    Stream *stream = stream_of(on);
    bool runs = stream && !stream->capture;
    Work before = runs ? executable->last : nullptr;
    log_call("graph");
    cudaError_t error = submit(stream, [executable, before] {
        complete(before);
        for (const auto &step : executable->steps)
            if (step && lost == cudaSuccess)
                step();
    });
    if (runs && error == cudaSuccess)
        executable->last = stream->last;
    return error;
}

// Manual, cudaGraphUpload: "Uploads graphExec to the device in stream without executing it."
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t on)
{
    Lock lock(everything);
    return submit(stream_of(on), nullptr);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
    Lock lock(everything);
    delete (std::shared_ptr<Executable> *)graph;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    Lock lock(everything);
    delete (std::shared_ptr<Graph> *)graph;
    return cudaSuccess;
}

}  // extern "C"
