// The library is opened at run time: it brings HDF5, which nothing else here needs.
#include "libraries/chemistry/exchange/trexio.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "libraries/chemistry/exchange/function_order.hpp"
#include "libraries/chemistry/exchange/normalised_basis.hpp"
#include "libraries/chemistry/molecule/element.hpp"

namespace tessera::chemistry {
namespace {

/// Of trexio.h, version 2: exit codes are 32 bits, and 0 is success.
struct trexio_s;
constexpr std::int32_t hdf5_form = 0;

class trexio_library {
 public:
  trexio_library() {
    for (const char* const name : {"libtrexio.so.0", "libtrexio.so.2", "libtrexio.so"})
      if (m_handle == nullptr) m_handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char* const why = m_handle == nullptr ? ::dlerror() : nullptr;
    if (why != nullptr) m_why = why;
  }
  const std::string& why_not() const noexcept { return m_why; }

  template <typename... arguments>
  std::int32_t call(const std::string& name, arguments... with) const {
    const auto function = reinterpret_cast<std::int32_t (*)(arguments...)>(symbol(name));
    return function(with...);
  }
  trexio_s* open(const std::string& file, std::int32_t& status) const {
    const auto function =
        reinterpret_cast<trexio_s* (*)(const char*, char, std::int32_t, std::int32_t*)>(symbol("trexio_open"));
    return function(file.c_str(), 'w', hdf5_form, &status);
  }
  std::string words_for(std::int32_t status) const {
    return reinterpret_cast<const char* (*)(std::int32_t)>(symbol("trexio_string_of_error"))(status);
  }

 private:
  void* symbol(const std::string& name) const {
    void* const found = ::dlsym(m_handle, name.c_str());
    if (found == nullptr)
      throw error(error_kind::configuration, fmt::format("the library of TREXIO has no function '{}'", name), "",
                  "version 2 is needed");
    return found;
  }

  void* m_handle = nullptr;  // it is never closed
  std::string m_why;
};

const trexio_library& the_library() {
  static const trexio_library once;
  return once;
}

/// One file that is being written, under a name of its own.
class trexio_file {
 public:
  explicit trexio_file(const std::filesystem::path& file) : m_file(file), m_fresh(file.string() + ".new") {
    std::error_code ignored;
    std::filesystem::remove(m_fresh, ignored);
    std::int32_t status = 0;
    m_open = the_library().open(m_fresh.string(), status);
    if (m_open == nullptr) fail(status);
  }
  ~trexio_file() {
    if (m_open == nullptr) return;
    (void)the_library().call("trexio_close", m_open);
    std::error_code ignored;
    std::filesystem::remove(m_fresh, ignored);
  }
  trexio_file(const trexio_file&) = delete;
  trexio_file& operator=(const trexio_file&) = delete;

  void write(const char* name, std::size_t number) {
    check(the_library().call(fmt::format("trexio_write_{}", name), m_open, static_cast<std::int32_t>(number)));
  }
  void write(const char* name, double number) {
    check(the_library().call(fmt::format("trexio_write_{}", name), m_open, number));
  }
  void write(const char* name, const std::vector<double>& values) {
    check(the_library().call(fmt::format("trexio_write_{}", name), m_open, values.data()));
  }
  void write(const char* name, const std::vector<std::int32_t>& values) {
    check(the_library().call(fmt::format("trexio_write_{}", name), m_open, values.data()));
  }
  void write(const char* name, const std::string& text) {
    check(the_library().call(fmt::format("trexio_write_{}", name), m_open, text.c_str(), max_letters));
  }
  void write(const char* name, const std::vector<std::string>& texts) {
    std::vector<const char*> pointers;
    for (const std::string& one : texts) pointers.push_back(one.c_str());
    check(the_library().call(fmt::format("trexio_write_{}", name), m_open, pointers.data(), max_letters));
  }
  /// It takes its name.
  void finish() {
    const std::int32_t status = the_library().call("trexio_close", std::exchange(m_open, nullptr));
    std::error_code failed;
    if (status == 0) std::filesystem::rename(m_fresh, m_file, failed);
    if (status != 0) fail(status);
    if (failed) throw error(error_kind::output, "the file cannot be written: " + failed.message(), m_file.string());
  }

