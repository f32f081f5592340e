#pragma once
// Blocks with intents: what a submission names.
#include <type_traits>

#include "core/block/record.hpp"
#include "core/runtime/view.hpp"

namespace tessera {

/// A handle to one block of an array. Plain data; valid while the array lives.
/// @tparam T  element type
template <class T>
class block_of {
 public:
  explicit block_of(block::record& record) noexcept : m_record(&record) {}
  block::record& record() const noexcept { return *m_record; }
  const shape& extents() const noexcept { return *m_record->extents; }

 private:
  block::record* m_record;
};

/// A block and how a task uses it.
template <class T, intent How>
struct use {
  using element = std::conditional_t<How == intent::read, const T, T>;
  using view_type = view<element>;
  static constexpr intent how = How;
  block::record* block;
};

template <class T>
use<T, intent::read> read(block_of<T> b) noexcept { return {&b.record()}; }
template <class T>
use<T, intent::write> write(block_of<T> b) noexcept { return {&b.record()}; }
template <class T>
use<T, intent::update> update(block_of<T> b) noexcept { return {&b.record()}; }
/// The task sees a private copy and adds to it; copies start at zero and are summed before the next other use.
template <class T>
use<T, intent::accumulate> accumulate(block_of<T> b) noexcept { return {&b.record()}; }
template <class T>
use<T, intent::scratch> scratch(block_of<T> b) noexcept { return {&b.record()}; }

}  // namespace tessera
