// bench_device_vendor: cuBLAS, cuSOLVER and cuSPARSE by themselves on whole matrices in device memory, the yardstick
// for Tessera on the same GPU: a product C += A B, a Cholesky factorization, products by a sparse matrix, f64, fastest
// of three; and the list of `tessera deepcopy --scenario linear --k 10 --n 1000000` in managed memory, which the driver
// moves page by page. Without Tessera.
//
//   bench_device_vendor [--n 4096] [--side 160] [--levels 10] [--length 1000000] [--folder DIR of the libraries]
//   rows of bench/common/measure.hpp; exit code 5: no GPU, or no library
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <dlfcn.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "bench/common/random_graph.hpp"
#include "bench/device/laplacian.hpp"

namespace {

[[noreturn]] void absent(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(5);
}

void check(int status, const char* what) {
  if (status != 0) bench::fail(std::string(what) + ": status " + std::to_string(status));
}

/// A library under the first of its names that opens, in the folder or where the system looks.
class library {
 public:
  library(const std::string& folder, std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (m_handle == nullptr)
        m_handle = ::dlopen((folder.empty() ? name : folder + "/" + name).c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (m_handle == nullptr) absent(::dlerror());
  }
  template <class Function>
  Function* get(const char* name) const {
    void* const found = ::dlsym(m_handle, name);
    if (found == nullptr) absent(::dlerror());
    return reinterpret_cast<Function*>(found);
  }

 private:
  void* m_handle = nullptr;
};
#define FROM(library, function) library.get<decltype(function)>(#function)

/// An n x n matrix in device memory.
class matrix {
 public:
  explicit matrix(std::size_t n) : m_bytes(n * n * sizeof(double)) {
    check(cudaMalloc(reinterpret_cast<void**>(&m_data), m_bytes), "cudaMalloc");
  }
  ~matrix() { cudaFree(m_data); }
  matrix(const matrix&) = delete;
  matrix& operator=(const matrix&) = delete;
  double* data() const { return m_data; }
  /// Noise in [-0.5, 0.5): what is multiplied has its part in the clock that a GPU can keep.
  void fill(const std::vector<double>& noise) const {
    for (std::size_t at = 0; at < m_bytes; at += noise.size() * sizeof(double))
      check(cudaMemcpy(reinterpret_cast<char*>(m_data) + at, noise.data(),
                       std::min(noise.size() * sizeof(double), m_bytes - at), cudaMemcpyHostToDevice),
            "cudaMemcpy");
  }

 private:
  double* m_data = nullptr;
  std::size_t m_bytes;
};

std::vector<double> some_noise() {
  std::vector<double> made(1000003);
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = bench::noise(static_cast<long>(i), 1);
  return made;
}

template <class Prepare, class Run>
double fastest(Prepare&& prepare, Run&& run) {
  double best = 1e300;
  for (int i = 0; i < 4; ++i) {  // the first one warms up
    prepare();
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const double begin = bench::now();
    run();
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    if (i > 0) best = std::min(best, bench::now() - begin);
  }
  return best;
}

void product(const library& cublas, int n) {
  cublasHandle_t handle = nullptr;
  check(FROM(cublas, cublasCreate_v2)(&handle), "cublasCreate");
  const auto order = static_cast<std::size_t>(n);
  const matrix a(order), b(order), c(order);
  for (const matrix* m : {&a, &b, &c}) m->fill(some_noise());
  const double one = 1;
  const auto gemm = FROM(cublas, cublasDgemm_v2);
  const double seconds = fastest(
      [] {},
      [&] {
        check(gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.data(), n, b.data(), n, &one, c.data(), n),
              "cublasDgemm");
      });
  bench::row("device", "cuBLAS", "gemm_f64_" + std::to_string(n), 1, "gflops",
             2.0 * n * double(n) * n / seconds * 1e-9);
  FROM(cublas, cublasDestroy_v2)(handle);
}

void factorization(const library& cusolver, int n) {
  cusolverDnHandle_t handle = nullptr;
  check(FROM(cusolver, cusolverDnCreate)(&handle), "cusolverDnCreate");
  const auto order = static_cast<std::size_t>(n);
  const matrix a(order);
  const std::vector<double> noise = some_noise(), diagonal(order, double(n));
  int wanted = 0;
  check(FROM(cusolver, cusolverDnDpotrf_bufferSize)(handle, CUBLAS_FILL_MODE_LOWER, n, a.data(), n, &wanted),
        "cusolverDnDpotrf_bufferSize");
  double* work = nullptr;
  int* info = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&work), static_cast<std::size_t>(wanted) * sizeof(double)), "cudaMalloc");
  check(cudaMalloc(reinterpret_cast<void**>(&info), sizeof(int)), "cudaMalloc");
  const auto potrf = FROM(cusolver, cusolverDnDpotrf);
  const double seconds = fastest(
      [&] {
        a.fill(noise);
        check(cudaMemcpy2D(a.data(), (order + 1) * sizeof(double), diagonal.data(), sizeof(double), sizeof(double),
                           order, cudaMemcpyHostToDevice),
              "cudaMemcpy2D");
      },
      [&] { check(potrf(handle, CUBLAS_FILL_MODE_LOWER, n, a.data(), n, work, wanted, info), "cusolverDnDpotrf"); });
  int failed = 0;
  check(cudaMemcpy(&failed, info, sizeof failed, cudaMemcpyDeviceToHost), "cudaMemcpy");
  if (failed != 0) bench::fail("cusolverDnDpotrf: info " + std::to_string(failed));
  bench::row("device", "cuSOLVER", "potrf_f64_" + std::to_string(n), 1, "gflops",
             double(n) * n * n / 3.0 / seconds * 1e-9);
  cudaFree(work);
  cudaFree(info);
  FROM(cusolver, cusolverDnDestroy)(handle);
}

