#pragma once
// Integrals over contracted Gaussian functions. In a shared library of its own, since the library behind it is large.
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "libraries/chemistry/basis/basis.hpp"
#include "libraries/chemistry/molecule/molecule.hpp"

namespace tessera::chemistry {

/// The shells first, first + 1, ..., last - 1.
struct shell_range {
  std::size_t first = 0, last = 0;
  friend bool operator==(const shell_range&, const shell_range&) = default;
};

/// Two-electron integrals; one thread at a time.
class repulsion_engine {
 public:
  virtual ~repulsion_engine() = default;
  /// (ab|cd) in chemists' order, a and b of electron 1, in hartree; the last shell's functions are fastest. Empty where
  /// all of them are negligible. Valid until the next call.
  virtual std::span<const double> quartet(std::size_t a, std::size_t b, std::size_t c, std::size_t d) = 0;
};

/// Functions that follow each other.
struct function_range {
  std::size_t first = 0, count = 0;
};

/// The functions of a molecule's basis and the integrals over them, in atomic units. Matrices are n x n, symmetric.
/// Functions of a shell: m = -l .. l for spherical ones; xx, xy, xz, yy, yz, zz for Cartesian ones, all with the norm
/// of xx. Reading is safe for many threads.
class integrals {
 public:
  virtual ~integrals() = default;

  const molecule& nuclei() const noexcept { return m_nuclei; }
  std::size_t functions() const noexcept { return m_offsets.back(); }
  std::size_t shells() const noexcept { return m_shells.size(); }
  const shell& shell_at(std::size_t s) const noexcept { return m_shells[s]; }
  /// The first function of a shell; of one past the last: functions().
  std::size_t offset(std::size_t s) const noexcept { return m_offsets[s]; }
  std::size_t size(std::size_t s) const noexcept { return m_offsets[s + 1] - m_offsets[s]; }

  virtual std::vector<double> overlap() const = 0;
  virtual std::vector<double> kinetic() const = 0;
  /// Attraction by the nuclei; negative on the diagonal.
  virtual std::vector<double> attraction() const = 0;
  /// <m| x |n>, y, z about the origin.
  virtual std::array<std::vector<double>, 3> dipole() const = 0;
  /// Primitives that contribute less than about `bound` may be left out; 0: none is. What bounds are made of must be
  /// exact: the square of a small overlap is smaller still.
  virtual std::unique_ptr<repulsion_engine> engine(double bound) const = 0;
  /// Whether |(ab|cd)|^2 <= (ab|ab) (cd|cd), as for all functions in space; integrals of a model may be any numbers.
  virtual bool obeys_schwarz() const noexcept { return true; }
  /// Those that orbitals of a spin, 0 for alpha, are made of: all, but for a model with integrals of each spin.
  virtual function_range functions_of_spin(std::size_t /*spin*/) const noexcept { return {0, functions()}; }
  bool spins_are_apart() const noexcept { return functions_of_spin(1).first != functions_of_spin(0).first; }
  /// The memory of an engine, in bytes; 0: next to nothing.
  virtual double engine_bytes() const { return 0; }
  /// Gives back the memory of integrals that are there already, which nobody reads meanwhile: they are computed again.
  virtual void forget_kept() const {}

 protected:
  integrals(std::vector<shell> shells, molecule of);

 private:
  const molecule m_nuclei;
  std::vector<shell> m_shells;
  std::vector<std::size_t> m_offsets;  // one more than shells
};

/// "libint2 2.7.2", or "" where this build has no integrals.
std::string_view integrals_library();
/// Throws tessera::error: configuration where this build has none; input for a momentum beyond what the library has.
std::unique_ptr<integrals> make_integrals(std::vector<shell> shells, const molecule& of);

/// sqrt of the largest (ab|ab) of each pair of shells, shells x shells: |(ab|cd)| <= bound(ab) * bound(cd) (Schwarz;
/// M. Haeser, R. Ahlrichs, J. Comput. Chem. 10 (1989) 104). Large numbers where that does not hold.
std::vector<double> schwarz_bounds(const integrals& of);

/// All integrals of four ranges of shells, the first index fastest. Zeros where quartets are empty, or their bound is
/// below `least`. `bounds`: schwarz_bounds. `out` has as many elements.
void fill_block(const integrals& of, std::span<const double> bounds, double least, repulsion_engine& engine,
                const std::array<shell_range, 4>& ranges, std::span<double> out);

}  // namespace tessera::chemistry
