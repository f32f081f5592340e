// Loops whose heads mix types, with steps and ends of all kinds, on every kind of leaf: beside the same loops in order.
#include <cstdint>
#include "check.hpp"

static double* x = nullptr;
static const int length = 300;

/// How often each element was met, and the sum of the indices.
struct seen {
  long count = 0, sum = 0, first = -1;
};
static seen look() {
  seen made;
  for (int i = 0; i < length; ++i)
    if (x[i] != 0) {
      if (made.first < 0) made.first = i;
      ++made.count;
      made.sum += i * static_cast<long>(x[i]);
      x[i] = 0;
    }
  return made;
}
static void expect(long count, long sum, long first, const char* what) {
  const seen made = look();
  if (made.count != count || made.sum != sum || made.first != first)
    std::printf("%ld iterations, sum %ld, from %ld\n", made.count, made.sum, made.first);
  check(made.count == count && made.sum == sum && made.first == first, what);
}

int main() {
  const int n = 9, minus = -1, far = -5;
  const std::size_t five = 5;
  const float part = 2.5F;
#pragma gecko memory allocate(x [0:length]) type(double)
#pragma gecko region
  for (int i = 0; i < 0.5 * n; ++i) x[i] += 1;
#pragma gecko region end
#pragma gecko pause
  expect(5, 10, 0, "a bound of 4.5");
#pragma gecko region
  for (int i = 6; i >= part; --i) x[i] += 1;
#pragma gecko region end
#pragma gecko pause
  expect(4, 18, 3, "down to 2.5");
#pragma gecko region
  for (unsigned i = 3; i > minus; --i) x[i] += 1;
#pragma gecko region end
#pragma gecko pause
  expect(0, 0, -1, "-1 beside an unsigned index");
#pragma gecko region
  for (int i = far; i < five; ++i) x[i] += 1;
#pragma gecko region end
#pragma gecko pause
  expect(0, 0, -1, "a negative index beside a size");
#pragma gecko region
  for (unsigned i = n - 1; i < static_cast<unsigned>(n); --i) x[i] += 1;
#pragma gecko region end
#pragma gecko pause
  expect(9, 36, 0, "an index that wraps around behind 0");
#pragma gecko region
  for (unsigned char i = 250; i != 0; i += 6) x[i] += 1;
#pragma gecko region end
#pragma gecko pause
  expect(1, 250, 250, "an index of 8 bits that wraps around to its bound");
#pragma gecko region
  for (std::int8_t i = 100; i > 0; i += 9) x[i] += 1;
#pragma gecko region end
#pragma gecko pause
  expect(4, 454, 100, "a signed index of 8 bits that becomes negative");
#pragma gecko region
  for (unsigned long i = 20; i > 2; i += 18446744073709551613ul) x[i] += 1;
#pragma gecko region end
#pragma gecko pause
  expect(6, 75, 5, "a step that is a negative number of 64 bits");
  double* rows = nullptr;
#pragma gecko memory allocate(rows [0:10] [0:4]) type(double)
#pragma gecko region collapse(2)
  for (short i = 0; i < n / 2.0; ++i)
    for (unsigned j = 0; j < 4L; ++j) rows[i * 4 + j] += 1;
#pragma gecko region end
#pragma gecko pause
  for (int k = 0; k < 40; ++k) check(rows[k] == (k < 20), "collapsed loops, one with a bound of 4.5");
  long total = 0;
#pragma gecko region reduction(+ : total)
  for (char16_t i = 1; i <= 10; ++i) total += i;
  for (int i = 0; i < 3; ++i) total += i << 30;
#pragma gecko region end
  check(total == 55 + (1L << 30) + static_cast<int>(1U << 31), "a sum over an index of type char16_t");
}
