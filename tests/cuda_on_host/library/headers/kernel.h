// CUDA's words for a kernel that g++ compiles: see "C++ Language Extensions" of the programming guide. Compiled before
// every kernel's text; launch.h follows it.
#pragma once

#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <utility>

#define __CUDACC_RTC__
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(n) alignas(n)

struct uint3 { unsigned int x, y, z; };
struct dim3 { unsigned int x, y, z; };

extern "C" {
extern uint3 threadIdx, blockIdx;  // of the thread that runs now
extern dim3 blockDim, gridDim;
extern char dynamic_shared[];
void __syncthreads();
}
static const int warpSize = 32;

using std::abs;
using std::acos; using std::acosh; using std::asin; using std::asinh; using std::atan; using std::atan2; using std::atanh;
using std::cbrt; using std::ceil; using std::copysign; using std::cos; using std::cosh; using std::erf; using std::erfc;
using std::exp; using std::exp2; using std::expm1; using std::fabs; using std::floor; using std::fma; using std::fmax;
using std::fmin; using std::fmod; using std::frexp; using std::hypot; using std::isfinite; using std::isinf;
using std::isnan; using std::ldexp; using std::log; using std::log10; using std::log1p; using std::log2; using std::modf;
using std::nearbyint; using std::nextafter; using std::pow; using std::remainder; using std::rint; using std::round;
using std::signbit; using std::sin; using std::sinh; using std::sqrt; using std::tan; using std::tanh; using std::tgamma;
using std::lgamma; using std::trunc;

template <typename A, typename B> static inline typename std::common_type<A, B>::type min(A a, B b)
{
    typedef typename std::common_type<A, B>::type T;
    if constexpr (std::is_floating_point<T>::value)
        return std::fmin((T)a, (T)b);
    else
        return (T)b < (T)a ? (T)b : (T)a;
}
template <typename A, typename B> static inline typename std::common_type<A, B>::type max(A a, B b)
{
    typedef typename std::common_type<A, B>::type T;
    if constexpr (std::is_floating_point<T>::value)
        return std::fmax((T)a, (T)b);
    else
        return (T)a < (T)b ? (T)b : (T)a;
}
static inline float rsqrt(float x) { return 1 / std::sqrt(x); }
static inline double rsqrt(double x) { return 1 / std::sqrt(x); }
static inline float rsqrtf(float x) { return 1 / std::sqrt(x); }

template <typename To, typename From> static inline To bits_of(From value)
{
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To made;
    memcpy(&made, &value, sizeof made);
    return made;
}
static inline int __float_as_int(float x) { return bits_of<int>(x); }
static inline unsigned __float_as_uint(float x) { return bits_of<unsigned>(x); }
static inline float __int_as_float(int x) { return bits_of<float>(x); }
static inline float __uint_as_float(unsigned x) { return bits_of<float>(x); }
static inline long long __double_as_longlong(double x) { return bits_of<long long>(x); }
static inline double __longlong_as_double(long long x) { return bits_of<double>(x); }
static inline int __double2hiint(double x) { return int(bits_of<long long>(x) >> 32); }
static inline int __double2loint(double x) { return int(bits_of<long long>(x)); }
static inline double __hiloint2double(int high, int low)
{
    return bits_of<double>((long long)high << 32 | (unsigned)low);
}
static inline long long __float2ll_rn(double x) { return std::llrint(x); }
// Half precision, as bits: what is subnormal there is a multiple of 2^-24.
static inline float __half2float(unsigned short bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float size = exponent == 31  ? (fraction ? NAN : INFINITY)
                 : exponent == 0 ? std::ldexp((float)fraction, -24)
                                 : std::ldexp((float)(fraction + 1024), exponent - 25);
    return bits >> 15 ? -size : size;
}
static inline unsigned short __float2half_rn(float x)
{
    unsigned short sign = std::signbit(x) ? 0x8000 : 0;
    float size = std::fabs(x);
    if (size != size)
        return 0x7fff;
    if (size >= 65520)  // half way from the largest number to the next power of two
        return sign | 0x7c00;
    int exponent = 0;
    std::frexp(size, &exponent);
    int least = exponent < -13 || size == 0 ? -24 : exponent - 11;  // of the units in the last place
    int units = (int)std::nearbyint(std::ldexp(size, -least));
    return sign | (least == -24 ? units : ((least + 24) << 10) + units);
}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned long long)a * b >> 32; }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned __int128)a * b >> 64;
}
static inline float __fdividef(float a, float b) { return a / b; }
static inline void __threadfence() {}
static inline void __threadfence_block() {}
template <typename T> static inline T __ldg(const T *address) { return *address; }
template <typename T> static inline T __ldcg(const T *address) { return *address; }

// One thread runs at a time, so that nothing comes between reading and writing.
#define ATOMIC(name, type, made)                              \
    static inline type name(type *address, type value)        \
    {                                                         \
        type before = *address;                               \
        *address = made;                                      \
        return before;                                        \
    }
#define ATOMIC_INTEGERS(name, made)                           \
    ATOMIC(name, int, made)                                   \
    ATOMIC(name, unsigned, made)                              \
    ATOMIC(name, unsigned long long, made)
ATOMIC_INTEGERS(atomicAdd, before + value)
ATOMIC(atomicAdd, float, before + value)
ATOMIC(atomicAdd, double, before + value)
ATOMIC_INTEGERS(atomicSub, before - value)
ATOMIC_INTEGERS(atomicExch, value)
ATOMIC(atomicExch, float, value)
ATOMIC_INTEGERS(atomicMax, before < value ? value : before)
ATOMIC_INTEGERS(atomicMin, value < before ? value : before)
ATOMIC_INTEGERS(atomicAnd, before & value)
ATOMIC_INTEGERS(atomicOr, before | value)
ATOMIC_INTEGERS(atomicXor, before ^ value)
template <typename T> static inline T atomicCAS(T *address, T expected, T value)
{
    T before = *address;
    if (before == expected)
        *address = value;
    return before;
}
