// Sums over a block, over a grid and over rows, softmax and normalisation of rows: always in the same order, without
// float atomics.

#define SUMMERS 256  // threads of a block that sums

// The sum of all threads' values, for every thread of a block of SUMMERS.
__device__ inline real block_sum(real value)
{
    __shared__ real sums[SUMMERS];
    __syncthreads();  // whoever still reads the sums before
    sums[threadIdx.x] = value;
    __syncthreads();
#pragma unroll
    for (int half = SUMMERS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    return sums[0];
}

// The sums of all threads' values of the grid, into `out` by the last block to end. `partial` has room for COUNT
// numbers from every block, `arrived[0]` is 0 before and after.
template <int COUNT>
__device__ inline void grid_sums(const real (&values)[COUNT], real *partial, int *arrived, real *out)
{
    __shared__ int place;
    for (int i = 0; i < COUNT; ++i) {
        real sum = block_sum(values[i]);
        if (threadIdx.x == 0)
            partial[blockIdx.x * COUNT + i] = sum;
    }
    if (threadIdx.x == 0) {
        __threadfence();
        place = atomicAdd(arrived, 1);
    }
    __syncthreads();
    if (place != (int)gridDim.x - 1)
        return;
    __threadfence();
    for (int i = 0; i < COUNT; ++i) {
        real all = 0;
        for (int block = (int)threadIdx.x; block < (int)gridDim.x; block += SUMMERS)
            all += __ldcg(partial + block * COUNT + i);
        all = block_sum(all);
        if (threadIdx.x == 0)
            out[i] = all;
    }
    if (threadIdx.x == 0)
        arrived[0] = 0;
}

// Rows by strides, in elements; filled by the host as 6 long longs.
struct Rows {
    long long count, length, row, element, out_row, out_element;
};

// The sum of every row; one block makes one.
extern "C" __global__ void __launch_bounds__(256) sum_rows(
    const real *__restrict__ values, real *__restrict__ out, const Rows r)
{
    const real *row = values + blockIdx.x * r.row;
    real sum = 0;
    for (long long i = threadIdx.x; i < r.length; i += SUMMERS)
        sum += row[i * r.element];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        out[blockIdx.x * r.out_row] = sum;
}

// exp(x) / sum(exp(x)) of every row, shifted by its largest; one thread makes one. `out` may be `values`. The bias, if
// there is one, is added to the values first, also where they lie.
extern "C" __global__ void softmax_rows(real *values, const real *__restrict__ bias, real *out, const Rows r)
{
    long long i = thread_number();
    if (i >= r.count)
        return;
    real *row = values + i * r.row;
    real *result = out + i * r.out_row;
    if (bias)
        for (long long j = 0; j < r.length; ++j)
            row[j * r.element] += bias[j];
    real largest = row[0];
    for (long long j = 1; j < r.length; ++j)
        largest = larger(largest, row[j * r.element]);
    real sum = 0;
    for (long long j = 0; j < r.length; ++j) {
        real e = exp(row[j * r.element] - largest);
        result[j * r.out_element] = e;
        sum += e;
    }
    for (long long j = 0; j < r.length; ++j)
        result[j * r.out_element] = result[j * r.out_element] / sum;
}

// The same where rows are long: one block makes one.
extern "C" __global__ void __launch_bounds__(256) softmax_long_rows(
    real *values, const real *__restrict__ bias, real *out, const Rows r)
{
    __shared__ real maxima[SUMMERS];
    real *row = values + blockIdx.x * r.row;
    real *result = out + blockIdx.x * r.out_row;
    real largest = (real)__int_as_float(0xff800000);  // -infinity
    for (long long j = threadIdx.x; j < r.length; j += SUMMERS) {
        if (bias)
            row[j * r.element] += bias[j];
        largest = larger(largest, row[j * r.element]);
    }
    maxima[threadIdx.x] = largest;
    __syncthreads();
    for (int half = SUMMERS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            maxima[threadIdx.x] = larger(maxima[threadIdx.x], maxima[threadIdx.x + half]);
        __syncthreads();
    }
    largest = maxima[0];
    real sum = 0;
    for (long long j = threadIdx.x; j < r.length; j += SUMMERS) {
        real e = exp(row[j * r.element] - largest);
        result[j * r.out_element] = e;
        sum += e;
    }
    sum = block_sum(sum);
    for (long long j = threadIdx.x; j < r.length; j += SUMMERS)
        result[j * r.out_element] = result[j * r.out_element] / sum;
}

// Every row with mean 0 and variance 1 into `out`, 1 / standard deviation into `inverse`, 0 for a row of equal numbers;
// one block makes one.
extern "C" __global__ void __launch_bounds__(256) normalize_rows(
    const real *__restrict__ values, real *__restrict__ out, real *__restrict__ inverse, const Rows r)
{
    const real *row = values + blockIdx.x * r.row;
    real *result = out + blockIdx.x * r.out_row;
    real sum = 0, squares = 0;
    for (long long j = threadIdx.x; j < r.length; j += SUMMERS)
        sum += row[j * r.element];
    real mean = block_sum(sum) / r.length;
    for (long long j = threadIdx.x; j < r.length; j += SUMMERS) {
        real away = row[j * r.element] - mean;
        squares += away * away;
    }
    real variance = block_sum(squares) / r.length;
    real scale = variance > 0 ? 1 / sqrt(variance) : 0;
    for (long long j = threadIdx.x; j < r.length; j += SUMMERS)
        result[j * r.out_element] = (row[j * r.element] - mean) * scale;
    if (threadIdx.x == 0)
        inverse[blockIdx.x] = scale;
}

// Errors of normalised rows into those of the rows; one block makes one. `out` of the description is `normal`.
extern "C" __global__ void __launch_bounds__(256) normalize_rows_back(
    real *__restrict__ delta, const real *__restrict__ normal, const real *__restrict__ inverse, const Rows r)
{
    real *row = delta + blockIdx.x * r.row;
    const real *other = normal + blockIdx.x * r.out_row;
    real sum = 0, along = 0;
    for (long long j = threadIdx.x; j < r.length; j += SUMMERS) {
        sum += row[j * r.element];
        along += row[j * r.element] * other[j * r.out_element];
    }
    real mean = block_sum(sum) / r.length;
    along = block_sum(along) / r.length;
    for (long long j = threadIdx.x; j < r.length; j += SUMMERS)
        row[j * r.element] = (row[j * r.element] - mean - other[j * r.out_element] * along) * inverse[blockIdx.x];
}
