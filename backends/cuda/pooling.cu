// Pooling. Forward kernels make one output [C, out_h, out_w, N] per thread and read the image by strides; backward
// kernels make one element of the image's gradient [C, H, W, N] per thread and read epsilon by strides.

// The largest cell of output p's window, and its number, the first in row-major order among equals. A NaN is handed on.
__device__ inline real largest(const real *image, const Geometry &g, const Place &p, int &winner)
{
    real best = (real)__int_as_float(0xff800000);  // -infinity
    int best_cell = 0;
    visit_cells(g, p, [&](int cell, int y, int x) {
        real value = element(image, g, p.n, p.c, y, x);
        if (value > best) {
            best = value;
            best_cell = cell;
        } else if (value != value) {
            best = value;
        }
    });
    winner = best_cell;
    return best;
}

extern "C" __global__ void max_pool(
    const real *__restrict__ image, real *__restrict__ out, int *__restrict__ winner, const Geometry g)
{
    long long i = thread_number();
    if (i < g.total)
        out[i] = largest(image, g, place_of(i, g, g.out_h, g.out_w), winner[i]);
}

// A number per channel is added: it commutes with the maximum, and has fewer elements to be added to afterwards.
extern "C" __global__ void max_pool_biased(
    const real *__restrict__ image, const real *__restrict__ bias, real *__restrict__ out, int *__restrict__ winner,
    const Geometry g)
{
    long long i = thread_number();
    if (i >= g.total)
        return;
    Place p = place_of(i, g, g.out_h, g.out_w);
    out[i] = largest(image, g, p, winner[i]) + bias[p.c];
}

extern "C" __global__ void max_pool_backward(
    const real *__restrict__ epsilon, const int *__restrict__ winner, real *__restrict__ gradient, const Geometry g)
{
    long long i = thread_number();
    if (i >= g.total)
        return;
    Place p = place_of(i, g, g.height, g.width);
    gradient[i] = sum_of_windows(g, p, [&](int cell, int y, int x) {
        return winner[output_index(g, p, y, x)] == cell ? element(epsilon, g, p.n, p.c, y, x) : (real)0;
    });
}

// How many of a window's cells along one axis lie inside the image.
__device__ inline int cells_inside(int output, int kernel, int stride, int dilation, int pad, int size)
{
    int count = 0;
    for (int cell = 0; cell < kernel; ++cell) {
        int at = output * stride - pad + cell * dilation;
        count += at >= 0 && at < size;
    }
    return count;
}

// The last windows of an axis may hang over: those cells count in no mean.
__device__ inline real divisor(
    const Geometry &g, long long count_padding, long long over_h, long long over_w, int y, int x)
{
    if (count_padding) {
        int high = g.kernel_h - (y == g.out_h - 1 ? (int)over_h : 0);
        return (real)(high * (g.kernel_w - (x == g.out_w - 1 ? (int)over_w : 0)));
    }
    int rows = cells_inside(y, g.kernel_h, g.stride_h, g.dilation_h, g.pad_top, g.height);
    int columns = cells_inside(x, g.kernel_w, g.stride_w, g.dilation_w, g.pad_left, g.width);
    return (real)(rows * columns);
}

extern "C" __global__ void avg_pool(
    const real *__restrict__ image, real *__restrict__ out, const Geometry g, long long count_padding,
    long long over_h, long long over_w)
{
    long long i = thread_number();
    if (i >= g.total)
        return;
    Place p = place_of(i, g, g.out_h, g.out_w);
    real sum = 0;
    visit_cells(g, p, [&](int, int y, int x) { sum += element(image, g, p.n, p.c, y, x); });
    out[i] = sum / divisor(g, count_padding, over_h, over_w, p.y, p.x);
}

extern "C" __global__ void avg_pool_backward(
    const real *__restrict__ epsilon, real *__restrict__ gradient, const Geometry g, long long count_padding,
    long long over_h, long long over_w)
{
    long long i = thread_number();
    if (i >= g.total)
        return;
    Place p = place_of(i, g, g.height, g.width);
    gradient[i] = sum_of_windows(g, p, [&](int, int y, int x) {
        return element(epsilon, g, p.n, p.c, y, x) / divisor(g, count_padding, over_h, over_w, y, x);
    });
}

// value ^ exponent for value >= 0; the exponents of the usual norms 1 and 2 without the slow pow.
__device__ inline real raised(real value, double exponent)
{
    if (exponent == 2.0)
        return value * value;
    if (exponent == 1.0)
        return value;
    if (exponent == 0.5)
        return sqrt(value);
    if (exponent == 0.0)
        return 1;
    if (exponent == -1.0)
        return 1 / value;
    return pow(value, (real)exponent);
}

extern "C" __global__ void pnorm_pool(
    const real *__restrict__ image, real *__restrict__ out, const Geometry g, double p_norm)
{
    long long i = thread_number();
    if (i >= g.total)
        return;
    Place p = place_of(i, g, g.out_h, g.out_w);
    real sum = 0;
    visit_cells(g, p, [&](int, int y, int x) { sum += raised(fabs(element(image, g, p.n, p.c, y, x)), p_norm); });
    out[i] = raised(sum, 1.0 / p_norm);
}

// epsilon * norm^(1 - p) * |x|^(p - 1) * sign(x), 0 where the norm is 0.
extern "C" __global__ void pnorm_pool_backward(
    const real *__restrict__ epsilon, const real *__restrict__ values, const real *__restrict__ norm,
    real *__restrict__ gradient, const Geometry g, double p_norm)
{
    long long i = thread_number();
    if (i >= g.total)
        return;
    Place p = place_of(i, g, g.height, g.width);
    real value = values[i];
    real slope = raised(fabs(value), p_norm - 1.0) * (real)((value > 0) - (value < 0));
    gradient[i] = sum_of_windows(g, p, [&](int, int y, int x) {
        real pooled = norm[output_index(g, p, y, x)];
        real scale = pooled == 0 ? (real)0 : raised(pooled, 1.0 - p_norm);
        return slope * (scale * element(epsilon, g, p.n, p.c, y, x));
    });
}
