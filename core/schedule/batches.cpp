// Equal tasks that are ready together: which of them a device driver gives to its device as one launch.
#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstring>

#include "core/schedule/flight.hpp"
#include "core/schedule/trace_points.hpp"

namespace tessera::schedule {
namespace {

/// Tasks that are resumed, and those whose blocks are private copies, run by themselves.
constexpr int alone = task::flag_acquired | task::flag_accumulates | task::flag_reduction | task::flag_fresh;

/// Whether two tasks differ in nothing but their blocks.
bool alike(task::record& a, task::record& b) {
  if (b.what != a.what || b.priority != a.priority || b.argument_size != a.argument_size || (b.flags & alone) != 0)
    return false;
  if (a.argument_size != 0 && std::memcmp(a.argument_bytes(), b.argument_bytes(), a.argument_size) != 0) return false;
  return std::ranges::equal(a.all_accesses(), b.all_accesses(), [](const block::access& x, const block::access& y) {
    if (x.how != y.how || x.block->type != y.block->type) return false;
    return x.block->extents == y.block->extents ||
           std::ranges::equal(x.block->extents->extents(), y.block->extents->extents());
  });
}

}  // namespace

/// Whether a task is so short that the device takes several like it at a time. Such tasks are enqueued behind their
/// copies: to wait for those would take longer than the task, and each would go by itself.
bool device_driver::goes_with_others(task::record& t) const {
  const operation::batch_form& form = t.what->batch;
  const auto accesses = t.all_accesses();
  if (form.enqueue == nullptr || m_bounds.tasks == 1 || accesses.empty() ||
      (t.flags & alone & ~task::flag_acquired) != 0)
    return false;
  if (form.available != nullptr && !form.available(*m_where.device, accesses[0].block->type)) return false;
  std::uint64_t bytes = 0;
  for (const block::access& a : accesses) bytes += a.block->bytes;
  const double work = t.what->work != nullptr ? t.what->work(t.argument_bytes(), accesses) : 0;
  return m_bounds.most(work, bytes, 2 * m_bounds.streams) > 1;
}

/// Takes from the queue what may go with `first`: into m_others. Tasks of other kinds are passed by, a few of them.
void device_driver::gather(task::record& first) {
  const operation::batch_form& form = first.what->batch;
  if (form.enqueue == nullptr || m_bounds.tasks == 1 || m_where.urgent.empty() || (first.flags & alone) != 0 ||
      !m_where.attached())
    return;
  if (m_reach == 0) {
    m_reach = 1;
    return;
  }
  {
    const std::lock_guard guard(m_hungry_lock);
    if (!m_hungry.empty()) return;  // whoever waits for memory comes first
  }
  const auto accesses = first.all_accesses();
  if (accesses.empty() || (form.available != nullptr && !form.available(*m_where.device, accesses[0].block->type)))
    return;
  std::uint64_t bytes = 0;
  for (const block::access& a : accesses) bytes += a.block->bytes;
  const double work = first.what->work != nullptr ? first.what->work(first.argument_bytes(), accesses) : 0;
  const std::size_t most = std::min(m_bounds.most(work, bytes, m_where.urgent.size() + 1) - 1, m_reach);
  boost::container::small_vector<task::record*, most_passed_by> passed;
  while (m_others.size() < most && passed.size() < m_passes) {
    task::record* const t = m_where.urgent.pop();
    if (t == nullptr) break;
    if (m_owner.m_placer.model() != nullptr && m_owner.place_again(*m_lane, *t)) continue;
    if (alike(first, *t)) {
      m_others.push_back(t);
      continue;
    }
    passed.push_back(t);
    if (t->priority != first.priority) break;
  }
  for (task::record* t : passed) m_where.urgent.push(*t);
  if (!m_others.empty())
    m_passes = most_passed_by;
  else if (!passed.empty())
    m_passes = std::max<std::size_t>(m_passes / 2, 1);
}

/// Workspace for `first` and as many of m_others as there is room for at once; the rest goes back.
void device_driver::take_common_workspace(task::record& first, workspace& out) {
  const auto wanted = first.what->batch.workspace;
  if (wanted == nullptr) return;
  memory::space& space = m_owner.m_setup.coherence->space_at(m_where.space);
  for (std::size_t count = m_others.size() + 1; count > 1; count /= 2) {
    const std::uint64_t bytes = wanted(*m_where.device, first.argument_bytes(), first.all_accesses(), count);
    const bool there = bytes == 0 || (bytes <= m_bounds.memory / batch_bounds::memory_share &&
                                      space.reserve(std::span(&bytes, 1), std::span(&out.where, 1)));
    if (!there) continue;
    if (bytes != 0) out.bytes = out.wanted = bytes, out.from = &space;
    put_others_back(count - 1);
    return;
  }
  put_others_back(0);
}

void device_driver::put_others_back(std::size_t kept) {
  for (std::size_t k = kept; k < m_others.size(); ++k) m_where.urgent.push(*m_others[k]);
  m_others.resize(std::min(kept, m_others.size()));
}

/// Acquires the blocks of m_others, in their order, until one cannot have them now, or would begin later than the first
/// task, which waits on the device for `waits`: into m_joined.
void device_driver::join(std::span<const block::ticket> waits, const transfer::stream& on) {
  scheduler& s = m_owner;
  transfer::coherence& coherence = *s.m_setup.coherence;
  const bool careful = coherence.failed_copies().any();  // as for the first of them: see goes_with_others
  const auto no_later = [&](block::ticket w) {
    return w.stream == on.number() || coherence.streams().reached(w) ||
           std::ranges::any_of(waits,
                               [&](block::ticket mine) { return mine.stream == w.stream && mine.value >= w.value; });
  };
  transfer::acquisition& a = m_joining;
  std::size_t joined = 0;
  for (; joined < m_others.size(); ++joined) {
    task::record& t = *m_others[joined];
    do coherence.acquire(t.all_accesses(), m_where.space, a, t.sequence);
    while (a.what == transfer::outcome::retry && a.waits.empty());
    if (a.what != transfer::outcome::ready) break;
    if (!std::ranges::all_of(a.waits, no_later) || (careful && a.copying && !a.waits.empty())) {
      coherence.finish(t.all_accesses());
      break;
    }
    t.flags |= task::flag_acquired;
    s.note_begun(t);
    coherence.relieve(m_where.space, t.sequence);
    if (m_lane->events != nullptr) trace_waits(*m_lane->events, t, a.waits);
    m_joined_sources.insert(m_joined_sources.end(), a.sources.begin(), a.sources.end());
    m_joined.push_back({&t, nullptr, m_joined_sources.size()});
  }
  m_reach = joined == m_others.size() ? std::min(2 * m_reach, m_bounds.tasks) : std::max<std::size_t>(joined + 1, 2);
  m_others.erase(m_others.begin(), m_others.begin() + static_cast<std::ptrdiff_t>(joined));
}

/// With the stream's lock. False: it was refused before anything was enqueued.
bool device_driver::enqueue_together(flight& f, transfer::stream& on) {
  const operation::definition& what = *f.first().what;
  bool enqueued = true;
  const std::optional<thrown> problem = thrown_by([&] {
    m_batch_operands.clear();
    for (const member& m : f.members) m_owner.add_operands(*m.t, m_batch_operands);
    const std::size_t each = m_batch_operands.size() / f.members.size();
    m_contexts.clear();
    for (const member& m : f.members) {
      m_contexts.push_back(context_of(*m.t, f, on));
      m_contexts.back().operands = std::span(m_batch_operands).subspan(each * (m_contexts.size() - 1), each);
    }
    enqueued = what.batch.enqueue(m_contexts);
    if (enqueued) m_owner.m_batch_counters.add(f.members.size());
  });
  if (problem && !(problem->is_error && m_where.device->lost()))
    for (member& m : f.members) m.why = why_not_enqueued(*m.t, problem->text, problem->kind);
  return enqueued;
}

}  // namespace tessera::schedule
