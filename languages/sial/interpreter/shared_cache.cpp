#include "languages/sial/interpreter/shared_cache.hpp"

#include <chrono>

namespace tessera::sial {

shared_cache::shared_cache(worker_state& state, const array_generations& arrays, block_pool& pool)
    : m_state(state), m_generations(arrays), m_pool(pool), m_arrays(arrays.size()) {}

fetched_block& shared_cache::add(std::uint32_t array, std::int64_t ordinal, shared_block& from) {
  of_array& mine = m_arrays[array];
  fetched_block& f = mine.all.emplace_back();
  mine.here.add(ordinal, f);
  mine.last = &f;
  f.ordinal = ordinal;
  f.from = &from;
  f.bytes = from.elements.bytes();
  return f;
}

tile shared_cache::read(std::uint32_t array, fetched_block& f) {
  if (m_state.run.has_other_memories) f.used = m_state.statement;
  if (f.copy != nullptr) {
    if (f.copy->data == nullptr) m_pool.bring(*f.copy, intent::read);
    return {f.copy->data, &f.copy->extents(), f.copy->count};
  }
  if (f.data == nullptr) view_first(array, f);
  return {const_cast<double*>(f.data), f.extents, f.count};
}

void shared_cache::view_first(std::uint32_t array, fetched_block& f) {
  ++m_state.counters.first_reads;
  if (m_state.run.has_other_memories) {
    view_among_others(array, f);
  } else {
    ++m_state.counters.ready_reads;
    f.view.emplace(f.from->elements.read());
  }
  f.data = f.view->data();
  if (m_state.run.blocks_stay)
    f.view.reset();  // no worker writes to it before the next barrier, and then it is fetched
  f.extents = &f.from->elements.stored_extents();
  f.count = f.extents->count();
}

void shared_cache::view_among_others(std::uint32_t array, fetched_block& f) {
  make_room(f);
  element_block_group& group = m_generations[array]->group();
  if (group.spaces_of(f.from->elements).meets(m_state.run.host_spaces)) ++m_state.counters.ready_reads;
  const auto began = std::chrono::steady_clock::now();
  f.view.emplace(f.from->elements.read());
  m_state.counters.of(m_state.array(array).kind == array_kind::served ? exchange_kind::request : exchange_kind::get)
      .waited += nanoseconds_since(began);
  m_view_bytes += f.bytes;
  m_views.emplace_back(array, &f);
}

void shared_cache::make_room(const fetched_block& f) {
  const run_settings& settings = m_state.run.settings;
  std::size_t kept = 0;  // views that this statement has in its hands
  while (kept < m_views.size() &&
         (m_views.size() >= settings.held_blocks || m_view_bytes + f.bytes > settings.held_bytes)) {
    const auto oldest = m_views.front();
    m_views.pop_front();
    if (oldest.second->used == m_state.statement) {
      m_views.push_back(oldest);
      ++kept;
    } else {
      let_go_of(*oldest.second);
    }
  }
}

void shared_cache::let_go_of(fetched_block& f) {
  if (!f.view) return;
  f.view.reset();
  if (f.copy == nullptr) f.data = nullptr;
  if (m_state.run.has_other_memories) m_view_bytes -= f.bytes;
}

std::optional<shared_cache::moved> shared_cache::keep_copy(std::uint32_t array, std::int64_t ordinal) {
  fetched_block* const found = find(array, ordinal);
  if (found == nullptr || found->copy != nullptr) return std::nullopt;
  const tile old = read(array, *found);
  private_block& copied = m_pool.take(*old.extents);
  copy(copied.data, old.data, old.count);
  found->copy = &copied;
  found->data = copied.data;
  let_go_of(*found);
  return moved{old.data, copied.data};
}

void shared_cache::empty(of_array& mine) {
  for (fetched_block& f : mine.all)
    if (f.copy != nullptr) m_pool.give(*f.copy);
  mine.last = nullptr;
  mine.here.clear();
  mine.all.clear();
}

void shared_cache::clear() {
  m_views.clear();
  m_view_bytes = 0;
  for (of_array& mine : m_arrays) empty(mine);
}

void shared_cache::clear(std::uint32_t array) {
  std::erase_if(m_views, [array](const auto& view) { return view.first == array; });
  for (fetched_block& f : m_arrays[array].all) let_go_of(f);
  empty(m_arrays[array]);
}

}  // namespace tessera::sial
