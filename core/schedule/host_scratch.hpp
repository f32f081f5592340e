#pragma once
// Scratch memory of a thread that runs tasks on the host.
#include <tessera/plugin.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>

#include "core/base/error.hpp"
#include "core/base/units.hpp"

namespace tessera::schedule {

/// Kept from task to task while it is small, so that small tasks neither allocate nor touch cold memory. One thread. It
/// is not counted in the memory of blocks (memory.host_limit): it holds what one task needs.
class host_scratch {
 public:
  static constexpr std::size_t alignment = 256;          ///< as the ABI promises for workspaces
  static constexpr std::uint64_t kept_bytes = 16 << 20;  ///< more than that is given back by trim

  /// Valid until the next call. Throws tessera::error (memory).
  tsr_workspace give(std::uint64_t bytes) {
    if (bytes == 0) return {};
    if (bytes > m_bytes) {
      m_memory.reset();
      m_bytes = 0;
      // An aligned size is rounded up, and one near 2^64 would become a few bytes.
      constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max());
      if (bytes <= most)
        m_memory.reset(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{alignment}, std::nothrow)));
      if (m_memory == nullptr)
        throw error(error_kind::memory,
                    "the host has no room for a workspace of " + format_bytes(static_cast<double>(bytes)), {},
                    "the operation asks for it beside its blocks");
      m_bytes = bytes;
    }
    return {{nullptr, reinterpret_cast<std::uintptr_t>(m_memory.get())}, bytes};
  }
  /// The task has run.
  void trim() noexcept {
    if (m_bytes <= kept_bytes) return;
    m_memory.reset();
    m_bytes = 0;
  }

 private:
  struct give_back {
    void operator()(std::byte* memory) const noexcept { ::operator delete (memory, std::align_val_t{alignment}); }
  };
  std::unique_ptr<std::byte, give_back> m_memory;
  std::uint64_t m_bytes = 0;
};

}  // namespace tessera::schedule
