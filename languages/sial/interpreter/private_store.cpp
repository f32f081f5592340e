#include "languages/sial/interpreter/private_store.hpp"

#include <fmt/format.h>

#include "languages/sial/exchange/failure.hpp"
#include "languages/sial/interpreter/elementwise.hpp"

namespace tessera::sial {

private_store::private_store(const code& program, const geometry& sizes, block_pool& pool)
    : m_program(program),
      m_sizes(sizes),
      m_pool(pool),
      m_blocks(sizes.arrays()),
      m_recent(program.references.size(), nullptr) {}

private_block& private_store::make(std::uint32_t array, const segment_numbers& at, std::int64_t ordinal,
                                   bool for_task) {
  const array_geometry& a = m_sizes.array(array);
  const shape extents = a.extents_of(at.data());
  private_block& b = for_task ? m_pool.take_for_task(extents) : m_pool.take(extents);
  b.array = array;
  b.ordinal = ordinal;
  m_blocks[array].add(ordinal, b);
  if (a.kind == array_kind::temp) m_temps.push_back(&b);
  return b;
}

void private_store::drop_temps(std::size_t down_to) {
  while (m_temps.size() > down_to) {
    private_block& b = *m_temps.back();
    m_temps.pop_back();
    m_blocks[b.array].remove(b.ordinal);
    m_pool.give(b);
  }
}

template <class Function>
void private_store::for_each_of(const allocation& a, const registers& values, Function&& function) {
  const array_geometry& g = m_sizes.array(a.array);
  segment_numbers low{}, high{};
  for (std::size_t d = 0; d < g.rank; ++d) {
    const bool all = a.at.empty() || a.at[d] == nothing;
    low[d] = all ? g.dims[d].low : values.integer(a.at[d]);
    high[d] = all ? g.dims[d].high : low[d];
    for (const std::int64_t end : {low[d], high[d]})
      if (end < g.dims[d].low || end > g.dims[d].high)
        throw run_error(fmt::format("segment {} is outside of dimension {} of '{}', which has {}:{}", end, d + 1,
                                    g.name, g.dims[d].low, g.dims[d].high));
  }
  for (segment_numbers at = low;;) {
    std::int64_t ordinal = 0;
    for (std::size_t d = 0; d < g.rank; ++d) ordinal += (at[d] - g.dims[d].low) * g.stride[d];
    function(at, ordinal, m_blocks[a.array].find(ordinal));
    std::size_t d = 0;
    while (d < g.rank && ++at[d] > high[d]) {
      at[d] = low[d];
      ++d;
    }
    if (d == g.rank) return;
  }
}

void private_store::allocate(const allocation& a, const registers& values) {
  for_each_of(a, values, [&](const segment_numbers& at, std::int64_t ordinal, const private_block* there) {
    if (there != nullptr)
      throw run_error(fmt::format("block {} is allocated and exists already", m_sizes.array(a.array).name_of(ordinal)));
    private_block& b = make(a.array, at, ordinal);
    fill(b.data, b.count, 0);
  });
}

void private_store::release(const allocation& a, const registers& values) {
  ordinal_map<private_block>& mine = m_blocks[a.array];
  if (a.at.empty()) {
    mine.for_each([&](std::int64_t, private_block& b) { m_pool.give(b); });
    mine.clear();
    return;
  }
  for_each_of(a, values, [&](const segment_numbers&, std::int64_t ordinal, private_block* there) {
    if (there == nullptr)
      throw run_error(
          fmt::format("block {} is deallocated and does not exist", m_sizes.array(a.array).name_of(ordinal)));
    m_pool.give(*there);
    mine.remove(ordinal);
  });
}

}  // namespace tessera::sial
