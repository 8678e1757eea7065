// What the kernels over images share: the geometry of a sliding window, and where a thread's element lies.
//
// Arrays that a kernel writes lie with the batch innermost, [C, H, W, N], without gaps; one thread makes one element,
// so that neighbouring threads touch neighbouring memory. Arrays that a caller brings are read by their strides.

// From how many elements on an index takes 64 bits. Below it divisions are in 32 bits, which are several times faster.
#ifndef WIDE_FROM
#define WIDE_FROM 2147483648LL
#endif

// Filled by the host as 12 ints and 6 long longs: backends/cuda/__init__.py packs it, field by field.
struct Geometry {
    int height, width;  // of the image
    int kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
    int pad_top, pad_left;
    int out_h, out_w;
    long long batch;
    long long total;                                   // elements to compute, one per thread
    long long stride_n, stride_c, stride_y, stride_x;  // in bytes, of the array that is read
};

struct Place {
    int n, c, y, x;
};

template <typename index>
__device__ inline Place split(index i, const Geometry &g, int height, int width)
{
    Place p;
    p.n = (int)(i % (index)g.batch);
    i /= (index)g.batch;
    p.x = (int)(i % (index)width);
    i /= (index)width;
    p.y = (int)(i % (index)height);
    p.c = (int)(i / (index)height);
    return p;
}

// Where element i of an array [C, height, width, N] lies.
__device__ inline Place place_of(long long i, const Geometry &g, int height, int width)
{
    if (g.total < WIDE_FROM)
        return split<unsigned int>((unsigned int)i, g, height, width);
    return split<unsigned long long>((unsigned long long)i, g, height, width);
}

// Element (n, c, y, x) of the array that is read by strides.
__device__ inline real element(const real *values, const Geometry &g, int n, int c, int y, int x)
{
    return *(const real *)((const char *)values + n * g.stride_n + c * g.stride_c + y * g.stride_y + x * g.stride_x);
}

// Which element of an array [C, out_h, out_w, N] the output (y, x) of the image and channel at p is.
__device__ inline long long output_index(const Geometry &g, const Place &p, int y, int x)
{
    return (((long long)p.c * g.out_h + y) * g.out_w + x) * g.batch + p.n;
}

// The output whose window has its cell number `cell` over the image's coordinate `at`; -1 where there is none.
__device__ inline int output_over(int at, int cell, int pad, int stride, int dilation, int outputs)
{
    int start = at + pad - cell * dilation;
    if (start < 0 || start % stride != 0 || start / stride >= outputs)
        return -1;
    return start / stride;
}

// Windows are a few cells wide, so that a body unrolled by four would hardly run: no unrolling, half the code.

// Call visit(cell, y, x) for the cells of output p's window that lie inside the image, in row-major order.
template <typename Visit>
__device__ inline void visit_cells(const Geometry &g, const Place &p, const Visit &visit)
{
    for (int row = 0; row < g.kernel_h; ++row) {
        int y = p.y * g.stride_h - g.pad_top + row * g.dilation_h;
        if (y < 0 || y >= g.height)
            continue;
#pragma unroll 1
        for (int column = 0; column < g.kernel_w; ++column) {
            int x = p.x * g.stride_w - g.pad_left + column * g.dilation_w;
            if (x >= 0 && x < g.width)
                visit(row * g.kernel_w + column, y, x);
        }
    }
}

// Sum share(cell, y, x) over the windows, of outputs (y, x), that have one of their cells over the image's element p.
// A gather: no two threads write the same element, so it needs no atomics and adds in the same order every time.
template <typename Share>
__device__ inline real sum_of_windows(const Geometry &g, const Place &p, const Share &share)
{
    real sum = 0;
    for (int row = 0; row < g.kernel_h; ++row) {
        int y = output_over(p.y, row, g.pad_top, g.stride_h, g.dilation_h, g.out_h);
        if (y < 0)
            continue;
#pragma unroll 1
        for (int column = 0; column < g.kernel_w; ++column) {
            int x = output_over(p.x, column, g.pad_left, g.stride_w, g.dilation_w, g.out_w);
            if (x >= 0)
                sum += share(row * g.kernel_w + column, y, x);
        }
    }
    return sum;
}
