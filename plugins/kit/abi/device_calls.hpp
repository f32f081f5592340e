#pragma once
// The table of a device, and its entries by which the device tells of itself: spaces, link, query and health.
#include <tessera/plugin.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "plugins/kit/abi/gate.hpp"
#include "plugins/kit/abi/out_struct.hpp"

namespace tessera::kit {

/// Nanoseconds.
inline std::uint64_t ns_since(std::chrono::steady_clock::time_point then) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - then).count());
}

/// `Rules` as for gate; the device has `live_allocations`. With
///   space_count(const device&)
///   describe(const device&, space)           the tsr_space_desc of a space that is there
///   find_link(device&, source, destination, tsr_link_desc& out)   a status, with a record where it is not TSR_OK
///   free_bytes(const device&, space)         of a space that is there
///   clock_ns(const device&)                  since the device was opened
///   busy_ns(const device&)                   how long it has computed; without it the key is not offered
///   milliwatts(const device&)                an optional number; likewise
template <class Rules>
struct device_calls {
  using device = typename Rules::device;
  using checked = gate<Rules>;

  static void put_into(tsr_device_table& table) {
    table.spaces = spaces;
    table.link = link;
    table.query = query;
    table.health = health;
  }

  static tsr_status spaces(device* on, std::uint32_t index, tsr_space_desc* out_desc) {
    return checked::on_device(on, [&]() -> tsr_status {
      if (out_desc == nullptr) return on->report.fail(TSR_INVALID_ARGUMENT, "spaces: out_desc is NULL");
      const std::size_t count = Rules::space_count(*on);
      if (index >= count) return on->report.fail(TSR_OUT_OF_RANGE, "spaces: index %u of %zu", index, count);
      fill_out(out_desc, Rules::describe(*on, index));
      return TSR_OK;
    });
  }

  static tsr_status link(device* on, tsr_space_ref source, tsr_space_ref destination, tsr_link_desc* out_link) {
    return checked::on_device(on, [&]() -> tsr_status {
      if (out_link == nullptr) return on->report.fail(TSR_INVALID_ARGUMENT, "link: out_link is NULL");
      tsr_link_desc desc{};
      if (const auto status = Rules::find_link(*on, source, destination, desc)) return status;
      fill_out(out_link, desc);
      return TSR_OK;
    });
  }

  /// Whether a side of a copy is host memory or a space of an open device of the same plugin, which has `devices`, a
  /// device_list. Fails: INVALID_ARGUMENT, OUT_OF_RANGE.
  static tsr_status check_side(const device& on, const tsr_space_ref& side) {
    if (side.device == nullptr) return TSR_OK;
    if (!on.plugin->devices.holds(side.device))
      return on.report.fail(TSR_INVALID_ARGUMENT, "a side is no open device of this plugin");
    const std::size_t count = Rules::space_count(*side.device);
    if (side.space >= count) return on.report.fail(TSR_OUT_OF_RANGE, "space %u of %zu", side.space, count);
    return TSR_OK;
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

/// The entries that every device has: those of device_calls, and these, which each plugin writes itself. What a device
/// offers besides is put into the table by its plugin.
template <class Rules>
tsr_device_table make_device_table(decltype(tsr_device_table::mem_alloc) mem_alloc,
                                   decltype(tsr_device_table::mem_free) mem_free,
                                   decltype(tsr_device_table::stream_create) stream_create,
                                   decltype(tsr_device_table::copy) copy, decltype(tsr_device_table::fill) fill) {
  tsr_device_table made{};
  made.struct_size = sizeof made;
  made.mem_alloc = mem_alloc;
  made.mem_free = mem_free;
  made.stream_create = stream_create;
  made.copy = copy;
  made.fill = fill;
  device_calls<Rules>::put_into(made);
  return made;
}

}  // namespace tessera::kit
