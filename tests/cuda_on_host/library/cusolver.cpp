// The singular values of cuSOLVER, by one-sided Jacobi rotations in double precision. Columns lie together.
#include "engine.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace host {

static const int SUCCESS = 0, INVALID_VALUE = 3, EXECUTION_FAILED = 6, NOT_SUPPORTED = 9;  // of cusolverStatus_t
static const int SWEEPS = 60;

typedef std::vector<std::vector<double>> Columns;

static double product(const std::vector<double> &x, const std::vector<double> &y)
{
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

static void rotate(std::vector<double> &x, std::vector<double> &y, double cosine, double sine)
{
    for (size_t i = 0; i < x.size(); ++i) {
        double before = x[i];
        x[i] = cosine * before - sine * y[i];
        y[i] = sine * before + cosine * y[i];
    }
}

// Turn the columns of A until they are orthogonal, and those of V with them: then A = U S, and the first A is U S V^T.
static void orthogonalize(Columns &A, Columns &V)
{
    bool turned = true;
    for (int sweep = 0; turned && sweep < SWEEPS; ++sweep) {
        turned = false;
        for (size_t p = 0; p < A.size(); ++p)
            for (size_t q = p + 1; q < A.size(); ++q) {
                double pp = product(A[p], A[p]), qq = product(A[q], A[q]), pq = product(A[p], A[q]);
                if (std::abs(pq) <= 1e-16 * std::sqrt(pp * qq))
                    continue;
                turned = true;
                double zeta = (qq - pp) / (2 * pq);
                double tangent = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
                double cosine = 1 / std::sqrt(1 + tangent * tangent);
                rotate(A[p], A[q], cosine, cosine * tangent);
                rotate(V[p], V[q], cosine, cosine * tangent);
            }
    }
}

// A unit vector orthogonal to those given, for a singular value of 0.
static std::vector<double> another(const Columns &given, size_t length)
{
    std::vector<double> best(length);
    for (size_t axis = 0; axis < length; ++axis) {
        std::vector<double> unit(length);
        unit[axis] = 1;
        for (int twice = 0; twice < 2; ++twice)
            for (const auto &column : given) {
                double along = product(column, unit);
                for (size_t i = 0; i < length; ++i)
                    unit[i] -= along * column[i];
            }
        if (product(unit, unit) > product(best, best))
            best = unit;
    }
    double norm = std::sqrt(product(best, best));
    for (double &each : best)
        each /= norm;
    return best;
}

// A [m, n], m >= n: U overwrites A, S is sorted, VT [n, n]; without U and VT where they are null.
template <typename T> static void decompose(int m, int n, T *given, int lda, T *S, T *VT, int ldvt, bool vectors)
{
    Columns A(n, std::vector<double>(m)), V(n, std::vector<double>(n)), U;
    for (int j = 0; j < n; ++j) {
        V[j][j] = 1;
        for (int i = 0; i < m; ++i)
            A[j][i] = given[i + size_t(j) * lda];
    }
    orthogonalize(A, V);
    std::vector<double> norms(n);
    std::vector<int> order(n);
    for (int j = 0; j < n; ++j)
        norms[j] = std::sqrt(product(A[j], A[j]));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return norms[a] > norms[b]; });
    for (int j = 0; j < n; ++j) {
        int from = order[j];
        S[j] = T(norms[from]);
        if (!vectors)
            continue;
        bool zero = norms[from] <= 1e-300;
        std::vector<double> column = zero ? another(U, m) : A[from];
        for (double &each : column)
            each /= zero ? 1 : norms[from];
        U.push_back(column);
        for (int i = 0; i < m; ++i)
            given[i + size_t(j) * lda] = T(column[i]);
        for (int i = 0; i < n; ++i)
            VT[j + size_t(i) * ldvt] = T(V[from][i]);
    }
}

struct Solver {
    cudaStream_t stream = nullptr;
};

template <typename T>
static int queue_decomposition(Solver *solver, signed char job_u, signed char job_vt, int m, int n, T *A, int lda, T *S,
                               T *VT, int ldvt, int *info)
{
    Lock lock(everything);
    bool vectors = job_u == 'O' && job_vt == 'S';
    if (!vectors && (job_u != 'N' || job_vt != 'N'))
        return NOT_SUPPORTED;
    if (m < n || lda < m)
        return INVALID_VALUE;
    cudaError_t error = submit(stream_of(solver->stream), [=] {
        decompose<T>(m, n, A, lda, S, VT, ldvt, vectors);
        *info = 0;
    });
    return error == cudaSuccess ? SUCCESS : EXECUTION_FAILED;
}

}  // namespace host

using namespace host;

extern "C" {

int cusolverDnCreate(Solver **made) { *made = new Solver; return SUCCESS; }
int cusolverDnDestroy(Solver *solver) { delete solver; return SUCCESS; }
int cusolverDnSetStream(Solver *solver, cudaStream_t stream) { solver->stream = stream; return SUCCESS; }
int cusolverDnGetStream(Solver *solver, cudaStream_t *stream) { *stream = solver->stream; return SUCCESS; }
int cusolverGetProperty(int, int *value) { *value = 12; return SUCCESS; }

int cusolverDnSgesvd_bufferSize(Solver *, int, int, int *size) { *size = 1; return SUCCESS; }
int cusolverDnDgesvd_bufferSize(Solver *, int, int, int *size) { *size = 1; return SUCCESS; }

int cusolverDnSgesvd(Solver *solver, signed char job_u, signed char job_vt, int m, int n, float *A, int lda, float *S,
                     float *, int, float *VT, int ldvt, float *, int, float *, int *info)
{
    return queue_decomposition<float>(solver, job_u, job_vt, m, n, A, lda, S, VT, ldvt, info);
}

int cusolverDnDgesvd(Solver *solver, signed char job_u, signed char job_vt, int m, int n, double *A, int lda, double *S,
                     double *, int, double *VT, int ldvt, double *, int, double *, int *info)
{
    return queue_decomposition<double>(solver, job_u, job_vt, m, n, A, lda, S, VT, ldvt, info);
}

}  // extern "C"
