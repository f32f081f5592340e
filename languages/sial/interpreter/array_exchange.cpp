#include "languages/sial/interpreter/array_exchange.hpp"

#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <utility>

#include "languages/sial/exchange/failure.hpp"

namespace tessera::sial {
namespace {

const char* word_for(block_use how) {
  return how == block_use::get ? "reads" : how == block_use::replace ? "replaces" : "adds to";
}

/// What hold() gives; the time that it takes is counted where blocks may be elsewhere.
template <class Function>
auto held_by(Function&& hold, bool is_counted, exchange_counters& count) {
  if (!is_counted) return hold();
  const auto began = std::chrono::steady_clock::now();
  auto held = hold();
  count.waited += nanoseconds_since(began);
  return held;
}

}  // namespace

array_exchange::array_exchange(worker_state& state, const parts& uses)
    : m_state(state),
      m_code(state.run.program),
      m_generations(uses.generations),
      m_operands(uses.operands),
      m_cache(uses.cache),
      m_prefetcher(uses.prefetch),
      m_collectives(uses.group),
      m_offload(uses.offload),
      m_deterministic(state.run.workers.deterministic()),
      m_sums(uses.generations, uses.pool) {}

exchange_counters& array_exchange::counters_of(std::uint32_t array, exchange_kind distributed,
                                               exchange_kind served) noexcept {
  return m_state.counters.of(m_state.array(array).kind == array_kind::served ? served : distributed);
}

void array_exchange::note(shared_block& b, block_use how, const reference& r) {
  if (!m_state.run.settings.check_races) return;
  const auto found = note_use(b, m_state.run.section.load(std::memory_order_relaxed), how,
                              static_cast<std::int32_t>(m_state.number), m_state.site);
  if (!found) return;
  const std::string other =
      found->worker == shared_block::several ? "other workers" : fmt::format("worker {}", found->worker);
  throw run_error(
      fmt::format("worker {} {} block {}, which {} {} at {}, and no barrier is between", m_state.number, word_for(how),
                  m_state.values.name_of(r), other, word_for(found->earlier), where_of(m_code, found->site)),
      "a sip_barrier between the two orders them");
}

void array_exchange::fetch(const reference& r) {
  segment_numbers at{};
  const std::int64_t ordinal = m_state.values.ordinal_of(r, at);
  exchange_counters& count = counters_of(r.array, exchange_kind::get, exchange_kind::request);
  ++count.number;
  if (const fetched_block* const found = m_cache.find(r.array, ordinal)) {  // as it was, until the next barrier
    ++count.saved;
    count.bytes += found->bytes;
    return;
  }
  if (m_deterministic) m_sums.hand_over(r.array, ordinal);
  array_generation& generation = *m_generations[r.array];
  shared_block* const b = generation.find(ordinal);
  if (b == nullptr)
    throw run_error(fmt::format("block {} is fetched and was never written", m_state.values.name_of(r)));
  {
    shared_block& place = generation.place_of(ordinal, *b);
    const std::lock_guard guard(place.lock);
    note(place, block_use::get, r);
  }
  count.bytes += m_cache.add(r.array, ordinal, *b).bytes;
  m_prefetcher.ask_for(*b, generation);
}

tile array_exchange::source_of(const store& s, const destination& to) {
  const tile from = m_operands.read(s.from, 0);
  if (from.count != to.extents.count())
    throw run_error(fmt::format("block {} has {} elements, and {} has {}",
                                m_state.values.name_of(m_code.references[s.from]), from.count,
                                m_state.values.name_of(to.at), to.extents.count()));
  return from;
}

void array_exchange::settle_sum(const store& s, const destination& to) {
  if (s.assignment == assign::multiply) m_sums.hand_over(to.at.array, to.ordinal);
  if (s.assignment == assign::set) m_sums.drop(to.at.array, to.ordinal);
}

void array_exchange::store_to(const store& s, double value) {
  const reference& r = m_code.references[s.to];
  segment_numbers at{};
  const std::int64_t ordinal = m_state.values.ordinal_of(r, at);
  const destination to{r, ordinal, m_state.array(r.array).extents_of(at.data()),
                       counters_of(r.array, exchange_kind::put, exchange_kind::prepare)};
  ++to.count.number;
  to.count.bytes += static_cast<std::uint64_t>(to.extents.count()) * sizeof(double);

  private_block* const made = m_offload != nullptr ? m_offload->result_with_task(s, to.extents) : nullptr;
  tile from;
  if (s.from != nothing && made == nullptr) from = source_of(s, to);
  const auto moved = m_cache.keep_copy(r.array, ordinal);
  if (moved && from.data == moved->from) from.data = moved->to;
  if (m_deterministic) settle_sum(s, to);

  array_generation& generation = *m_generations[r.array];
  const store_kind how = s.assignment == assign::set   ? store_kind::replace
                         : s.assignment == assign::add ? store_kind::add
                                                       : store_kind::multiply;
  shared_block& b = generation.begin_store(ordinal, to.extents, how);
  const std::lock_guard guard(b.lock);
  note(b, how == store_kind::add ? block_use::accumulate : block_use::replace, r);
  if (made != nullptr) {
    if (generation.is_here() && m_offload->submit_store(s, *made, b)) return;
    from = m_operands.read(s.from, 0);
  }
  if (how == store_kind::add && m_deterministic) {
    m_sums.add(r.array, ordinal, to.extents, from, value);
    return;
  }
  write(s, b, from, value, to);
  generation.end_store(ordinal, b, how, value);
}

void array_exchange::write(const store& s, shared_block& b, const tile& from, double value, const destination& to) {
  const bool is_counted = m_state.run.has_other_memories;
  if (s.assignment == assign::set || !b.written) {
    auto all = held_by([&] { return b.elements.write(); }, is_counted, to.count);
    if (s.assignment == assign::multiply)
      fill(all.data(), all.size(), 0);
    else if (from.data == nullptr)
      fill(all.data(), all.size(), value);
    else
      copy(all.data(), from.data, all.size());
    b.written = true;
    return;
  }
  auto all = held_by([&] { return b.elements.update(); }, is_counted, to.count);
  if (s.assignment == assign::multiply)
    multiply(all.data(), all.size(), value);
  else if (from.data == nullptr)
    add_value(all.data(), all.size(), value);
  else
    add_scaled(all.data(), from.data, all.size(), 1);
}

void array_exchange::forget(std::uint32_t array) {
  m_cache.clear(array);
  m_sums.drop_all(array);
}

void array_exchange::remove(std::uint32_t array) {
  forget(array);
  m_generations[array] = m_generations[array]->next();  // the blocks go when the last worker has come here
}

void array_exchange::replace(std::uint32_t array, std::shared_ptr<array_generation> by) {
  forget(array);
  m_generations[array] = std::move(by);
}

void array_exchange::finish_section() {
  m_cache.clear();
  if (!m_deterministic) return;
  for (unsigned w = 0; w < m_state.run.workers.size(); ++w) {  // one worker after another
    if (w == m_state.number) m_sums.hand_over_all();
    m_collectives.barrier();
  }
}

}  // namespace tessera::sial
