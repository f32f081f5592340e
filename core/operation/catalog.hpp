#pragma once
// Operations by name.
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/operation/definition.hpp"

namespace tessera::operation {

struct kernel_store;

/// Keeps definitions at stable addresses. Thread-safe. Of the last 64 catalogs that have ended, names and numbers stay
/// at these addresses: who has kept a definition is told, and does not find another one there.
class catalog {
 public:
  static constexpr std::uint32_t max_operations = 4096;  ///< operations of one runtime
  /// From so many on, names of functions that share a type (std::function) are no operations of their own, but counted
  /// together.
  static constexpr std::uint32_t max_with_own_names = max_operations / 2;

  catalog();
  catalog(const catalog&) = delete;
  catalog& operator=(const catalog&) = delete;
  ~catalog();

  /// That its definitions have; no two catalogs of a process have the same, and none has 0.
  std::uint32_t number() const noexcept { return m_number; }

  /// Adds an operation and gives it its number. Throws tessera::error (usage) when the name exists, nothing runs it,
  /// its kernel or native form lacks something, or there are too many.
  const definition& add(definition what);
  /// Where compiled kernels of operations added from now on are kept; until then nowhere.
  void keep_kernels_in(std::shared_ptr<const kernel_store> store);
  /// Devices may go on for ever with what runs there: nothing that they use is given back.
  void abandon() noexcept;
  /// Null when there is none of that name.
  const definition* find(std::string_view name) const;
  std::size_t size() const;                ///< operations so far
  std::vector<std::string> names() const;  ///< of all of them, in the order of their numbers
  /// By number; the number must exist.
  const definition& at(std::uint32_t number) const;

 private:
  const std::uint32_t m_number;
  mutable std::mutex m_mutex;
  std::deque<definition> m_all;
  std::shared_ptr<const kernel_store> m_store;
};

}  // namespace tessera::operation
