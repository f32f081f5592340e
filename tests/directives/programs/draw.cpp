// draw: pictures of the tree, with what is allocated where.
#include <fstream>
#include <sstream>
#include <string>
#include "check.hpp"

static std::string text_of(const char* file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  std::remove(file);
  return text.str();
}

int main() {
  double* temperatures = nullptr;
#pragma gecko config file(TREE)
#pragma gecko memory allocate(temperatures [0:10]) type(double) location(LocB)
  check(temperatures != nullptr, "the array");
#pragma gecko draw root("LocA") filename("draw.svg")
#pragma gecko draw filename("draw.dot")
  const std::string svg = text_of("draw.svg"), dot = text_of("draw.dot");
  check(svg.find("<svg") != svg.npos && svg.find("LocH") != svg.npos, "the picture");
  check(svg.find("temperatures") != svg.npos, "what is allocated");
  check(dot.find("digraph") != dot.npos && dot.find("LocA") != dot.npos, "for Graphviz");
}
