// region ... end: loops in all their forms, order by the arrays that they use.
#include <tessera/directives.hpp>
#include "check.hpp"

/// Whether a device has had a part of every loop.
static bool devices_take_part() {
  for (const auto& region : tessera::directives::model().regions()) {
    bool found = false;
    for (const auto& share : region.shares) found = found || share.leaf.starts_with("cuda");
    if (!found) return false;
  }
  return true;
}

int main() {
  const int n = 1000;
  double *x = nullptr, *y = nullptr;
  const double a = 3;
#pragma gecko memory allocate(x [0:n], y [0:n]) type(double)
#pragma gecko region
  for (int i = 0; i < n; ++i) {
    x[i] = i;
    if (i % 2 == 1) continue;
    y[i] = 1;
  }
#pragma gecko region end
#pragma gecko region
  for (long i = n - 1; i >= 0; i--) y[i] += a * x[i];
  for (int i = 0; i != n; i = i + 1) {
    const double t = y[i] / 2;  // of the iteration's own
    y[i] = t > 3 ? t : 3;
  }
#pragma gecko region end
#pragma gecko region
  for (int i = 1; n > i; i += 3) x[i] = -1;
#pragma gecko region end
#pragma gecko pause
  for (int i = 0; i < n; ++i) {
    const double t = ((i % 2 == 0) + a * i) / 2;
    check(near(y[i], t > 3 ? t : 3), "y");
    check(x[i] == (i % 3 == 1 ? -1 : i), "x");
  }
  if (std::getenv("EXPECT_DEVICES") != nullptr) check(devices_take_part(), "devices");
}
