// Matrix products that a CUDA graph can hold. One block makes a tile of the result, in the same order every time.

#define TILE 64   // rows and columns of a block's tile
#define DEPTH 16  // of the stretch of the inner axis that is in shared memory at a time
#define CELLS 4   // rows and columns of the tile that one of the 256 threads makes

// A matrix by strides, in elements: rows or columns may lie next to each other, or neither.
struct Matrix {
    long long row, column;
};

// What a product is told, filled by the host as 3 ints, 1 int of splits, and 6 long longs.
struct Product {
    int rows, columns, inner;
    int splits;  // of the inner axis, each of which is a block of its own
    Matrix left, right, out;
};

// Load a stretch of TILE x DEPTH elements, value(line, depth), into shared memory; neighbouring threads take neighbours
// along the axis that is the faster one in memory.
template <typename Value>
__device__ inline void load_stretch(real (*shared)[TILE + 1], bool depth_first, const Value &value)
{
#pragma unroll
    for (int part = 0; part < TILE * DEPTH / 256; ++part) {
        int i = part * 256 + (int)threadIdx.x;
        int line = depth_first ? i / DEPTH : i % TILE;
        int depth = depth_first ? i % DEPTH : i / TILE;
        shared[depth][line] = value(line, depth);
    }
}

// Sum left(row, k) * right(k, column) over k in [begin, end) for the tile at (top, first); keep(row, column, sum).
template <typename Left, typename Right, typename Keep>
__device__ inline void tile_product(
    int top, int first, int begin, int end, bool left_inner_first, bool right_inner_first, const Left &left,
    const Right &right, const Keep &keep)
{
    __shared__ real lefts[DEPTH][TILE + 1], rights[DEPTH][TILE + 1];
    int row = (int)threadIdx.x / (TILE / CELLS) * CELLS, column = (int)threadIdx.x % (TILE / CELLS) * CELLS;
    real sums[CELLS][CELLS] = {};
    for (int k = begin; k < end; k += DEPTH) {
        load_stretch(lefts, left_inner_first, [&](int line, int depth) {
            return k + depth < end ? left(top + line, k + depth) : (real)0;
        });
        load_stretch(rights, right_inner_first, [&](int line, int depth) {
            return k + depth < end ? right(k + depth, first + line) : (real)0;
        });
        __syncthreads();
#pragma unroll
        for (int depth = 0; depth < DEPTH; ++depth)
#pragma unroll
            for (int y = 0; y < CELLS; ++y)
#pragma unroll
                for (int x = 0; x < CELLS; ++x)
                    sums[y][x] += lefts[depth][row + y] * rights[depth][column + x];
        __syncthreads();
    }
#pragma unroll
    for (int y = 0; y < CELLS; ++y)
#pragma unroll
        for (int x = 0; x < CELLS; ++x)
            keep(top + row + y, first + column + x, sums[y][x]);
}

// left [rows, inner] @ right [inner, columns]. With several splits the sums go to `partial` [splits, rows, columns], and
// the last block of a tile to end, which `arrived` [tiles] tells, adds them up in their order.
extern "C" __global__ void __launch_bounds__(256) gemm(
    const real *__restrict__ left, const real *__restrict__ right, real *__restrict__ out, real *__restrict__ partial,
    int *__restrict__ arrived, const Product p)
{
    __shared__ int place;
    int across = (p.columns + TILE - 1) / TILE;
    int tile = (int)(blockIdx.x / p.splits), split = (int)(blockIdx.x % p.splits);
    int top = tile / across * TILE, first = tile % across * TILE;
    int stretch = ((p.inner + p.splits - 1) / p.splits + DEPTH - 1) / DEPTH * DEPTH;
    int begin = split * stretch < p.inner ? split * stretch : p.inner;
    int end = begin + stretch < p.inner ? begin + stretch : p.inner;
    long long cells = (long long)p.rows * p.columns;
    tile_product(
        top, first, begin, end, p.left.column == 1, p.right.row == 1,
        [&](int row, int k) { return row < p.rows ? left[row * p.left.row + k * p.left.column] : (real)0; },
        [&](int k, int column) {
            return column < p.columns ? right[k * p.right.row + column * p.right.column] : (real)0;
        },
        [&](int row, int column, real sum) {
            if (row >= p.rows || column >= p.columns)
                return;
            if (p.splits == 1)
                out[row * p.out.row + column * p.out.column] = sum;
            else
                partial[split * cells + (long long)row * p.columns + column] = sum;
        });
    if (p.splits == 1)
        return;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        place = atomicAdd(&arrived[tile], 1);
    __syncthreads();
    if (place != p.splits - 1)
        return;
    __threadfence();
    for (int i = (int)threadIdx.x; i < TILE * TILE; i += 256) {
        int row = top + i / TILE, column = first + i % TILE;
        if (row >= p.rows || column >= p.columns)
            continue;
        real sum = 0;
        for (int part = 0; part < p.splits; ++part)
            sum += partial[part * cells + (long long)row * p.columns + column];
        out[row * p.out.row + column * p.out.column] = sum;
    }
    if (threadIdx.x == 0)
        arrived[tile] = 0;  // for the next product
}
