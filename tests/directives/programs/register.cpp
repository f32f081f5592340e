// memory register and unregister: memory of the program, whole and in part.
#include <numeric>
#include <vector>
#include "check.hpp"

int main() {
  std::vector<double> values(200);
  std::iota(values.begin(), values.end(), 0);
  double *first = values.data(), *second = values.data() + 120;
#pragma gecko memory register(first [0:100]) type(double)
#pragma gecko memory register(second [0:50]) type(double)
#pragma gecko region
  for (int i = 0; i < 50; ++i) second[i] = first[i];
#pragma gecko region end
#pragma gecko memory unregister(first, second)
  check(values[119] == 119 && values[120] == 0 && values[169] == 49 && values[170] == 170, "values");
}
