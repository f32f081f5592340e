#include "languages/sial/chemistry/orbitals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "languages/sial/chemistry/amplitude_port.hpp"
#include "languages/sial/chemistry/triples_port.hpp"
#include "libraries/chemistry/scf/matrix.hpp"

namespace tessera::sial {

std::vector<std::int64_t> basis_segments(const chemistry::integrals& over, std::size_t most) {
  std::vector<std::int64_t> lengths;
  std::size_t here = 0;
  for (std::size_t s = 0; s < over.shells();) {
    // The shells of an atom stay together unless they are too many for one segment.
    std::size_t end = s, functions = 0;
    while (end < over.shells() && over.shell_at(end).atom == over.shell_at(s).atom) functions += over.size(end++);
    if (here != 0 && here + functions > most) lengths.push_back(static_cast<std::int64_t>(std::exchange(here, 0)));
    for (; s < end; ++s) {
      if (here != 0 && here + over.size(s) > most) lengths.push_back(static_cast<std::int64_t>(std::exchange(here, 0)));
      here += over.size(s);
    }
  }
  if (here != 0) lengths.push_back(static_cast<std::int64_t>(here));
  return lengths;
}

std::vector<std::int64_t> orbital_segments(std::size_t count, std::size_t most) {
  const std::size_t segments = (count + most - 1) / most;
  std::vector<std::int64_t> lengths;
  for (std::size_t k = 0; k < segments; ++k)
    lengths.push_back(static_cast<std::int64_t>(count / segments + (k < count % segments ? 1 : 0)));
  return lengths;
}

namespace {

/// Active orbitals of one spin, occupied ones first.
struct orbitals_of_spin {
  std::size_t occupied = 0, empty = 0;
  std::vector<double> c;     // functions x orbitals
  std::vector<double> fock;  // over them
};

void require_some(int occupied, int empty, const chemistry::scf_result& scf, const orbital_choice& how, int spin) {
  const int electrons = scf.occupied[static_cast<std::size_t>(spin)];
  if (occupied < 1)
    throw error(error_kind::usage,
                fmt::format("{} occupied orbitals are frozen, and there are {}", how.frozen_core, electrons), "",
                "correlation needs at least one that is not");
  if (empty < 1)
    throw error(error_kind::usage,
                fmt::format("no virtual orbital is left: there are {}, and {} are frozen",
                            static_cast<int>(scf.orbitals) - electrons, how.frozen_virtual),
                "", "correlation needs a larger basis, or fewer frozen ones");
}

/// Of the orbitals of a field, those between the frozen ones. Where they are no eigenvectors of the spin's own matrix
/// (rohf), occupied and virtual ones become so, each among themselves (semicanonical orbitals).
orbitals_of_spin orbitals_of(const chemistry::scf_result& scf, const orbital_choice& how, int spin) {
  const auto s = static_cast<std::size_t>(spin);
  const int occupied = scf.occupied[s] - how.frozen_core,
            empty = static_cast<int>(scf.orbitals) - scf.occupied[s] - how.frozen_virtual;
  if (empty < 0 || occupied < 0) require_some(occupied, empty, scf, how, spin);
  const bool apart = !scf.c[1].empty(), shared = scf.c[1].empty() && !scf.fock[1].empty();
  const std::vector<double>&c = scf.c[apart ? s : 0], &over_functions = scf.fock[shared || apart ? s : 0];
  const std::size_t n = scf.functions, first = static_cast<std::size_t>(how.frozen_core);
  orbitals_of_spin out;
  out.occupied = static_cast<std::size_t>(occupied);
  out.empty = static_cast<std::size_t>(empty);
  const auto columns = [&](std::size_t from, std::size_t count) {
    std::vector<double> some(c.begin() + static_cast<std::ptrdiff_t>(n * from),
                             c.begin() + static_cast<std::ptrdiff_t>(n * (from + count)));
    if (!shared || count == 0) return some;
    std::vector<double> inner = chemistry::transformed(n, count, over_functions, some);
    (void)chemistry::eigenvalues(count, inner);
    return chemistry::product(n, count, count, some, inner);
  };
  out.c = columns(first, out.occupied);
  const std::vector<double> virtuals = columns(static_cast<std::size_t>(scf.occupied[s]), out.empty);
  out.c.insert(out.c.end(), virtuals.begin(), virtuals.end());
  out.fock = chemistry::transformed(n, out.occupied + out.empty, over_functions, out.c);
  return out;
}

/// A list of orbitals in segments, as programs get it.
class orbital_list {
 public:
  orbital_list(std::size_t functions, std::size_t orbitals) : m_functions(functions), m_fock(orbitals * orbitals, 0.0) {
    m_orbitals = orbitals;
  }
  /// The next ones: `count` of those of a spin from its `first` on, in segments of at most `most`.
  void add(const orbitals_of_spin& from, std::size_t first, std::size_t count, std::size_t most, double spin) {
    for (const std::int64_t length : orbital_segments(count, most)) {
      m_lengths.push_back(length);
      m_spins.push_back(spin);
    }
    m_c.insert(m_c.end(), from.c.begin() + static_cast<std::ptrdiff_t>(m_functions * first),
               from.c.begin() + static_cast<std::ptrdiff_t>(m_functions * (first + count)));
    for (std::size_t k = first; k < first + count; ++k) m_from.push_back({&from, k});
  }
  std::size_t segments() const noexcept { return m_lengths.size(); }
  void write(init_data& to) {
    const auto n = static_cast<std::int64_t>(m_from.size());
    for (std::size_t p = 0; p < m_from.size(); ++p)
      for (std::size_t q = 0; q < m_from.size(); ++q)
        if (m_from[p].first == m_from[q].first)
          m_fock[p + m_orbitals * q] =
              m_from[p].first->fock[m_from[p].second +
                                    (m_from[p].first->occupied + m_from[p].first->empty) * m_from[q].second];
    to.segments[index_kind::mo] = m_lengths;
    to.ints["mo_segments"] = static_cast<std::int64_t>(m_lengths.size());
    to.float_arrays["ca"] = {{static_cast<std::int64_t>(m_functions), n}, m_c};
    to.float_arrays["fock_a"] = {{n, n}, m_fock};
    to.float_arrays["spin"] = {{static_cast<std::int64_t>(m_spins.size())}, m_spins};
  }
  /// Of the first orbitals: their segments and spins.
  void write_occupied(init_data& to, std::size_t count) const {
    init_array<double>&segment = to.float_arrays["segment_of"], &spin = to.float_arrays["spin_of"];
    segment.dims = spin.dims = {static_cast<std::int64_t>(count)};
    for (std::size_t k = 0; segment.values.size() < count; ++k) {
      segment.values.insert(segment.values.end(), static_cast<std::size_t>(m_lengths[k]), static_cast<double>(k + 1));
      spin.values.insert(spin.values.end(), static_cast<std::size_t>(m_lengths[k]), m_spins[k]);
    }
  }

