// Loaded when it is first called, with the library that the host plugin uses: a program that links it starts OpenBLAS's
// threads before its own main, and these take signals that are none of theirs.
#include "libraries/lapack/lapack.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>

namespace tessera::lapack {
namespace {

constexpr const char* library = "libopenblas.so.0";

void* loaded() {
  static void* const handle =
      ::dlopen(library, RTLD_NOW | RTLD_LOCAL);  // never closed: its threads live as long as the process
  return handle;
}

template <class Function>
Function* routine(const char* name) {
  void* const found = loaded() != nullptr ? ::dlsym(loaded(), name) : nullptr;
  if (found == nullptr) {
    const char* const why = ::dlerror();
    throw std::runtime_error(std::string(library) + " has no " + name +
                             (why != nullptr ? std::string(": ") + why : std::string()));
  }
  return reinterpret_cast<Function*>(found);
}

/// Whether the system may refuse memory that is not touched: a limit of addresses or of data, or no overcommitment.
bool addresses_are_limited() {
  for (const int kind : {RLIMIT_AS, RLIMIT_DATA})
    if (rlimit limit{};
        ::getrlimit(static_cast<decltype(RLIMIT_AS)>(kind), &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      return true;
  std::ifstream overcommit("/proc/sys/vm/overcommit_memory");
  int mode = 0;
  return overcommit >> mode && mode == 2;
}

/// Where addresses are limited, one call of LAPACK at a time. OpenBLAS asks for a buffer again and again, without end,
/// when there is no room for one. So one is taken before the first call, and kept taken between calls, since the host
/// plugin does the same with those for its own calls: a call gives it back to OpenBLAS, which finds a free one then,
/// and takes one afterwards.
class turn {
 public:
  /// Throws std::runtime_error when there is no room for the buffer.
  turn() {
    static const bool limited = addresses_are_limited();
    if (!limited) return;
    m_lock = std::unique_lock(mutex());
    static auto* const take = routine<void*(int)>("blas_memory_alloc");
    static auto* const give = routine<void(void*)>("blas_memory_free");
    if (kept() == nullptr) {
      void* const room = ::mmap(nullptr, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (room == MAP_FAILED)
        throw std::runtime_error(
            "OpenBLAS needs 128 MiB of addresses for a buffer of LAPACK, and a limit of this process leaves no room "
            "for it; raise "
            "the limit (ulimit -v or -d, in KiB)");
      ::munmap(room, buffer_bytes);
      kept() = take(0);
    }
    m_take = take;
    give(kept());
  }
  ~turn() {
    if (m_take != nullptr) kept() = m_take(0);
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

 private:
  static constexpr std::size_t buffer_bytes =
      (std::size_t{32} << 22) + (std::size_t{1} << 20);  // of OpenBLAS, and a little more
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static void*& kept() {
    static void* buffer = nullptr;
    return buffer;
  }
  std::unique_lock<std::mutex> m_lock;
  void* (*m_take)(int) = nullptr;
};

// LAPACK's Fortran entries as OpenBLAS exports them; the last arguments are the hidden lengths of the characters.
using dsyev_type = void(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*,
                        std::size_t, std::size_t);
using dgeev_type = void(const char*, const char*, const int*, double*, const int*, double*, double*, double*,
                        const int*, double*, const int*, double*, const int*, int*, std::size_t, std::size_t);
using dsygvd_type = void(const int*, const char*, const char*, const int*, double*, const int*, double*, const int*,
                         double*, double*, const int*, int*, const int*, int*, std::size_t, std::size_t);
using dpotrf_type = void(const char*, const int*, double*, const int*, int*, std::size_t);
using dgesvd_type = void(const char*, const char*, const int*, const int*, double*, const int*, double*, double*,
                         const int*, double*, const int*, double*, const int*, int*, std::size_t, std::size_t);
using zheev_type = void(const char*, const char*, const int*, std::complex<double>*, const int*, double*,
                        std::complex<double>*, const int*, double*, int*, std::size_t, std::size_t);
using dgemm_type = void(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                        const int*, const double*, const int*, const double*, double*, const int*, std::size_t,
                        std::size_t);
using dgesv_type = void(const int*, const int*, double*, const int*, int*, double*, const int*, int*);

}  // namespace

int dsyev(int n, double* a, double* values) {
  static auto* const call = routine<dsyev_type>("dsyev_");
  const turn mine;
  int info = 0, size = -1;
  double wanted = 0;
  call("V", "L", &n, a, &n, values, &wanted, &size, &info, 1, 1);
  size = static_cast<int>(wanted);
  std::vector<double> work(static_cast<std::size_t>(size));
  call("V", "L", &n, a, &n, values, work.data(), &size, &info, 1, 1);
  return info;
}

int dgeev(int n, double* a, double* real, double* imaginary, double* left, double* right) {
  static auto* const call = routine<dgeev_type>("dgeev_");
  const turn mine;
  int info = 0, size = -1;
  double wanted = 0;
  call("V", "V", &n, a, &n, real, imaginary, left, &n, right, &n, &wanted, &size, &info, 1, 1);
  size = static_cast<int>(wanted);
  std::vector<double> work(static_cast<std::size_t>(size));
  call("V", "V", &n, a, &n, real, imaginary, left, &n, right, &n, work.data(), &size, &info, 1, 1);
  return info;
}

int dgesv(int n, double* a, double* b) {
  static auto* const call = routine<dgesv_type>("dgesv_");
  const turn mine;
  std::vector<int> pivots(static_cast<std::size_t>(n));
  int info = 0;
  const int one = 1;
  call(&n, &one, a, &n, pivots.data(), b, &n, &info);
  return info;
}

int dpotrf(int n, double* a) {
  static auto* const call = routine<dpotrf_type>("dpotrf_");
  const turn mine;
  int info = 0;
  call("L", &n, a, &n, &info, 1);
  return info;
}

int dsygvd(int n, double* a, double* b, double* values) {
  static auto* const call = routine<dsygvd_type>("dsygvd_");
  const turn mine;
  const int kind = 1, ask = -1;
  int info = 0, wanted_whole = 0;
  double wanted = 0;
  call(&kind, "V", "L", &n, a, &n, b, &n, values, &wanted, &ask, &wanted_whole, &ask, &info, 1, 1);
  const int size = static_cast<int>(wanted);
  std::vector<double> work(static_cast<std::size_t>(size));
  std::vector<int> whole(static_cast<std::size_t>(wanted_whole));
  call(&kind, "V", "L", &n, a, &n, b, &n, values, work.data(), &size, whole.data(), &wanted_whole, &info, 1, 1);
  return info;
}

int dgesvd(int m, int n, double* a, double* values, double* left, double* right) {
  static auto* const call = routine<dgesvd_type>("dgesvd_");
  const turn mine;
  const int k = std::min(m, n);
  int info = 0, size = -1;
  double wanted = 0;
  call("S", "S", &m, &n, a, &m, values, left, &m, right, &k, &wanted, &size, &info, 1, 1);
  size = static_cast<int>(wanted);
  std::vector<double> work(static_cast<std::size_t>(size));
  call("S", "S", &m, &n, a, &m, values, left, &m, right, &k, work.data(), &size, &info, 1, 1);
  return info;
}

int zheev(int n, std::complex<double>* a, double* values) {
  static auto* const call = routine<zheev_type>("zheev_");
  const turn mine;
  int info = 0, size = -1;
  std::complex<double> wanted = 0;
  std::vector<double> real_work(static_cast<std::size_t>(std::max(1, 3 * n - 2)));
  call("V", "L", &n, a, &n, values, &wanted, &size, real_work.data(), &info, 1, 1);
  size = static_cast<int>(wanted.real());
  std::vector<std::complex<double>> work(static_cast<std::size_t>(size));
  call("V", "L", &n, a, &n, values, work.data(), &size, real_work.data(), &info, 1, 1);
  return info;
}

void dgemm(bool transpose_a, bool transpose_b, int m, int n, int k, const double* a, const double* b, double* c) {
  static auto* const call = routine<dgemm_type>("dgemm_");
  const turn mine;
  const double one = 1;
  const int rows_a = transpose_a ? k : m, rows_b = transpose_b ? n : k;
  call(transpose_a ? "T" : "N", transpose_b ? "T" : "N", &m, &n, &k, &one, a, &rows_a, b, &rows_b, &one, c, &m, 1, 1);
}

}  // namespace tessera::lapack
