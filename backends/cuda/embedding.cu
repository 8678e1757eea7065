// Rows of a table by their numbers, and what is added to them: embeddings and their gradients.

#define FINDERS 256  // threads of a block that looks for equal indices

// Filled by the host as 8 long longs; strides in elements.
struct Lookup {
    long long count, rows, columns;  // indices; size of the table
    long long index, table_row, table_column;
    long long row, column;  // of the other matrix, [count, columns]
};

// out[i, :] = table[index[i], :], NaN where the table has no such row; one thread makes one element.
extern "C" __global__ void gather_rows(
    const real *__restrict__ table, const long long *__restrict__ index, real *__restrict__ out, const Lookup l)
{
    long long cell = thread_number();
    if (cell >= l.count * l.columns)
        return;
    bool narrow = l.count * l.columns < WIDE_FROM;
    long long i = narrow ? (unsigned int)cell / (unsigned int)l.columns : cell / l.columns;
    long long column = cell - i * l.columns, row = index[i * l.index];
    bool there = row >= 0 && row < l.rows;
    out[i * l.row + column * l.column] =
        there ? table[row * l.table_row + column * l.table_column] : (real)__int_as_float(0x7fc00000);  // NaN
}

// table[index[i], :] += updates[i, :], in the order of i where indices are equal. One block adds everything that falls
// to a row, that of the first index equal to it, so there are no float atomics. Rows that are not there are left out.
extern "C" __global__ void __launch_bounds__(256) scatter_add_rows(
    real *__restrict__ table, const long long *__restrict__ index, const real *__restrict__ updates, const Lookup l)
{
    __shared__ bool equal[FINDERS];
    __shared__ int first, last;  // of the equal ones
    const int thread = (int)threadIdx.x;
    const long long row = index[blockIdx.x * l.index];
    if (row < 0 || row >= l.rows)
        return;
    for (long long start = 0; start < l.count; start += FINDERS) {
        long long i = start + thread;
        bool is_equal = i < l.count && index[i * l.index] == row;
        __syncthreads();  // some threads may still read the ones before
        equal[thread] = is_equal;
        if (thread == 0) {
            first = FINDERS;
            last = -1;
        }
        __syncthreads();
        if (is_equal) {
            atomicMin(&first, thread);
            atomicMax(&last, thread);
        }
        __syncthreads();
        if (last < 0)
            continue;
        if (start + first < blockIdx.x)
            return;  // an earlier block adds them
        for (long long column = thread; column < l.columns; column += FINDERS) {
            real *cell = table + row * l.table_row + column * l.table_column;
            real sum = *cell;
            for (int k = first; k <= last; ++k)
                if (equal[k])
                    sum += updates[(start + k) * l.row + column * l.column];
            *cell = sum;
        }
    }
}
