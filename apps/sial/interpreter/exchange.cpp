// What workers do with each other: shared arrays, barriers, sums, and what goes to the next program.
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "apps/sial/interpreter/worker.hpp"

namespace tessera::sial {

void worker::note(shared_block& b, block_use how, const reference& r) {
  if (!m_run.settings.check_races) return;
  const auto found =
      note_use(b, m_run.section.load(std::memory_order_relaxed), how, static_cast<std::int32_t>(m_number), m_site);
  if (!found) return;
  const auto word = [](block_use u) {
    return u == block_use::get ? "reads" : u == block_use::replace ? "replaces" : "adds to";
  };
  const std::string other = found->by == shared_block::several ? "other workers" : fmt::format("worker {}", found->by);
  throw run_error(
      fmt::format("worker {} {} block {}, which {} {} at {}, and no barrier is between", m_number, word(how),
                  m_state.values.name_of(r), other, word(found->earlier), where_of(m_code, found->site)),
      "a sip_barrier between the two orders them");
}

void worker::fetch(const reference& r) {
  segment_numbers at{};
  const std::int64_t ordinal = m_state.values.ordinal_of(r, at);
  own_sums& sums = m_sums[r.array];
  array_generation& generation = *m_generations[r.array];
  exchange_counters& count =
      m_counters.of(m_run.sizes.array(r.array).kind == array_kind::served ? exchange::request : exchange::get);
  ++count.number;
  if (const fetched_block* const found =
          m_fetched.find(r.array, ordinal)) {  // it stays as it was fetched until the next barrier
    ++count.saved;
    count.bytes += found->bytes;
    return;
  }
  if (const auto sum = sums.find(ordinal); sum != sums.end()) hand_over_sum(r.array, sum);
  shared_block* const b = generation.find(ordinal);
  if (b == nullptr)
    throw run_error(fmt::format("block {} is fetched and was never written", m_state.values.name_of(r)));
  {
    shared_block& place = generation.place_of(ordinal, *b);
    const std::lock_guard guard(place.lock);
    note(place, block_use::get, r);
  }
  count.bytes += m_fetched.add(r.array, ordinal, *b).bytes;
  if (m_run.has_other_memories) ask_for(*b, generation);
}

template <class Function>
auto worker::waiting(exchange_counters& count, Function&& hold) {
  if (!m_run.has_other_memories) return hold();
  const auto began = std::chrono::steady_clock::now();
  auto held = hold();
  count.waited += nanoseconds_since(began);
  return held;
}

void worker::store_to(const store& s, double value) {
  const reference& r = m_code.references[s.to];
  segment_numbers at{};
  const std::int64_t ordinal = m_state.values.ordinal_of(r, at);
  const shape extents = m_state.array(r.array).extents_of(at.data());
  own_sums& sums = m_sums[r.array];
  array_generation& generation = *m_generations[r.array];
  exchange_counters& count =
      m_counters.of(m_run.sizes.array(r.array).kind == array_kind::served ? exchange::prepare : exchange::put);
  ++count.number;
  count.bytes += static_cast<std::uint64_t>(extents.count()) * sizeof(double);

  tile from;
  private_block* const made = m_placement != nullptr ? result_with_task(s, extents) : nullptr;
  if (s.from != nothing && made == nullptr) {
    from = m_operands.read(s.from, 0);
    if (from.count != extents.count())
      throw run_error(fmt::format("block {} has {} elements, and {} has {}",
                                  m_state.values.name_of(m_code.references[s.from]), from.count,
                                  m_state.values.name_of(r), extents.count()));
  }
  // A copy in the hands of this worker stays as it was.
  if (const auto moved = m_fetched.keep_copy(r.array, ordinal); moved && from.data == moved->from)
    from.data = moved->to;

  if (m_run.workers.deterministic()) {
    const auto sum = sums.find(ordinal);
    if (s.how == assign::multiply && sum != sums.end()) hand_over_sum(r.array, sum);
    if (s.how == assign::set && sum != sums.end()) {
      m_pool.give(*sum->second);
      sums.erase(sum);
    }
  }
  shared_block& b = generation.find_or_make(ordinal, extents, s.how != assign::set);
  block_group<double>& group = generation.group();
  const std::lock_guard guard(b.lock);
  note(b, s.how == assign::add ? block_use::accumulate : block_use::replace, r);
  if (made != nullptr) {
    if (store_from_device(s, *made, b)) return;
    from = m_operands.read(s.from, 0);
  }
  if (s.how == assign::add && m_run.workers.deterministic()) {
    keep_sum(sums, ordinal, extents, from, value);
    return;
  }
  if (s.how == assign::set || !b.written) {
    auto to = waiting(count, [&] { return group.write_host(b.elements); });
    if (s.how == assign::multiply)
      fill(to.data(), to.size(), 0);
    else if (from.data == nullptr)
      fill(to.data(), to.size(), value);
    else
      copy(to.data(), from.data, to.size());
    b.written = true;
    return;
  }
  auto to = waiting(count, [&] { return group.update_host(b.elements); });
  if (s.how == assign::multiply)
    multiply(to.data(), to.size(), value);
  else if (from.data == nullptr)
    add_value(to.data(), to.size(), value);
  else
    add_scaled(to.data(), from.data, to.size(), 1);
}

void worker::keep_sum(own_sums& mine, std::int64_t ordinal, const shape& extents, const tile& from, double value) {
  private_block*& sum = mine[ordinal];
  if (sum == nullptr) {
    sum = &m_pool.take(extents);
    fill(sum->data, sum->count, 0);
  }
  if (from.data == nullptr)
    add_value(sum->data, sum->count, value);
  else
    add_scaled(sum->data, from.data, sum->count, 1);
}

void worker::hand_over_sum(std::uint32_t array, own_sums::iterator which) {
  array_generation& generation = *m_generations[array];
  private_block& sum = *which->second;
  shared_block& b = generation.find_or_make(which->first, sum.extents(), true);
  {
    const std::lock_guard guard(b.lock);
    block_group<double>& group = generation.group();
    if (b.written) {
      auto to = group.update_host(b.elements);
      add_scaled(to.data(), sum.data, sum.count, 1);
    } else {
      auto to = group.write_host(b.elements);
      copy(to.data(), sum.data, sum.count);
      b.written = true;
    }
  }
  m_pool.give(sum);
  m_sums[array].erase(which);
}

void worker::hand_over_sums() {
  for (unsigned w = 0; w < m_run.workers.size(); ++w) {  // one worker after another
    if (w == m_number)
      for (std::uint32_t array = 0; array < m_sums.size(); ++array)
        while (!m_sums[array].empty()) hand_over_sum(array, m_sums[array].begin());
    wait_for_all([] {});
  }
}

void worker::remove(std::uint32_t array) {
  m_fetched.clear(array);
  for (const auto& [ordinal, sum] : m_sums[array]) m_pool.give(*sum);
  m_sums[array].clear();
  m_generations[array] = m_generations[array]->next();  // the blocks go when the last worker has come here
}

/// While it lives, the worker waits at a barrier.
class worker::barrier_timer {
 public:
  explicit barrier_timer(worker& of) : m_of(of) {}
  ~barrier_timer() {
    m_of.m_counters.barrier_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - m_began).count();
  }
  barrier_timer(const barrier_timer&) = delete;
  barrier_timer& operator=(const barrier_timer&) = delete;

