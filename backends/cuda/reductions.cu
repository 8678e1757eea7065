// Sums over a block, over a grid and over rows, and softmax: always in the same order, without float atomics.

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

// The sum of all threads' values of the whole grid, into out[0] by the last block to end. `partial` has room for one
// number from each block, `arrived[0]` is 0 before and after.
__device__ inline void grid_sum(real value, real *partial, int *arrived, real *out)
{
    __shared__ int place;
    real sum = block_sum(value);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        place = atomicAdd(arrived, 1);
    }
    __syncthreads();
    if (place != (int)gridDim.x - 1)
        return;
    __threadfence();
    real all = 0;
    for (int i = (int)threadIdx.x; i < (int)gridDim.x; i += SUMMERS)
        all += __ldcg(partial + i);
    all = block_sum(all);
    if (threadIdx.x == 0) {
        out[0] = all;
        arrived[0] = 0;
    }
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

// exp(x) / sum(exp(x)) of every row, shifted by its largest; one thread makes one. `out` may be `values`.
extern "C" __global__ void softmax_rows(const real *values, real *out, const Rows r)
{
    long long i = thread_number();
    if (i >= r.count)
        return;
    const real *row = values + i * r.row;
    real *made = out + i * r.out_row;
    real largest = row[0];
    for (long long j = 1; j < r.length; ++j)
        largest = larger(largest, row[j * r.element]);
    real sum = 0;
    for (long long j = 0; j < r.length; ++j) {
        real e = exp(row[j * r.element] - largest);
        made[j * r.out_element] = e;
        sum += e;
    }
    for (long long j = 0; j < r.length; ++j)
        made[j * r.out_element] = made[j * r.out_element] / sum;
}

// The same where rows are long: one block makes one.
extern "C" __global__ void __launch_bounds__(256) softmax_long_rows(const real *values, real *out, const Rows r)
{
    __shared__ real maxima[SUMMERS];
    const real *row = values + blockIdx.x * r.row;
    real *made = out + blockIdx.x * r.out_row;
    real largest = row[0];
    for (long long j = threadIdx.x; j < r.length; j += SUMMERS)
        largest = larger(largest, row[j * r.element]);
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
        made[j * r.out_element] = e;
        sum += e;
    }
    sum = block_sum(sum);
    for (long long j = threadIdx.x; j < r.length; j += SUMMERS)
        made[j * r.out_element] = made[j * r.out_element] / sum;
}
