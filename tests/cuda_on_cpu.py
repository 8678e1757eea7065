"""CUDA text on the CPU: g++ compiles it behind a few definitions, a launch is a loop over blocks and threads."""

import ctypes
import hashlib
import os
import pathlib
import re
import subprocess

SANITIZED = os.environ.get("SANITIZED_KERNELS")
"""Folder of kernels that run under AddressSanitizer and UndefinedBehaviorSanitizer (test_cuda_sanitized.py), if any."""
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1")

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
static inline void atomicMax(int *address, int value) { *address = *address < value ? value : *address; }
static inline void atomicMin(int *address, int value) { *address = *address > value ? value : *address; }
static inline void __threadfence() {}
template <typename T> static inline T __ldcg(const T *address) { return *address; }

static inline float __int_as_float(int bits) { float value; memcpy(&value, &bits, 4); return value; }
"""

BARRIERS = r"""
// Threads of a block that wait for one another are contexts of their own, which take turns at every barrier. They stay
// for the next block; jumps between them cost no system call.
#include <functional>
#include <memory>
#include <ucontext.h>
#include <vector>
#ifdef __SANITIZE_ADDRESS__
extern "C" void __asan_unpoison_memory_region(const volatile void *, size_t);
#endif
static const size_t STACK = 1 << 16;
struct Fiber { void *place[5]; ucontext_t start; bool started, ended; std::unique_ptr<char[]> stack; };
static std::vector<Fiber> fibers;
static void *scheduler[5];
static std::function<void()> body;
// Neither setjmp and longjmp nor watched: AddressSanitizer would forget what must not be touched on the stacks.
#define UNWATCHED __attribute__((noinline, no_sanitize("address")))
UNWATCHED static void jump(void **place) { __builtin_longjmp(place, 1); }
UNWATCHED static void __syncthreads()
{
    if (!__builtin_setjmp(fibers[threadIdx.x].place))
        jump(scheduler);
}
static void live_as_fiber()
{
    for (;;) {
        body();
        fibers[threadIdx.x].ended = true;
        __syncthreads();
    }
}
UNWATCHED static void resume(Fiber &fiber)
{
    if (__builtin_setjmp(scheduler))
        return;
    if (fiber.started)
        jump(fiber.place);
    fiber.started = true;
    setcontext(&fiber.start);
}
// Run the threads of one block from barrier to barrier; false if some wait at a barrier that others never reach.
static bool run_block(unsigned block)
{
    while (fibers.size() < block)
        fibers.emplace_back(Fiber{{}, {}, false, true, std::unique_ptr<char[]>(new char[STACK])});
    for (unsigned i = 0; i < block; ++i) {
        Fiber &fiber = fibers[i];
        if (!fiber.ended)
            fiber.started = false;  // left over from a block that never ended
        if (!fiber.started) {
#ifdef __SANITIZE_ADDRESS__
            __asan_unpoison_memory_region(fiber.stack.get(), STACK);
#endif
            getcontext(&fiber.start);
            fiber.start.uc_stack.ss_sp = fiber.stack.get();
            fiber.start.uc_stack.ss_size = STACK;
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
    # in a namespace without a name AddressSanitizer watches the shared arrays of inline functions too
    text = f'{CUDA_ON_CPU}{barriers}namespace {{\n{code}\n}}\n#line 1 "launcher"\n{LAUNCHER}{launchers}'
    flags = [option.replace("--std", "-std") for option in options if option != "--fmad=false"]  # as g++ is told below
    if SANITIZED:
        flags, folder = [*flags, *SANITIZERS], pathlib.Path(SANITIZED)
    library = folder / (hashlib.sha256(" ".join([text, *flags]).encode()).hexdigest() + ".so")
    if not library.exists():
        made = library.with_suffix(f".{os.getpid()}")  # as another process may compile the same
        command = ["g++", "-O1", "-ffp-contract=off", "-shared", "-fPIC", *flags, "-x", "c++", "-", "-o", str(made)]
        plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # g++ is not to be watched
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, env=plain)
        if done.returncode:
            raise RuntimeError(f"g++ cannot compile the kernels: {done.stderr}")
        made.replace(library)
    return ctypes.CDLL(str(library))
