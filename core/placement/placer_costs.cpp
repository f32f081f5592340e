// The part of the placer that knows how long tasks take: estimates, the load of places, what is learnt from
// measurements.
#include <boost/container/small_vector.hpp>

#include "core/placement/history_file.hpp"
#include "core/placement/placer.hpp"

namespace tessera::placement {
namespace {

constexpr double host_overhead_ns = 500, device_overhead_ns = 10'000;  // guesses, until something was measured

/// What a task of so many seconds adds to a queue; never nothing.
std::uint64_t share_of(double seconds) noexcept {
  return static_cast<std::uint64_t>(std::min(seconds * 1e9, 1e13)) + 1000;
}

}  // namespace

/// What a placed task carries in record::extension until it is retired; one word.
struct placer::charged {
  static constexpr std::uint64_t longest = (std::uint64_t{1} << 44) - 1;  // 4.9 hours; share_of stays below
  static constexpr unsigned max_moves = 7;

  std::uint64_t ns = 0;     // its share of the place's queue
  bool trial = false;       // there to be measured: it stays
  unsigned moves = 0;       // so that it cannot wander for ever
  std::uint16_t epoch = 0;  // of the estimates that placed it

  static charged of(const task::record& t) noexcept {
    const auto word = reinterpret_cast<std::uintptr_t>(t.extension);
    return {word & longest, (word >> 44 & 1) != 0, static_cast<unsigned>(word >> 45 & max_moves),
            static_cast<std::uint16_t>(word >> 48)};
  }
  void keep_in(task::record& t) const noexcept {
    const std::uint64_t word = std::min(ns, longest) | std::uint64_t{trial} << 44 |
                               std::uint64_t{moves & max_moves} << 45 | std::uint64_t{epoch} << 48;
    t.extension = reinterpret_cast<void*>(static_cast<std::uintptr_t>(word));
  }
};
static_assert(sizeof(void*) == 8);

void placer::make_history() {
  std::vector<place_kind> kinds;
  for (const auto& e : m_places) {
    place_kind kind;
    kind.name = kind_name(*e->device);
    const auto known = std::ranges::find(kinds, kind.name, &place_kind::name);
    e->kind = static_cast<std::uint32_t>(known - kinds.begin());
    if (known != kinds.end()) continue;
    const tsr_device_desc& description = e->device->description();
    kind.is_host = e->is_host;
    kind.learns = !e->device->has(TSR_DEVICE_VIRTUAL_CLOCK);
    m_real_time = m_real_time && kind.learns;
    // The peak is that of all cores, or of all streams together; a task has one of them.
    const double shares = e->is_host ? std::max<double>(1, description.compute_units) : e->parallelism;
    if (description.peak_f64 > 0) kind.ns_per_operation = 1e9 * shares / description.peak_f64;
    kind.overhead_ns = e->is_host ? host_overhead_ns : device_overhead_ns;
    const memory::space_number home = m_places.front()->space;
    if (e->space != home) {
      const transfer::route& way = m_setup.coherence->links().between(home, e->space);
      kind.link_seconds = way.latency;
      kind.link_bytes_per_second = way.bandwidth;
    }
    kinds.push_back(std::move(kind));
  }
  m_history = std::make_unique<history>(std::move(kinds));
}

task_size placer::look_up(const operation::definition& what, const void* arguments,
                          std::span<const block::access> accesses, history::profile*& profile) {
  profile = m_history->profile_of(what, accesses.empty() ? element_type::none : accesses[0].block->type);
  task_size size;
  double bytes = 0;
  for (const block::access& a : accesses) {
    const auto these = static_cast<float>(a.block->bytes);
    bytes += these;
    size.block_bytes = std::max(size.block_bytes, these);
    if (!needs_contents(a.intent)) continue;
    size.input_bytes += these;
    size.inputs += 1;
  }
  size.amount = std::max(what.work != nullptr ? what.work(arguments, accesses) : bytes, 1.0);
  return size;
}

double placer::expected_seconds(task::record& t, const place& at) {
  if (m_history != nullptr) {
    history::profile* profile = nullptr;
    const task_size size = look_up(t, profile);
    return m_history->seconds(profile, at.kind, size.amount);
  }
  const double work = t.operation->work != nullptr ? t.operation->work(t.argument_bytes(), t.all_accesses()) : 0;
  return work * at.ns_per_flop.load(std::memory_order_relaxed) * 1e-9;
}

std::size_t placer::decide(history::profile& profile, const task_size& size, std::span<const candidate> plan,
                           std::size_t best) {
  if (plan.size() == 1) return best;
  boost::container::small_vector<history::option, 16> options;
  for (const candidate& c : plan) options.push_back({m_places[c.place]->kind, c.finish_seconds(), c.execute_seconds});
  return m_history->decide(profile, size.amount, {options.data(), options.size()}, best);
}

void placer::charge(task::record& t, place& to, double seconds, bool trial) noexcept {
  const charged p{share_of(seconds), trial, charged::of(t).moves,
                  static_cast<std::uint16_t>(m_epoch.load(std::memory_order_relaxed))};
  p.keep_in(t);
  to.queued_ns.fetch_add(static_cast<std::int64_t>(p.ns), std::memory_order_relaxed);
  to.open.fetch_add(1, std::memory_order_relaxed);
  to.tasks.fetch_add(1, std::memory_order_relaxed);
}

void placer::discharge(task::record& t, place& from) noexcept {
  const charged p = charged::of(t);
  if (p.ns == 0) return;  // it was never placed
  from.queued_ns.fetch_sub(static_cast<std::int64_t>(p.ns), std::memory_order_relaxed);
  from.open.fetch_sub(1, std::memory_order_relaxed);
}

void placer::estimate_again(task::record& t, place& at) noexcept {
  charged p = charged::of(t);
  if (p.ns == 0 || t.operation->special != nullptr) return;
  history::profile* profile = nullptr;
  const task_size size = look_up(t, profile);
  const auto before = static_cast<std::int64_t>(p.ns);
  p.ns = share_of(m_history->seconds(profile, at.kind, size.amount));
  p.keep_in(t);
  at.queued_ns.fetch_add(static_cast<std::int64_t>(p.ns) - before, std::memory_order_relaxed);
}

void placer::learn(history::profile& profile, const task_size& size, const place& where, double ns,
                   bool exact) noexcept {
  if (!m_history->observe(profile, where.kind, size, ns, exact)) return;
  m_estimate_changes.fetch_add(1, std::memory_order_relaxed);
  m_epoch.fetch_add(1, std::memory_order_relaxed);
  // Queues of devices are counted anew; what waits for the host's workers is counted anew when its turn comes.
  for (const auto& e : m_places)
    if (!e->is_host) e->ready_queue().visit([&](task::record& queued) { estimate_again(queued, *e); });
}

bool placer::withdraw(task::record& t, place& from) noexcept {
  if (m_policy != placement_policy::cost) return false;
  charged p = charged::of(t);
  if (p.ns == 0 || p.trial || p.moves == charged::max_moves ||
      p.epoch == static_cast<std::uint16_t>(m_epoch.load(std::memory_order_relaxed)))
    return false;
  discharge(t, from);
  from.tasks.fetch_sub(1, std::memory_order_relaxed);
  ++p.moves;
  p.keep_in(t);
  return true;
}

void placer::note_idle(const place& who) noexcept {
  if (m_policy != placement_policy::cost || !m_real_time) return;
  constexpr double worth_moving = 100e-6;
  for (const auto& e : m_places) {
    if (e.get() == &who || e->open.load(std::memory_order_relaxed) <= static_cast<std::int64_t>(e->parallelism) ||
        e->queue_seconds() < worth_moving)
      continue;
    // One place has a queue while another has nothing: the estimates have erred. What is queued is placed again when
    // its turn comes, with queues as they are.
    m_epoch.fetch_add(1, std::memory_order_relaxed);
    return;
  }
}

}  // namespace tessera::placement
