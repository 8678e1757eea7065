// What all kernels share: the element type, a thread's number, and what C's mathematics lacks.

typedef REAL real;

__device__ inline long long thread_number()
{
    return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}

// The larger of two; a NaN is handed on.
__device__ inline real larger(real x, real y)
{
    return x >= y || x != x ? x : y;
}

// The smaller of two; a NaN is handed on.
__device__ inline real smaller(real x, real y)
{
    return x <= y || x != x ? x : y;
}

// -1, 0 or 1; NaN for NaN.
__device__ inline real sign_of(real x)
{
    return x != x ? x : (real)((x > 0) - (x < 0));
}
