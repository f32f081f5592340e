// From block references to memory.
#include <fmt/format.h>

#include <chrono>

#include "apps/sial/interpreter/worker.hpp"

namespace tessera::sial {

double* worker::scratch(std::size_t slot, std::int64_t count) {
  std::vector<double>& memory = m_scratch[slot];
  if (static_cast<std::int64_t>(memory.size()) < count) memory.resize(static_cast<std::size_t>(count));
  return memory.data();
}

worker::tile worker::read(std::uint32_t reference_number, std::size_t slot) {
  const reference& r = m_code.references[reference_number];
  segments at{};
  const std::int64_t ordinal = ordinal_of(r, at);
  const array_geometry& a = m_run.sizes.array(r.array);
  switch (a.kind) {
    case array_kind::temp:
    case array_kind::local: {
      private_block* const b = m_private.find(r, ordinal);
      if (b == nullptr)
        throw run_error(fmt::format("block {} is read and does not exist", name_of(r)),
                        a.kind == array_kind::temp
                            ? "a temp block lives until the end of the iteration that first wrote it"
                            : "allocate or write it first");
      if (b->data == nullptr) m_pool.bring(*b, intent::read);
      return {b->data, &b->extents(), b->count};
    }
    case array_kind::fixed: {
      const box part = m_statics.part_of(r.array, at);
      m_scratch_extents[slot] = a.extents_of(at.data());
      const std::int64_t count = m_scratch_extents[slot].count();
      double* const data = scratch(slot, count);
      gather(data, m_statics.values(r.array).data(), part);
      return {data, &m_scratch_extents[slot], count};
    }
    case array_kind::distributed:
    case array_kind::served:
      return fetched_tile(r, ordinal);
    case array_kind::contiguous_local:
      break;
  }
  throw run_error(fmt::format("'{}' is a contiguous local array: it has regions, no blocks", a.name));
}

worker::target worker::write(std::uint32_t reference_number, bool update, std::size_t slot) {
  const reference& r = m_code.references[reference_number];
  segments at{};
  const std::int64_t ordinal = ordinal_of(r, at);
  const array_geometry& a = m_run.sizes.array(r.array);
  target to;
  if (a.kind == array_kind::temp || a.kind == array_kind::local) {
    private_block* b = m_private.find(r, ordinal);
    if (b == nullptr) {
      if (update)
        throw run_error(fmt::format("block {} is changed and does not exist", name_of(r)),
                        "give it a value with = first");
      b = &m_private.make(r.array, at, ordinal);
    }
    if (!b->held) m_pool.bring(*b, update ? intent::update : intent::write);
    to.data = b->data;
    to.extents = &b->extents();
    to.count = b->count;
    return to;
  }
  if (a.kind != array_kind::fixed)
    throw run_error(fmt::format("block {} cannot be assigned to", name_of(r)), "put or prepare it");
  to.part = m_statics.part_of(r.array, at);
  to.whole = m_statics.values(r.array).data();
  m_scratch_extents[slot] = a.extents_of(at.data());
  to.extents = &m_scratch_extents[slot];
  to.count = to.extents->count();
  to.data = scratch(slot, to.count);
  if (update) gather(to.data, to.whole, to.part);
  return to;
}

void worker::put_back(const target& t) {
  if (t.whole != nullptr) scatter(t.whole, t.data, t.part);
}

void worker::shared_view::clear() {
  last = nullptr;
  here.clear();
  all.clear();
}

worker::tile worker::fetched_tile(const reference& r, std::int64_t ordinal) {
  shared_view& mine = m_shared[r.array];
  fetched* const found = mine.find(ordinal);
  if (found == nullptr)
    throw run_error(fmt::format("block {} is read and was not fetched since the last barrier", name_of(r)),
                    m_run.sizes.array(r.array).kind == array_kind::served ? "request it first" : "get it first");
  fetched& f = *found;
  if (m_run.has_other_memories) f.used = m_statement;
  if (f.copy != nullptr) {
    if (f.copy->data == nullptr) m_pool.bring(*f.copy, intent::read);
    return {f.copy->data, &f.copy->extents(), f.copy->count};
  }
  if (f.data == nullptr) {
    ++m_counters.first_reads;
    if (m_run.has_other_memories) {
      view_among_others(r, f);
    } else {
      ++m_counters.ready_reads;
      f.view.emplace(mine.generation->group().read_host(f.from->elements));
    }
    f.data = f.view->data();
    if (m_run.blocks_stay) f.view.reset();  // nobody writes to it before the next barrier, and then it is fetched again
    f.extents = &f.from->elements.extents();
    f.count = f.extents->count();
  }
  return {const_cast<double*>(f.data), f.extents, f.count};
}

void worker::view_among_others(const reference& r, fetched& f) {
  std::size_t kept = 0;  // views that this statement has in its hands
  while (kept < m_views.size() &&
         (m_views.size() >= m_run.settings.held_blocks || m_view_bytes + f.bytes > m_run.settings.held_bytes)) {
    const auto oldest = m_views.front();
    m_views.pop_front();
    if (oldest.second->used == m_statement) {
      m_views.push_back(oldest);
      ++kept;
    } else {
      let_go_of(*oldest.second);
    }
  }
  block_group<double>& group = m_shared[r.array].generation->group();
  if (group.spaces_of(f.from->elements).meets(m_run.host_spaces)) ++m_counters.ready_reads;
  const auto began = std::chrono::steady_clock::now();
  f.view.emplace(group.read_host(f.from->elements));
  const auto nanoseconds =
      static_cast<std::uint64_t>((std::chrono::steady_clock::now() - began) / std::chrono::nanoseconds(1));
  m_waited += nanoseconds;
  m_counters.of(m_run.sizes.array(r.array).kind == array_kind::served ? exchange::request : exchange::get).waited +=
      nanoseconds;
  m_view_bytes += f.bytes;
  m_views.emplace_back(r.array, &f);
}

void worker::let_go_of(fetched& f) {
  if (!f.view) return;
  f.view.reset();
  if (f.copy == nullptr) f.data = nullptr;
  if (m_run.has_other_memories) m_view_bytes -= f.bytes;
}

void worker::let_go_of_views() {
  m_views.clear();
  m_view_bytes = 0;
  for (shared_view& s : m_shared) {
    for (fetched& f : s.all)
      if (f.copy != nullptr) m_pool.give(*f.copy);
    s.clear();
  }
}

}  // namespace tessera::sial