 private:
  worker& m_of;
  const std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
};

template <class Function>
void worker::wait_for_all(Function&& last) {
  const barrier_timer waits(*this);
  m_run.workers.barrier(m_site, std::forward<Function>(last));
}

void worker::barrier() {
  if (m_pardo.schedule) throw run_error("a barrier inside of a pardo");
  m_fetched.clear();
  if (m_run.workers.deterministic()) hand_over_sums();
  wait_for_all([this] {
    if (m_placement != nullptr) m_run.rt.settle();
    ++m_run.section;
  });
}

void worker::collective(std::uint32_t to, double value) {
  if (m_pardo.schedule) throw run_error("a collective sum inside of a pardo");
  const barrier_timer waits(*this);
  m_s[to] += m_run.workers.sum(m_number, m_site, value);
}

void worker::broadcast(std::int64_t from, std::uint32_t array) {
  if (from < 0 || from >= static_cast<std::int64_t>(m_run.workers.size()))
    throw run_error(fmt::format("there is no worker {}", from),
                    fmt::format("workers are numbered from 0 to {}", m_run.workers.size() - 1));
  const barrier_timer waits(*this);
  m_run.workers.broadcast(m_number, m_site, static_cast<unsigned>(from), m_statics.values(array));
}

void worker::assert_same(std::uint32_t scalar) {
  const double first = [&] {
    const barrier_timer waits(*this);
    return m_run.workers.of_first(m_number, m_site, m_s[scalar]);
  }();
  constexpr double tolerance = 5e-5;  // relative, as the language says
  if (std::abs(m_s[scalar] - first) > tolerance * std::max(std::abs(first), std::abs(m_s[scalar])))
    throw run_error(
        fmt::format("scalar '{}' is {} here and {} on worker 0", m_code.scalars[scalar].name, m_s[scalar], first));
  m_s[scalar] = first;
  wait_for_all([] {});  // nobody goes on when one differs
}

