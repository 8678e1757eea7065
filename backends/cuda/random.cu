// ND4J's counter-based generator: element i depends on the state and on i alone. The formula and its source stand in
// backends/generic/random_bits.py; this kernel does its eight passes over 64-bit arrays in one.

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

// The state after a draw of n elements.
__device__ inline unsigned long long advanced(unsigned long long node, unsigned long long n)
{
    unsigned int a = (unsigned int)node, b = (unsigned int)(node >> 32) ^ a;
    unsigned int low = ((a << 26) | (a >> 6)) ^ b ^ (b << 9), high = (b << 13) | (b >> 19);
    return (((unsigned long long)high << 32) | low) ^ (n ^ 0xDEADBEEFULL);
}

// 1 / p where element i of an activation [N, M], M slower in memory, has a uniform number below p, else 0; positions of
// the draw follow the c order.
__device__ inline void write_factor(
    real *out, unsigned long long root, unsigned long long node, double p, long long examples, long long total)
{
    long long i = thread_number();
    if (i >= total)
        return;
    long long position = i % examples * (total / examples) + i / examples;
    float uniform = (float)random_bits(root, node, position) * 2.3283064365386962890625e-10f;
    out[i] = uniform < (float)p ? 1 / (real)p : (real)0;
}

extern "C" __global__ void dropout_factors(
    real *__restrict__ out, unsigned long long root, unsigned long long node, double p, long long examples,
    long long total)
{
    write_factor(out, root, node, p, examples, total);
}

// The node of a draw from a state in memory, root and then the node before every move. The node after this one, by `move`,
// is written too.
__device__ inline unsigned long long moved_node(unsigned long long *states, long long before, long long move)
{
    unsigned long long node = states[1 + before];
    if (thread_number() == 0)
        states[2 + before] = advanced(node, (unsigned long long)move);
    return node;
}

extern "C" __global__ void dropout_factors_from(
    real *__restrict__ out, unsigned long long *states, long long before, long long move, double p, long long examples,
    long long total)
{
    write_factor(out, states[0], moved_node(states, before, move), p, examples, total);
}

extern "C" __global__ void random_uniform_from(
    real *__restrict__ out, unsigned long long *states, long long before, long long move, long long total)
{
    unsigned long long node = moved_node(states, before, move);
    long long i = thread_number();
    if (i < total)
        out[i] = (real)((float)random_bits(states[0], node, i) * 2.3283064365386962890625e-10f);
}
