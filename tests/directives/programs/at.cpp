// region at(...): at a location that can see the arrays.
#include "check.hpp"

int main() {
  float* x = nullptr;
  const char* where = "LocH";
#pragma gecko config file(TREE)
#pragma gecko memory allocate(x [0:100]) type(float) location(LocA)
#pragma gecko region at(LocB)
  for (int i = 0; i < 100; ++i) x[i] = 2.5f;
#pragma gecko region end
#pragma gecko region at(where)
  for (int i = 0; i < 100; ++i) x[i] *= 2;
#pragma gecko region end
#pragma gecko pause
  for (int i = 0; i < 100; ++i) check(x[i] == 5, "x");
}
