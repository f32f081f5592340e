#include "hierarchy/region/view_ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/call_site.hpp"
#include "core/base/error.hpp"

namespace tessera::hierarchy {
namespace {

bool overlap(const row_interval& a, const row_interval& b) {
  return std::max(a.begin, b.begin) < std::min(a.end, b.end);  // of no rows none
}

}  // namespace

void view_ledger::check(const row_interval& rows, intent how, const std::string& array,
                        std::source_location site) const {
  const auto refuse = [&](std::string text) {
    throw error(error_kind::usage, std::move(text), file_and_line(site),
                "let the first view end before the second is taken, or take one update view for both");
  };
  const std::lock_guard guard(m_views->mutex);
  for (const view& v : m_views->all) {
    if (v.holder != std::this_thread::get_id()) continue;
    if (overlap(v.rows, rows) && (how != intent::read || v.how != intent::read))
      refuse(fmt::format("this thread holds a view of rows {} to {} of array '{}', and a second one would wait for it",
                         v.rows.begin, v.rows.end, array));
    if (v.writes != writes() || (v.reads != reads() && how != intent::read))
      refuse(
          fmt::format("this thread holds a view of array '{}', and a second one would wait for a region that was "
                      "submitted since and may wait for the first",
                      array));
    if (overlap(v.awaited, rows))
      refuse(
          fmt::format("this thread holds a view of rows {} to {} of array '{}', and a second one would wait for a "
                      "view of another thread, which waits for the first",
                      v.rows.begin, v.rows.end, array));
  }
}

bool view_ledger::cut_may_wait(const row_interval& rows) const {
  if (m_views->count.load(std::memory_order_acquire) == 0) return false;
  const std::lock_guard guard(m_views->mutex);
  return std::ranges::any_of(m_views->all, [&](const view& v) { return overlap(v.rows, rows); });
}

void view_ledger::note_writer(const row_interval& rows) {
  const std::lock_guard guard(m_views->mutex);
  for (view& v : m_views->all) {
    if (v.holder == std::this_thread::get_id() || !overlap(v.rows, rows)) continue;
    const bool first = v.awaited == row_interval{};
    v.awaited = first ? rows : row_interval{std::min(v.awaited.begin, rows.begin), std::max(v.awaited.end, rows.end)};
  }
}

std::shared_ptr<const void> view_ledger::add(const row_interval& rows, intent how) {
  const std::shared_ptr<views> in = m_views;
  const std::lock_guard guard(in->mutex);
  const auto at = in->all.insert(in->all.end(), {std::this_thread::get_id(), rows, how, reads(), writes(), {}});
  in->count.fetch_add(1, std::memory_order_release);
  return std::shared_ptr<const void>(&*at, [in, at](const void*) {
    const std::lock_guard ending(in->mutex);
    in->all.erase(at);
    in->count.fetch_sub(1, std::memory_order_release);
  });
}

}  // namespace tessera::hierarchy
