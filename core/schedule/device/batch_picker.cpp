#include "core/schedule/device/batch_picker.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstring>

namespace tessera::schedule {
namespace {

/// Tasks whose blocks are private copies run by themselves.
constexpr int alone = task::flag_accumulates | task::flag_reduction | task::flag_fresh;

/// Whether two tasks differ in nothing but their blocks. One that has them, and one that has yet to get them, do.
bool alike(task::record& a, task::record& b) {
  if (b.operation != a.operation || b.priority != a.priority || b.argument_size != a.argument_size ||
      (b.flags & alone) != 0 || ((a.flags ^ b.flags) & task::flag_acquired) != 0)
    return false;
  if (a.argument_size != 0 && std::memcmp(a.argument_bytes(), b.argument_bytes(), a.argument_size) != 0) return false;
  return std::ranges::equal(a.all_accesses(), b.all_accesses(), [](const block::access& x, const block::access& y) {
    if (x.intent != y.intent || x.block->type != y.block->type) return false;
    return x.block->extents == y.block->extents ||
           std::ranges::equal(x.block->extents->extents(), y.block->extents->extents());
  });
}

}  // namespace

bool batch_picker::available(const operation::batch_form& form, std::span<const block::access> accesses) const {
  if (form.enqueue == nullptr || m_bounds.tasks == 1 || accesses.empty()) return false;
  return form.available == nullptr || form.available(m_device, accesses[0].block->type);
}

std::size_t batch_picker::most(task::record& t, std::size_t ready) const {
  const auto accesses = t.all_accesses();
  std::uint64_t bytes = 0;
  for (const block::access& a : accesses) bytes += a.block->bytes;
  const double work = t.operation->work != nullptr ? t.operation->work(t.argument_bytes(), accesses) : 0;
  return m_bounds.most(work, bytes, ready);
}

std::size_t batch_picker::most_like(task::record& t) const {
  if ((t.flags & alone) != 0 || !available(t.operation->batch, t.all_accesses())) return 1;
  return most(t, m_bounds.tasks * m_bounds.streams);
}

void batch_picker::pick(task::record& first, const std::function<bool(task::record&)>& moves) {
  if (m_queue.empty() || (first.flags & alone) != 0 || !available(first.operation->batch, first.all_accesses())) return;
  if (m_batch_lookahead == 0) {
    m_batch_lookahead = 1;
    return;
  }
  take_alike(
      first, std::min(most(first, m_queue.size() + 1) - 1, m_batch_lookahead), [&] { return m_queue.pop(); }, moves);
}

void batch_picker::pick_acquired(task::record& first) {
  if ((first.flags & alone) != 0 || !available(first.operation->batch, first.all_accesses())) return;
  take_alike(
      first, most(first, m_queue.size() + 1) - 1, [&] { return m_queue.pop_acquired(); },
      [](task::record&) { return false; });
}

template <class Next, class Moves>
void batch_picker::take_alike(task::record& first, std::size_t wanted, Next&& next, Moves&& moves) {
  boost::container::small_vector<task::record*, max_skips> skipped;
  while (m_others.size() < wanted && skipped.size() < m_skips) {
    task::record* const t = next();
    if (t == nullptr) break;
    if (moves(*t)) continue;
    if (alike(first, *t)) {
      m_others.push_back(t);
      continue;
    }
    skipped.push_back(t);
    if (t->priority != first.priority) break;
  }
  for (task::record* t : skipped) m_queue.push(*t);
  if (!m_others.empty())
    m_skips = max_skips;
  else if (!skipped.empty())
    m_skips = std::max<std::size_t>(m_skips / 2, 1);
}

void batch_picker::put_back(std::size_t kept) {
  for (std::size_t k = kept; k < m_others.size(); ++k) m_queue.push(*m_others[k]);
  m_others.resize(std::min(kept, m_others.size()));
}

void batch_picker::use(std::size_t count) {
  m_batch_lookahead =
      count == m_others.size() ? std::min(2 * m_batch_lookahead, m_bounds.tasks) : std::max<std::size_t>(count + 1, 2);
  m_others.erase(m_others.begin(), m_others.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace tessera::schedule
