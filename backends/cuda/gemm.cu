// Matrix products that a CUDA graph can hold. One block makes a tile of the result, in the same order every time.

#define DEPTH 16  // of the stretch of the inner axis that is in shared memory at a time
#define CELLS 4   // that a thread reads from shared memory in one go, along rows and along columns

// Sums of products over the inner axis: sizes, and how many blocks share the inner axis of a tile.
struct Sizes {
    long long rows, columns, inner, splits;
};

struct alignas(16) Cells {
    real cell[CELLS];
};

// What one block makes: ROWS x COLUMNS of the result. A thread makes QUADS x QUADS squares of CELLS x CELLS of them.
template <int ROWS_, int COLUMNS_, int QUADS_> struct Tile {
    static constexpr int ROWS = ROWS_, COLUMNS = COLUMNS_, QUADS = QUADS_;
    static constexpr int DOWN = ROWS / (CELLS * QUADS), ACROSS = COLUMNS / (CELLS * QUADS), THREADS = DOWN * ACROSS;
};

typedef Tile<64, 64, 1> Square;
typedef Tile<32, 32, 1> Small;
typedef Tile<32, 128, 1> Flat;
typedef Tile<128, 128, 2> Large;

// A thread's share of a stretch of LINES x DEPTH elements. Neighbouring threads take neighbours along the axis that is
// the faster one in memory.
template <int LINES, int THREADS> struct Share {
    static constexpr int PARTS = LINES * DEPTH / THREADS;
    real values[PARTS];

    template <typename Operand> __device__ inline void load(const Operand &operand, long long first, long long k)
    {
#pragma unroll
        for (int part = 0; part < PARTS; ++part)
            values[part] = operand.at(first + line(part, operand.depth_first), k + depth(part, operand.depth_first), part);
    }
    __device__ inline void store(Cells (*shared)[LINES / CELLS + 1], bool depth_first) const
    {
#pragma unroll
        for (int part = 0; part < PARTS; ++part) {
            int at = line(part, depth_first);
            shared[depth(part, depth_first)][at / CELLS].cell[at % CELLS] = values[part];
        }
    }
    __device__ static inline int line(int part, bool depth_first)
    {
        int i = part * THREADS + (int)threadIdx.x;
        return depth_first ? i / DEPTH : i % LINES;
    }
    __device__ static inline int depth(int part, bool depth_first)
    {
        int i = part * THREADS + (int)threadIdx.x;
        return depth_first ? i % DEPTH : i / LINES;
    }
};

// Which tile a block makes, and its part of the inner axis.
struct Task {
    unsigned int tile, split;
    long long top, first, begin, end;
};

template <typename Tile> __device__ inline Task task_of(const Sizes &s, unsigned int block)
{
    Task t;
    unsigned int across = (unsigned int)((s.columns + Tile::COLUMNS - 1) / Tile::COLUMNS);
    t.tile = block / (unsigned int)s.splits;
    t.split = block % (unsigned int)s.splits;
    t.top = (long long)(t.tile / across) * Tile::ROWS;
    t.first = (long long)(t.tile % across) * Tile::COLUMNS;
    long long stretches = (s.inner + DEPTH - 1) / DEPTH;
    long long stretch = (stretches + s.splits - 1) / s.splits * DEPTH;
    t.begin = t.split * stretch < s.inner ? t.split * stretch : s.inner;
    t.end = t.begin + stretch < s.inner ? t.begin + stretch : s.inner;
    return t;
}

