#include "core/schedule/device/driver_table.hpp"

#include <fmt/format.h>

namespace tessera::schedule {

void driver_table::add(driver_setup setup, placement::place& where) {
  setup.batches = &m_batches;
  setup.points = &m_points;
  setup.drivers = this;
  m_drivers.push_back(where.is_host ? nullptr : std::make_unique<device_driver>(setup, where));
}

void driver_table::add_store(driver_setup setup, const memory::space& space) {
  setup.batches = &m_batches;
  setup.points = &m_points;
  setup.drivers = this;
  auto store = std::make_unique<placement::place>();
  store->space = space.number();
  store->is_host = false;
  store->device = &space.device();
  store->location = space.location();
  store->name = space.device().name();
  m_store_drivers.push_back(std::make_unique<device_driver>(setup, *store));
  m_stores.push_back(std::move(store));
}

device_driver* driver_table::with_stream(std::uint32_t number) const noexcept {
  for (const auto& driver : m_drivers)
    if (driver && driver->has_stream(number)) return driver.get();
  return nullptr;
}

void driver_table::start() {
  for_each([](device_driver& driver) { driver.start(); });
}

void driver_table::stop() noexcept {
  for_each([](device_driver& driver) { driver.stop(); });
}

void driver_table::wake() const noexcept {
  for_each([](device_driver& driver) { driver.wake(); });
}

bool driver_table::any_active() const {
  bool any = false;
  for_each([&](const device_driver& driver) { any = any || driver.active(); });
  return any;
}

std::vector<trace::recording::stream> driver_table::compute_streams() const {
  std::vector<trace::recording::stream> all;
  for (const auto& driver : m_drivers) {
    if (!driver) continue;
    for (std::size_t k = 0; k < driver->streams().size(); ++k)
      all.push_back({driver->streams()[k]->number(), driver->where().number,
                     fmt::format("{} compute {}", driver->where().name, k)});
  }
  return all;
}

}  // namespace tessera::schedule
