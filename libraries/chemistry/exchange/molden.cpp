#include "libraries/chemistry/exchange/molden.hpp"

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <string_view>

#include "core/base/error.hpp"
#include "libraries/chemistry/exchange/function_order.hpp"
#include "libraries/chemistry/exchange/normalised_basis.hpp"
#include "libraries/chemistry/molecule/element.hpp"

namespace tessera::chemistry {
namespace {

constexpr std::string_view letters = "spdfg";

/// For each momentum from d on, whether the functions are spherical; none: there are none.
std::vector<std::optional<bool>> kinds_of(const integrals& over) {
  std::vector<std::optional<bool>> kinds(letters.size());
  for (std::size_t s = 0; s < over.shells(); ++s) {
    const shell& one = over.shell_at(s);
    const auto l = static_cast<std::size_t>(one.momentum);
    if (l >= letters.size())
      throw error(error_kind::usage, fmt::format("the format has no functions of momentum {}", l), "Molden");
    if (l < 2) continue;
    if (kinds[l] && *kinds[l] != one.spherical)
      throw error(
          error_kind::usage,
          fmt::format("the basis has spherical and Cartesian {} functions, and the format has one kind", letters[l]),
          "Molden");
    kinds[l] = one.spherical;
  }
  return kinds;
}

class molden_writer {
 public:
  explicit molden_writer(const integrals& over) : m_over(over), m_norms(norms_of_functions(over)) {
    for (std::size_t s = 0; s < over.shells(); ++s)
      for (const std::size_t k : molden_order(over.shell_at(s).momentum, over.shell_at(s).spherical))
        m_order.push_back(over.offset(s) + k);
  }

  void add_atoms() {
    add("[Atoms] AU\n");
    for (std::size_t k = 0; k < m_over.nuclei().atoms.size(); ++k) {
      const atom& one = m_over.nuclei().atoms[k];
      add("{:<3} {:>4} {:>4} {:>20.12f} {:>20.12f} {:>20.12f}\n", symbol_of(one.number), k + 1, one.number, one.at[0],
          one.at[1], one.at[2]);
    }
  }

  /// Shells are in the order of atoms.
  void add_basis() {
    add("[GTO]\n");
    std::size_t s = 0;
    for (std::size_t k = 0; k < m_over.nuclei().atoms.size(); ++k) {
      add("{:>4} 0\n", k + 1);
      for (; s < m_over.shells() && m_over.shell_at(s).atom == k; ++s) add_shell(m_over.shell_at(s));
      add("\n");
    }
  }

  /// Where nothing is said, functions are Cartesian.
  void add_kinds(const std::vector<std::optional<bool>>& kinds) {
    const bool d = kinds[2].value_or(kinds[3].value_or(true)), f = kinds[3].value_or(d);
    if (d) m_text += f ? "[5D]\n[7F]\n" : "[5D10F]\n";
    if (!d && f) m_text += "[7F]\n";
    if (kinds[4].value_or(f)) m_text += "[9G]\n";
  }

  /// The first orbitals of the list are occupied.
  void add_orbitals(const std::vector<double>& c, const std::vector<double>& energies, std::string_view spin,
                    const std::vector<double>& occupations) {
    const std::size_t n = m_over.functions();
    for (std::size_t p = 0; p < energies.size(); ++p) {
      add(" Sym= {}a\n Ene= {:.12f}\n Spin= {}\n Occup= {:.6f}\n", p + 1, energies[p], spin, occupations[p]);
      for (std::size_t k = 0; k < n; ++k) add("{:>5} {:>22.14e}\n", k + 1, c[n * p + m_order[k]] * m_norms[m_order[k]]);
    }
  }

  template <class... Values>
  void add(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(m_text), form, std::forward<Values>(values)...);
  }
  std::string text() { return std::move(m_text); }

 private:
  void add_shell(const shell& one) {
    add(" {} {:>4} 1.00\n", letters[static_cast<std::size_t>(one.momentum)], one.exponents.size());
    const std::vector<double> coefficients = normalised_coefficients(one);
    for (std::size_t k = 0; k < one.exponents.size(); ++k)
      add("{:>22.14e} {:>22.14e}\n", one.exponents[k], coefficients[k]);
  }

  const integrals& m_over;
  const std::vector<double> m_norms;
  std::vector<std::size_t> m_order;  // of the functions in the file, their ordinals here
  std::string m_text;
};

std::vector<double> occupations_of(const scf_result& scf, std::size_t spin) {
  std::vector<double> all(scf.orbitals, 0.0);
  const bool apart = !scf.c[1].empty();
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t p = 0; (!apart || s == spin) && p < static_cast<std::size_t>(scf.occupied[s]); ++p) all[p] += 1;
  return all;
}

}  // namespace

void check_molden_functions(const integrals& over) { (void)kinds_of(over); }

std::string molden_text(const integrals& over, const scf_result& scf, const std::string& title) {
  const std::vector<std::optional<bool>> kinds = kinds_of(over);
  molden_writer to(over);
  to.add("[Molden Format]\n[Title]\n{}\n", title);
  to.add_atoms();
  to.add_basis();
  to.add_kinds(kinds);
  to.add("[MO]\n");
  to.add_orbitals(scf.c[0], scf.energies[0], "Alpha", occupations_of(scf, 0));
  if (!scf.c[1].empty()) to.add_orbitals(scf.c[1], scf.energies[1], "Beta", occupations_of(scf, 1));
  return to.text();
}

}  // namespace tessera::chemistry
