// config: a machine from a file, TOML or the older CSV.
#include <tessera/directives.hpp>
#include "check.hpp"

int main() {
  double* x = nullptr;
#pragma gecko config file(TREE)
#pragma gecko memory allocate(x [0:10]) type(double) location(LocA)
#pragma gecko region
  for (int i = 0; i < 10; ++i) x[i] = i;
#pragma gecko region end
#pragma gecko pause
  check(x[9] == 9 && tessera::directives::model().regions()[0].location == "LocA", "the tree of the file");
}
