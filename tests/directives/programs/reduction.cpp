// region reduction(...): the result is there behind the region, joined with what the variable was.
#include <algorithm>
#include <cstdint>
#include "check.hpp"

int main() {
  const int n = 1000;
  double *x = nullptr, sum = 100, least = 5, most = -1e30, product = 1;
  int all = 1, some = 0;
  std::int64_t count = 0;
#pragma gecko memory allocate(x [0:n]) type(double)
#pragma gecko region reduction(+ : sum, count) reduction(min : least) reduction(max : most)
  for (int i = 0; i < n; ++i) {
    x[i] = i - 20;
    sum += x[i];
    ++count;
    least = std::min(least, x[i]);
    if (x[i] > most) most = x[i];
  }
#pragma gecko region end
  check(sum == 100 + 999.0 * 500 - 20000 && count == n && least == -20 && most == 979, "sums and extremes");
#pragma gecko region reduction(* : product) reduction(&& : all) reduction(|| : some)
  for (int i = 0; i < n; ++i) {
    product *= i % 100 == 0 ? 2 : 1;
    all = all && x[i] < 900;
    some = some || x[i] == 42;
  }
#pragma gecko region end
  check(product == 1024 && all == 0 && some == 1, "products and flags");
}
