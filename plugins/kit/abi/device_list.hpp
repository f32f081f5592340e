#pragma once
// The devices of one opened plugin.
#include <tessera/plugin.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "plugins/kit/abi/report.hpp"

namespace tessera::kit {

/// Every device ever opened; one that is closed stays, without its magic word, until the list goes, so that a stale
/// handle is recognised. `Device` has: index (as enumerated), magic. Thread-safe.
template <class Device, std::uint64_t magic>
class device_list {
 public:
  /// Opens device `index` of `count`: make() returns a unique_ptr<Device>. Fails: INVALID_ARGUMENT, OUT_OF_RANGE,
  /// ALREADY_EXISTS; and what make throws.
  template <class Make>
  tsr_status open(const reporter& report, std::uint32_t index, std::size_t count, const tsr_device_table& table,
                  tsr_device** out_device, const tsr_device_table** out_table, Make&& make) {
    if (out_device == nullptr || out_table == nullptr)
      return report.fail(TSR_INVALID_ARGUMENT, "device_open: a NULL argument");
    if (index >= count) return report.fail(TSR_OUT_OF_RANGE, "device_open: device %u of %zu", index, count);
    const std::lock_guard lock(m_mutex);
    for (const auto& device : m_all)
      if (device->index == index && device->magic.is(magic))
        return report.fail(TSR_ALREADY_EXISTS, "device_open: device %u is open", index);
    m_all.push_back(make());
    m_all.back()->magic.set(magic);
    *out_device = m_all.back().get();
    *out_table = &table;
    return TSR_OK;
  }

  /// Closes one: close(device) is called once its handle is dead. Fails: INVALID_ARGUMENT (not open, not ours).
  template <class Close>
  tsr_status close(const reporter& report, Device* device, Close&& close_device) {
    {
      const std::lock_guard lock(m_mutex);
      if (device == nullptr || !knows(device) || !device->magic.take(magic))
        return report.fail(TSR_INVALID_ARGUMENT, "device_close: not an open device of this plugin");
    }
    close_device(*device);
    return TSR_OK;
  }

  /// Closes what is still open, for shutdown: nobody else uses the list any more.
  template <class Close>
  void close_all(Close&& close_device) {
    for (const auto& device : m_all)
      if (device->magic.take(magic)) close_device(*device);
  }

  /// Whether it is an open device of this plugin. `device` may be any pointer.
  bool holds(const Device* device) const {
    const std::shared_lock lock(m_mutex);
    return knows(device) && device->magic.is(magic);
  }

 private:
  bool knows(const Device* device) const {
    return std::any_of(m_all.begin(), m_all.end(), [&](const auto& one) { return one.get() == device; });
  }
  mutable std::shared_mutex m_mutex;
  std::vector<std::unique_ptr<Device>> m_all;
};

}  // namespace tessera::kit
