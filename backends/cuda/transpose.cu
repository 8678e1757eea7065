// Examples from the host, [N, M] one after the other, into activations [M, N], converted to `real` on the way.

#define SQUARE 32  // side of what a block turns over in shared memory
#define LINES 8    // of it that the threads of a block move at a time

template <typename Given>
__device__ inline void turn_over(const Given *given, real *out, long long examples, long long numbers)
{
    __shared__ real square[SQUARE][SQUARE + 1];
    long long across = (numbers + SQUARE - 1) / SQUARE;
    long long example = blockIdx.x / across * SQUARE, number = blockIdx.x % across * SQUARE;
    int column = (int)threadIdx.x % SQUARE, line = (int)threadIdx.x / SQUARE;
    for (int y = line; y < SQUARE; y += LINES)
        if (example + y < examples && number + column < numbers)
            square[y][column] = (real)given[(example + y) * numbers + number + column];
    __syncthreads();
    for (int y = line; y < SQUARE; y += LINES)
        if (number + y < numbers && example + column < examples)
            out[(number + y) * examples + example + column] = square[column][y];
}

extern "C" __global__ void __launch_bounds__(256) turn_over_bytes(
    const unsigned char *__restrict__ given, real *__restrict__ out, long long examples, long long numbers)
{
    turn_over(given, out, examples, numbers);
}

extern "C" __global__ void __launch_bounds__(256) turn_over_floats(
    const float *__restrict__ given, real *__restrict__ out, long long examples, long long numbers)
{
    turn_over(given, out, examples, numbers);
}

extern "C" __global__ void __launch_bounds__(256) turn_over_doubles(
    const double *__restrict__ given, real *__restrict__ out, long long examples, long long numbers)
{
    turn_over(given, out, examples, numbers);
}
