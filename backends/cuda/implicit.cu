// Convolutions as products whose operands are gathered on the way: no columns in memory. What is written lies with the
// batch innermost; a position is an output (y, x, n) of the convolution, or an element (y, x, n) of the image.

// Divides numbers from 0 to 65535 by a number that stays, without a division.
struct Divider {
    unsigned int by, magic;  // magic = 2^32 / by, rounded up

    __device__ inline int quotient(int x) const
    {
        return by == 1 ? x : (int)(((unsigned long long)(unsigned int)x * magic) >> 32);
    }
};

// Max pooling after the convolution, of windows side by side.
struct Pooled {
    Divider height, width;  // of a window
    int out_h, out_w;
    long long used;  // 0 where there is none
};

// What a convolution is told: filled by the host, which packs it field by field.
struct Convolution {
    Geometry g;  // reads the image by its strides; g.total is the number of positions
    Pooled pooled;
    Divider stride_h, stride_w;
    Sizes sizes;
    long long taps;                                    // cells of a window, over all channels
    long long stride_n, stride_c, stride_y, stride_x;  // of epsilon, in elements
};

// A cell of the window in one of the channels that the inner axis runs over.
struct Tap {
    long long offset;
    int dy, dx;
    long long weight;
};

// A window's cell out of those of all channels.
__device__ inline Tap tap_of(long long number, const Geometry &g)
{
    unsigned int cells = (unsigned int)(g.kernel_h * g.kernel_w), width = (unsigned int)g.kernel_w;
    unsigned int tap = (unsigned int)number, cell = tap % cells;
    Tap t;
    t.offset = tap / cells;  // the channel
    t.dy = (int)(cell / width) * g.dilation_h;
    t.dx = (int)(cell % width) * g.dilation_w;
    t.weight = cell;
    return t;
}

// The gradient of the convolution's output: epsilon itself, or the pooled epsilon and the winners.
struct Delta {
    const real *epsilon;
    const int *winner;
    const Convolution &c;

    __device__ inline real at(long long channel, int y, int x, int n) const
    {
        const Geometry &g = c.g;
        const real *plane = epsilon + channel * c.stride_c + n * c.stride_n;
        if (!c.pooled.used)
            return plane[y * c.stride_y + x * c.stride_x];
        int row = c.pooled.height.quotient(y), column = c.pooled.width.quotient(x);
        if (row >= c.pooled.out_h || column >= c.pooled.out_w)
            return 0;
        int cell = (y - row * (int)c.pooled.height.by) * (int)c.pooled.width.by + x - column * (int)c.pooled.width.by;
        long long place = ((channel * c.pooled.out_h + row) * c.pooled.out_w + column) * g.batch + n;
        return winner[place] == cell ? plane[row * c.stride_y + column * c.stride_x] : (real)0;
    }
};

// The output of which an image's coordinate, less the cell of the window, is the first; -1 where there is none.
__device__ inline int output_at(int start, const Divider &stride, int outputs)
{
    if (start < 0)
        return -1;
    int output = stride.quotient(start);
    return output < outputs && output * (int)stride.by == start ? output : -1;
}

// Forward: lines are positions, the inner axis runs over taps.
template <int LINES> struct Patches {
    const real *image;
    const Geometry &g;
    Tap *taps;  // of the stretch, in shared memory
    const char *corner;
    long long end;
    int y, x;
    bool inside;
    static constexpr bool depth_first = false;

    __device__ inline void begin(long long first, long long stop)
    {
        long long position = first + (long long)threadIdx.x % LINES;
        end = stop;
        inside = position < g.total;
        Place p = place_of(inside ? position : 0, g, g.out_h, g.out_w);
        y = p.y * g.stride_h - g.pad_top;
        x = p.x * g.stride_w - g.pad_left;
        corner = (const char *)image + p.n * g.stride_n + y * g.stride_y + x * g.stride_x;
    }
    __device__ inline void step(long long k)
    {
        if (threadIdx.x >= DEPTH)
            return;
        Tap t = tap_of(k + threadIdx.x, g);
        t.offset = t.offset * g.stride_c + t.dy * g.stride_y + t.dx * g.stride_x;
        taps[threadIdx.x] = t;
    }
    __device__ inline real at(long long, long long k, int) const
    {
        const Tap t = taps[k % DEPTH];
        bool read = inside && k < end && y + t.dy >= 0 && y + t.dy < g.height && x + t.dx >= 0 && x + t.dx < g.width;
        return read ? *(const real *)(corner + t.offset) : (real)0;
    }
};

