#pragma once
// Contracted Gaussian shells.
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tessera::chemistry {

/// Functions of one angular momentum at one place that share a radial part: the sum of coefficients[i] times the
/// normalised primitive of exponents[i]. The sum is
/// normalised as well as the table is, to about 1e-5 in the sets that come with the library.
struct shell {
  int momentum = 0;                  ///< 0 s, 1 p, 2 d ...
  bool spherical = true;             ///< 2l + 1 functions; otherwise the (l + 1)(l + 2) / 2 Cartesian ones
  std::vector<double> exponents;     ///< in bohr^-2, from min_exponent to largest_exponent
  std::vector<double> coefficients;  ///< as published: of normalised primitives; as many as exponents
  std::size_t atom = 0;              ///< ordinal from 0 in the molecule
  std::array<double, 3> at{};        ///< its place, in bohr
};

/// Beyond these no table is right: energies would have no correct digits.
inline constexpr double min_exponent = 1e-6, largest_exponent = 1e11, largest_coefficient = 1e6;

/// What is wrong with a number or a shell of a table, in words that all readers use; "" where nothing is.
std::string fault_of_exponent(double exponent);
std::string fault_of_coefficient(double coefficient);
/// Of a shell that has the primitives whose coefficients are not 0.
std::string fault_of(const shell& one);

/// The overlap of a radial part with itself: 1 where it is normalised.
double self_overlap(const shell& of);

/// Whether the sum is as good as 0: its coefficients are, or its primitives cancel.
bool vanishes(const shell& of);

/// Number of functions of a shell: of d, 5 spherical or 6 Cartesian ones.
std::size_t functions(const shell& of) noexcept;

/// Number of functions of all shells.
std::size_t functions(std::span<const shell> of) noexcept;

/// Where each shell's functions begin among those of all, in order; the last element is the number of all.
std::vector<std::size_t> first_functions(std::span<const shell> of);

}  // namespace tessera::chemistry