// Sum left(row, k) * right(column, k) over the task's k for its tile; keep(row, column, sum).
//
// Operands have `depth_first`, begin(first line, first k, end of k), step(k), which all threads call before a barrier
// and elements of the stretch that begins at k after it, and at(line, k, part), 0 outside of the operand.
template <typename Tile, typename Left, typename Right, typename Keep>
__device__ inline void tile_product(const Task &t, Left &left, Right &right, const Keep &keep)
{
    const int QUADS = Tile::QUADS;
    __shared__ Cells lefts[DEPTH][Tile::ROWS / CELLS + 1], rights[DEPTH][Tile::COLUMNS / CELLS + 1];
    Share<Tile::ROWS, Tile::THREADS> next_left;
    Share<Tile::COLUMNS, Tile::THREADS> next_right;
    int down = (int)threadIdx.x / Tile::ACROSS, across = (int)threadIdx.x % Tile::ACROSS;
    real sums[QUADS * CELLS][QUADS * CELLS] = {};
    left.begin(t.top, t.end);
    right.begin(t.first, t.end);
    left.step(t.begin);
    right.step(t.begin);
    __syncthreads();
    next_left.load(left, t.top, t.begin);
    next_right.load(right, t.first, t.begin);
    for (long long k = t.begin; k < t.end; k += DEPTH) {
        __syncthreads();
        next_left.store(lefts, left.depth_first);
        next_right.store(rights, right.depth_first);
        left.step(k + DEPTH);
        right.step(k + DEPTH);
        __syncthreads();
        next_left.load(left, t.top, k + DEPTH);  // while the products below are computed
        next_right.load(right, t.first, k + DEPTH);
#pragma unroll
        for (int depth = 0; depth < DEPTH; ++depth) {
            Cells rows[QUADS], columns[QUADS];
#pragma unroll
            for (int quad = 0; quad < QUADS; ++quad) {
                rows[quad] = lefts[depth][quad * Tile::DOWN + down];
                columns[quad] = rights[depth][quad * Tile::ACROSS + across];
            }
#pragma unroll
            for (int y = 0; y < QUADS * CELLS; ++y)
#pragma unroll
                for (int x = 0; x < QUADS * CELLS; ++x)
                    sums[y][x] += rows[y / CELLS].cell[y % CELLS] * columns[x / CELLS].cell[x % CELLS];
        }
    }
#pragma unroll
    for (int y = 0; y < QUADS * CELLS; ++y)
#pragma unroll
        for (int x = 0; x < QUADS * CELLS; ++x) {
            int row = (y / CELLS * Tile::DOWN + down) * CELLS + y % CELLS;
            int column = (x / CELLS * Tile::ACROSS + across) * CELLS + x % CELLS;
            keep(t.top + row, t.first + column, sums[y][x]);
        }
}

// One of a product's blocks: store(row, column, sum) for every cell. With several splits the sums go to `partial`
// [splits, rows, columns], and the last block of a tile to end, which `arrived` [tiles] tells, adds them in their order.
template <typename Tile, typename Left, typename Right, typename Store>
__device__ inline void product(
    const Sizes &s, unsigned int block, real *partial, int *arrived, Left &left, Right &right, const Store &store)
{
    __shared__ int place;
    const Task t = task_of<Tile>(s, block);
    long long cells = s.rows * s.columns;
    tile_product<Tile>(t, left, right, [&](long long row, long long column, real sum) {
        if (row >= s.rows || column >= s.columns)
            return;
        if (s.splits == 1)
            store(row, column, sum);
        else
            partial[t.split * cells + row * s.columns + column] = sum;
    });
    if (s.splits == 1)
        return;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        place = atomicAdd(&arrived[t.tile], 1);
    __syncthreads();
    if (place != (int)s.splits - 1)
        return;
    __threadfence();
    for (int i = (int)threadIdx.x; i < Tile::ROWS * Tile::COLUMNS; i += Tile::THREADS) {
        long long row = t.top + i / Tile::COLUMNS, column = t.first + i % Tile::COLUMNS;
        if (row >= s.rows || column >= s.columns)
            continue;
        real sum = 0;
        for (long long part = 0; part < s.splits; ++part)
            sum += __ldcg(partial + part * cells + row * s.columns + column);
        store(row, column, sum);
    }
    if (threadIdx.x == 0)
        arrived[t.tile] = 0;  // for the next product
}

// A matrix by strides, in elements: lines are the rows of the left one and the columns of the right one.
struct Matrix {
    long long line, inner;
};