// Where a thread's output positions lie, one stretch after the other.
struct Positions {
    const Geometry &g;
    long long end;
    Place p;
    bool inside;

    __device__ inline void step(long long k)
    {
        long long position = k + (long long)threadIdx.x % DEPTH;
        inside = position < end;
        if (inside)
            p = place_of(position, g, g.out_h, g.out_w);
    }
};

// Gradient of the weights, left: lines are output channels, the inner axis runs over positions.
struct DeltaByPosition {
    Delta delta;
    Positions &positions;
    long long lines;
    static constexpr bool depth_first = true;

    __device__ inline void begin(long long, long long stop) { positions.end = stop; }
    __device__ inline void step(long long k) { positions.step(k); }
    __device__ inline real at(long long line, long long, int) const
    {
        const Place &p = positions.p;
        return positions.inside && line < lines ? delta.at(line, p.y, p.x, p.n) : (real)0;
    }
};

// The same, right: lines are taps, and one of ones after them.
template <int LINES, int THREADS> struct PatchesByTap {
    const real *image;
    const Geometry &g;
    Positions &positions;
    long long taps;
    Tap own[LINES * DEPTH / THREADS];
    static constexpr bool depth_first = true;

    __device__ inline void begin(long long first, long long)
    {
#pragma unroll
        for (int part = 0; part < LINES * DEPTH / THREADS; ++part) {
            own[part] = tap_of(first + Share<LINES, THREADS>::line(part, true), g);
            own[part].dy -= g.pad_top;
            own[part].dx -= g.pad_left;
            own[part].offset *= g.stride_c;
        }
    }
    __device__ inline void step(long long) {}
    __device__ inline real at(long long line, long long, int part) const
    {
        if (!positions.inside || line > taps)
            return 0;
        if (line == taps)
            return 1;
        int y = positions.p.y * g.stride_h + own[part].dy, x = positions.p.x * g.stride_w + own[part].dx;
        if (y < 0 || y >= g.height || x < 0 || x >= g.width)
            return 0;
        const char *row = (const char *)image + own[part].offset + y * g.stride_y;
        return *(const real *)(row + x * g.stride_x + positions.p.n * g.stride_n);
    }
};

// Gradient of the image, left: lines are the image's channels, the inner axis runs over the cells of the window in all
// output channels. Fills in the taps for both sides.
struct WeightsByChannel {
    const real *weights;
    const Convolution &c;
    Tap *taps;
    long long channels, end;
    static constexpr bool depth_first = true;

    __device__ inline void begin(long long, long long stop) { end = stop; }
    __device__ inline void step(long long k)
    {
        if (threadIdx.x >= DEPTH)
            return;
        Tap t = tap_of(k + threadIdx.x, c.g);
        t.weight += t.offset * channels * c.g.kernel_h * c.g.kernel_w;
        taps[threadIdx.x] = t;
    }
    __device__ inline real at(long long line, long long k, int) const
    {
        int cells = c.g.kernel_h * c.g.kernel_w;
        return line < channels && k < end ? weights[taps[k % DEPTH].weight + line * cells] : (real)0;
    }
};

// The same, right: lines are the image's elements.
template <int LINES> struct DeltaByTap {
    Delta delta;
    const Convolution &c;
    Tap *taps;
    long long end;
    Place p;
    bool inside;
    static constexpr bool depth_first = false;

    __device__ inline void begin(long long first, long long stop)
    {
        long long position = first + (long long)threadIdx.x % LINES;
        end = stop;
        inside = position < c.g.total;
        p = place_of(inside ? position : 0, c.g, c.g.height, c.g.width);
    }
    __device__ inline void step(long long) {}
    __device__ inline real at(long long, long long k, int) const
    {
        if (!inside || k >= end)
            return 0;
        const Tap t = taps[k % DEPTH];
        int y = output_at(p.y + c.g.pad_top - t.dy, c.stride_h, c.g.out_h);
        int x = output_at(p.x + c.g.pad_left - t.dx, c.stride_w, c.g.out_w);
        return y < 0 || x < 0 ? (real)0 : delta.at(t.offset, y, x, p.n);
    }
};

