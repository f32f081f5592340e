#include "libraries/sparse/program/kept_values.hpp"

#include <algorithm>

namespace tessera::sparse {

kept_values::kept_values(program_state& p, std::span<const small_matrix> watched, std::size_t iterations)
    : m_copies(iterations) {
  for (const small_matrix& m : watched) m_watched.push_back(m.data().shared_from_this());
  for (auto& place : m_copies) {
    for (const auto& m : m_watched) place.push_back(p.make_small(m->name + ", kept", m->rows, m->columns));
    operation keep{.kind = operation_kind::small,
                   .name = "keep",
                   .from = {},
                   .to = {},
                   .small_from = m_watched,
                   .small_to = place,
                   .matrix = nullptr,
                   .diagonal = nullptr,
                   .factor = 0,
                   .function = [](std::span<const small_view> from, std::span<const small_view> to) {
                     for (std::size_t k = 0; k < from.size(); ++k)
                       std::copy_n(from[k].data, from[k].rows * from[k].columns, to[k].data);
                   }};
    m_graphs.push_back(m_watched.empty() ? nullptr : p.make_graph({std::move(keep)}));
  }
}

void kept_values::keep(int iteration) {
  if (const auto& graph = m_graphs[place_of(iteration)]) graph->submit();
}

const small_data* kept_values::of(const small_data& watched) const noexcept {
  const auto at = std::ranges::find(m_watched, &watched, &std::shared_ptr<small_data>::get);
  return at == m_watched.end() ? nullptr : m_copies[m_shown][static_cast<std::size_t>(at - m_watched.begin())].get();
}

}  // namespace tessera::sparse
