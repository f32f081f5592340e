#pragma once
// Memory of tasks and views that are over, kept for a while to notice who still uses it.
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "core/validate/finding.hpp"
#include "core/validate/guarded_memory.hpp"

namespace tessera::validate {

/// Thread-safe. Keeps the youngest of what it is given, up to a number of bytes.
class quarantine {
 public:
  quarantine(const pattern& with, journal& to, std::uint64_t bytes) : m_pattern(with), m_journal(to), m_limit(bytes) {}

  /// Overwrites the elements, so that a thread that reads them computes something recognisable.
  /// @param whose  the task or view that had them
  void keep(std::unique_ptr<guarded_memory> memory, element_type type, participant whose);
  /// Looks for elements that were written since. At every fence, and before memory leaves.
  void look();
  /// Whose elements a number names; nothing when they have left.
  std::optional<participant> whose(std::uint32_t number) const;
  /// Whether an address range touches memory that is kept; `out`: whose.
  bool covers(const void* first, std::uint64_t bytes, participant& out) const;

 private:
  struct entry {
    std::unique_ptr<guarded_memory> memory;
    element_type type;
    participant whose;
  };
  void look_at(entry& e);

  const pattern& m_pattern;
  journal& m_journal;
  std::uint64_t m_limit, m_bytes = 0;
  mutable std::mutex m_mutex;
  std::deque<entry> m_entries;
};

}  // namespace tessera::validate
