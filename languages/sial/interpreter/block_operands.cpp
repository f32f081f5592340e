#include "languages/sial/interpreter/block_operands.hpp"

#include <fmt/format.h>

#include "languages/sial/exchange/failure.hpp"

namespace tessera::sial {

block_operands::block_operands(worker_state& state, block_pool& pool, private_store& blocks, static_arrays& statics,
                               shared_cache& cache)
    : m_state(state), m_code(state.run.program), m_pool(pool), m_private(blocks), m_statics(statics), m_cache(cache) {}

double* block_operands::scratch(std::size_t slot, std::int64_t count) {
  std::vector<double>& memory = m_scratch[slot];
  if (static_cast<std::int64_t>(memory.size()) < count) memory.resize(static_cast<std::size_t>(count));
  return memory.data();
}

inline tile block_operands::read_private(const reference& r, std::int64_t ordinal) {
  private_block* const b = m_private.find(r, ordinal);
  if (b == nullptr)
    throw run_error(fmt::format("block {} is read and does not exist", m_state.values.name_of(r)),
                    m_state.array(r.array).kind == array_kind::temp
                        ? "a temp block lives until the end of the iteration that first wrote it"
                        : "allocate or write it first");
  if (b->data == nullptr) m_pool.bring(*b, intent::read);
  return {b->data, &b->extents(), b->count};
}

tile block_operands::read_static(const reference& r, const segment_numbers& at, std::size_t slot) {
  m_scratch_extents[slot] = m_state.array(r.array).extents_of(at.data());
  const std::int64_t count = m_scratch_extents[slot].count();
  double* const data = scratch(slot, count);
  gather(data, m_statics.values(r.array).data(), m_statics.part_of(r.array, at));
  return {data, &m_scratch_extents[slot], count};
}

inline tile block_operands::read_fetched(const reference& r, std::int64_t ordinal) {
  fetched_block* const found = m_cache.find(r.array, ordinal);
  if (found == nullptr)
    throw run_error(
        fmt::format("block {} is read and was not fetched since the last barrier", m_state.values.name_of(r)),
        m_state.array(r.array).kind == array_kind::served ? "request it first" : "get it first");
  return m_cache.read(r.array, *found);
}

tile block_operands::read(std::uint32_t reference_number, std::size_t slot) {
  const reference& r = m_code.references[reference_number];
  segment_numbers at{};
  const std::int64_t ordinal = m_state.values.ordinal_of(r, at);
  const array_geometry& a = m_state.array(r.array);
  switch (a.kind) {
    case array_kind::temp:
    case array_kind::local:
      return read_private(r, ordinal);
    case array_kind::fixed:
      return read_static(r, at, slot);
    case array_kind::distributed:
    case array_kind::served:
      return read_fetched(r, ordinal);
    case array_kind::contiguous_local:
      break;
  }
  throw run_error(fmt::format("'{}' is a contiguous local array: it has regions, no blocks", a.name));
}

target_tile block_operands::write_own_copy(const reference& r, const segment_numbers& at, std::int64_t ordinal,
                                           bool update, std::size_t slot) {
  target_tile to;
  fetched_block* const found = m_cache.find(r.array, ordinal);
  if (found != nullptr && found->copy != nullptr) {
    if (found->copy->data == nullptr) m_pool.bring(*found->copy, update ? intent::update : intent::write);
    to.data = found->copy->data;
    to.extents = &found->copy->extents();
    to.count = found->copy->count;
    return to;
  }
  const array_geometry& a = m_state.array(r.array);
  if (update)
    throw run_error(
        fmt::format("block {} is changed and was not fetched since the last barrier", m_state.values.name_of(r)),
        a.kind == array_kind::served ? "request it first" : "get it first");
  m_scratch_extents[slot] = a.extents_of(at.data());
  to.extents = &m_scratch_extents[slot];
  to.count = to.extents->count();
  to.data = scratch(slot, to.count);
  return to;
}

target_tile block_operands::write(std::uint32_t reference_number, bool update, std::size_t slot) {
  const reference& r = m_code.references[reference_number];
  segment_numbers at{};
  const std::int64_t ordinal = m_state.values.ordinal_of(r, at);
  const array_geometry& a = m_state.array(r.array);
  target_tile to;
  if (a.kind == array_kind::temp || a.kind == array_kind::local) {
    private_block* b = m_private.find(r, ordinal);
    if (b == nullptr) {
      if (update)
        throw run_error(fmt::format("block {} is changed and does not exist", m_state.values.name_of(r)),
                        "give it a value with = first");
      b = &m_private.make(r.array, at, ordinal);
    }
    if (!b->held) m_pool.bring(*b, update ? intent::update : intent::write);
    to.data = b->data;
    to.extents = &b->extents();
    to.count = b->count;
    return to;
  }
  if (a.kind == array_kind::distributed || a.kind == array_kind::served)
    return write_own_copy(r, at, ordinal, update, slot);
  if (a.kind != array_kind::fixed)
    throw run_error(fmt::format("block {} cannot be assigned to", m_state.values.name_of(r)), "put or prepare it");
  to.part = m_statics.part_of(r.array, at);
  to.whole = m_statics.values(r.array).data();
  m_scratch_extents[slot] = a.extents_of(at.data());
  to.extents = &m_scratch_extents[slot];
  to.count = to.extents->count();
  to.data = scratch(slot, to.count);
  if (update) gather(to.data, to.whole, to.part);
  return to;
}

}  // namespace tessera::sial
