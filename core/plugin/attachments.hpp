#pragma once
// The threads that have attached themselves to a device.
#include <tessera/plugin.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace tessera::plugin {

/// Calls thread_attach of an opened device once for each thread that uses it, and thread_detach when the thread ends. A
/// thread that is still attached when the device is closed is detached by that; the main thread always is, since what
/// has static storage uses devices after the end of its own. Thread-safe.
class attachments : public std::enable_shared_from_this<attachments> {
 public:
  /// @param name  of the device, for messages
  attachments(tsr_device* handle, const tsr_device_table& table, std::string name,
              std::function<void(int level, const std::string& line)> log);

  /// A plugin that refuses is told of in the log, once; what the thread asks of the device may then be refused too.
  void attach_this_thread();
  /// No thread is attached or detached from now on: the device is about to be closed.
  void end();
  /// The same for a device that hangs, whose plugin may not come back from a call that is under way: waits for none.
  void give_up() noexcept { m_given_up.store(true, std::memory_order_release); }

 private:
  friend struct attached_devices;
  void leave();
  void tell_refusal(const std::string& why);

  tsr_device* const m_handle;
  tsr_status (*const m_attach)(tsr_device*);
  tsr_status (*const m_detach)(tsr_device*);
  const std::string m_name;
  const std::function<void(int, const std::string&)> m_log;
  std::mutex m_mutex;
  bool m_ended = false, m_told = false;
  std::atomic<bool> m_given_up{false};
};

}  // namespace tessera::plugin
