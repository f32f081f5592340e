#include "plugins/fault/interposer.hpp"

#include <algorithm>

#include "plugins/fault/state.hpp"

namespace tessera::fault {
namespace {

tsr_status enumerate(tsr_plugin* plugin, std::uint32_t index, tsr_device_desc* out_desc, std::uint32_t* out_count) {
  const auto state = find(plugin);
  return state == nullptr ? TSR_INVALID_ARGUMENT : state->inner.enumerate(plugin, index, out_desc, out_count);
}

/// Whether the device can be held back, where a rule asks for it.
tsr_status check_rules(const plugin_state& plugin, const device_state& device) {
  const bool can_hold = device.inner.host_task != nullptr || device.inner.stream_callback != nullptr;
  for (const rule& one : plugin.rules.rules())
    if ((one.fault == kind::slow || one.fault == kind::hang) && !can_hold &&
        (one.device.empty() || device.called.is(one.device)))
      return plugin.report.fail(
          TSR_UNIMPLEMENTED,
          "device '%s' offers neither host_task nor stream_callback, so that '%s' cannot be injected",
          device.name.c_str(), word_for(one.fault));
  return TSR_OK;
}

tsr_status device_open(tsr_plugin* plugin, std::uint32_t index, tsr_device** out_device,
                       const tsr_device_table** out_table) {
  const auto state = find(plugin);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  if (out_device == nullptr || out_table == nullptr)
    return state->inner.device_open(plugin, index, out_device, out_table);
  return kit::guarded(state->report, [&]() -> tsr_status {
    auto device = std::make_shared<device_state>();
    struct {
      tsr_device_desc value;
      unsigned char room[256];  // a plugin of a newer version may write more
    } description{};
    description.value.struct_size = sizeof description.value;
    std::uint32_t count = 0;
    if (state->inner.enumerate(plugin, index, &description.value, &count) == TSR_OK)
      device->name.assign(
          description.value.name,
          std::find(description.value.name, description.value.name + sizeof description.value.name, '\0'));
    // As the runtime calls it: "sim0", or "host" where one processor is all there is.
    const bool alone = count == 1 && description.value.device_class == TSR_DEVICE_CPU;
    device->called = {device->name, alone ? state->name : state->name + std::to_string(index)};
    const tsr_device_table* table = nullptr;
    tsr_device* handle = nullptr;
    if (const auto status = state->inner.device_open(plugin, index, &handle, &table)) return status;
    device->plugin = state.get();
    device->handle = handle;
    device->inner = completed(table);
    device->outer = device->inner;
    if (const auto status = check_rules(*state, *device)) {
      state->inner.device_close(plugin, handle);
      return status;
    }
    put_work_into(*device);
    put_streams_into(*device);
    *out_device = handle;
    *out_table = &device->outer;
    {
      const std::lock_guard lock(state->mutex);
      state->devices.push_back(device);
    }
    keep(std::move(device));
    return TSR_OK;
  });
}

tsr_status device_close(tsr_plugin* plugin, tsr_device* device) {
  const auto state = find(plugin);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  const auto known = find(device);
  if (known != nullptr && known->plugin == state.get()) {
    state->held.open();
    forget(device);  // first: the address may be used again at once
  }
  const tsr_status status = state->inner.device_close(plugin, device);
  return status == TSR_OK && known != nullptr ? TSR_OK : status;
}

/// Whether each rule that names a device names one that is there, behind this plugin or another one that has the same
/// rules.
tsr_status check_devices(const plugin_state& plugin) {
  std::string known;
  const auto is_there = [&](const std::string& device) {
    known.clear();
    for (const auto& other : all_plugins()) {
      const std::lock_guard lock(other->mutex);
      for (const auto& one : other->devices) {
        if (one->called.is(device)) return true;
        known += (known.empty() ? "" : ", ") + one->called.given +
                 (one->name == one->called.given ? "" : " (" + one->name + ")");
      }
    }
    return false;
  };
  const auto& rules = plugin.rules.rules();
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (!rules[i].device.empty() && !is_there(rules[i].device))
      return plugin.report.fail(TSR_INVALID_ARGUMENT,
                                "option \"inject[%zu].device\" is '%s', and there is no such device; there is %s", i,
                                rules[i].device.c_str(), known.c_str());
  return TSR_OK;
}

tsr_status devices_ready(tsr_plugin* plugin) {
  const auto state = find(plugin);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  if (const auto status = kit::guarded(state->report, [&] { return check_devices(*state); })) return status;
  return state->inner.devices_ready == nullptr ? TSR_OK : state->inner.devices_ready(plugin);
}

tsr_status extension(tsr_plugin* plugin, tsr_device* device, tsr_extension_id id, std::uint32_t min_version,
                     const void** out_table) {
  const auto state = find(plugin);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  const auto known = find(device);
  if (state->inner.extension == nullptr) return TSR_UNIMPLEMENTED;
  if (known == nullptr || out_table == nullptr)
    return state->inner.extension(plugin, device, id, min_version, out_table);
  if (const auto status = alive(*known)) return status;
  const void* table = nullptr;
  if (const auto status = state->inner.extension(plugin, device, id, min_version, &table)) return status;
  const void* const ours = table != nullptr ? wrap_extension(*known, id, table) : nullptr;
  *out_table = ours != nullptr ? ours : table;
  return TSR_OK;
}

tsr_status shutdown(tsr_plugin* plugin) {
  const auto state = find(plugin);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  state->held.open();
  {
    const std::lock_guard lock(state->mutex);
    for (const auto& device : state->devices)
      if (find(device->handle) == device) forget(device->handle);
  }
  forget(plugin);
  return state->inner.shutdown(plugin);
}

constexpr tsr_plugin_table outer = {
    sizeof(tsr_plugin_table), enumerate, device_open, device_close, devices_ready, extension, shutdown};

}  // namespace

tsr_status interpose(const kit::reporter& report, tsr_plugin* plugin, const char* name, const void* inner,
                     settings rules, const void** out_table) {
  if (plugin == nullptr || inner == nullptr)
    return report.fail(TSR_INVALID_ARGUMENT, "no opened plugin to inject faults into");
  auto state = std::make_shared<plugin_state>(report, std::move(rules), name);
  state->handle = plugin;
  state->inner = completed(static_cast<const tsr_plugin_table*>(inner));
  if (state->rules.random())
    report.log(1, "faults are injected with seed %llu", static_cast<unsigned long long>(state->rules.seed()));
  keep(std::move(state));
  *out_table = &outer;
  return TSR_OK;
}

}  // namespace tessera::fault
