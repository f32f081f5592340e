#include "plugins/gpu_common/abi/kept_memory.hpp"

#include <algorithm>
#include <new>

namespace tessera::gpu {

void kept_memory::set_limit(std::uint64_t bytes) noexcept {
  const std::lock_guard lock(m_mutex);
  m_limit = bytes;
}

void* kept_memory::take(std::uint64_t bytes) noexcept {
  const std::lock_guard lock(m_mutex);
  const auto found = std::ranges::find(m_pieces, bytes, &piece::bytes);
  if (found == m_pieces.end()) return nullptr;
  void* const memory = found->memory;
  m_pieces.erase(found);
  m_bytes -= bytes;
  return memory;
}

std::vector<void*> kept_memory::keep(void* memory, std::uint64_t bytes) noexcept {
  const std::lock_guard lock(m_mutex);
  std::vector<void*> gone;
  try {
    gone.reserve(m_pieces.size() + 1);
    if (bytes > m_limit) {
      gone.push_back(memory);
      return gone;
    }
    m_pieces.push_back({memory, bytes});
  } catch (const std::bad_alloc&) {  // it cannot be told either: it is lost to this process
    return gone;
  }
  for (m_bytes += bytes; m_bytes > m_limit; m_pieces.pop_front()) {
    gone.push_back(m_pieces.front().memory);
    m_bytes -= m_pieces.front().bytes;
  }
  return gone;
}

std::uint64_t kept_memory::bytes() const noexcept {
  const std::lock_guard lock(m_mutex);
  return m_bytes;
}

std::vector<void*> kept_memory::take_oldest(std::uint64_t bytes) {
  const std::lock_guard lock(m_mutex);
  std::vector<void*> taken;
  taken.reserve(m_pieces.size());
  for (std::uint64_t sum = 0; sum < bytes && !m_pieces.empty(); m_pieces.pop_front()) {
    taken.push_back(m_pieces.front().memory);
    sum += m_pieces.front().bytes;
    m_bytes -= m_pieces.front().bytes;
  }
  return taken;
}

}  // namespace tessera::gpu
