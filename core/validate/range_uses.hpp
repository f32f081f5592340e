#pragma once
// Who has used which ranges of something whose blocks may be cut otherwise from one use to the next.
#include <compare>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "core/block/combination.hpp"
#include "core/block/intent.hpp"
#include "core/validate/clock.hpp"

namespace tessera::block {
struct record;
}

namespace tessera::validate {

/// One use of positions [begin, end).
struct range_use {
  std::int64_t begin = 0, end = 0;
  tessera::intent how = tessera::intent::read;
  block::combination_number combination = block::addition;  ///< of an accumulate
};

/// The submission that uses ranges, in words.
struct range_user {
  std::string description = {};  ///< "task 'smooth' submitted", "view taken"
  std::source_location site = {};
};

struct task_note;

/// The uses of each position since it was last written: the write, and per submitter those after it. The race detector
/// looks at them and changes them, under its lock.
class range_uses {
 public:
  /// @param name  of what is used, for messages
  explicit range_uses(std::string name) : m_name(std::move(name)) {}
  range_uses(const range_uses&) = delete;
  range_uses& operator=(const range_uses&) = delete;
  const std::string& name() const noexcept { return m_name; }

  /// A use that is kept.
  struct entry {
    std::int64_t end = 0;
    tessera::intent how = tessera::intent::read;
    actor_number author = 0;
    event_number event = 0;
    std::shared_ptr<const range_user> user = {};  ///< shared by the ranges of one submission
    std::shared_ptr<task_note> note = {};         ///< likewise
  };
  /// Calls found(begin, entry) for each earlier use that has a position in common with `now`, and that must not
  /// change places with it.
  template <class Found>
  void for_conflicts(const range_use& now, Found&& found) const {
    if (now.begin >= now.end) return;
    for (const auto& [key, uses] : m_uses) {
      if (may_change_places(key.how, key.combination, now)) continue;
      auto at = uses.lower_bound(now.begin);
      if (at != uses.begin() && std::prev(at)->second.end > now.begin) --at;
      for (; at != uses.end() && at->first < now.end; ++at) found(at->first, at->second);
    }
  }
  /// Keeps a use, in place of what it comes after. @param as  whose end and intent are set
  void add(const range_use& now, entry as);

 private:
  using ranges = std::map<std::int64_t, entry>;  // by begin; none overlaps another
  struct kind {
    tessera::intent how;  // write for all that make versions, but for commute
    actor_number author;  // 0 of writes: there is one for each position
    block::combination_number combination;
    friend auto operator<=>(const kind&, const kind&) = default;
  };
  static bool may_change_places(tessera::intent earlier, block::combination_number combination, const range_use& now);
  static void cut_out(ranges& from, std::int64_t begin, std::int64_t end);

  std::string m_name;
  std::map<kind, ranges> m_uses;
};

/// What one submission uses of one thing.
struct ranges_in_use {
  std::shared_ptr<range_uses> of;
  std::vector<range_use> ranges;
  std::shared_ptr<const range_user> user;
  std::vector<const block::record*> blocks;  ///< that hold the ranges now: sorted
};

}  // namespace tessera::validate
