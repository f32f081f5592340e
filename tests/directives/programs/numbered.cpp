// location and hierarchy: start, total_count and all, of locations with numbers.
#include <fstream>
#include <sstream>
#include <string>
#include <tessera/directives.hpp>
#include "check.hpp"

int main() {
  double* x = nullptr;
  const int n = 100, groups = 3;
#pragma gecko loctype name("shared") kind("unified") mem("1GiB")
#pragma gecko loctype name("one_core") kind("cpu") num_cores(1)
#pragma gecko location name("LocA") type("shared")
#pragma gecko location name(LocG) type(virtual) start(2) total_count(groups)
#pragma gecko location name(LocH) type("one_core") total_count(1)
#pragma gecko hierarchy children("+", LocG) parent("LocA") start(2) total_count(groups)
#pragma gecko hierarchy children("+", LocH) parent("LocG[3]") all
#pragma gecko memory allocate(x [0:n]) type(double) location(LocA)
#pragma gecko region
  for (int i = 0; i < n; ++i) x[i] = 2 * i;
#pragma gecko region end
#pragma gecko pause
  for (int i = 0; i < n; ++i) check(x[i] == 2 * i, "x");
  const auto rows = tessera::directives::model().regions();
  check(rows.size() == 1 && rows[0].shares.size() == 1 && rows[0].shares[0].leaf == "LocH[0]", "where it ran");
#pragma gecko draw filename("numbered.dot")
  std::stringstream drawn;
  drawn << std::ifstream("numbered.dot").rdbuf();
  std::remove("numbered.dot");
  for (const char* one : {"LocG[2]", "LocG[3]", "LocG[4]"})
    check(drawn.str().find(one) != std::string::npos, "the groups");
  check(drawn.str().find("LocG[5]") == std::string::npos, "no other group");
}
