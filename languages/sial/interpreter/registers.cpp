#include "languages/sial/interpreter/registers.hpp"

#include <fmt/format.h>

#include "languages/sial/exchange/failure.hpp"

namespace tessera::sial {

void registers::set_candidate(const pardo& p, std::int64_t candidate) noexcept {
  for (std::size_t d = 0; d < p.indices.size(); ++d) {
    const std::int64_t count = m_ints[p.high[d]] - m_ints[p.low[d]] + 1;
    m_ints[p.indices[d]] = m_ints[p.low[d]] + candidate % count;
    candidate /= count;
  }
}

void registers::refuse(const array_geometry& a, std::size_t dimension, std::int64_t value) {
  if (value == unbound) throw run_error(fmt::format("an index of a block of '{}' has no value here", a.name));
  throw run_error(fmt::format("segment {} is outside of dimension {} of '{}', which has {}:{}", value, dimension + 1,
                              a.name, a.dims[dimension].low, a.dims[dimension].high));
}

std::string registers::name_of(const reference& r) const {
  segment_numbers at{};
  for (std::size_t d = 0; d < r.rank; ++d) at[d] = m_ints[r.at[d]];
  return m_sizes->array(r.array).name_of(at.data());
}

std::string registers::name_of(const region& r) const {
  std::string text = m_sizes->array(r.array).name + "[";
  for (std::size_t d = 0; d < r.rank; ++d) {
    const std::int64_t low = m_ints[r.low[d]], high = m_ints[r.high[d]];
    text += d == 0 ? "" : ",";
    text += low == high ? fmt::format("{}", low) : fmt::format("{}:{}", low, high);
  }
  return text + "]";
}

shape registers::extents_of(const region& r) const {
  const array_geometry& a = m_sizes->array(r.array);
  segment_numbers extents{};
  for (std::size_t d = 0; d < r.rank; ++d) {
    const std::int64_t low = m_ints[r.low[d]], high = m_ints[r.high[d]];
    if (low < a.dims[d].low || high > a.dims[d].high || low > high)
      throw run_error(fmt::format("{} is outside of the array: dimension {} has {}:{}", name_of(r), d + 1,
                                  a.dims[d].low, a.dims[d].high));
    for (std::int64_t s = low; s <= high; ++s) extents[d] += a.dims[d].length(s);
  }
  return shape(std::span<const std::int64_t>(extents.data(), r.rank));
}

}  // namespace tessera::sial
