// The products of cuBLAS that CuPy uses. Matrices lie with their columns together.
#include "engine.h"

#include <vector>

namespace host {

typedef int Status;                // CUBLAS_STATUS_SUCCESS is 0, _INVALID_VALUE 7, _NOT_SUPPORTED 15
static const Status SUCCESS = 0, INVALID_VALUE = 7, EXECUTION_FAILED = 13, NOT_SUPPORTED = 15;

struct Handle {
    cudaStream_t stream = nullptr;
    int math_mode = 0;
    bool scalars_on_device = false;
};

struct Shape {
    bool turned_a, turned_b;
    int m, n, k, lda, ldb, ldc;
};

// C = alpha op(A) op(B) + beta C; what C holds does not matter where beta is 0.
template <typename T> static void multiply(const Shape &s, T alpha, const T *A, const T *B, T beta, T *C)
{
    std::vector<T> column(s.m);
    for (int j = 0; j < s.n; ++j) {
        std::fill(column.begin(), column.end(), T(0));
        for (int l = 0; l < s.k; ++l) {
            T b = s.turned_b ? B[j + size_t(l) * s.ldb] : B[l + size_t(j) * s.ldb];
            if (s.turned_a)
                for (int i = 0; i < s.m; ++i)
                    column[i] += A[l + size_t(i) * s.lda] * b;
            else
                for (int i = 0; i < s.m; ++i)
                    column[i] += A[i + size_t(l) * s.lda] * b;
        }
        T *c = C + size_t(j) * s.ldc;
        for (int i = 0; i < s.m; ++i)
            c[i] = beta == 0 ? alpha * column[i] : alpha * column[i] + beta * c[i];
    }
}

// Many products, whose matrices lie at distances or at addresses that the device knows.
template <typename T> struct Matrices {
    const T *first = nullptr;
    long long distance = 0;
    const T *const *addresses = nullptr;
    const T *at(int i) const { return addresses ? addresses[i] : first + i * distance; }
};

template <typename T>
static Status queue_products(Handle *handle, Shape shape, const void *alpha, Matrices<T> A, Matrices<T> B,
                             const void *beta, Matrices<T> C, int count)
{
    Lock lock(everything);
    int rows_a = shape.turned_a ? shape.k : shape.m, rows_b = shape.turned_b ? shape.n : shape.k;
    if (shape.lda < std::max(1, rows_a) || shape.ldb < std::max(1, rows_b) || shape.ldc < std::max(1, shape.m))
        return INVALID_VALUE;
    if (handle->scalars_on_device)
        return NOT_SUPPORTED;
    T a = *(const T *)alpha, b = *(const T *)beta;
    cudaError_t error = submit(stream_of(handle->stream), [=] {
        for (int i = 0; i < count; ++i)
            multiply<T>(shape, a, A.at(i), B.at(i), b, (T *)C.at(i));
    });
    log_call("cublas");
    return error == cudaSuccess ? SUCCESS : EXECUTION_FAILED;
}

static Shape shape_of(int turned_a, int turned_b, int m, int n, int k, int lda, int ldb, int ldc)
{
    return {turned_a != 0, turned_b != 0, m, n, k, lda, ldb, ldc};
}

template <typename T> static Matrices<T> strided(const void *first, long long distance)
{
    return {(const T *)first, distance, nullptr};
}

}  // namespace host

using namespace host;

extern "C" {

Status cublasCreate_v2(Handle **made) { *made = new Handle; return SUCCESS; }
Status cublasDestroy_v2(Handle *handle) { delete handle; return SUCCESS; }
Status cublasGetVersion_v2(Handle *, int *version) { *version = 130000; return SUCCESS; }
Status cublasSetStream_v2(Handle *handle, cudaStream_t stream) { handle->stream = stream; return SUCCESS; }
Status cublasGetStream_v2(Handle *handle, cudaStream_t *stream) { *stream = handle->stream; return SUCCESS; }
Status cublasSetMathMode(Handle *handle, int mode) { handle->math_mode = mode; return SUCCESS; }
Status cublasGetMathMode(Handle *handle, int *mode) { *mode = handle->math_mode; return SUCCESS; }
Status cublasSetPointerMode_v2(Handle *handle, int mode) { handle->scalars_on_device = mode; return SUCCESS; }
Status cublasGetPointerMode_v2(Handle *handle, int *mode) { *mode = handle->scalars_on_device; return SUCCESS; }

Status cublasGemmStridedBatchedEx(Handle *handle, int turned_a, int turned_b, int m, int n, int k, const void *alpha,
                                  const void *A, int type_a, int lda, long long step_a, const void *B, int type_b,
                                  int ldb, long long step_b, const void *beta, void *C, int type_c, int ldc,
                                  long long step_c, int count, int, int)
{
    if (type_a != type_b || type_a != type_c)
        return NOT_SUPPORTED;
    Shape shape = shape_of(turned_a, turned_b, m, n, k, lda, ldb, ldc);
    if (type_a == CUDA_R_32F)
        return queue_products<float>(handle, shape, alpha, strided<float>(A, step_a), strided<float>(B, step_b), beta,
                                     strided<float>(C, step_c), count);
    if (type_a == CUDA_R_64F)
        return queue_products<double>(handle, shape, alpha, strided<double>(A, step_a), strided<double>(B, step_b),
                                      beta, strided<double>(C, step_c), count);
    return NOT_SUPPORTED;
}

Status cublasGemmEx(Handle *handle, int turned_a, int turned_b, int m, int n, int k, const void *alpha, const void *A,
                    int type_a, int lda, const void *B, int type_b, int ldb, const void *beta, void *C, int type_c,
                    int ldc, int type, int algorithm)
{
    return cublasGemmStridedBatchedEx(handle, turned_a, turned_b, m, n, k, alpha, A, type_a, lda, 0, B, type_b, ldb, 0,
                                      beta, C, type_c, ldc, 0, 1, type, algorithm);
}

Status cublasSgemmEx(Handle *handle, int turned_a, int turned_b, int m, int n, int k, const float *alpha, const void *A,
                     int type_a, int lda, const void *B, int type_b, int ldb, const float *beta, void *C, int type_c,
                     int ldc)
{
    return cublasGemmEx(handle, turned_a, turned_b, m, n, k, alpha, A, type_a, lda, B, type_b, ldb, beta, C, type_c, ldc,
                        0, 0);
}

Status cublasDgemm_v2(Handle *handle, int turned_a, int turned_b, int m, int n, int k, const double *alpha,
                      const double *A, int lda, const double *B, int ldb, const double *beta, double *C, int ldc)
{
    return queue_products<double>(handle, shape_of(turned_a, turned_b, m, n, k, lda, ldb, ldc), alpha,
                                  strided<double>(A, 0), strided<double>(B, 0), beta, strided<double>(C, 0), 1);
}

#define BATCHED(name, T)                                                                                            \
    Status name(Handle *handle, int turned_a, int turned_b, int m, int n, int k, const T *alpha,                    \
                const T *const *A, int lda, const T *const *B, int ldb, const T *beta, T *const *C, int ldc,        \
                int count)                                                                                          \
    {                                                                                                               \
        return queue_products<T>(handle, shape_of(turned_a, turned_b, m, n, k, lda, ldb, ldc), alpha,               \
                                 {nullptr, 0, A}, {nullptr, 0, B}, beta, {nullptr, 0, C}, count);                   \
    }
BATCHED(cublasSgemmBatched, float)
BATCHED(cublasDgemmBatched, double)

}  // extern "C"