template <typename Tile>
__device__ inline void forward_tile(
    const real *image, const real *weights, const real *bias, real *out, real *partial, int *arrived,
    const Convolution &c)
{
    __shared__ Tap taps[DEPTH];
    Matrix by_row = {c.taps, 1};
    MatrixOperand left(weights, by_row, c.sizes.rows);
    Patches<Tile::COLUMNS> right = {image, c.g, taps, 0, 0, 0, 0, false};
    product<Tile>(c.sizes, blockIdx.x, partial, arrived, left, right, [&](long long row, long long column, real sum) {
        out[row * c.sizes.columns + column] = bias ? sum + bias[row] : sum;
    });
}

template <typename Tile>
__device__ inline void weights_tile(
    const real *image, const real *epsilon, const int *winner, real *weights, real *bias, real *partial, int *arrived,
    const Convolution &c)
{
    Positions positions = {c.g, 0, {0, 0, 0, 0}, false};
    DeltaByPosition left = {{epsilon, winner, c}, positions, c.sizes.rows};
    PatchesByTap<Tile::COLUMNS, Tile::THREADS> right = {image, c.g, positions, c.taps, {}};
    product<Tile>(c.sizes, blockIdx.x, partial, arrived, left, right, [&](long long row, long long column, real sum) {
        if (column < c.taps)
            weights[row * c.taps + column] = sum;
        else
            bias[row] = sum;
    });
}

template <typename Tile>
__device__ inline void image_tile(
    const real *epsilon, const int *winner, const real *weights, real *image, real *partial, int *arrived,
    const Convolution &c)
{
    __shared__ Tap taps[DEPTH];
    WeightsByChannel left = {weights, c, taps, c.sizes.rows, 0};
    DeltaByTap<Tile::COLUMNS> right = {{epsilon, winner, c}, c, taps, 0, {0, 0, 0, 0}, false};
    product<Tile>(c.sizes, blockIdx.x, partial, arrived, left, right, [&](long long row, long long column, real sum) {
        image[row * c.sizes.columns + column] = sum;
    });
}

// The output [channels, out_h, out_w, N] of a convolution; `bias` may be null.
extern "C" __global__ void __launch_bounds__(256) convolve(
    const real *__restrict__ image, const real *__restrict__ weights, const real *__restrict__ bias,
    real *__restrict__ out, real *__restrict__ partial, int *__restrict__ arrived, const Convolution c)
{
    forward_tile<Square>(image, weights, bias, out, partial, arrived, c);
}

// The same for few output channels.
extern "C" __global__ void __launch_bounds__(256) convolve_few(
    const real *__restrict__ image, const real *__restrict__ weights, const real *__restrict__ bias,
    real *__restrict__ out, real *__restrict__ partial, int *__restrict__ arrived, const Convolution c)
{
    forward_tile<Flat>(image, weights, bias, out, partial, arrived, c);
}

// The gradient of the weights, and of the bias where sizes.columns is one more than the taps.
extern "C" __global__ void __launch_bounds__(256) convolve_weights(
    const real *__restrict__ image, const real *__restrict__ epsilon, const int *__restrict__ winner,
    real *__restrict__ weights, real *__restrict__ bias, real *__restrict__ partial, int *__restrict__ arrived,
    const Convolution c)
{
    weights_tile<Square>(image, epsilon, winner, weights, bias, partial, arrived, c);
}

// The same for few weights.
extern "C" __global__ void __launch_bounds__(64) convolve_weights_small(
    const real *__restrict__ image, const real *__restrict__ epsilon, const int *__restrict__ winner,
    real *__restrict__ weights, real *__restrict__ bias, real *__restrict__ partial, int *__restrict__ arrived,
    const Convolution c)
{
    weights_tile<Small>(image, epsilon, winner, weights, bias, partial, arrived, c);
}

// The gradient [C, H, W, N] of the image.
extern "C" __global__ void __launch_bounds__(256) convolve_image(
    const real *__restrict__ epsilon, const int *__restrict__ winner, const real *__restrict__ weights,
    real *__restrict__ image, real *__restrict__ partial, int *__restrict__ arrived, const Convolution c)
{
    image_tile<Square>(epsilon, winner, weights, image, partial, arrived, c);
}

// The same for few channels.
extern "C" __global__ void __launch_bounds__(256) convolve_image_few(
    const real *__restrict__ epsilon, const int *__restrict__ winner, const real *__restrict__ weights,
    real *__restrict__ image, real *__restrict__ partial, int *__restrict__ arrived, const Convolution c)
{
    image_tile<Flat>(epsilon, winner, weights, image, partial, arrived, c);
}
