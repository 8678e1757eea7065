// Graphs: captured work that is launched again as one piece.
#include "engine.h"

#include <algorithm>

namespace host {

struct Executable {
    std::vector<std::function<void()>> steps;
};

// Every order in which nodes come after what they depend on is allowed; in reverse, the last one that is ready is next.
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

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long)
{
    Lock lock(everything);
    Executable *executable = new Executable;
    executable->steps = in_order(**(std::shared_ptr<Graph> *)graph);
    *made = (cudaGraphExec_t) new std::shared_ptr<Executable>(executable);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t on)
{
    Lock lock(everything);
    std::shared_ptr<Executable> executable = *(std::shared_ptr<Executable> *)graph;
    log_call("graph");
    return submit(stream_of(on), [executable] {
        for (const auto &step : executable->steps)
            if (step && lost == cudaSuccess)
                step();
    });
}

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
