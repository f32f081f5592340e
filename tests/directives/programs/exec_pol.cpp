// region exec_pol(...): every policy by its name, and one by a variable; `any` runs a loop in order.
#include <tessera/directives.hpp>
#include "check.hpp"

int main() {
  int* x = nullptr;
  const int n = 500;
  const char *chosen = "flatten", *counts = "range:[100, 400]";
#pragma gecko memory allocate(x [0:n]) type(int)
#pragma gecko region exec_pol("percentage:[100]")
  for (int i = 0; i < n; ++i) x[i] = 1;
#pragma gecko region end
#pragma gecko region exec_pol(chosen)
  for (int i = 0; i < n; ++i) x[i] += i % 2;
#pragma gecko region end
#pragma gecko region exec_pol("any")
  for (int i = 1; i < n; ++i) x[i] += x[i - 1];
#pragma gecko region end
#pragma gecko pause
  int sum = 0;
  for (int i = 0; i < n; ++i) check(x[i] == (sum += 1 + i % 2), "a running sum");
  for (int round = 0; round < 3; ++round) {  // `auto` learns from round to round
#pragma gecko region exec_pol(auto)
    for (int i = 0; i < n; ++i) x[i] = i + round;
#pragma gecko region end
  }
#pragma gecko region exec_pol("range:[200, 300]")
  for (int i = 0; i < n; ++i) x[i] *= 2;
#pragma gecko region end
#pragma gecko region exec_pol(counts)
  for (int i = 0; i < n; ++i) x[i] += 1;
#pragma gecko region end
#pragma gecko region exec_pol(runtime)
  for (int i = 0; i < n; ++i) x[i] -= i;
#pragma gecko region end
#pragma gecko region exec_pol(static)
  for (int i = 0; i < n; ++i) x[i] -= i;
#pragma gecko region end
#pragma gecko pause
  for (int i = 0; i < n; ++i) check(x[i] == 5, "what every policy made of it");
  for (const auto& row : tessera::directives::model().regions()) {
    std::uint64_t shared = 0;
    for (const auto& share : row.shares) shared += share.iterations;
    check(shared == row.iterations, "parts that are the loop");
  }
}