 private:
  std::size_t m_functions, m_orbitals = 0;
  std::vector<std::int64_t> m_lengths;
  std::vector<double> m_spins, m_c, m_fock;
  std::vector<std::pair<const orbitals_of_spin*, std::size_t>> m_from;
};

/// Segments of pairs p <= q: those of occupied orbitals, then those of virtual ones. A pair of segments is one segment
/// of pairs; of a segment with itself, each two orbitals are there once.
class pair_list {
 public:
  /// The pairs of some segments.
  void add(const std::vector<std::int64_t>& lengths, std::size_t first, std::size_t last) {
    for (std::size_t q = first; q < last; ++q)
      for (std::size_t p = first; p <= q; ++p) {
        m_lengths.push_back(p == q ? lengths[p] * (lengths[p] + 1) / 2 : lengths[p] * lengths[q]);
        m_first.push_back(static_cast<double>(p + 1));
        m_second.push_back(static_cast<double>(q + 1));
      }
  }
  std::int64_t segments() const noexcept { return static_cast<std::int64_t>(m_lengths.size()); }
  void write(init_data& to) const {
    to.segments[index_kind::la] = m_lengths;
    to.ints["pairs"] = segments();
    to.float_arrays["first_of"] = {{segments()}, m_first};
    to.float_arrays["second_of"] = {{segments()}, m_second};
  }

 private:
  std::vector<std::int64_t> m_lengths;
  std::vector<double> m_first, m_second;
};

void write_pairs(init_data& to, std::size_t occupied_segments) {
  const std::vector<std::int64_t>& lengths = to.segments.at(index_kind::mo);
  pair_list pairs;
  pairs.add(lengths, 0, occupied_segments);
  to.ints["occ_pairs"] = pairs.segments();
  to.ints["virt_pair_first"] = pairs.segments() + 1;
  pairs.add(lengths, occupied_segments, lengths.size());
  pairs.write(to);
}

}  // namespace

init_data orbital_data(const chemistry::integrals& over, const chemistry::scf_result& scf, const orbital_choice& how) {
  const bool closed = scf.fock[1].empty() && !how.spin_orbitals;
  std::vector<orbitals_of_spin> spins;
  for (int s = 0; s < (closed ? 1 : 2); ++s) spins.push_back(orbitals_of(scf, how, s));
  std::size_t occupied = 0, empty = 0;
  for (const orbitals_of_spin& one : spins) {
    occupied += one.occupied;
    empty += one.empty;
  }
  require_some(static_cast<int>(occupied), static_cast<int>(empty), scf, how, 0);
  orbital_list list(scf.functions, occupied + empty);
  double spin = 1;
  for (const orbitals_of_spin& one : spins)
    list.add(one, 0, one.occupied, how.occupied_segment, std::exchange(spin, -1));
  const std::size_t occupied_segments = list.segments();
  spin = 1;
  for (const orbitals_of_spin& one : spins)
    list.add(one, one.occupied, one.empty, how.virtual_segment, std::exchange(spin, -1));
  init_data data;
  auto& ao = data.segments[index_kind::ao] = basis_segments(over, how.basis_segment);
  data.ints["ao_segments"] = static_cast<std::int64_t>(ao.size());
  data.ints["occ_segments"] = static_cast<std::int64_t>(occupied_segments);
  data.ints["virt_first"] = static_cast<std::int64_t>(occupied_segments) + 1;
  data.ints["spin_orbitals"] = closed ? 0 : 1;
  amplitude_port::tell_none(data);
  triples_port::tell_none(data);
  data.ints["direct_ladder"] = 0;
  data.ints["occupied"] = static_cast<std::int64_t>(occupied);
  data.ints["virtual"] = static_cast<std::int64_t>(empty);
  list.write(data);
  list.write_occupied(data, occupied);
  write_pairs(data, occupied_segments);
  return data;
}

}  // namespace tessera::sial
