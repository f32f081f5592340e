#include "core/plugin/call_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/plugin/registry.hpp"

namespace tessera::plugin {
namespace {

thread_local call_watch* t_watch = nullptr;

struct {
  std::mutex mutex;
  std::function<void(const error&)> act;
} given_up;

}  // namespace

void when_given_up(std::function<void(const error& why)> act) {
  const std::lock_guard guard(given_up.mutex);
  given_up.act = std::move(act);
}

call_watch::call_watch(clock::duration patience, std::function<void(int, const std::string&)> log,
                       clock::duration told_after)
    : m_patience(patience),
      m_told_after(patience.count() > 0 ? std::min(told_after, patience) : told_after),
      m_log(std::move(log)),
      m_outer(t_watch) {
  try {
    m_thread = std::thread([this] { look(); });
  } catch (const std::system_error&) {
    // The system refuses a thread: the calls go unwatched. The worker that is refused next says what the limit is.
  }
  t_watch = this;
}

call_watch::~call_watch() {
  t_watch = m_outer;
  {
    const std::lock_guard guard(m_mutex);
    m_over = true;
  }
  m_changed.notify_all();
  if (m_thread.joinable()) m_thread.join();
}

call_watch::call::call(const std::filesystem::path& plugin, const char* entry) : m_watch(t_watch) {
  if (m_watch == nullptr) return;
  {
    const std::lock_guard guard(m_watch->m_mutex);
    if (m_watch->m_plugin != nullptr) {
      m_watch = nullptr;
      return;
    }
    m_watch->m_plugin = &plugin;
    m_watch->m_entry = entry;
    m_watch->m_since = clock::now();
    ++m_watch->m_calls;
  }
  m_watch->m_changed.notify_all();
}

call_watch::call::~call() {
  if (m_watch == nullptr) return;
  {
    const std::lock_guard guard(m_watch->m_mutex);
    m_watch->m_plugin = nullptr;
  }
  m_watch->m_changed.notify_all();
}

std::string call_watch::told(clock::duration after) const {
  return fmt::format("the plugin's {} has not returned for {:.3g} s", m_entry,
                     std::chrono::duration<double>(after).count());
}

void call_watch::look() {
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_changed.wait(lock, [this] { return m_over || m_plugin != nullptr; });
    if (m_over) return;
    const std::uint64_t number = m_calls;
    const auto ended = [&] { return m_over || m_plugin == nullptr || m_calls != number; };
    if (m_changed.wait_until(lock, m_since + m_told_after, ended)) continue;
    if (m_log) m_log(2, fmt::format("{}: {}; waiting", m_plugin->string(), told(m_told_after)));
    if (m_patience.count() > 0 && !m_changed.wait_until(lock, m_since + m_patience, ended)) {
      const std::lock_guard guard(given_up.mutex);
      if (given_up.act)
        given_up.act(error(error_kind::plugin, told(m_patience), m_plugin->string(),
                           "the plugin or the driver below it hangs: take it out of runtime.plugins; "
                           "runtime.plugin_patience is how long is waited"));
    }
    m_changed.wait(lock, ended);  // told once
  }
}

}  // namespace tessera::plugin