struct MatrixOperand {
    const real *values;
    Matrix strides;
    long long lines, end;
    bool depth_first;

    __device__ inline MatrixOperand(const real *values, const Matrix &strides, long long lines)
        : values(values), strides(strides), lines(lines), end(0), depth_first(strides.inner == 1)
    {
    }
    __device__ inline void begin(long long, long long stop) { end = stop; }
    __device__ inline void step(long long) {}
    __device__ inline real at(long long line, long long k, int) const
    {
        return line < lines && k < end ? values[line * strides.line + k * strides.inner] : (real)0;
    }
};

// The same with one more line, of ones.
struct WithOnes {
    MatrixOperand matrix;
    long long ones;  // number of that line, -1 for none
    bool depth_first;

    __device__ inline WithOnes(const MatrixOperand &matrix, long long ones)
        : matrix(matrix), ones(ones), depth_first(matrix.depth_first)
    {
    }
    __device__ inline void begin(long long first, long long stop) { matrix.begin(first, stop); }
    __device__ inline void step(long long) {}
    __device__ inline real at(long long line, long long k, int part) const
    {
        return line == ones && k < matrix.end ? (real)1 : matrix.at(line, k, part);
    }
};

// How far apart the matrices of a stack are.
struct Stack {
    long long left, right, out;
};

// What a product is told: filled by the host as 14 long longs.
struct Product {
    Sizes sizes;
    long long left_lines;  // one less than sizes.rows where the last row is of ones
    Matrix left, right;
    long long out_row, out_column;
    Stack stack;
};

template <typename Tile>
__device__ inline void gemm_tile(
    const real *left, const real *right, real *out, real *sums, real *partial, int *arrived, const Product &p)
{
    const Sizes &s = p.sizes;
    unsigned int tiles = (unsigned int)(
        (s.rows + Tile::ROWS - 1) / Tile::ROWS * ((s.columns + Tile::COLUMNS - 1) / Tile::COLUMNS));
    unsigned int blocks = tiles * (unsigned int)s.splits;
    long long number = blockIdx.x / blocks;
    bool with_sums = p.left_lines < s.rows;
    WithOnes rows(MatrixOperand(left + number * p.stack.left, p.left, p.left_lines), with_sums ? p.left_lines : -1);
    MatrixOperand columns(right + number * p.stack.right, p.right, s.columns);
    real *matrix = out + number * p.stack.out;
    partial += number * s.splits * s.rows * s.columns;
    arrived += number * tiles;
    product<Tile>(s, blockIdx.x % blocks, partial, arrived, rows, columns, [&](long long row, long long column, real sum) {
        if (row < p.left_lines)
            matrix[row * p.out_row + column * p.out_column] = sum;
        else
            sums[column] = sum;
    });
}

// left @ right, of every matrix of stacks. With a row of ones below a single `left`, the sums of the columns of `right`
// go to `sums`.
extern "C" __global__ void __launch_bounds__(256) gemm(
    const real *__restrict__ left, const real *__restrict__ right, real *__restrict__ out, real *__restrict__ sums,
    real *__restrict__ partial, int *__restrict__ arrived, const Product p)
{
    gemm_tile<Square>(left, right, out, sums, partial, arrived, p);
}

// The same where the result is small.
extern "C" __global__ void __launch_bounds__(64) gemm_small(
    const real *__restrict__ left, const real *__restrict__ right, real *__restrict__ out, real *__restrict__ sums,
    real *__restrict__ partial, int *__restrict__ arrived, const Product p)
{
    gemm_tile<Small>(left, right, out, sums, partial, arrived, p);
}

// The same where there is much to do.
extern "C" __global__ void __launch_bounds__(256) gemm_large(
    const real *__restrict__ left, const real *__restrict__ right, real *__restrict__ out, real *__restrict__ sums,
    real *__restrict__ partial, int *__restrict__ arrived, const Product p)
{
    gemm_tile<Large>(left, right, out, sums, partial, arrived, p);
}
