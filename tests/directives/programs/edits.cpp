// hierarchy and config while regions run: locations leave, come back and go elsewhere, and the tree becomes a file's.
#include <tessera/directives.hpp>

#include <cstdio>
#include <string>

#include "check.hpp"

namespace {
/// The leaves that the region launched first got shares at, at its last launch.
std::string leaves() {
  std::string all;
  const auto rows = tessera::directives::model().regions();
  for (const auto& share : rows[0].shares) all += share.leaf + " ";
  return all;
}
}  // namespace

int main() {
  double *x = nullptr, *program = nullptr;
#pragma gecko loctype name("shared") kind("unified") mem("1GiB")
#pragma gecko loctype name("one_core") kind("cpu") num_cores(1)
#pragma gecko location name(LocA) type(shared)
#pragma gecko location name(LocB, LocC) type(virtual)
#pragma gecko location name(H0, H1) type(one_core)
#pragma gecko hierarchy children("+", LocB, LocC) parent(LocA)
#pragma gecko hierarchy children("+", H0) parent(LocB)
#pragma gecko hierarchy children("+", H1) parent(LocC)
#pragma gecko memory allocate(x [0:100], program [0:100]) type(double) location(LocA)
  program[7] = 7;
  const char* const expected[] = {"H0 H1 ", "H0 ", "H0 H1 ", "H1 H0 "};
  const char* const file = "edits_tree.toml";
  for (int step = 0; step < 4; ++step) {
    if (step == 1) {
#pragma gecko hierarchy children("-", LocC) parent(LocA)
    }
    if (step == 2) {
#pragma gecko hierarchy children("+", LocC) parent(LocA)
    }
    if (step == 3) {
#pragma gecko hierarchy children("+", LocB) parent(LocC)
    }
#pragma gecko region exec_pol(flatten)
    for (int i = 0; i < 100; ++i) x[i] += i;
#pragma gecko region end
    check(leaves() == expected[step], leaves().c_str());
  }
  check(program[7] == 7, "what the program had it has");

  std::FILE* const out = std::fopen(file, "w");
  std::fputs(
      "[[loctype]]\nname = \"shared\"\nkind = \"unified\"\nmemory = \"1 GiB\"\n"
      "[[loctype]]\nname = \"one_core\"\nkind = \"cpu\"\ncores = 1\n"
      "[[location]]\nname = \"LocA\"\ntype = \"shared\"\n"
      "[[location]]\nname = [\"H0\", \"H1\"]\ntype = \"one_core\"\n"
      "[[hierarchy]]\nparent = \"LocA\"\nchildren = [\"H1\", \"H0\"]\n",
      out);
  std::fclose(out);
#pragma gecko config file(file)
  std::remove(file);
  check(!tessera::directives::model().attached("LocB"), "the file has no LocB");
#pragma gecko region exec_pol(flatten)
  for (int i = 0; i < 100; ++i) x[i] += i;
#pragma gecko region end
#pragma gecko pause
  check(x[99] == 5 * 99, "x");
  bool refused = false;
  try {
#pragma gecko hierarchy children("+", LocA) parent(H0)
  } catch (const tessera::error&) {
    refused = true;
  }
  check(refused, "the root goes nowhere");
}
