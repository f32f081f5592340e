#include "libraries/progress/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace tessera {
namespace {

using std::chrono::milliseconds;

std::function<std::string(double)> tasks_of(runtime& rt, std::string what, std::uint64_t expected) {
  return [&rt, what = std::move(what), expected, before = rt.tasks_retired()](double seconds) {
    const std::uint64_t done = rt.tasks_retired() - before;
    std::string line = fmt::format("{}: {} tasks", what, done);
    if (expected > 0)
      line = fmt::format("{}: {} of {} tasks ({:.0f} %)", what, done, expected,
                         100.0 * static_cast<double>(std::min(done, expected)) / static_cast<double>(expected));
    return line + fmt::format(", {:.1f} s", seconds);
  };
}

std::size_t columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 200;
}

}  // namespace

progress::progress(runtime& rt, std::string what, std::uint64_t expected, bool quiet)
    : progress(tasks_of(rt, std::move(what), expected),
               {quiet ? progress_where::nowhere : progress_where::everywhere,
                isatty(STDERR_FILENO) == 1 ? milliseconds(200) : milliseconds(10'000), milliseconds(200)}) {}

progress::progress(std::function<std::string(double)> line, const progress_rhythm& how)
    : m_line(std::move(line)), m_rhythm(how), m_terminal(isatty(STDERR_FILENO) == 1) {
  if (how.where == progress_where::everywhere || (how.where == progress_where::terminals && m_terminal))
    m_thread = std::thread([this] { loop(); });
}

progress::~progress() {
  if (!m_thread.joinable()) return;
  {
    const std::lock_guard guard(m_mutex);
    m_end = true;
  }
  m_wake.notify_all();
  m_thread.join();
  erase();
}

void progress::erase() {
  if (m_there && m_terminal) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }
  m_there = false;
}

void progress::clear() {
  const std::lock_guard guard(m_mutex);
  erase();
}

void progress::loop() {
  const auto started = std::chrono::steady_clock::now();
  std::unique_lock lock(m_mutex);
  milliseconds pause = m_rhythm.first;
  while (!m_wake.wait_for(lock, pause, [this] { return m_end; })) {
    pause = m_terminal ? m_rhythm.on_terminals : m_rhythm.elsewhere;
    std::string line = m_line(std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
    if (line.empty()) continue;
    if (m_terminal) line.resize(std::min(line.size(), columns() - 1));
    std::fputs(m_terminal ? ("\r" + line + "\033[K").c_str() : (line + "\n").c_str(), stderr);
    std::fflush(stderr);
    m_there = true;
  }
}

std::string duration_text(double seconds) {
  const auto rounded = static_cast<std::int64_t>(std::max(0.0, seconds) + 0.5);
  if (rounded < 60) return fmt::format("{} s", rounded);
  if (rounded < 3600) return fmt::format("{} min {} s", rounded / 60, rounded % 60);
  return fmt::format("{} h {} min", rounded / 3600, rounded % 3600 / 60);
}

}  // namespace tessera
