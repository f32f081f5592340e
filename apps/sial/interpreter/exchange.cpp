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
  throw run_error(fmt::format("worker {} {} block {}, which {} {} at {}, and no barrier is between", m_number,
                              word(how), name_of(r), other, word(found->earlier), where_of(m_code, found->site)),
                  "a sip_barrier between the two orders them");
}

void worker::fetch(const reference& r) {
  segments at{};
  const std::int64_t ordinal = ordinal_of(r, at);
  shared_view& mine = m_shared[r.array];
  exchange_counters& count =
      m_counters.of(m_run.sizes.array(r.array).kind == array_kind::served ? exchange::request : exchange::get);
  ++count.number;
  if (const fetched* const found = mine.find(ordinal)) {  // it stays as it was fetched until the next barrier
    ++count.saved;
    count.bytes += found->bytes;
    return;
  }
  if (const auto sum = mine.sums.find(ordinal); sum != mine.sums.end()) hand_over_sum(mine, sum);
  shared_block* const b = mine.generation->find(ordinal);
  if (b == nullptr) throw run_error(fmt::format("block {} is fetched and was never written", name_of(r)));
  {
    shared_block& place = mine.generation->place_of(ordinal, *b);
    const std::lock_guard guard(place.lock);
    note(place, block_use::get, r);
  }
  fetched& f = mine.all.emplace_back();
  mine.here.add(ordinal, f);
  mine.last = &f;
  f.ordinal = ordinal;
  f.from = b;
  f.bytes = b->elements.bytes();
  count.bytes += f.bytes;
  if (m_run.has_other_memories) ask_for(*b, *mine.generation);
}

template <class Function>
auto worker::waiting(exchange_counters& count, Function&& hold) {
  if (!m_run.has_other_memories) return hold();
  const auto began = std::chrono::steady_clock::now();
  auto held = hold();
  const auto nanoseconds =
      static_cast<std::uint64_t>((std::chrono::steady_clock::now() - began) / std::chrono::nanoseconds(1));
  count.waited += nanoseconds;
  m_waited += nanoseconds;
  return held;
}

void worker::store_to(const store& s, double value) {
  const reference& r = m_code.references[s.to];
  segments at{};
  const std::int64_t ordinal = ordinal_of(r, at);
  const shape extents = extents_of(r, at);
  shared_view& mine = m_shared[r.array];
  exchange_counters& count =
      m_counters.of(m_run.sizes.array(r.array).kind == array_kind::served ? exchange::prepare : exchange::put);
  ++count.number;
  count.bytes += static_cast<std::uint64_t>(extents.count()) * sizeof(double);

  tile from;
  private_block* const made = m_placement != nullptr ? result_with_task(s, extents) : nullptr;
  if (s.from != nothing && made == nullptr) {
    from = read(s.from, 0);
    if (from.count != extents.count())
      throw run_error(fmt::format("block {} has {} elements, and {} has {}", name_of(m_code.references[s.from]),
                                  from.count, name_of(r), extents.count()));
  }
  // A copy in the hands of this worker stays as it was.
  if (fetched* const found = mine.here.find(ordinal); found != nullptr && found->copy == nullptr) {
    const tile old = fetched_tile(r, ordinal);
    private_block& aside = m_pool.take(extents);
    copy(aside.data, old.data, old.count);
    if (from.data == old.data) from.data = aside.data;
    found->copy = &aside;
    found->data = aside.data;
    let_go_of(*found);
  }

  if (m_run.workers.deterministic()) {
    const auto sum = mine.sums.find(ordinal);
    if (s.how == assign::multiply && sum != mine.sums.end()) hand_over_sum(mine, sum);
    if (s.how == assign::set && sum != mine.sums.end()) {
      m_pool.give(*sum->second);
      mine.sums.erase(sum);
    }
  }
  shared_block& b = mine.generation->find_or_make(ordinal, extents, s.how != assign::set);
  block_group<double>& group = mine.generation->group();
  const std::lock_guard guard(b.lock);
  note(b, s.how == assign::add ? block_use::accumulate : block_use::replace, r);
  if (made != nullptr) {
    if (store_from_device(s, *made, b)) return;
    from = read(s.from, 0);
  }
  if (s.how == assign::add && m_run.workers.deterministic()) {
    keep_sum(mine, ordinal, extents, from, value);
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

void worker::keep_sum(shared_view& mine, std::int64_t ordinal, const shape& extents, const tile& from, double value) {
  private_block*& sum = mine.sums[ordinal];
  if (sum == nullptr) {
    sum = &m_pool.take(extents);
    fill(sum->data, sum->count, 0);
  }
  if (from.data == nullptr)
    add_value(sum->data, sum->count, value);
  else
    add_scaled(sum->data, from.data, sum->count, 1);
}

void worker::hand_over_sum(shared_view& mine, std::map<std::int64_t, private_block*>::iterator which) {
  private_block& sum = *which->second;
  shared_block& b = mine.generation->find_or_make(which->first, sum.extents(), true);
  {
    const std::lock_guard guard(b.lock);
    block_group<double>& group = mine.generation->group();
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
  mine.sums.erase(which);
}

void worker::hand_over_sums() {
  for (unsigned w = 0; w < m_run.workers.size(); ++w) {  // one worker after another
    if (w == m_number)
      for (shared_view& mine : m_shared)
        while (!mine.sums.empty()) hand_over_sum(mine, mine.sums.begin());
    wait_for_all([] {});
  }
}

void worker::remove(std::uint32_t array) {
  shared_view& mine = m_shared[array];
  std::erase_if(m_views, [array](const auto& view) { return view.first == array; });
  for (fetched& f : mine.all) {
    let_go_of(f);
    if (f.copy != nullptr) m_pool.give(*f.copy);
  }
  mine.clear();
  for (const auto& [ordinal, sum] : mine.sums) m_pool.give(*sum);
  mine.sums.clear();
  mine.generation = mine.generation->next();  // the blocks go when the last worker has come here
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
  let_go_of_views();
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
    m_shared[p.of].generation = m_run.restored;
  }
  wait_for_all([] {});
}

void worker::leave_state() {
  if (m_number != 0) return;
  final_state& left = m_run.left;
  left.ints.assign(m_i, m_i + m_code.ints.size());
  left.scalars.assign(m_s, m_s + m_code.scalars.size());
  left.statics = m_statics.take();
  for (const shared_view& s : m_shared) left.generations.push_back(s.generation);
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
                                     kept_blocks{dimensions_of(a), array_generation::kept(m_shared[p->of].generation)});
    }
  }
  wait_for_all([] {});
}

}  // namespace tessera::sial
