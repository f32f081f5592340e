#include "tests/conformance/suite/watch.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>

#include "tests/conformance/suite/calls.hpp"

namespace tessera::conformance {
namespace {

constexpr std::array endings{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
std::array<struct sigaction, endings.size()> before;
std::atomic<const char*> running{nullptr}, trying{""};
std::atomic<bool> behind{false};

std::atomic<int> told_at{STDERR_FILENO};

void say(const char* text) {
  static_cast<void>(!write(told_at.load(std::memory_order_relaxed), text, std::strlen(text)));
}

/// Calls nothing that a signal handler may not.
void tell_and_end(int number) {
  if (const char* const check = running.load(std::memory_order_relaxed)) {
    say("the check ");
    say(check);
    say(number == SIGABRT ? " ended the process: an abort, or an exception that left the plugin\n"
                          : " crashed the process: the plugin's own memory error, or one that it made elsewhere\n");
    name_calls_under_way([](const char* entry) {
      say("  meanwhile the suite was calling ");
      say(entry);
      say("\n");
    });
    if (const char* const aim = trying.load(std::memory_order_relaxed); *aim != '\0') {
      say("  it was trying ");
      say(aim);
      say("\n");
    }
    if (behind.load(std::memory_order_relaxed)) say("  the checks behind it did not run\n");
  }
  for (std::size_t k = 0; k < endings.size(); ++k)
    if (endings[k] == number) sigaction(number, &before[k], nullptr);
  raise(number);
}

}  // namespace

watch::watch(std::chrono::seconds limit, std::function<void(const std::string& name)> overdue)
    : m_overdue(std::move(overdue)) {
  struct sigaction ours {};
  ours.sa_handler = tell_and_end;
  ours.sa_flags = SA_NODEFER | SA_ONSTACK;
  for (std::size_t k = 0; k < endings.size(); ++k) sigaction(endings[k], &ours, &before[k]);
  if (limit.count() > 0) m_thread = std::thread([this, limit] { look(limit); });
}

watch::~watch() {
  {
    const std::lock_guard guard(m_mutex);
    m_over = true;
  }
  m_changed.notify_all();
  if (m_thread.joinable()) m_thread.join();
  for (std::size_t k = 0; k < endings.size(); ++k) sigaction(endings[k], &before[k], nullptr);
}

void tell_crashes_at(int descriptor) noexcept { told_at.store(descriptor, std::memory_order_relaxed); }
void now_trying(const char* words) noexcept { trying.store(words, std::memory_order_relaxed); }
const char* what_is_tried() noexcept { return trying.load(std::memory_order_relaxed); }

void watch::begins(const char* check, bool more_behind) {
  running.store(check, std::memory_order_relaxed);
  behind.store(more_behind, std::memory_order_relaxed);
  {
    const std::lock_guard guard(m_mutex);
    m_check = check;
    ++m_number;
  }
  m_changed.notify_all();
}

void watch::ends() {
  {
    const std::lock_guard guard(m_mutex);
    m_check = nullptr;
  }
  m_changed.notify_all();
  running.store(nullptr, std::memory_order_relaxed);
  now_trying("");
}

void watch::look(std::chrono::seconds limit) {
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_changed.wait(lock, [this] { return m_over || m_check != nullptr; });
    if (m_over) return;
    const std::uint64_t number = m_number;
    const char* const check = m_check;
    const bool changed =
        m_changed.wait_for(lock, limit, [&] { return m_over || m_check == nullptr || m_number != number; });
    if (changed) continue;
    lock.unlock();
    m_overdue(check);
    lock.lock();
    m_changed.wait(lock, [&] { return m_over || m_check == nullptr || m_number != number; });  // told once
  }
}

}  // namespace tessera::conformance
