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

  // What no step touches stays, and what one touches becomes what C++ makes of it.
  int five = 5, seven = 7, four = 4, bits = 6, more = 6, never = 9;
  std::uint8_t byte = 200;
  double half = 0.5;
#pragma gecko region reduction(&& : five) reduction(|| : seven, byte)
  for (int i = 5; i < 1; ++i) {
    five = five && x[i] > 0;
    seven = x[i] > 0 || seven;
    byte |= x[i] > 0;
  }
#pragma gecko region end
  check(five == 5 && seven == 7 && byte == 200, "no iteration");
#pragma gecko region reduction(&& : five, never, half) reduction(|| : seven, four)
  for (int i = 0; i < n; ++i) {
    five = five && x[i] > -1e9;
    half = half && x[i] > -1e9;
    seven = seven || x[i] > 1e9;
    if (x[i] > 1e9) {
      never = never && x[i] > 1e9;
      four = four || x[i] > 0;
    }
  }
#pragma gecko region end
  check(five == 1 && seven == 1 && half == 1, "numbers become truth values");
  check(never == 9 && four == 4, "steps that are not taken");
#pragma gecko region reduction(&& : bits, byte) reduction(|| : more, four)
  for (int i = 0; i < n; ++i) {
    bits &= x[i] > -1e9;
    byte &= x[i] > 1e9;
    more |= x[i] > 1e9;
    four |= x[i] == 42;
  }
#pragma gecko region end
  check(bits == 0 && byte == 0 && more == 6 && four == 5, "bits");
}
