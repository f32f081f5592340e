// region exec_pol(...): policies by name and by variable; `any` runs a loop in order.
#include "check.hpp"

int main() {
  int* x = nullptr;
  const int n = 500;
  const char* chosen = "flatten";
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
}
