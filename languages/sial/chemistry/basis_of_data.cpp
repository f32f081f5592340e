#include "languages/sial/chemistry/basis_of_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.hpp"
#include "languages/sial/chemistry/instructions.hpp"
#include "languages/sial/data/init_file.hpp"
#include "libraries/chemistry/molecule/element.hpp"

namespace tessera::sial {
namespace {

constexpr double same_place = 1e-6;  // bohr
constexpr std::int64_t largest_momentum = 10;

/// The arrays of a basis, checked as they are read. Shells of the data have several radial parts, ours have one.
class basis_reader {
 public:
  explicit basis_reader(const init_data& from);
  molecule_and_basis read() const;

 private:
  [[noreturn]] void fail(const std::string& name, const std::string& what) const;
  template <typename element>
  const std::vector<element>& array(const std::map<std::string, init_array<element>>& all, const char* name,
                                    std::size_t least) const;
  const std::vector<std::int64_t>& ints(const char* name) const { return array(m_data.int_arrays, name, m_shells); }
  const std::vector<double>& numbers(const char* name, std::size_t least) const {
    return array(m_data.float_arrays, name, least);
  }
  std::int64_t constant(const char* name, std::int64_t otherwise) const;
  std::size_t count(const char* name, std::size_t otherwise) const;
  /// An element of an array of shells that is not below `least`, and not above `most`.
  std::size_t of_shell(const char* name, std::size_t shell, std::int64_t least, std::int64_t most) const;

  /// A fault of what begins at an element of an array; both counted from 0, as the shell is.
  void refuse_if(const std::string& fault, const char* name, std::size_t element, std::size_t shell) const {
    if (!fault.empty())
      fail(name, fmt::format("array '{}', element {}, of shell {}: {}", name, element + 1, shell + 1, fault));
  }

  chemistry::molecule nuclei() const;
  void add_shell(std::size_t number, const chemistry::molecule& of, std::vector<chemistry::shell>& to) const;
  void check_segments(std::size_t functions) const;

