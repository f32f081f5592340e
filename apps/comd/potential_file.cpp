#include "apps/comd/potential_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "apps/common/text_input.hpp"

namespace tessera::apps::comd {
namespace {

/// Whether a line is five numbers and nothing else.
bool five_numbers(std::string_view line) {
  int count = 0;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty()) return count == 5;
    double number = 0;
    const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (failed != std::errc()) return false;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    if (!line.empty() && line.front() != ' ' && line.front() != '\t' && line.front() != '\r') return false;
    ++count;
  }
}

double positive(text_input& in, const char* what) {
  const double value = in.number(what);
  if (value <= 0) in.refuse(fmt::format("{} is {}, and should be above 0", what, value));
  return value;
}

/// A number of a size that atoms may have.
double moderate(text_input& in, const char* what) {
  constexpr double most = 1000;
  const double value = positive(in, what);
  if (value > most) in.refuse(fmt::format("{} is {}, and should be at most {}", what, value, most));
  return value;
}

/// The line of an element.
void read_element(text_input& in, embedded_atom& to) {
  in.integer("the atomic number", 1, 200);
  to.mass = moderate(in, "the mass");
  to.lattice_constant = moderate(in, "the lattice constant");
  std::string lattice(in.word("the lattice"));
  std::ranges::transform(lattice, lattice.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lattice != "fcc") in.refuse(fmt::format("the lattice is '{}', and should be fcc", lattice.substr(0, 40)));
}

/// The line of the samples.
void read_extents(text_input& in, embedded_atom& to) {
  constexpr std::int64_t fewest = 5, most = 10'000'000;
  to.embedding.values.resize(
      static_cast<std::size_t>(in.integer("the number of samples of the density", fewest, most)));
  to.embedding.step = positive(in, "the step of the density");
  to.density.values.resize(static_cast<std::size_t>(in.integer("the number of samples of the distance", fewest, most)));
  to.density.step = positive(in, "the step of the distance");
  to.pair = to.density;
  to.cutoff = moderate(in, "the cutoff");
  const double reach = static_cast<double>(to.density.values.size()) * to.density.step;
  if (to.cutoff > reach * (1 + 1e-9))
    in.refuse(fmt::format("the cutoff is {}, and the samples reach to {}", to.cutoff, reach));
}

void read_samples(text_input& in, const char* what, samples& to) {
  for (double& value : to.values) value = in.number(what);
}

/// Makes phi out of what the samples hold: at the distance 0 it is set to that of the first step.
template <class Function>
void divide_by_distance(samples& pair, const Function& of) {
  for (std::size_t k = 1; k < pair.values.size(); ++k)
    pair.values[k] = of(pair.values[k]) / (static_cast<double>(k) * pair.step);
  pair.values[0] = pair.values[1];
}

embedded_atom read_funcfl(text_input& in) {
  constexpr double hartree_bohr = 27.2 * 0.529;  // eV A, as the makers of the files have it
  embedded_atom made;
  in.skip_line();
  read_element(in, made);
  read_extents(in, made);
  read_samples(in, "a sample of the embedding energy", made.embedding);
  read_samples(in, "a sample of the charge", made.pair);
  read_samples(in, "a sample of the density", made.density);
  in.expect_end();
  divide_by_distance(made.pair, [](double charge) { return hartree_bohr * charge * charge; });
  return made;
}

embedded_atom read_setfl(text_input& in) {
  embedded_atom made;
  for (int k = 0; k < 3; ++k) in.skip_line();
  const std::int64_t elements = in.integer("the number of elements", 1, 100);
  for (std::int64_t k = 0; k < elements; ++k) in.word("the name of an element");
  read_extents(in, made);
  read_element(in, made);
  read_samples(in, "a sample of the embedding energy", made.embedding);
  read_samples(in, "a sample of the density", made.density);
  embedded_atom other = made;
  for (std::int64_t k = 1; k < elements; ++k) {
    in.integer("the atomic number", 1, 200);
    positive(in, "the mass");
    positive(in, "the lattice constant");
    in.word("the lattice");
    read_samples(in, "a sample of the embedding energy", other.embedding);
    read_samples(in, "a sample of the density", other.density);
  }
  read_samples(in, "a sample of the pair energy", made.pair);
  if (elements == 1) in.expect_end();
  divide_by_distance(made.pair, [](double energy) { return energy; });
  return made;
}

}  // namespace

embedded_atom read_potential(const std::filesystem::path& file) {
  text_input lines(file);
  std::string_view third;
  for (int k = 0; k < 3; ++k) third = lines.line();
  text_input in(file);
  embedded_atom made = five_numbers(third) ? read_funcfl(in) : read_setfl(in);
  made.name = file.filename().string();
  return made;
}

}  // namespace tessera::apps::comd
