// Names of the program that are words of the languages of devices, of the library or of the translation, in all places:
// arrays, numbers, indices, variables of a body, reductions; macros of the program; comments beside directives.
#include <tessera/directives.hpp>
#include "check.hpp"

/// Whether a device has had a part of every loop.
static bool devices_take_part() {
  for (const auto& region : tessera::directives::model().regions()) {
    bool found = false;
    for (const auto& share : region.shares) found = found || !share.leaf.starts_with("core");
    if (!found) return false;
  }
  return true;
}

#pragma GCC diagnostic ignored "-Wshadow"
#define chunk 64
#define in 2 *
#define out(value) value
#define sum(a, b) ((a) + (b))
#define region_options 1
#define iterations 7
#define loop(n) n
#define directives 3
#define auto_ 1

namespace app {
namespace tessera {
[[maybe_unused]] static double model = 1;
}
namespace std {
[[maybe_unused]] static double int64_t = 1;
}

static double* values = nullptr;
static double scale = 3;
struct settings {
  static long columns;
};
long settings::columns = 10;

/// Of namespaces and classes, beside others of the same name.
static void qualified() {
#pragma gecko memory allocate(values [0:10] [0:settings::columns]) type(double)
  double* scale = nullptr;
#pragma gecko memory allocate(scale [0:10]) type(double)
#pragma gecko region
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < settings::columns; ++j) app::values[i * settings::columns + j] = j + settings::columns;
#pragma gecko region end
  const double factor = ::app::scale;
#pragma gecko region
  for (int i = 0; i < 10; ++i) scale[i] = factor * ::app::values[i * settings::columns + 3];
#pragma gecko region end
#pragma gecko pause
  for (int i = 0; i < 10; ++i) check(scale[i] == 39, "qualified names");
}

static void run() {
  qualified();
  const int n = 100;
  double *kernel = nullptr, *global = nullptr, *KERNEL = nullptr, *größe = nullptr;
#pragma gecko memory allocate(kernel [0:n], global [0:n], KERNEL [0:n] /* the last one */) type(double)  // and so on
#pragma gecko /* one more */ memory allocate(größe [0:n]) type(double)
  {
    const double local = 1, constant = 2, half = 3, read_only = 4, restrict = 5, GLOBAL = 6, tessera_first = 7, $x = 8,
                 Ω = 9;
#pragma gecko region
    for (int INDEX_X = 0; INDEX_X < n; ++INDEX_X) {
      const double __global_ = 0, __restrict_ = 0;
      const double BARRIER = INDEX_X + __global_ + __restrict_, tessera_at = 1;
      double uchar[2] = {BARRIER, tessera_at};
      kernel[INDEX_X] =
          local + constant + half + read_only + restrict + GLOBAL + tessera_first + $x + Ω + uchar[0] + uchar[1];
      global[INDEX_X] = kernel[INDEX_X];
    }
    /* between them */
    for (int private_ = 0; private_ < out(n); ++private_) größe[private_] = sum(in 3, global[private_]);
#pragma gecko region end /* x */
#pragma gecko pause      /* and a comment \
                            of two lines */
    for (int i = 0; i < n; ++i) {
      check(kernel[i] == 46 + i, "kernel");
      check(größe[i] == 52 + i, "größe");
    }
  }
  // One name for several things: what hides another is no array.
#pragma gecko region
  for (int thread = 0; thread < n; ++thread) {
    const double kernel_element = global[thread];
    double kept = 0;
    {
      const double global = thread, thread = 2;
      kept = global * thread;
    }
    KERNEL[thread] = kept + kernel_element + kernel[thread];
  }
#pragma gecko region end
  double tessera_total = 0, sum = 0;
  const double tessera_sum = 2;
#pragma gecko region reduction(+ : tessera_total, sum) exec_pol("static")
  for (int i = 0; i < n - chunk; ++i) {
    tessera_total += KERNEL[i];
    sum += tessera_sum;
  }
#pragma gecko region end
  check(sum == 72, "sum");
  double wanted = 0;
  for (int i = 0; i < n - chunk; ++i) wanted += 2 * i + 2 * (46 + i);
  check(near(tessera_total, wanted), "tessera_total");
  if (::std::getenv("EXPECT_DEVICES") != nullptr) check(devices_take_part(), "devices");
}

}  // namespace app

int main() { app::run(); }
