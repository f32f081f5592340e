#pragma once
// The entries of a device table by which a device tells of itself: query and health.
#include <tessera/plugin.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "plugins/kit/abi/gate.hpp"

namespace tessera::kit {

/// Nanoseconds.
inline std::uint64_t ns_since(std::chrono::steady_clock::time_point then) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - then).count());
}

/// `Rules` as for gate; the device has `live_allocations`. With
///   space_count(const device&)               of what query may ask
///   free_bytes(const device&, space)         of a space that is there
///   clock_ns(const device&)                  since the device was opened
///   busy_ns(const device&)                   how long it has computed; without it the key is not offered
///   milliwatts(const device&)                an optional number; likewise
template <class Rules>
struct device_calls {
  using device = typename Rules::device;
  using checked = gate<Rules>;

  static void put_into(tsr_device_table& table) {
    table.query = query;
    table.health = health;
  }

  static tsr_status query(device* on, tsr_query_key key, std::uint32_t index, std::uint64_t* out_value) {
    return checked::on_device(on, [&]() -> tsr_status {
      if (out_value == nullptr) return on->report.fail(TSR_INVALID_ARGUMENT, "query: out_value is NULL");
      switch (key) {
        case TSR_QUERY_FREE_BYTES: {
          const std::size_t count = Rules::space_count(*on);
          if (index >= count) return on->report.fail(TSR_OUT_OF_RANGE, "query: space %u of %zu", index, count);
          *out_value = Rules::free_bytes(*on, index);
          return TSR_OK;
        }
        case TSR_QUERY_CLOCK_NS:
          *out_value = Rules::clock_ns(*on);
          return TSR_OK;
        case TSR_QUERY_LIVE_ALLOCATIONS:
          *out_value = on->live_allocations.load(std::memory_order_relaxed);
          return TSR_OK;
        case TSR_QUERY_BUSY_NS:
          if constexpr (requires { Rules::busy_ns(*on); }) {
            *out_value = Rules::busy_ns(*on);
            return TSR_OK;
          }
          break;
        case TSR_QUERY_MILLIWATTS:
          if constexpr (requires { Rules::milliwatts(*on); })
            if (const auto power = Rules::milliwatts(*on)) {
              *out_value = *power;
              return TSR_OK;
            }
          break;
        default:
          break;
      }
      return on->report.fail(TSR_UNIMPLEMENTED, "query: key %u is not offered", key);
    });
  }

  /// The gate has asked whether the device is lost.
  static tsr_status health(device* on) {
    return checked::on_device(on, [] { return TSR_OK; });
  }
};

}  // namespace tessera::kit
