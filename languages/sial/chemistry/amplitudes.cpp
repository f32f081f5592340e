#include "languages/sial/chemistry/amplitudes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "languages/sial/exchange/array_generation.hpp"

namespace tessera::sial {
namespace {

/// Ordinals in the list of orbitals: a, i, and of doubles b, j.
using ordinals = std::array<std::size_t, 4>;

struct element {
  double value = 0;
  ordinals at{};
};

/// Keeps the largest of many.
class largest_elements {
 public:
  largest_elements(std::size_t rank, std::size_t count, bool spin_orbitals)
      : m_rank(rank), m_count(count), m_spin_orbitals(spin_orbitals) {}

  void offer(double value, ordinals at) {
    if (!(std::abs(value) > m_least)) return;
    if (m_rank == 4) put_in_order(value, at);
    const auto same = [&](const element& other) { return other.at == at; };
    if (std::ranges::any_of(m_found, same)) return;
    const auto place =
        std::ranges::find_if(m_found, [&](const element& other) { return std::abs(other.value) < std::abs(value); });
    m_found.insert(place, {value, at});
    if (m_found.size() <= m_count) return;
    m_found.pop_back();
    m_least = std::abs(m_found.back().value);
  }
  const std::vector<element>& found() const noexcept { return m_found; }

 private:
  /// t_ij^ab = t_ji^ba; over spin orbitals an exchange of a and b, or of i and j, changes the sign.
  void put_in_order(double& value, ordinals& at) const {
    auto& [a, i, b, j] = at;
    if (!m_spin_orbitals) {
      if (std::pair(i, a) > std::pair(j, b)) {
        std::swap(a, b);
        std::swap(i, j);
      }
      return;
    }
    if (a > b) {
      std::swap(a, b);
      value = -value;
    }
    if (i > j) {
      std::swap(i, j);
      value = -value;
    }
  }

  const std::size_t m_rank, m_count;
  const bool m_spin_orbitals;
  double m_least = 1e-10;  // smaller ones are not there
  std::vector<element> m_found;
};

/// Where the elements of a block stand among those of all.
struct block_place {
  ordinals first{}, extents{1, 1, 1, 1};
};

/// Blocks are counted with the first dimension fastest, and elements, too.
class block_walker {
 public:
  block_walker(const std::vector<kept_dimension>& dims, const std::vector<std::int64_t>& lengths)
      : m_dims(dims), m_lengths(lengths) {}

  void walk(std::span<const double> values, const block_place& at, largest_elements& to) const {
    std::size_t k = 0;
    ordinals in{};
    for (in[3] = 0; in[3] < at.extents[3]; ++in[3])
      for (in[2] = 0; in[2] < at.extents[2]; ++in[2])
        for (in[1] = 0; in[1] < at.extents[1]; ++in[1])
          for (in[0] = 0; in[0] < at.extents[0]; ++in[0]) {
            ordinals all{};
            for (std::size_t d = 0; d < m_dims.size(); ++d) all[d] = at.first[d] + in[d];
            to.offer(values[k++], all);
          }
  }
  /// All segments of a static array.
  block_place whole() const {
    block_place place;
    for (std::size_t d = 0; d < m_dims.size(); ++d) {
      place.first[d] = first_of(m_dims[d].low);
      place.extents[d] = first_of(m_dims[d].high + 1) - place.first[d];
    }
    return place;
  }
  block_place place_of(std::int64_t block) const {
    block_place place;
    for (std::size_t d = 0; d < m_dims.size(); ++d) {
      const std::int64_t count = m_dims[d].high - m_dims[d].low + 1, segment = m_dims[d].low + block % count;
      block /= count;
      place.first[d] = first_of(segment);
      place.extents[d] = first_of(segment + 1) - place.first[d];
    }
    return place;
  }

 private:
  /// Of a segment, from 1, its first orbital, from 0.
  std::size_t first_of(std::int64_t segment) const {
    std::size_t sum = 0;
    for (std::int64_t k = 1; k < segment; ++k)
      sum += static_cast<std::size_t>(m_lengths[static_cast<std::size_t>(k - 1)]);
    return sum;
  }

  const std::vector<kept_dimension>& m_dims;
  const std::vector<std::int64_t>& m_lengths;
};

void offer_all(const kept_values& from, const std::vector<std::int64_t>& lengths, largest_elements& to) {
  const block_walker walker(from.dims, lengths);
  walker.walk(from.values, walker.whole(), to);
}

void offer_all(const kept_blocks& from, const std::vector<std::int64_t>& lengths, largest_elements& to) {
  const block_walker walker(from.dims, lengths);
  for (const std::int64_t ordinal : from.generation->ordinals()) {
    const shared_block& block = *from.generation->find(ordinal);
    const auto view = block.elements.read();
    walker.walk({view.data(), static_cast<std::size_t>(view.size())}, walker.place_of(ordinal), to);
  }
}

}  // namespace

std::string to_text(const orbital_label& one) {
  return one.spin == '\0' ? std::to_string(one.number) : fmt::format("{}{}", one.number, one.spin);
}

std::vector<orbital_label> orbital_labels(const chemistry::scf_result& scf, const orbital_choice& how) {
  const bool closed = scf.fock[1].empty() && !how.spin_orbitals;
  const std::size_t spins = closed ? 1 : 2;
  const int last = static_cast<int>(scf.orbitals) - how.frozen_virtual;
  std::vector<orbital_label> labels;
  const auto add = [&](std::size_t s, int first, int end) {
    for (int k = first; k < end; ++k) labels.push_back({k + 1, closed ? '\0' : s == 0 ? 'a' : 'b'});
  };
  for (std::size_t s = 0; s < spins; ++s) add(s, how.frozen_core, scf.occupied[s]);
  for (std::size_t s = 0; s < spins; ++s) add(s, scf.occupied[s], last);
  return labels;
}

std::vector<amplitude> largest_amplitudes(const kept_item& of, const init_data& data,
                                          const std::vector<orbital_label>& labels, std::size_t count) {
  const std::vector<std::int64_t>& lengths = data.segments_of(index_kind::mo);
  const auto* const values = std::get_if<kept_values>(&of);
  const auto* const blocks = std::get_if<kept_blocks>(&of);
  if (values == nullptr && blocks == nullptr) return {};
  const std::size_t rank = values != nullptr ? values->dims.size() : blocks->dims.size();
  largest_elements largest(rank, count, data.ints.at("spin_orbitals") != 0);
  if (values != nullptr)
    offer_all(*values, lengths, largest);
  else
    offer_all(*blocks, lengths, largest);
  std::vector<amplitude> all;
  for (const element& one : largest.found()) {
    amplitude& made = all.emplace_back(amplitude{one.value, {}, {}});
    for (std::size_t d = 0; d < rank; d += 2) {
      made.to.push_back(labels[one.at[d]]);
      made.from.push_back(labels[one.at[d + 1]]);
    }
  }
  return all;
}

}  // namespace tessera::sial
