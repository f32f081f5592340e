// Loaded when it is first called, with the library that the host plugin uses: a program that links it starts OpenBLAS's threads before its own main,
// and these take signals that are none of theirs.
#include "apps/sial/instructions/builtin/lapack.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace tessera::sial::lapack {
namespace {

constexpr const char* library = "libopenblas.so.0";

template <class Function>
Function* routine(const char* name) {
  static void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);  // never closed: its threads live as long as the process
  void* const found = handle != nullptr ? ::dlsym(handle, name) : nullptr;
  if (found == nullptr) {
    const char* const why = ::dlerror();
    throw std::runtime_error(std::string(library) + " has no " + name + (why != nullptr ? std::string(": ") + why : std::string()));
  }
  return reinterpret_cast<Function*>(found);
}

// LAPACK's Fortran entries as OpenBLAS exports them; the last arguments are the hidden lengths of the characters.
using dsyev_type = void(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*, std::size_t, std::size_t);
using dgeev_type = void(const char*, const char*, const int*, double*, const int*, double*, double*, double*, const int*, double*, const int*, double*, const int*, int*,
                        std::size_t, std::size_t);
using dgesv_type = void(const int*, const int*, double*, const int*, int*, double*, const int*, int*);

}  // namespace

int dsyev(int n, double* a, double* values) {
  static auto* const call = routine<dsyev_type>("dsyev_");
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
  std::vector<int> pivots(static_cast<std::size_t>(n));
  int info = 0;
  const int one = 1;
  call(&n, &one, a, &n, pivots.data(), b, &n, &info);
  return info;
}

}  // namespace tessera::sial::lapack
