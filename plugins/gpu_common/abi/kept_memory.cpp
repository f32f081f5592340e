#include "plugins/gpu_common/abi/kept_memory.hpp"

namespace tessera::gpu {

void kept_memory::set_limit(std::uint64_t bytes) noexcept {
  const std::lock_guard lock(m_mutex);
  m_limit = bytes;
}

void* kept_memory::take(std::uint64_t bytes) {
  const std::lock_guard lock(m_mutex);
  const auto found = m_memory.find(bytes);
  if (found == m_memory.end()) return nullptr;
  void* const memory = found->second;
  m_memory.erase(found);
  m_bytes -= bytes;
  return memory;
}

bool kept_memory::keep(void* memory, std::uint64_t bytes) {
  const std::lock_guard lock(m_mutex);
  if (m_bytes > m_limit || bytes > m_limit - m_bytes) return false;
  m_memory.emplace(bytes, memory);
  m_bytes += bytes;
  return true;
}

std::uint64_t kept_memory::bytes() {
  const std::lock_guard lock(m_mutex);
  return m_bytes;
}

std::vector<void*> kept_memory::take_all() {
  const std::lock_guard lock(m_mutex);
  std::vector<void*> all;
  for (const auto& [bytes, memory] : m_memory) all.push_back(memory);
  m_memory.clear();
  m_bytes = 0;
  return all;
}

}  // namespace tessera::gpu
