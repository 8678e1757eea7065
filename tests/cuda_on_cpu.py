"""CUDA text on the CPU: g++ compiles it behind a few definitions, a launch is a loop over blocks and threads."""

import ctypes
import hashlib
import re
import subprocess

CUDA_ON_CPU = r"""
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>
#define __global__
#define __device__
using std::cos;
using std::exp;
using std::expm1;
using std::fabs;
using std::log;
using std::log1p;
using std::pow;
using std::sin;
using std::sqrt;
using std::tanh;
struct { unsigned int x; } static gridDim, blockDim, blockIdx, threadIdx;
#define __launch_bounds__(threads)
#define __shared__ static
static inline int atomicAdd(int *address, int value) { int before = *address; *address += value; return before; }
static inline void __threadfence() {}
template <typename T> static inline T __ldcg(const T *address) { return *address; }

static inline float __int_as_float(int bits) { float value; memcpy(&value, &bits, 4); return value; }
"""

BARRIERS = r"""
// Threads of a block that wait for one another are contexts of their own, which take turns at every barrier. They stay
// for the next block; jumps between them cost no system call.
#include <csetjmp>
#include <functional>
#include <memory>
#include <ucontext.h>
#include <vector>
struct Fiber { jmp_buf place; ucontext_t start; bool started, ended; std::unique_ptr<char[]> stack; };
static std::vector<Fiber> fibers;
static jmp_buf scheduler;
static std::function<void()> body;
static inline void __syncthreads()
{
    if (!_setjmp(fibers[threadIdx.x].place))
        _longjmp(scheduler, 1);
}
static void live_as_fiber()
{
    for (;;) {
        body();
        fibers[threadIdx.x].ended = true;
        __syncthreads();
    }
}
static void resume(Fiber &fiber)
{
    if (_setjmp(scheduler))
        return;
    if (fiber.started)
        _longjmp(fiber.place, 1);
    fiber.started = true;
    setcontext(&fiber.start);
}
// Run the threads of one block from barrier to barrier; false if some wait at a barrier that others never reach.
static bool run_block(unsigned block)
{
    while (fibers.size() < block) {
        const size_t size = 1 << 16;
        fibers.emplace_back(Fiber{{}, {}, false, true, std::unique_ptr<char[]>(new char[size])});
    }
    for (unsigned i = 0; i < block; ++i) {
        Fiber &fiber = fibers[i];
        if (!fiber.ended)
            fiber.started = false;  // left over from a block that never ended
        if (!fiber.started) {
            getcontext(&fiber.start);
            fiber.start.uc_stack.ss_sp = fiber.stack.get();
            fiber.start.uc_stack.ss_size = 1 << 16;
            makecontext(&fiber.start, live_as_fiber, 0);
        }
        fiber.ended = false;
    }
    for (unsigned ended = 0; ended < block;) {
        ended = 0;
        for (threadIdx.x = 0; threadIdx.x < block; ++threadIdx.x) {
            if (!fibers[threadIdx.x].ended)
                resume(fibers[threadIdx.x]);
            ended += fibers[threadIdx.x].ended;
        }
        if (ended && ended < block)
            return false;
    }
    return true;
}
"""

LAUNCHER = r"""
template <typename A> int kind_of_parameter()
{
    typedef typename std::remove_pointer<A>::type T;
    return std::is_pointer<A>::value * 10000 + std::is_floating_point<T>::value * 1000 + (int)sizeof(T);
}
template <typename... A, size_t... I>
int launch_in_order(void (*kernel)(A...), bool waits, unsigned grid, unsigned block, void **arguments,
                    const int *kinds, int count, std::index_sequence<I...>)
{
    int expected[] = {kind_of_parameter<A>()...};
    if (count != (int)sizeof...(A))
        return -1;
    for (int i = 0; i < count; ++i)
        if (kinds[i] != expected[i] && !(expected[i] >= 10000 && kinds[i] == 8 && *(long long *)arguments[i] == 0))
            return i + 1;
    gridDim.x = grid;
    blockDim.x = block;
    auto run = [&] { kernel(*(typename std::remove_const<A>::type *)arguments[I]...); };
#ifdef BARRIERS
    body = run;
#endif
    for (blockIdx.x = 0; blockIdx.x < grid; ++blockIdx.x)
        if (!waits)
            for (threadIdx.x = 0; threadIdx.x < block; ++threadIdx.x)
                run();
#ifdef BARRIERS
        else if (!run_block(block))
            return -2;
#endif
    return 0;
}
template <typename... A> int launch_on_cpu(void (*kernel)(A...), bool waits, unsigned grid, unsigned block,
                                           void **arguments, const int *kinds, int count)
{
    return launch_in_order(kernel, waits, grid, block, arguments, kinds, count, std::index_sequence_for<A...>());
}
"""


def compile_for_cpu(code, options, folder):
    """Compile CUDA text with g++ into a library in `folder`, or find it there."""
    kernels = re.findall(r'extern "C" __global__ void (__launch_bounds__\(\d+\) )?(\w+)\(', code)
    parameters = "unsigned grid, unsigned block, void **arguments, const int *kinds, int count"
    launchers = "".join(
        f'extern "C" int launch_{name}({parameters})\n'
        f"{{ return launch_on_cpu({name}, {int(bool(waits))}, grid, block, arguments, kinds, count); }}\n"
        for waits, name in kernels
    )
    barriers = f"#define BARRIERS\n{BARRIERS}" if "__syncthreads" in code else ""  # whose headers take long to compile
    text = f'{CUDA_ON_CPU}{barriers}{code}\n#line 1 "launcher"\n{LAUNCHER}{launchers}'
    flags = [option.replace("--std", "-std") for option in options if option != "--fmad=false"]  # as g++ is told below
    library = folder / (hashlib.sha256(" ".join([text, *flags]).encode()).hexdigest() + ".so")
    if not library.exists():
        source = library.with_suffix(".cpp")
        source.write_text(text)
        command = ["g++", "-O1", "-ffp-contract=off", "-shared", "-fPIC", *flags, str(source), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"g++ cannot compile the kernels: {done.stderr}")
    return ctypes.CDLL(str(library))
