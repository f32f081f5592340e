#include "libraries/chemistry/checkpoint/folder_bytes.hpp"

#include <algorithm>
#include <stdexcept>
#include <system_error>

#include "libraries/chemistry/checkpoint/amplitude_history.hpp"

namespace tessera::chemistry {
namespace {

namespace fs = std::filesystem;
constexpr double of_headers = 4096;  // what they have beside molecule and shells, and the energies

double bytes_of_header(const system_of_functions& of) { return static_cast<double>(to_json(of).dump(1).size()); }

}  // namespace

double folder_bytes::max_at_once(int new_steps) const noexcept {
  return std::max(max_without_history(),
                  field + 2 * amplitudes + (std::min(new_steps, max_history_steps) + max_history_steps) * history_step);
}

double folder_bytes::max_without_history() const noexcept { return field + std::max(field, 2 * amplitudes); }

folder_bytes bytes_of_field(const system_of_functions& of, reference kind, std::size_t orbitals) {
  const auto n = static_cast<double>(functions(of.shells)), m = static_cast<double>(orbitals);
  const double of_c = kind == reference::uhf ? 2 : 1, of_matrices = kind == reference::rhf ? 1 : 2;
  folder_bytes out;
  out.field = of_headers + bytes_of_header(of) + sizeof(double) * (of_c * (n + 1) * m + of_matrices * 2 * n * n);
  return out;
}

void add_amplitudes(folder_bytes& to, const system_of_functions& of, bool closed,
                    const std::array<active_orbitals, 2>& spins) {
  const auto n = static_cast<double>(functions(of.shells));
  const auto numbers = static_cast<double>(elements_of(closed, spins));
  double orbitals = 0;
  for (std::size_t s = 0; s < (closed ? 1u : 2u); ++s)
    orbitals += static_cast<double>(spins[s].occupied + spins[s].empty);
  to.amplitudes = of_headers + bytes_of_header(of) + sizeof(double) * (numbers + n * orbitals);
  to.history_step = of_headers + sizeof(double) * 2 * numbers;
}

double bytes_in(const fs::path& folder) noexcept {
  double all = 0;
  try {
    for (const fs::directory_entry& one : fs::directory_iterator(folder))
      if (one.path().extension() == ".checkpoint") all += static_cast<double>(one.file_size());
  } catch (const std::exception&) {
    return all;  // what cannot be seen counts as not there
  }
  return all;
}

}  // namespace tessera::chemistry
