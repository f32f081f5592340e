// Blocks of a task that are seen as rows, where they do not lie one after the other.
#include <algorithm>
#include <cstring>
#include <new>

#include "tessera/detail/rows_task.hpp"

namespace tessera::detail {
namespace {

constexpr std::align_val_t alignment{256};  // of blocks
constexpr int guard_byte = 0xa5;

bool is_guard(const std::byte* begin, std::size_t bytes) noexcept {
  return std::all_of(begin, begin + bytes, [](std::byte b) { return b == std::byte{guard_byte}; });
}

}  // namespace

void gathered_blocks::deleter::operator()(std::byte* memory) const noexcept { ::operator delete[](memory, alignment); }

void* gathered_blocks::gather(const task_blocks& blocks, const region_operand& operand, const elements& of,
                              std::size_t guard) {
  std::vector<std::span<std::byte>> parts;
  parts.reserve(operand.count);
  bool together = true;
  std::size_t bytes = 0;
  for (std::uint32_t k = 0; k < operand.count; ++k) {
    const std::span<std::byte> part = blocks.bytes(operand.first + k, of.type, of.per_element, of.are_read);
    together = together && (k == 0 || part.data() == parts.back().data() + parts.back().size());
    bytes += part.size();
    parts.push_back(part);
  }
  if (together) return parts.front().data();
  if (of.are_read) guard = 0;
  m_copy.reset(static_cast<std::byte*>(::operator new[](bytes + 2 * guard, alignment)));
  std::memset(m_copy.get(), guard_byte, guard);
  std::byte* at = m_copy.get() + guard;
  for (const std::span<std::byte>& part : parts) at = std::copy(part.begin(), part.end(), at);
  std::memset(at, guard_byte, guard);
  m_guard = guard;
  if (!of.are_read) m_parts = std::move(parts);
  return m_copy.get() + guard;
}

bool gathered_blocks::stayed_inside(const void* first, std::size_t bytes) const noexcept {
  if (m_parts.empty()) return true;
  const auto* const named = static_cast<const std::byte*>(first);
  const std::byte* at = m_copy.get();
  if (!is_guard(at, m_guard)) return false;
  at += m_guard;
  for (const std::span<std::byte>& part : m_parts) {
    const std::byte* const end = at + part.size();
    const std::byte *const begin_named = std::clamp(named, at, end), *const end_named =
                                                                         std::clamp(named + bytes, at, end);
    if (!std::equal(at, begin_named, part.data()) || !std::equal(end_named, end, part.data() + (end_named - at)))
      return false;
    at = end;
  }
  return is_guard(at, m_guard);
}

void gathered_blocks::spread() noexcept {
  const std::byte* from = m_copy.get() + m_guard;
  for (const std::span<std::byte>& part : m_parts) {
    std::copy_n(from, part.size(), part.data());
    from += part.size();
  }
}

}  // namespace tessera::detail
