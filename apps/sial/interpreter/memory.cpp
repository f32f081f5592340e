// Statements on regions of contiguous local arrays.
#include <fmt/format.h>

#include "apps/sial/interpreter/worker.hpp"

namespace tessera::sial {

void worker::region_fill(const region_operation& o, double value) {
  const contiguous_arrays::part to = m_contiguous.find(m_code.regions[o.region], m_state.values);
  scatter_value(to.whole->data.data(), value, to.where);
}

void worker::region_from_block(const region_operation& o) {
  const tile from = m_operands.read(o.block, 0);
  const region& r = m_code.regions[o.region];
  const contiguous_arrays::part to = m_contiguous.find(r, m_state.values);
  if (to.count != from.count)
    throw run_error(
        fmt::format("{} has {} elements, and the block {}", m_state.values.name_of(r), to.count, from.count));
  scatter(to.whole->data.data(), from.data, to.where);
}

void worker::block_from_region(const region_operation& o) {
  const region& r = m_code.regions[o.region];
  const contiguous_arrays::part from = m_contiguous.find(r, m_state.values);
  const target_tile to = m_operands.write(o.block, false, block_operands::target_slot);
  if (from.count != to.count)
    throw run_error(
        fmt::format("{} has {} elements, and the block {}", m_state.values.name_of(r), from.count, to.count));
  gather(to.data, from.whole->data.data(), from.where);
  m_operands.write_back(to);
}

}  // namespace tessera::sial