/// Something in device memory.
class placed {
 public:
  template <class T>
  explicit placed(const std::vector<T>& from) {
    check(cudaMalloc(&m_data, from.size() * sizeof(T)), "cudaMalloc");
    check(cudaMemcpy(m_data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~placed() { cudaFree(m_data); }
  placed(const placed&) = delete;
  placed& operator=(const placed&) = delete;
  void* data() const { return m_data; }

 private:
  void* m_data = nullptr;
};

/// As programs call it: descriptors and buffer once, the library's own choice of algorithm.
void sparse_products(const library& cusparse, std::int64_t side) {
  const bench::laplacian host(side);
  const std::int64_t n = host.rows;
  const placed starts(std::vector<std::int32_t>(host.starts.begin(), host.starts.end())), columns(host.columns),
      values(host.values), x(std::vector<double>(static_cast<std::size_t>(n) * 16, 1)),
      y(std::vector<double>(static_cast<std::size_t>(n) * 16, 1));
  cusparseHandle_t handle = nullptr;
  check(FROM(cusparse, cusparseCreate)(&handle), "cusparseCreate");
  cusparseSpMatDescr_t a = nullptr;
  check(FROM(cusparse, cusparseCreateCsr)(&a, n, n, static_cast<std::int64_t>(host.columns.size()), starts.data(),
                                          columns.data(), values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                          CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
        "cusparseCreateCsr");
  constexpr auto as_is = CUSPARSE_OPERATION_NON_TRANSPOSE;
  constexpr int calls = 10;
  const double one = 1, none = 0;
  std::size_t bytes = 0;
  const auto measured = [&](const char* name, std::int64_t b, auto&& enqueue) {
    void* buffer = nullptr;
    if (bytes > 0) check(cudaMalloc(&buffer, bytes), "cudaMalloc");
    const double seconds = fastest([] {},
                                   [&] {
                                     for (int i = 0; i < calls; ++i) check(enqueue(buffer), name);
                                   });
    bench::row("device", "cuSPARSE", name + std::string("_f64_") + std::to_string(n), 1, "gigabytes_per_second",
               host.bytes(b) * calls / seconds * 1e-9);
    cudaFree(buffer);
  };
  cusparseDnVecDescr_t from = nullptr, to = nullptr;
  check(FROM(cusparse, cusparseCreateDnVec)(&from, n, x.data(), CUDA_R_64F), "cusparseCreateDnVec");
  check(FROM(cusparse, cusparseCreateDnVec)(&to, n, y.data(), CUDA_R_64F), "cusparseCreateDnVec");
  check(FROM(cusparse, cusparseSpMV_bufferSize)(handle, as_is, &one, a, from, &none, to, CUDA_R_64F,
                                                CUSPARSE_SPMV_ALG_DEFAULT, &bytes),
        "cusparseSpMV_bufferSize");
  measured("spmv", 1, [&](void* buffer) {
    return FROM(cusparse, cusparseSpMV)(handle, as_is, &one, a, from, &none, to, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT,
                                        buffer);
  });
  cusparseDnMatDescr_t many = nullptr, out = nullptr;
  check(FROM(cusparse, cusparseCreateDnMat)(&many, n, 16, 16, x.data(), CUDA_R_64F, CUSPARSE_ORDER_ROW),
        "cusparseCreateDnMat");
  check(FROM(cusparse, cusparseCreateDnMat)(&out, n, 16, 16, y.data(), CUDA_R_64F, CUSPARSE_ORDER_ROW),
        "cusparseCreateDnMat");
  check(FROM(cusparse, cusparseSpMM_bufferSize)(handle, as_is, as_is, &one, a, many, &none, out, CUDA_R_64F,
                                                CUSPARSE_SPMM_ALG_DEFAULT, &bytes),
        "cusparseSpMM_bufferSize");
  measured("spmm16", 16, [&](void* buffer) {
    return FROM(cusparse, cusparseSpMM)(handle, as_is, as_is, &one, a, many, &none, out, CUDA_R_64F,
                                        CUSPARSE_SPMM_ALG_DEFAULT, buffer);
  });
  FROM(cusparse, cusparseDestroyDnMat)(out), FROM(cusparse, cusparseDestroyDnMat)(many);
  FROM(cusparse, cusparseDestroyDnVec)(to), FROM(cusparse, cusparseDestroyDnVec)(from);
  FROM(cusparse, cusparseDestroySpMat)(a), FROM(cusparse, cusparseDestroy)(handle);
}

/// A structure of a list, and its numbers.
struct level {
  double* values;
  level* next;
  int count;
};
template <class T>
T* managed(std::size_t count) {
  void* made = nullptr;
  check(cudaMallocManaged(&made, count * sizeof(T), cudaMemAttachGlobal), "cudaMallocManaged");
  return static_cast<T*>(made);
}

/// Allocate, initialise on the host, scale on the device, look on the host, free: no copy is written down anywhere.
void managed_list(const library& cublas, int levels, int length) {
  cublasHandle_t handle = nullptr;
  check(FROM(cublas, cublasCreate_v2)(&handle), "cublasCreate");
  const auto scale = FROM(cublas, cublasDscal_v2);
  const double factor = 2;
  const double seconds = fastest([] {},
                                 [&] {
                                   level* head = nullptr;
                                   for (int k = 0; k < levels; ++k) {
                                     auto* const one = managed<level>(1);
                                     *one = {managed<double>(static_cast<std::size_t>(length)), head, length};
                                     for (int i = 0; i < length; ++i) one->values[i] = i + k;
                                     head = one;
                                   }
                                   for (const level* l = head; l != nullptr; l = l->next)
                                     check(scale(handle, l->count, &factor, l->values, 1), "cublasDscal");
                                   check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
                                   int k = levels;
                                   while (head != nullptr) {
                                     --k;
                                     for (int i = 0; i < length; ++i)
                                       if (head->values[i] != 2.0 * (i + k)) bench::fail("managed list: wrong result");
                                     level* const next = head->next;
                                     cudaFree(head->values);
                                     cudaFree(head);
                                     head = next;
                                   }
                                 });
  bench::row("device", "managed memory", "linear_" + std::to_string(levels) + "_" + std::to_string(length), 1,
             "us_per_cycle", seconds * 1e6);
  FROM(cublas, cublasDestroy_v2)(handle);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::arguments given(argc, argv, {"n", "side", "levels", "length", "folder"});
  const int n = static_cast<int>(given.number("n", 4096));
  const std::string folder = given.text("folder", "");
  int devices = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&devices); status != cudaSuccess || devices == 0)
    absent(std::string("no GPU: ") + cudaGetErrorString(status));
  const library cublas(folder, {"libcublas.so.13", "libcublas.so.12"});
  product(cublas, n);
  if (const auto levels = static_cast<int>(given.number("levels", 10)); levels > 0)
    managed_list(cublas, levels, static_cast<int>(given.number("length", 1'000'000)));
  const library cusolver(folder, {"libcusolver.so.12", "libcusolver.so.11"});
  factorization(cusolver, n);
  if (const auto side = static_cast<std::int64_t>(given.number("side", 160)); side > 0)
    sparse_products(library(folder, {"libcusparse.so.12"}), side);
}