 private:
  static constexpr std::int32_t max_letters = 64;

  void check(std::int32_t status) const {
    if (status != 0) fail(status);
  }
  [[noreturn]] void fail(std::int32_t status) const {
    throw error(error_kind::output, "the file cannot be written: " + the_library().words_for(status), m_file.string(),
                "is the disk full?");
  }

  const std::filesystem::path m_file, m_fresh;
  trexio_s* m_open = nullptr;
};

/// Whether all shells from d on are spherical; those below may be either.
bool is_spherical(const integrals& over) {
  bool spherical = false, cartesian = false;
  for (std::size_t s = 0; s < over.shells(); ++s)
    if (over.shell_at(s).momentum > 1) (over.shell_at(s).spherical ? spherical : cartesian) = true;
  if (spherical && cartesian)
    throw error(error_kind::usage, "the basis has spherical and Cartesian shells, and the format has one kind",
                "TREXIO", "--functions spherical or cartesian");
  return !cartesian;
}

/// n!! of an odd number; 1 for -1.
double odd_factorial(int n) {
  double product = 1;
  for (int k = 3; k <= n; k += 2) product *= k;
  return product;
}

/// Of r^l exp(-a r^2) times a solid harmonic that is 1 on an axis.
double norm_of_primitive(int l, double a) {
  return std::pow(2 * a / std::numbers::pi, 0.75) * std::sqrt(std::pow(4 * a, l) / odd_factorial(2 * l - 1));
}

/// Of each Cartesian function, as factors of the norm of x^l.
std::vector<double> cartesian_factors(int l) {
  std::vector<double> all;
  for (int x = l; x >= 0; --x)
    for (int y = l - x; y >= 0; --y)
      all.push_back(std::sqrt(odd_factorial(2 * l - 1) / (odd_factorial(2 * x - 1) * odd_factorial(2 * y - 1) *
                                                          odd_factorial(2 * (l - x - y) - 1))));
  return all;
}

void write_nuclei(trexio_file& to, const molecule& m, const scf_result& scf) {
  std::vector<double> charges, places;
  std::vector<std::string> labels;
  for (const atom& one : m.atoms) {
    charges.push_back(one.number);
    places.insert(places.end(), one.at.begin(), one.at.end());
    labels.emplace_back(symbol_of(one.number));
  }
  to.write("nucleus_num", m.atoms.size());
  to.write("nucleus_charge", charges);
  to.write("nucleus_coord", places);
  to.write("nucleus_label", labels);
  to.write("nucleus_repulsion", nuclear_repulsion(m));
  const auto up = static_cast<std::size_t>(scf.occupied[0]), down = static_cast<std::size_t>(scf.occupied[1]);
  to.write("electron_num", up + down);
  to.write("electron_up_num", up);
  to.write("electron_dn_num", down);
}

void write_basis(trexio_file& to, const integrals& over) {
  std::vector<std::int32_t> atoms, momenta, shell_of;
  std::vector<double> exponents, coefficients, factors;
  for (std::size_t s = 0; s < over.shells(); ++s) {
    const shell& one = over.shell_at(s);
    atoms.push_back(static_cast<std::int32_t>(one.atom));
    momenta.push_back(one.momentum);
    const std::vector<double> normalised = normalised_coefficients(one);
    coefficients.insert(coefficients.end(), normalised.begin(), normalised.end());
    for (const double a : one.exponents) {
      exponents.push_back(a);
      factors.push_back(norm_of_primitive(one.momentum, a));
      shell_of.push_back(static_cast<std::int32_t>(s));
    }
  }
  to.write("basis_type", std::string("Gaussian"));
  to.write("basis_shell_num", over.shells());
  to.write("basis_prim_num", exponents.size());
  to.write("basis_nucleus_index", atoms);
  to.write("basis_shell_ang_mom", momenta);
  to.write("basis_shell_factor", std::vector<double>(over.shells(), 1.0));
  to.write("basis_shell_index", shell_of);
  to.write("basis_exponent", exponents);
  to.write("basis_coefficient", coefficients);
  to.write("basis_prim_factor", factors);
}

/// Of the functions in the file, their ordinals here. A p shell of either kind has the order of the file's kind.
std::vector<std::size_t> order_of(const integrals& over, bool spherical) {
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < over.shells(); ++s) {
    const shell& one = over.shell_at(s);
    std::vector<std::size_t> of_shell = trexio_order(one.momentum, one.spherical);
    if (one.momentum == 1 && one.spherical != spherical)
      of_shell = {2, 0, 1};  // z, x, y of x, y, z; x, y, z of y, z, x
    for (const std::size_t k : of_shell) order.push_back(over.offset(s) + k);
  }
  return order;
}

void write_functions(trexio_file& to, const integrals& over, bool spherical) {
  std::vector<std::int32_t> shell_of;
  std::vector<double> factors;
  for (std::size_t s = 0; s < over.shells(); ++s) {
    shell_of.insert(shell_of.end(), over.size(s), static_cast<std::int32_t>(s));
    const std::vector<double> of_shell =
        spherical ? std::vector<double>(over.size(s), 1.0) : cartesian_factors(over.shell_at(s).momentum);
    factors.insert(factors.end(), of_shell.begin(), of_shell.end());
  }
  to.write("ao_cartesian", std::size_t{spherical ? 0u : 1u});
  to.write("ao_num", over.functions());
  to.write("ao_shell", shell_of);
  to.write("ao_normalization", factors);
}

void write_orbitals(trexio_file& to, const integrals& over, const scf_result& scf, bool spherical) {
  const std::vector<std::size_t> order = order_of(over, spherical);
  const std::vector<double> norms = norms_of_functions(over);
  const std::size_t n = over.functions(), sets = scf.c[1].empty() ? 1 : 2;
  std::vector<double> coefficients, energies, occupations;
  std::vector<std::int32_t> spins;
  for (std::size_t set = 0; set < sets; ++set)
    for (std::size_t p = 0; p < scf.orbitals; ++p) {
      for (const std::size_t k : order) coefficients.push_back(scf.c[set][n * p + k] * norms[k]);
      energies.push_back(scf.energies[set][p]);
      double occupied = 0;
      for (std::size_t s = 0; s < 2; ++s)
        if ((sets == 1 || s == set) && p < static_cast<std::size_t>(scf.occupied[s])) occupied += 1;
      occupations.push_back(occupied);
      spins.push_back(static_cast<std::int32_t>(set));
    }
  to.write("mo_type", std::string("canonical"));
  to.write("mo_num", energies.size());
  to.write("mo_coefficient", coefficients);
  to.write("mo_energy", energies);
  to.write("mo_occupation", occupations);
  to.write("mo_spin", spins);
}

}  // namespace

std::string why_no_trexio() { return the_library().why_not(); }

void check_trexio_shells(const integrals& over) { (void)is_spherical(over); }

void write_trexio(const std::filesystem::path& file, const integrals& over, const scf_result& scf) {
  if (const std::string why = why_no_trexio(); !why.empty())
    throw error(error_kind::configuration, "the library of TREXIO cannot be opened: " + why, file.string(),
                "install it (Debian: libtrexio0)");
  const bool spherical = is_spherical(over);
  trexio_file to(file);
  write_nuclei(to, over.nuclei(), scf);
  write_basis(to, over);
  write_functions(to, over, spherical);
  write_orbitals(to, over, scf, spherical);
  to.finish();
}

}  // namespace tessera::chemistry