  const init_data& m_data;
  std::size_t m_shells = 0;
  bool m_spherical = true;
};

void basis_reader::fail(const std::string& name, const std::string& what) const {
  std::string where;
  if (const auto f = m_data.float_arrays.find(name); f != m_data.float_arrays.end()) where = f->second.where;
  if (const auto i = m_data.int_arrays.find(name); i != m_data.int_arrays.end()) where = i->second.where;
  throw error(error_kind::input, "the basis of the initialization data: " + what, where,
              "docs/chemistry.md says what the arrays of a basis hold");
}

template <typename element>
const std::vector<element>& basis_reader::array(const std::map<std::string, init_array<element>>& all, const char* name,
                                                std::size_t least) const {
  const auto found = all.find(name);
  if (found == all.end()) fail(name, fmt::format("there is no array '{}'", name));
  if (found->second.values.size() < least)
    fail(name, fmt::format("array '{}' has {} elements, and {} are needed", name, found->second.values.size(), least));
  return found->second.values;
}

std::int64_t basis_reader::constant(const char* name, std::int64_t otherwise) const {
  const auto found = m_data.ints.find(name);
  return found == m_data.ints.end() ? otherwise : found->second;
}

std::size_t basis_reader::count(const char* name, std::size_t otherwise) const {
  const std::int64_t value = constant(name, static_cast<std::int64_t>(otherwise));
  if (value < 1) fail(name, fmt::format("int '{}' is {}", name, value));
  return static_cast<std::size_t>(value);
}

std::size_t basis_reader::of_shell(const char* name, std::size_t shell, std::int64_t least, std::int64_t most) const {
  const std::int64_t value = ints(name)[shell];
  if (value < least || value > most)
    fail(name, fmt::format("array '{}' has {} for shell {}, and {} to {} can be", name, value, shell + 1, least, most));
  return static_cast<std::size_t>(value);
}

basis_reader::basis_reader(const init_data& from) : m_data(from) {
  m_shells = count("nshells", ints("ivangmom").size());
  if (m_data.ints.count("intspherical") == 0) fail("intspherical", "there is no int 'intspherical'");
  m_spherical = m_data.ints.at("intspherical") != 0;
  if (constant("iecp_on", 0) != 0)
    fail("iecp_on", "int 'iecp_on' asks for effective core potentials, which are not supported");
}

chemistry::molecule basis_reader::nuclei() const {
  const std::size_t centres = count("ncenters", numbers("charge", 1).size());
  const std::vector<double>&charges = numbers("charge", centres), &places = numbers("coords", 3 * centres);
  chemistry::molecule all;
  all.name = "initialization data";
  for (std::size_t k = 0; k < centres; ++k) {
    const double charge = charges[k];
    if (!(charge >= 0 && charge <= chemistry::last_element && charge == std::floor(charge)))
      fail("charge",
           fmt::format("array 'charge' has {} for centre {}, which is no charge of a nucleus", charge, k + 1));
    all.atoms.push_back({static_cast<int>(charge), {places[3 * k], places[3 * k + 1], places[3 * k + 2]}});
    for (const double x : all.atoms.back().at)
      if (!std::isfinite(x)) fail("coords", fmt::format("array 'coords' has {} for centre {}", x, k + 1));
  }
  return all;
}

void basis_reader::add_shell(std::size_t number, const chemistry::molecule& of,
                             std::vector<chemistry::shell>& to) const {
  constexpr std::int64_t many = 1 << 30;
  const std::size_t momentum = of_shell("ivangmom", number, 0, largest_momentum),
                    primitives = of_shell("npfps", number, 1, many), parts = of_shell("ncfps", number, 1, many),
                    atom = of_shell("atom", number, 1, static_cast<std::int64_t>(of.atoms.size())) - 1;
  const std::vector<double>&alphas = numbers("alphas", 0), &coefficients = numbers("pcoeffs", 0);
  const std::size_t alpha = of_shell("ixalphas", number, 1, many) - 1,
                    coefficient = of_shell("ixpcoeffs", number, 1, many) - 1;
  (void)numbers("alphas", alpha + primitives);
  (void)numbers("pcoeffs", coefficient + primitives * parts);
  for (std::size_t k = 0; k < primitives; ++k)
    refuse_if(chemistry::fault_of_exponent(alphas[alpha + k]), "alphas", alpha + k, number);
  const std::array<double, 3> at = of.atoms[atom].at;
  if (m_data.float_arrays.count("tcoords") != 0)
    for (std::size_t k = 0; k < 3; ++k)
      if (!(std::abs(numbers("tcoords", 3 * m_shells)[3 * number + k] - at[k]) < same_place))
        fail("tcoords", fmt::format("arrays 'tcoords' and 'coords' have shell {} at different places", number + 1));
  for (std::size_t p = 0; p < parts; ++p) {
    chemistry::shell one;
    one.momentum = static_cast<int>(momentum);
    one.spherical = m_spherical;
    one.atom = atom;
    one.at = at;
    for (std::size_t k = 0; k < primitives; ++k) {
      const double factor = coefficients[coefficient + p * primitives + k];
      refuse_if(chemistry::fault_of_coefficient(factor), "pcoeffs", coefficient + p * primitives + k, number);
      if (factor == 0) continue;
      one.exponents.push_back(alphas[alpha + k]);
      one.coefficients.push_back(factor);
    }
    refuse_if(chemistry::fault_of(one), "pcoeffs", coefficient + p * primitives, number);
    to.push_back(std::move(one));
  }
}

void basis_reader::check_segments(std::size_t functions) const {
  const auto n = static_cast<std::int64_t>(functions);
  if (const std::int64_t told = constant("nbasis_funcs", n); told != n)
    fail("nbasis_funcs", fmt::format("int 'nbasis_funcs' is {}, and the shells have {} functions", told, n));
  std::int64_t end = 0;
  const std::vector<std::int64_t>& lengths = m_data.segments_of(index_kind::ao);
  const bool has_ends = m_data.int_arrays.count("ao_seg_ranges") != 0;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    end += lengths[k];
    if (has_ends && array(m_data.int_arrays, "ao_seg_ranges", lengths.size())[k] != end)
      fail("ao_seg_ranges", fmt::format("array 'ao_seg_ranges' ends segment {} with function {}, and the lengths of ao "
                                        "with {}",
                                        k + 1, m_data.int_arrays.at("ao_seg_ranges").values[k], end));
  }
  if (!lengths.empty() && end != n)
    fail("ao", fmt::format("the segments of ao have {} functions, and the shells {}", end, n));
}

molecule_and_basis basis_reader::read() const {
  molecule_and_basis all;
  all.molecule = nuclei();
  std::size_t functions = 0;
  for (std::size_t s = 0; s < m_shells; ++s) {
    add_shell(s, all.molecule, all.shells);
    functions = chemistry::functions(all.shells);
    if (m_data.int_arrays.count("end_nfps") != 0 && ints("end_nfps")[s] != static_cast<std::int64_t>(functions))
      fail("end_nfps", fmt::format("array 'end_nfps' ends shell {} with function {}, and momenta and numbers of "
                                   "functions with {}",
                                   s + 1, ints("end_nfps")[s], functions));
  }
  check_segments(functions);
  return all;
}

bool declares(const job_program& p, bool (*instruction_is_meant)(std::string_view)) {
  return std::ranges::any_of(p.instructions.specials, [&](const special_declaration& declared) {
    return instruction_is_meant(in_lower_case(declared.name));
  });
}

}  // namespace

std::optional<molecule_and_basis> basis_of(const init_data& data) {
  const auto filled = [](const auto& all, const char* name) {
    const auto found = all.find(name);
    return found != all.end() && !found->second.values.empty();
  };
  if (!filled(data.int_arrays, "ivangmom") && !filled(data.float_arrays, "alphas") &&
      !filled(data.float_arrays, "pcoeffs"))
    return std::nullopt;
  return basis_reader(data).read();
}

bool reads_repulsion(const job_program& p) { return declares(p, makes_repulsion); }

std::unique_ptr<chemistry::integrals> integrals_for(const std::vector<job_program>& programs, const init_data& data) {
  if (std::ranges::none_of(programs, [](const job_program& p) { return declares(p, needs_basis); })) return nullptr;
  std::optional<molecule_and_basis> basis = basis_of(data);
  if (!basis) return nullptr;
  return chemistry::make_integrals(std::move(basis->shells), basis->molecule);
}

void add_chemistry(instruction_registry& to, const chemistry::integrals* over) {
  std::vector<instruction> all = chemistry_instructions(over, {});
  for (const instruction* const taken : to.all())
    std::erase_if(all, [&](const instruction& one) { return one.name == taken->name; });
  to.add(std::move(all));
}

}  // namespace tessera::sial
