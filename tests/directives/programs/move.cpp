// memory move: the array is at another location, with its elements.
#include <tessera/directives.hpp>
#include "check.hpp"

int main() {
  int* x = nullptr;
#pragma gecko config file(TREE)
#pragma gecko memory allocate(x [0:16]) type(int) location("LocA")
#pragma gecko region
  for (int i = 0; i < 16; ++i) x[i] = i;
#pragma gecko region end
#pragma gecko memory move(x) to("LocH")
#pragma gecko region
  for (int i = 0; i < 16; ++i) x[i] *= 2;
#pragma gecko region end
#pragma gecko pause
  check(x[15] == 30, "x");
  check(tessera::directives::array(x).location() == "LocH", "where it is");
}
