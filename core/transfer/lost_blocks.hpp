#pragma once
// Which blocks were lost with devices, until a fence reports them.
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/block/record.hpp"
#include "core/memory/space.hpp"
#include "core/transfer/statistics.hpp"

namespace tessera::transfer {

/// What a fence reports of lost devices.
struct loss_report {
  std::vector<std::string> devices;  ///< lost so far; "sim0 (why)"
  std::vector<std::string> blocks;   ///< whose contents are lost with them, and which no fence has reported yet
};

/// Remembers lost blocks. Thread-safe; its lock is a leaf and may be taken under blocks' locks.
class lost_blocks {
 public:
  struct entry {
    block::record* block = nullptr;
    std::shared_ptr<const block::failure> why;  ///< its poison at the time
  };
  void note(block::record& block, std::shared_ptr<const block::failure> why);
  /// The block is freed.
  void forget(const block::record& block);
  /// Everything since the last call.
  std::vector<entry> take();
  std::uint64_t count() const noexcept { return m_count.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> m_count{0};
  std::atomic<bool> m_any{false};
  std::mutex m_mutex;
  std::vector<entry> m_entries;
};

}  // namespace tessera::transfer
