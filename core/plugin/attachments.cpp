#include "core/plugin/attachments.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/plugin/device.hpp"

namespace tessera::plugin {

/// Those of one thread.
struct attached_devices {
  struct entry {
    std::shared_ptr<attachments> to;
    bool granted;
  };
  std::vector<entry> all;

  static attached_devices& of_this_thread() {
    static thread_local attached_devices* known = nullptr;  // both trivial: usable until the thread is no more
    static thread_local bool gone = false;
    if (known == nullptr && gone) {
      known = new attached_devices;  // never deleted, since no destructor comes any more: the devices detach the thread when they are closed
    } else if (known == nullptr) {
      struct owner {
        attached_devices mine;
        ~owner() {
          known = nullptr;
          gone = true;
        }
      };
      static thread_local owner of;
      known = &of.mine;
    }
    return *known;
  }
  ~attached_devices() {
    if (gettid() == getpid()) return;
    for (const entry& one : all)
      if (one.granted) one.to->leave();
  }
};

attachments::attachments(tsr_device* handle, const tsr_device_table& table, std::string name,
                         std::function<void(int level, const std::string& line)> log)
    : m_handle(handle), m_attach(table.thread_attach), m_detach(table.thread_detach), m_name(std::move(name)), m_log(std::move(log)) {}

void attachments::attach_this_thread() {
  if (m_attach == nullptr || m_given_up.load(std::memory_order_acquire)) return;
  attached_devices& mine = attached_devices::of_this_thread();
  if (std::ranges::any_of(mine.all, [&](const auto& one) { return one.to.get() == this; })) return;
  std::erase_if(mine.all, [](const auto& one) {
    const std::lock_guard guard(one.to->m_mutex);
    return one.to->m_ended;
  });
  const tsr_status status = contained("thread_attach", [&] { return m_attach(m_handle); });
  mine.all.push_back({shared_from_this(), status == TSR_OK});  // also where it is refused: it is asked once
  if (status == TSR_OK) return;
  const std::string details = take_error_details();
  const std::lock_guard guard(m_mutex);
  if (status == TSR_DEVICE_LOST || std::exchange(m_told, true) || !m_log) return;
  m_log(2, fmt::format("device \"{}\" refuses a thread: thread_attach answered {}{}{}; what the thread asks of it may be refused too", m_name,
                       name_of(status), details.empty() ? "" : ": ", details));
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
