#pragma once
// One opened plugin, from open to shutdown.
#include <memory>
#include <vector>

#include "core/plugin/attachments.hpp"
#include "core/plugin/device.hpp"
#include "core/plugin/host.hpp"
#include "core/plugin/loaded_plugin.hpp"

namespace tessera::plugin {

/// Opens in the constructor; closes its devices in reverse order and shuts the plugin down in the destructor, where
/// failures go to the log. Errors are of kind plugin with the file as the place. Not thread-safe.
class session {
 public:
  /// `host` must outlive the session.
  session(loaded_plugin plugin, const host& host, const std::vector<option_value>& options);
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  const loaded_plugin& plugin() const noexcept { return m_plugin; }

  /// DEVICE and STORAGE: opens every device and appends it to `devices`; returns how many there are, 0 when the machine
  /// has none.
  std::uint32_t open_devices(std::vector<std::unique_ptr<device>>& devices);
  /// DEVICE and STORAGE: to be called when the devices of all plugins are open.
  void devices_ready();

  tsr_plugin* handle() const noexcept { return m_handle; }
  const tsr_plugin_table& table() const noexcept { return m_table; }  ///< DEVICE and STORAGE
  /// The table of an extension of a device, or null when it has none. As the plugin built it: see completed().
  const void* extension(tsr_device* device, tsr_extension_id id) const;
  const std::vector<tsr_operation>& operations() const noexcept { return m_operations; }  ///< OPERATIONS
  const tsr_policy_table& policy() const noexcept { return m_policy; }                    ///< POLICY
  /// LAYER: the plugin as it looks through this layer.
  loaded_plugin wrap(const loaded_plugin& inner) const;

 private:
  [[noreturn]] void fail(tsr_status status, const std::string& what) const;
  void warn(tsr_status status, const std::string& what) const noexcept;
  std::unique_ptr<device> open_device(std::uint32_t index, std::uint32_t count,
                                      const std::vector<std::unique_ptr<device>>& others);

  loaded_plugin m_plugin;
  tsr_plugin* m_handle = nullptr;
  tsr_plugin_table m_table{};
  std::vector<tsr_operation> m_operations;
  tsr_policy_table m_policy{};
  tsr_layer_table m_layer{};
  std::vector<tsr_device*> m_devices;
  std::vector<std::shared_ptr<attachments>> m_attachments;  // of those that got so far
  const host& m_host;
};

}  // namespace tessera::plugin