void worker::set_persistent(const persistent& p) {
  std::erase_if(m_to_keep, [&](const persistent* other) { return other->label == p.label; });
  m_to_keep.push_back(&p);
}

void worker::restore_persistent(const persistent& p) {
  const auto fail = [&](const std::string& why) {
    throw run_error(fmt::format("'{}' cannot be restored from \"{}\": {}", p.name, p.label, why));
  };
  wait_for_all([] {});  // nobody changes the items meanwhile
  const auto found = m_run.items.find(p.label);
  if (found == m_run.items.end()) fail("no program has kept anything under this label");
  if (p.is_scalar) {
    const auto* value = std::get_if<double>(&found->second);
    if (value == nullptr) fail("it is no scalar");
    m_s[p.of] = *value;
  } else {
    const array_geometry& a = m_run.sizes.array(p.of);
    const auto check = [&](const std::vector<kept_dimension>& dims) {
      if (dims != dimensions_of(a)) fail("its dimensions are others");
    };
    if (a.kind == array_kind::fixed) {
      const auto* values = std::get_if<kept_values>(&found->second);
      if (values == nullptr) fail("it is no static array");
      check(values->dims);
      m_statics.values(p.of) = values->values;
    } else {
      const auto* blocks = std::get_if<kept_blocks>(&found->second);
      if (blocks == nullptr) fail("it is no distributed or served array");
      check(blocks->dims);
    }
  }
  wait_for_all([&] {
    if (const auto* blocks = std::get_if<kept_blocks>(&found->second))
      m_run.restored = std::make_shared<array_generation>(m_run.rt, m_run.sizes.array(p.of), blocks->generation);
    else
      m_run.items.erase(p.label);  // scalars and static arrays are handed on only when they are kept again
  });
  if (!p.is_scalar && m_run.sizes.array(p.of).kind != array_kind::fixed) {
    remove(p.of);
    m_generations[p.of] = m_run.restored;
  }
  wait_for_all([] {});
}

void worker::leave_state() {
  if (m_number != 0) return;
  final_state& left = m_run.left;
  left.ints.assign(m_i, m_i + m_code.ints.size());
  left.scalars.assign(m_s, m_s + m_code.scalars.size());
  left.statics = m_statics.take();
  left.generations = m_generations;
}

void worker::keep_persistents() {
  if (m_number == 0) {  // its values are those that count; all others wait below
    for (const persistent* p : m_to_keep) {
      if (p->is_scalar) {
        m_run.items.insert_or_assign(p->label, m_s[p->of]);
        continue;
      }
      const array_geometry& a = m_run.sizes.array(p->of);
      if (a.kind == array_kind::fixed)
        m_run.items.insert_or_assign(p->label, kept_values{dimensions_of(a), m_statics.values(p->of)});
      else
        m_run.items.insert_or_assign(p->label,
                                     kept_blocks{dimensions_of(a), array_generation::kept(m_generations[p->of])});
    }
  }
  wait_for_all([] {});
}

}  // namespace tessera::sial
