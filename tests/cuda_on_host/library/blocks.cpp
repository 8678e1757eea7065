// Threads of a block take turns: one fiber runs them one after the other, and only a thread that meets __syncthreads
// keeps its fiber, while another one goes on with the rest.
#include "blocks.h"
#include "engine.h"

#include <xmmintrin.h>

#include <csetjmp>
#include <csignal>
#include <ucontext.h>

#ifdef __SANITIZE_ADDRESS__
#error "the driver is not watched, kernels are"
#endif
extern "C" __attribute__((weak)) void __asan_unpoison_memory_region(const volatile void *, size_t);

extern "C" {
uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
alignas(16) char dynamic_shared[48 << 10];
}

namespace host {

static const size_t STACK = 1 << 17;

struct Fiber {
    void *place[5];                // where it goes on
    ucontext_t start;
    bool started = false;
    unsigned thread = 0;
    bool waits = false;
    std::unique_ptr<char[]> stack{new char[STACK]};
};

static std::vector<std::unique_ptr<Fiber>> fibers;  // those that wait come first
static Fiber *running;
static void *scheduler[5];
static const std::function<void()> *kernel;
static unsigned next_thread, threads;

#define UNWATCHED __attribute__((noinline, no_sanitize("address")))
UNWATCHED static void jump(void **place) { __builtin_longjmp(place, 1); }

UNWATCHED static void leave()
{
    if (!__builtin_setjmp(running->place))
        jump(scheduler);
}

static void take_place(unsigned thread)
{
    running->thread = thread;
    unsigned number = modes.reverse ? threads - 1 - thread : thread;
    threadIdx.x = number % blockDim.x;
    threadIdx.y = number / blockDim.x % blockDim.y;
    threadIdx.z = number / blockDim.x / blockDim.y;
}

static void live()
{
    for (;;) {
        while (next_thread < threads) {
            take_place(next_thread++);
            (*kernel)();
        }
        leave();
    }
}

UNWATCHED static void resume(Fiber *fiber)
{
    running = fiber;
    if (__builtin_setjmp(scheduler))
        return;
    if (fiber->started) {
        if (fiber->waits)
            take_place(fiber->thread);
        fiber->waits = false;
        jump(fiber->place);
    }
    fiber->started = true;
    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(fiber->stack.get(), STACK);
    getcontext(&fiber->start);
    fiber->start.uc_stack.ss_sp = fiber->stack.get();
    fiber->start.uc_stack.ss_size = STACK;
    makecontext(&fiber->start, live, 0);
    setcontext(&fiber->start);
}

static Fiber *fiber_at(size_t place)
{
    while (fibers.size() <= place)
        fibers.push_back(std::make_unique<Fiber>());
    return fibers[place].get();
}

// "__syncthreads() [...] will not succeed until reached by all non-exited threads in the block" (Volta tuning guide).
static void run_block()
{
    next_thread = 0;
    std::vector<Fiber *> waiting;
    while (next_thread < threads) {
        Fiber *fiber = fiber_at(waiting.size());
        resume(fiber);
        if (fiber->waits)
            waiting.push_back(fiber);
    }
    while (!waiting.empty()) {
        std::vector<Fiber *> still;
        for (Fiber *fiber : waiting) {
            resume(fiber);
            if (fiber->waits)
                still.push_back(fiber);
        }
        waiting.swap(still);
    }
}

// ---- what a kernel may not touch

static sigjmp_buf rescue;
static bool in_kernel = false;
static struct sigaction before[2];

static void on_signal(int signal, siginfo_t *info, void *context)
{
    if (in_kernel) {
        in_kernel = false;
        siglongjmp(rescue, 1);
    }
    struct sigaction &old = before[signal == SIGBUS];
    if (old.sa_flags & SA_SIGINFO)
        old.sa_sigaction(signal, info, context);
    else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN)
        old.sa_handler(signal);
    else {
        sigaction(signal, &old, nullptr);
        raise(signal);
    }
}

static void watch_signals()
{
    static char stack[1 << 16];
    stack_t alternative = {stack, 0, sizeof stack};
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaltstack(&alternative, nullptr);
    for (int i = 0; i < 2; ++i) {
        struct sigaction now;
        sigaction(i ? SIGBUS : SIGSEGV, nullptr, &now);
        if (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != on_signal) {
            before[i] = now;
            sigaction(i ? SIGBUS : SIGSEGV, &action, nullptr);
        }
    }
}

static void run_blocks(dim3 grid)
{
    for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z)
        for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
            for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
                run_block();
}

cudaError_t run_grid(dim3 grid, dim3 block, const std::function<void()> &thread, bool flush_subnormals)
{
    gridDim = grid;
    blockDim = block;
    threads = block.x * block.y * block.z;
    kernel = &thread;
    unsigned rounding = _mm_getcsr();
    if (flush_subnormals && !modes.keep_subnormals)
        _mm_setcsr(rounding | 0x8040);
    cudaError_t result = cudaSuccess;
    if (modes.tight && !modes.watched)
        watch_signals();
    if (sigsetjmp(rescue, 1)) {
        result = cudaErrorIllegalAddress;
        for (auto &fiber : fibers)
            fiber.release();  // whose stacks are as the access left them
        fibers.clear();
    } else {
        in_kernel = modes.tight && !modes.watched;
        run_blocks(grid);
    }
    in_kernel = false;
    _mm_setcsr(rounding);
    return result;
}

}  // namespace host

// A thread that waits keeps its fiber; the scheduler gives the next one to the threads that are left.
extern "C" void __syncthreads()
{
    host::running->waits = true;
    host::leave();
}
