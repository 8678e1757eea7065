// ND4J's counter-based generator: element i depends on the state and on i alone. The formula and its source stand in
// backends/random_bits.py; here its eight passes over 64-bit arrays are one.

__device__ inline unsigned int random_bits(unsigned long long root, unsigned long long node, long long i)
{
    unsigned long long position = (unsigned long long)i + 2;
    unsigned long long s0 = (position * (node + 24243287ULL)) | root;
    unsigned long long s1 = ((s0 + 723829ULL) * position) ^ node;
    unsigned int v = (unsigned int)(s0 ^ s1) * 0x9E3779BBU;
    return ((v << 5) | (v >> 27)) * 5U;
}

extern "C" __global__ void random_raw(
    unsigned long long *__restrict__ out, unsigned long long root, unsigned long long node, long long total)
{
    long long i = thread_number();
    if (i < total)
        out[i] = random_bits(root, node, i);
}

// In float precision whatever the type of the result, as ND4J.
extern "C" __global__ void random_uniform(
    real *__restrict__ out, unsigned long long root, unsigned long long node, long long total)
{
    long long i = thread_number();
    if (i < total)
        out[i] = (real)((float)random_bits(root, node, i) * 2.3283064365386962890625e-10f);
}
