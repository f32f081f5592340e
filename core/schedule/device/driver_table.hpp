#pragma once
// The drivers of a run's devices.
#include <cstdint>
#include <memory>
#include <vector>

#include "core/memory/space.hpp"
#include "core/placement/place.hpp"
#include "core/schedule/device/batches.hpp"
#include "core/schedule/device/driver.hpp"
#include "core/trace/tracer.hpp"

namespace tessera::schedule {

/// One driver for each place that is a device, and one for each device that stores: that runs nothing, but its copies
/// have to be followed. Filled before the first task; then any thread.
class driver_table {
 public:
  /// Of the place with the next number; a place of the host has none.
  void add(driver_setup setup, placement::place& where);
  /// Of a device that stores, given as its first memory.
  void add_store(driver_setup setup, const memory::space& space);

  /// Null for a place of the host.
  device_driver* find(const placement::place& where) const noexcept { return m_drivers[where.number].get(); }
  device_driver& of(const placement::place& device) const noexcept { return *m_drivers[device.number]; }
  const std::vector<std::unique_ptr<placement::place>>& stores() const noexcept { return m_stores; }
  /// Whose compute stream it is; null: nobody's.
  device_driver* with_stream(std::uint32_t number) const noexcept;
  /// Calls f(driver) for each: by place number, then those of stores.
  template <class Function>
  void for_each(Function&& f) const {
    for (const auto& driver : m_drivers)
      if (driver) f(*driver);
    for (const auto& driver : m_store_drivers) f(*driver);
  }

  void start();                ///< their threads; throws std::system_error when one is refused
  void stop() noexcept;        ///< those that were started
  void wake() const noexcept;  ///< all: something may be there to do
  bool any_active() const;     ///< whether any has tasks that may run
  batch_statistics batches() const noexcept { return m_batches.read(); }  ///< launches of several tasks
  std::vector<trace::recording::stream> compute_streams() const;          ///< of all devices, for traces

 private:
  std::vector<std::unique_ptr<placement::place>> m_stores;
  batch_counters m_batches;
  failed_points m_points;
  std::vector<std::unique_ptr<device_driver>> m_drivers;  // by place number
  std::vector<std::unique_ptr<device_driver>> m_store_drivers;
};

}  // namespace tessera::schedule
