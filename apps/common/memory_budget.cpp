#include "apps/common/memory_budget.hpp"
#include "tessera/machine.hpp"

#include <algorithm>

namespace tessera::apps {

std::int64_t memory_budget::tiles(std::uint64_t tile_bytes, std::int64_t all_tiles) const noexcept {
  constexpr std::uint64_t many = std::uint64_t{1} << 40;
  const std::uint64_t each = std::max<std::uint64_t>(tile_bytes, 1);
  if (together / each >= static_cast<std::uint64_t>(all_tiles)) return many;
  return static_cast<std::int64_t>(std::min(bytes / each, many));
}

memory_budget memory_budget_of(const runtime& rt) {
  const statistics now = rt.statistics();
  const auto memories_of = [&](bool hosts) {
    memory_budget r{.bytes = 0};
    for (const auto& device : rt.plugins().devices()) {
      const auto kind = device->description().device_class;
      if (kind == TSR_DEVICE_STORAGE || (kind == TSR_DEVICE_CPU && device->has(TSR_DEVICE_INLINE)) != hosts) continue;
      for (const auto& own : device->spaces())
        for (const named_space_statistics& s : now.spaces) {
          if (s.name != own.name) continue;
          const std::uint64_t percent = std::min<std::uint64_t>(rt.settings().low_watermark, 100);
          const std::uint64_t limit = s.statistics.limit_bytes == ~std::uint64_t{0}
                                          ? s.statistics.limit_bytes
                                          : s.statistics.limit_bytes / 100 * percent;
          r.bytes = std::max(r.bytes, limit);
          r.together = r.together + limit < limit ? ~std::uint64_t{0} : r.together + limit;
        }
    }
    return r;
  };
  const memory_budget devices = memories_of(false);
  return devices.bytes != 0 ? devices : memories_of(true);
}

}  // namespace tessera::apps
