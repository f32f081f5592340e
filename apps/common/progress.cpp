#include "apps/common/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace tessera::apps {

progress::progress(runtime& rt, std::string what, std::uint64_t expected, bool quiet)
    : m_runtime(rt), m_what(std::move(what)), m_expected(expected), m_before(rt.tasks_retired()),
      m_terminal(isatty(STDERR_FILENO) == 1) {
  if (!quiet) m_thread = std::thread([this] { loop(); });
}

progress::~progress() {
  if (!m_thread.joinable()) return;
  {
    const std::lock_guard guard(m_mutex);
    m_end = true;
  }
  m_wake.notify_all();
  m_thread.join();
  if (m_printed && m_terminal) std::fputs("\r\033[K", stderr);
}

void progress::loop() {
  const auto started = std::chrono::steady_clock::now();
  std::unique_lock lock(m_mutex);
  while (!m_wake.wait_for(lock, m_terminal ? std::chrono::milliseconds(200) : std::chrono::seconds(10), [this] { return m_end; })) {
    const std::uint64_t done = m_runtime.tasks_retired() - m_before;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    std::string line = fmt::format("{}: {} tasks", m_what, done);
    if (m_expected > 0)
      line = fmt::format("{}: {} of {} tasks ({:.0f} %)", m_what, done, m_expected,
                         100.0 * static_cast<double>(std::min(done, m_expected)) / static_cast<double>(m_expected));
    line += fmt::format(", {:.1f} s", seconds);
    std::fputs(m_terminal ? ("\r" + line + "\033[K").c_str() : (line + "\n").c_str(), stderr);
    std::fflush(stderr);
    m_printed = true;
  }
}

}  // namespace tessera::apps
