#include "core/validate/guarded_memory.hpp"

namespace tessera::validate {

guarded_memory::guarded_memory(std::size_t bytes, const pattern& with, std::uint32_t number)
    : m_bytes(bytes), m_number(number & 0xff'ffffu), m_memory(bytes + 2 * zone + alignment) {
  const auto start = reinterpret_cast<std::uintptr_t>(m_memory.data()) + zone;
  m_offset = zone + (alignment - start % alignment) % alignment;
  mend(with);
}

void guarded_memory::mend(const pattern& with) noexcept {
  with.fill_zone(before());
  with.fill_zone(behind());
}

std::optional<guarded_memory::damage> guarded_memory::find_damage(const pattern& with) const {
  auto& self = const_cast<guarded_memory&>(*this);  // the spans are only read
  std::size_t first = 0;
  const std::uint64_t left = with.zone_damage(self.before(), first);
  damage found{left, static_cast<std::int64_t>(first) - static_cast<std::int64_t>(zone)};
  if (const std::uint64_t right = with.zone_damage(self.behind(), first); right > 0) {
    if (left == 0) found.first = static_cast<std::int64_t>(first);
    found.bytes += right;
  }
  if (found.bytes == 0) return std::nullopt;
  return found;
}

}  // namespace tessera::validate
