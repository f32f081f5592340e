#include "core/plugin/attachments.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "core/plugin/device.hpp"

namespace tessera::plugin {

/// Those of one thread. They end by a key of POSIX, whose destructor comes after those of all thread_local objects:
/// these may still use devices.
struct attached_devices {
  struct entry {
    std::shared_ptr<attachments> to;
    bool granted;
  };
  std::vector<entry> all;

  /// Null where the system has no memory or no key for them (a process has PTHREAD_KEYS_MAX keys).
  static attached_devices* of_this_thread() noexcept {
    static const std::optional<pthread_key_t> key = []() -> std::optional<pthread_key_t> {
      pthread_key_t made{};
      if (pthread_key_create(&made, [](void* of) { delete static_cast<attached_devices*>(of); }) != 0)
        return std::nullopt;
      return made;
    }();
    if (!key) return nullptr;
    if (auto* const known = static_cast<attached_devices*>(pthread_getspecific(*key))) return known;
    std::unique_ptr<attached_devices> made(new (std::nothrow) attached_devices);
    return made && pthread_setspecific(*key, made.get()) == 0 ? made.release() : nullptr;
  }
  ~attached_devices() {
    if (gettid() == getpid()) return;
    for (const entry& one : all)
      if (one.granted) one.to->leave();
  }
};

attachments::attachments(tsr_device* handle, const tsr_device_table& table, std::string name,
                         std::function<void(int level, const std::string& line)> log)
    : m_handle(handle),
      m_attach(table.thread_attach),
      m_detach(table.thread_detach),
      m_name(std::move(name)),
      m_log(std::move(log)) {}

void attachments::attach_this_thread() {
  if (m_attach == nullptr || m_given_up.load(std::memory_order_acquire)) return;
  attached_devices* const mine = attached_devices::of_this_thread();
  if (mine == nullptr) return tell_refusal("the system has no room for what belongs to a thread");
  if (std::ranges::any_of(mine->all, [&](const auto& one) { return one.to.get() == this; })) return;
  std::erase_if(mine->all, [](const auto& one) {
    const std::lock_guard guard(one.to->m_mutex);
    return one.to->m_ended;
  });
  const tsr_status status = contained("thread_attach", [&] { return m_attach(m_handle); });
  mine->all.push_back({shared_from_this(), status == TSR_OK});  // also where it is refused: it is asked once
  if (status == TSR_OK) return;
  const std::string details = take_error_details();
  if (status == TSR_DEVICE_LOST) return;
  tell_refusal(fmt::format("thread_attach answered {}{}{}", name_of(status), details.empty() ? "" : ": ", details));
}

void attachments::tell_refusal(const std::string& why) {
  const std::lock_guard guard(m_mutex);
  if (std::exchange(m_told, true) || !m_log) return;
  m_log(2,
        fmt::format("device \"{}\" refuses a thread: {}; what the thread asks of it may be refused too", m_name, why));
}

void attachments::leave() {
  if (m_given_up.load(std::memory_order_acquire)) return;
  const std::lock_guard guard(m_mutex);
  if (!m_ended && m_detach != nullptr) succeeded("thread_detach", [&] { return m_detach(m_handle); });
}

void attachments::end() {
  const std::lock_guard guard(m_mutex);
  m_ended = true;
}

}  // namespace tessera::plugin
