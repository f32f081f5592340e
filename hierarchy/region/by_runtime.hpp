#pragma once
// What all models of a runtime share.
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/lifetime.hpp"
#include "core/runtime/program_side.hpp"
#include "tessera/detail/runtime.hpp"

namespace tessera::hierarchy {

/// One T for each runtime, from the first that asks for it to the end of the runtime. Thread-safe.
template <class T>
class by_runtime {
 public:
  /// That of a running runtime; `make` makes it where there is none.
  template <class Make>
  std::shared_ptr<T> of(runtime& rt, const Make& make) {
    const std::lock_guard guard(m_mutex);
    std::erase_if(m_all, [](const auto& one) { return !enter(one.second.alive); });
    entry& found = m_all[rt.serial()];
    if (found.value == nullptr) found = {program_side_of(rt).alive, make()};
    return found.value;
  }
  /// Those of all other runtimes that run.
  std::vector<std::shared_ptr<T>> others(const T& than) {
    std::vector<std::shared_ptr<T>> found;
    const std::lock_guard guard(m_mutex);
    for (const auto& [serial, one] : m_all)
      if (one.value.get() != &than && enter(one.alive)) found.push_back(one.value);
    return found;
  }

 private:
  struct entry {
    std::shared_ptr<lifetime> alive;  // of the runtime's scheduler
    std::shared_ptr<T> value;
  };
  std::mutex m_mutex;
  std::map<std::uint64_t, entry> m_all;  // by serial
};

}  // namespace tessera::hierarchy
