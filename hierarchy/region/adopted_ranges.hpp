#pragma once
// Which memory of the program arrays have.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/error.hpp"
#include "tessera/detail/runtime.hpp"

namespace tessera::hierarchy {

class array_storage;

/// Memory of the program that arrays have adopted: each range is an array's until the last task of the array is done,
/// which may be long after the array has ended. One for each runtime. Thread-safe.
class adopted_ranges : public std::enable_shared_from_this<adopted_ranges> {
 public:
  static std::shared_ptr<adopted_ranges> of(runtime& rt);

  /// That an array has a range. The array's memory keeps it, and lets go of it with its last task.
  struct claim;
  /// The range overlaps memory of an array that has ended, whose tasks are not done. A later try may succeed.
  struct still_used : error {
    still_used(std::string message, const std::string& where, std::uint64_t number);
    std::uint64_t claim;  ///< which it is
  };
  /// Throws tessera::error (usage) where another array, also of another runtime, or one that has ended (still_used),
  /// has some of the range.
  /// @param array  its name, for messages  @param where  the program makes it, likewise
  std::shared_ptr<claim> take(const void* memory, std::uint64_t bytes, const std::string& array,
                              const std::string& where);
  /// Now there is the array that a claim was made for.
  void hold(claim& held, const std::shared_ptr<const array_storage>& by);
  /// Whether an array has the range of this address.
  bool has(const void* memory) const;
  bool any() const;  ///< whether there are ranges
  /// Whether an array that has ended has some of the range: its tasks are not done. Where another thread is about to
  /// end it, waits for that.
  bool used_by_ended(const void* memory, std::uint64_t bytes) const;

 private:
  const claim* find(const void* memory, std::uint64_t bytes) const;                    // under m_mutex
  std::optional<std::string> array_of(const void* memory, std::uint64_t bytes) const;  // the name of one that has some

  mutable std::mutex m_mutex;                     // a leaf
  std::uint64_t m_last_number = 0;                // of a claim
  std::map<const std::byte*, claim*> m_claims{};  // by the ends of their ranges; none overlaps another one
};

}  // namespace tessera::hierarchy
