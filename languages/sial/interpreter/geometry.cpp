#include "languages/sial/interpreter/geometry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"

namespace tessera::sial {
namespace {

std::string place_of(const code& c, const place& p) {
  return fmt::format("{}:{}", p.file < c.sources.files.size() ? c.sources.files[p.file].path : c.program, p.line);
}

template <class Map>
std::string hint_for(const Map& known, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [key, value] : known) names.push_back(key);
  const std::string near = suggest(name, names);
  return near.empty() ? "the initialization data must have it" : fmt::format("did you mean '{}'?", near);
}

}  // namespace

std::int64_t dimension::offset(std::int64_t segment) const noexcept {
  if (lengths == nullptr) return segment - low;
  std::int64_t sum = 0;
  for (std::int64_t s = low; s < segment; ++s) sum += length(s);
  return sum;
}

shape array_geometry::extents_of(const std::int64_t* segments) const {
  std::array<std::int64_t, max_array_rank> extents{};
  for (std::size_t d = 0; d < rank; ++d) extents[d] = dims[d].length(segments[d]);
  return shape(std::span<const std::int64_t>(extents.data(), rank));
}

double array_geometry::elements() const noexcept {
  double all = 1;
  for (std::size_t d = 0; d < rank; ++d) all *= static_cast<double>(dims[d].elements());
  return all;
}

std::array<std::int64_t, max_array_rank> array_geometry::segments_of(std::int64_t ordinal) const noexcept {
  std::array<std::int64_t, max_array_rank> at{};
  for (std::size_t d = 0; d < rank; ++d) {
    at[d] = dims[d].low + ordinal % dims[d].segments();
    ordinal /= dims[d].segments();
  }
  return at;
}

std::string array_geometry::name_of(const std::int64_t* segments) const {
  return fmt::format("{}[{}]", name, fmt::join(segments, segments + rank, ","));
}

geometry::geometry(const code& of, const init_data& data) : m_ints(of.int_start), m_scalars(of.scalar_start) {
  for (std::size_t k = 0; k < of.ints.size(); ++k) {
    const int_declaration& d = of.ints[k];
    if (!d.predefined) continue;
    const auto found = data.ints.find(d.name);
    if (found == data.ints.end())
      throw error(error_kind::input, fmt::format("the initialization data have no int '{}'", d.name),
                  place_of(of, d.where), hint_for(data.ints, d.name));
    m_ints[k] = found->second;
  }
  for (std::size_t k = 0; k < of.scalars.size(); ++k) {
    const scalar_declaration& d = of.scalars[k];
    if (!d.predefined) continue;
    const auto found = data.scalars.find(d.name);
    if (found == data.scalars.end())
      throw error(error_kind::input, fmt::format("the initialization data have no scalar '{}'", d.name),
                  place_of(of, d.where), hint_for(data.scalars, d.name));
    m_scalars[k] = found->second;
  }
  for (const auto& [to, from] : of.symbolic_bounds) m_ints[to] = m_ints[from];
  for (const auto& [kind, lengths] : data.segments)
    if (kind != index_kind::simple && kind != index_kind::sub) m_lengths[static_cast<std::size_t>(kind)] = lengths;

  m_pieces.resize(of.indices.size());
  for (symbol k = 0; k < of.indices.size(); ++k) {
    const index_declaration& d = of.indices[k];
    if (d.kind == index_kind::simple) continue;
    if (d.kind == index_kind::sub) {
      const std::vector<std::int64_t>* whole = lengths_of(of.indices[d.parent].kind);
      for (std::int64_t s = 0; whole != nullptr && s < static_cast<std::int64_t>(whole->size()); ++s)
        for (std::int64_t p = 0; p < pieces_of_a_segment; ++p) {
          const std::int64_t n = (*whole)[static_cast<std::size_t>(s)];
          m_pieces[k].push_back(n / pieces_of_a_segment + (p < n % pieces_of_a_segment ? 1 : 0));
        }
      continue;
    }
    const std::int64_t low = m_ints[of.ranges[k].low], high = m_ints[of.ranges[k].high];
    const auto segments = static_cast<std::int64_t>(m_lengths[static_cast<std::size_t>(d.kind)].size());
    const std::string_view table = segment_table_name(d.kind);
    if (low < 1 || low > high)
      throw error(error_kind::input, fmt::format("index '{}' has the range {}:{}", d.name, low, high),
                  place_of(of, d.where), "segments count from 1, and there must be one");
    if (segments == 0)
      throw error(
          error_kind::input,
          fmt::format("index '{}' needs a table of {} segments, and the initialization data have none", d.name, table),
          place_of(of, d.where));
    if (high > segments)
      throw error(error_kind::input,
                  fmt::format("index '{}' has the range {}:{}, but there are {} {} segments", d.name, low, high,
                              segments, table),
                  place_of(of, d.where));
  }

  for (const array_declaration& d : of.arrays) {
    array_geometry a;
    a.name = d.name;
    a.kind = d.kind;
    a.rank = d.indices.size();
    for (std::size_t k = 0; k < a.rank; ++k) {
      a.dims[k] = dimension_of(of, d.indices[k]);
      a.stride[k] = a.blocks;
      if (__builtin_mul_overflow(a.blocks, std::max<std::int64_t>(a.dims[k].segments(), 0), &a.blocks))
        throw error(error_kind::input, fmt::format("array '{}' has more than 2^63 blocks", d.name),
                    place_of(of, d.where));
    }
    m_arrays.push_back(std::move(a));
  }
}

const std::vector<std::int64_t>* geometry::lengths_of(index_kind kind) const {
  return kind == index_kind::simple || kind == index_kind::sub ? nullptr : &m_lengths[static_cast<std::size_t>(kind)];
}

dimension geometry::dimension_of(const code& of, symbol index) const {
  const index_declaration& d = of.indices[index];
  if (d.kind != index_kind::sub)
    return {d.kind, m_ints[of.ranges[index].low], m_ints[of.ranges[index].high], lengths_of(d.kind)};
  const index_declaration& parent = of.indices[d.parent];
  const std::int64_t low = m_ints[of.ranges[d.parent].low], high = m_ints[of.ranges[d.parent].high];
  return {index_kind::sub, (low - 1) * pieces_of_a_segment + 1, high * pieces_of_a_segment,
          parent.kind == index_kind::simple ? nullptr : &m_pieces[index]};
}

}  // namespace tessera::sial
