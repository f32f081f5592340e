#pragma once
// Embedded-atom potentials as the text of files.
#include <cmath>
#include <cstdio>
#include <string>

#include "apps/comd/embedded_atom.hpp"

namespace comd_test {

using tessera::apps::comd::embedded_atom;

inline std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}

/// `of` each sample, five to a line.
template <class Function>
std::string lines(const tessera::apps::comd::samples& s, const Function& of) {
  std::string text;
  for (std::size_t k = 0; k < s.values.size(); ++k)
    text += number(of(s.step * static_cast<double>(k), s.values[k])) + (k % 5 == 4 ? "\n" : " ");
  return text + "\n";
}

inline std::string extents(const embedded_atom& of) {
  return std::to_string(of.embedding.values.size()) + " " + number(of.embedding.step) + " " +
         std::to_string(of.density.values.size()) + " " + number(of.density.step) + " " + number(of.cutoff) + "\n";
}
inline std::string element(const embedded_atom& of) {
  return "29 " + number(of.mass) + " " + number(of.lattice_constant) + " FCC\n";
}
inline double as_it_is(double, double v) { return v; }

/// A file of one element, or of two: the second one is another.
inline std::string setfl_text(const embedded_atom& of, int elements) {
  std::string text =
      "# the first line\nthe second\n\n" + std::to_string(elements) + (elements == 1 ? " Cu\n" : " Cu Xx\n");
  text += extents(of) + element(of) + lines(of.embedding, as_it_is) + lines(of.density, as_it_is);
  const auto seven = [](double, double) { return 7.0; };
  if (elements == 2) text += "1 1 1 bcc\n" + lines(of.embedding, seven) + lines(of.density, seven);
  text += lines(of.pair, [](double r, double phi) { return r * phi; });
  for (int k = 1; k < elements; ++k) text += lines(of.pair, seven) + lines(of.pair, seven);
  return text;
}

inline std::string funcfl_text(const embedded_atom& of) {
  return "one line\n" + element(of) + extents(of) + lines(of.embedding, as_it_is) +
         lines(of.pair, [](double r, double phi) { return std::sqrt(r * phi / (27.2 * 0.529)); }) +
         lines(of.density, as_it_is);
}

}  // namespace comd_test
