#include "libraries/sparse/program/device_data.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/base/error.hpp"

namespace tessera::sparse {
namespace {

/// Memory that tasks only read.
std::unique_ptr<tiled_memory> adopted(runtime& rt, const std::string& name, element_type type, const void* memory,
                                      std::shared_ptr<const void> owner, std::span<const std::int64_t> ends) {
  auto made = std::make_unique<tiled_memory>(rt, name, type, const_cast<void*>(memory), std::move(owner), ends.back(),
                                             1, std::source_location::current());
  made->cut({0, ends}, std::source_location::current());
  return made;
}

}  // namespace

matrix_blocks::matrix_blocks(runtime& rt, const csr_matrix& a, const row_panels& panels)
    : m_matrix(a), m_panels(panels) {
  auto starts = std::make_shared<std::vector<std::int32_t>>(static_cast<std::size_t>(a.rows));
  std::vector<std::int64_t> ends;  // of the panels that have entries
  for (std::int64_t p = 0; p < panels.count(); ++p) {
    const std::int64_t first = a.row_starts[static_cast<std::size_t>(panels.begin(p))],
                       end = a.row_starts[static_cast<std::size_t>(panels.end(p))];
    if (end - first > std::numeric_limits<std::int32_t>::max())
      throw error(error_kind::usage,
                  fmt::format("rows {} to {} have {} entries", panels.begin(p), panels.end(p) - 1, end - first), a.name,
                  "devices take 2^31 - 1 entries of a panel: use smaller panels");
    for (std::int64_t row = panels.begin(p); row < panels.end(p); ++row)
      (*starts)[static_cast<std::size_t>(row)] =
          static_cast<std::int32_t>(a.row_starts[static_cast<std::size_t>(row)] - first);
    m_tile.push_back(end > first ? std::ssize(ends) : -1);
    if (end > first) ends.push_back(end);
  }
  m_starts = adopted(rt, a.name + ", rows", element_type::i32, starts->data(), starts, panels.ends);
  if (ends.empty()) return;
  m_columns = adopted(rt, a.name + ", columns", element_type::i32, a.entry_columns.data(), nullptr, ends);
  m_values = adopted(rt, a.name + ", values", element_type::f64, a.values.data(), nullptr, ends);
}

matrix_blocks::panel matrix_blocks::of(std::size_t number) const {
  panel made{access(*m_starts, number, intent::read), {}, 0};
  if (m_tile[number] < 0) return made;
  const auto tile = static_cast<std::size_t>(m_tile[number]);
  made.entries = {access(*m_columns, tile, intent::read), access(*m_values, tile, intent::read)};
  const auto p = static_cast<std::int64_t>(number);
  made.count = m_matrix.row_starts[static_cast<std::size_t>(m_panels.end(p))] -
               m_matrix.row_starts[static_cast<std::size_t>(m_panels.begin(p))];
  return made;
}

const matrix_blocks& device_data::of(const csr_matrix& a) {
  return m_matrices.try_emplace(&a, m_runtime, a, m_panels).first->second;
}

const tiled_memory& device_data::of(const double* diagonal) {
  std::unique_ptr<tiled_memory>& known = m_diagonals[diagonal];
  if (known == nullptr) known = adopted(m_runtime, "diagonal", element_type::f64, diagonal, nullptr, m_panels.ends);
  return *known;
}

}  // namespace tessera::sparse
