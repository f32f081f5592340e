#pragma once
// Memory of the program that regions name without an array of it: chains and scalars (tessera/detail/chain.hpp).
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/block/element_type.hpp"
#include "hierarchy/region/storage.hpp"

namespace tessera::hierarchy {

/// One array per piece of memory from the first region that names it to the next fence, so that regions which name it
/// are in order; before that, and where that region is refused, only as long as somebody holds the array. Thread-safe.
class fenced_memory {
 public:
  /// Elements of one type, one after the other, and the rows that they are.
  struct range {
    const void* begin;
    std::uint64_t bytes;
    element_type type;
    row_extents extents;
    friend bool operator==(const range&, const range&) = default;
  };

  /// The array over the range; `make` makes it where there is none. Throws tessera::error (usage) when the range
  /// overlaps another one. @param name  for messages
  template <class Make>
  std::shared_ptr<array_storage> array_over(const range& memory, const std::string& name, const Make& make) {
    const std::lock_guard guard(m_mutex);
    if (auto known = look_for(memory, name)) return known;
    auto array = make();
    if (memory.bytes != 0) enter(memory, name, array);
    return array;
  }
  /// A region that uses an array of array_over was submitted: it is kept until the fence.
  void keep(array_storage& array);
  /// The same as array_over without making one: null where there is none. A range inside another one is refused too.
  std::shared_ptr<array_storage> find(const range& memory);
  /// Whether there are any arrays, also those that only somebody else holds.
  bool has_arrays();
  /// Lets go of all arrays, which are found as long as somebody holds them: first of all the caller.
  std::vector<std::shared_ptr<array_storage>> let_go();

 private:
  struct entry {
    range memory;
    std::string name;
    std::shared_ptr<array_storage> kept;  // from its first region until the fence
    std::weak_ptr<array_storage> array;
  };
  std::shared_ptr<array_storage> look_for(const range& memory, const std::string& name);  // under m_mutex
  void enter(const range& memory, const std::string& name, const std::shared_ptr<array_storage>& array);  // likewise

  std::mutex m_mutex;
  std::map<const std::byte*, entry> m_entries;  // by their ends; none overlaps another one
};

}  // namespace tessera::hierarchy
