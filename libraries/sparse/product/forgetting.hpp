#pragma once
// Takes memory out of the caches.
#include <cstddef>
#include <cstdint>

namespace tessera::sparse {

/// The next access to these elements goes to memory. Does nothing on processors without an instruction for it.
template <class Element>
void forget([[maybe_unused]] const Element* data, [[maybe_unused]] std::int64_t count) noexcept {
#if defined(__x86_64__)
  constexpr std::size_t line = 64;
  const auto* const bytes = reinterpret_cast<const char*>(data);
  for (std::size_t k = 0; k < static_cast<std::size_t>(count) * sizeof(Element); k += line)
    __builtin_ia32_clflush(bytes + k);
#endif
}

}  // namespace tessera::sparse
