#pragma once
// Who made the current contents of a block, and what they were.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

#include "core/block/record.hpp"
#include "core/validate/finding.hpp"

namespace tessera::validate {

/// 64 bits that differ when the bytes differ, but for chance.
inline std::uint64_t checksum(std::span<const std::byte> of) noexcept {
  std::uint64_t sum = 0x9e3779b97f4a7c15u ^ of.size();
  std::size_t at = 0;
  const auto take = [&](std::uint64_t word) {
    sum = (sum ^ word) * 0xff51afd7ed558ccdu;
    sum ^= sum >> 32;
  };
  for (; at + 8 <= of.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, of.data() + at, 8);
    take(word);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, of.data() + at, of.size() - at);
  take(rest);
  return sum;
}

/// A version of a block: its maker and its checksum.
struct version_made {
  block::version_number version = 0;
  std::uint64_t sum = 0;
  bool known = false;  ///< `sum` is
  bool holes = false;  ///< some elements were not written, since tasks have named others
  participant maker = {};
};

/// By block. Thread-safe.
class contents {
 public:
  void made(const block::record& b, version_made v) {
    const std::lock_guard guard(m_mutex);
    m_all[&b] = std::move(v);
  }
  /// What is known of a version; nothing when another one is current.
  std::optional<version_made> find(const block::record& b, block::version_number version) const {
    const std::lock_guard guard(m_mutex);
    const auto found = m_all.find(&b);
    if (found == m_all.end() || found->second.version != version) return std::nullopt;
    return found->second;
  }
  void forget(const block::record& b) {
    const std::lock_guard guard(m_mutex);
    m_all.erase(&b);
  }

 private:
  mutable std::mutex m_mutex;
  std::unordered_map<const block::record*, version_made> m_all;
};

}  // namespace tessera::validate
