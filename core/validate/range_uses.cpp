#include "core/validate/range_uses.hpp"

namespace tessera::validate {
namespace {

/// Of those that go together: reads, commutes, scratch, accumulates of one combination.
bool comes_in_any_order(intent how) noexcept { return how != intent::write && how != intent::update; }

}  // namespace

bool range_uses::may_change_places(intent earlier, block::combination_number combination, const range_use& now) {
  return earlier == now.how && comes_in_any_order(now.how) &&
         (now.how != intent::accumulate || combination == now.combination);
}

void range_uses::cut_out(ranges& from, std::int64_t begin, std::int64_t end) {
  auto at = from.lower_bound(begin);
  if (at != from.begin() && std::prev(at)->second.end > begin) {
    const auto before = std::prev(at);
    if (before->second.end > end) at = from.emplace_hint(at, end, before->second);
    before->second.end = begin;
  }
  while (at != from.end() && at->first < end) {
    if (at->second.end > end) {
      entry rest = std::move(at->second);
      from.erase(at);
      from.emplace(end, std::move(rest));
      break;
    }
    at = from.erase(at);
  }
}

void range_uses::add(const range_use& now, entry as) {
  if (now.begin >= now.end) return;
  const bool any_order = comes_in_any_order(now.how);
  if (!any_order)
    for (auto kept = m_uses.begin(); kept != m_uses.end();) {
      cut_out(kept->second, now.begin, now.end);
      kept = kept->second.empty() ? m_uses.erase(kept) : std::next(kept);
    }
  ranges& all = m_uses[{any_order ? now.how : intent::write, any_order ? as.author : 0,
                        now.how == intent::accumulate ? now.combination : block::addition}];
  cut_out(all, now.begin, now.end);
  as.end = now.end;
  as.how = now.how;
  all.emplace(now.begin, std::move(as));
}

}  // namespace tessera::validate
